# SPDX-License-Identifier: Apache-2.0
"""Let a migrated script enter graph mode by itself, as ``run`` does for it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from .edits import Edits
from .names import Use
from .places import TFV1

__all__ = ["add_graph_mode"]

_MODES = {"disable_eager_execution", "disable_v2_behavior", "enable_eager_execution",
          "enable_v2_behavior"}
_CALL = "disable_eager_execution()"
_GRAPH = {"InteractiveSession", "Session", "Variable", "get_variable", "placeholder"}
#: Rooms of tensorpack that need no TensorFlow.
_LIGHT = ("tensorpack.dataflow", "tensorpack.utils", "tensorpack.libinfo")


def add_graph_mode(edits: Edits, tree: ast.Module, uses: list[Use], leaked: bool,
                   changed: Callable[[int, str, str], None], script: bool = False) -> None:
    """Add ``tf.disable_eager_execution()`` behind a script's first import of TensorFlow.

    Files that are only imported, and scripts that need no TensorFlow, stay as they are.

    Args:
        edits: receives the edit.
        tree: the script.
        uses: the names that it uses.
        leaked: whether ``tf`` is bound beside a star import.
        changed: told of the change.
        script: the file is run, whatever it looks like: a notebook.
    """
    if not (script or _is_script(tree)) or any(_calls_mode(node) for node in ast.walk(tree)):
        return
    found = next(_tensorflow(tree), None)
    if found is not None:
        node, name = found
        text = f"; {name}.{_CALL}"
    else:
        heavy = [u for u in uses if u.kind == "name" and not u.fact.name.startswith(_LIGHT)]
        last = _last_import(tree)
        if last is None or not (heavy or leaked):
            return
        node = last
        text = f"; tf.{_CALL}" if leaked else \
            f"; import {TFV1} as tfv1; tfv1.{_CALL}"
    end = edits.span(node)[1]
    edits.replace(end, end, text)
    changed(node.lineno, "graph mode", text[2:])


def _is_script(tree: ast.Module) -> bool:
    """Say whether the file does something when it is run: a guard, or work at its top level."""
    imported = {a.asname or a.name.partition(".")[0] for node in ast.walk(tree)
                if isinstance(node, ast.Import) for a in node.names}
    return any(_works(node, imported) for node in tree.body)


def _works(node: ast.stmt, imported: set[str]) -> bool:
    if isinstance(node, ast.If):
        return any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(node.test))
    if isinstance(node, (ast.For, ast.While, ast.With)):
        return True
    value = getattr(node, "value", None)
    if not isinstance(node, (ast.Expr, ast.Assign)) or not isinstance(value, ast.Call):
        return False
    last, root = value.func, value.func
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(last, ast.Attribute) and last.attr in _GRAPH:
        return True  # builds in the default graph
    # main(), trainer.train(); but not logging.basicConfig()
    return isinstance(node, ast.Expr) and isinstance(root, ast.Name) and root.id not in imported


def _calls_mode(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in _MODES


def _top(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements that run when the module is loaded, in order."""
    todo: list[ast.AST] = list(reversed(tree.body))
    while todo:
        node = todo.pop()
        if isinstance(node, ast.stmt):
            yield node
        if isinstance(node, (ast.If, ast.Try)):
            todo.extend(reversed([n for n in ast.iter_child_nodes(node)
                                  if isinstance(n, (ast.stmt, ast.ExceptHandler))]))
        elif isinstance(node, ast.ExceptHandler):
            todo.extend(reversed(node.body))


def _tensorflow(tree: ast.Module) -> Iterator[tuple[ast.stmt, str]]:
    for node in _top(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in ("tensorflow", "tensorflow.compat.v1", TFV1):
                    yield node, alias.asname or alias.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                if alias.name == "tfv1" and (node.module or "").endswith(
                        ("tensorpack", "tfqueue_compat", "compat")):
                    yield node, alias.asname or alias.name


def _last_import(tree: ast.Module) -> ast.stmt | None:
    found: ast.stmt | None = None
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)) and \
                getattr(node, "module", "") != "__future__":
            found = node
    return found
