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
#: Rooms of tensorpack that need no TensorFlow.
_LIGHT = ("tensorpack.dataflow", "tensorpack.utils", "tensorpack.libinfo")


def add_graph_mode(edits: Edits, tree: ast.Module, uses: list[Use], leaked: bool,
                   changed: Callable[[int, str, str], None]) -> None:
    """Add ``tf.disable_eager_execution()`` behind a script's first import of TensorFlow.

    Files that are only imported, and scripts that need no TensorFlow, stay as they are.

    Args:
        edits: receives the edit.
        tree: the script.
        uses: the names that it uses.
        leaked: whether ``tf`` is bound beside a star import.
        changed: told of the change.
    """
    if not _is_script(tree) or any(_calls_mode(node) for node in ast.walk(tree)):
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
    """Say whether the file does something when it is run: a guard, or calls at top level."""
    for node in tree.body:
        if isinstance(node, ast.If) and any(
                isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(node.test)):
            return True
    return any(isinstance(n, (ast.For, ast.While, ast.With)) for n in tree.body)


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
