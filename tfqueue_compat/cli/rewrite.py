# SPDX-License-Identifier: Apache-2.0
"""The rewriter: a legacy script's text in, the same text for today's libraries out.

It serves ``run`` in memory and ``migrate`` on disk. It works on the positions of Python's own
syntax tree, so whatever it does not change keeps its formatting, and no line moves: line numbers
in tracebacks, debuggers and coverage are those of the original file.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass, field

from .edits import Edits
from .graph_mode import add_graph_mode
from .inventory import inventory
from .names import find_uses
from .places import ABCS, HOUSE, LEAKED, NUMPY_BUILTINS, NUMPY_RENAMED, place
from .renames import Renames
from .syntax import aliases, is_binary, is_dimension, is_legacy_star, last_name, names_bound

__all__ = ["Options", "Remark", "Rewritten", "rewrite"]

_FROM = re.compile(r"from((?:\s|\\\s)+)([\w.]+(?:[\s\\]*\.[\s\\]*\w+)*)")
_TOUCHED = re.compile(
    r"\b(tensorpack|tensorflow|imp|numpy|collections|cv2)\b|\.(tostring|value)\b")
_BY_NAME = ("import_module", "importorskip", "find_spec", "__import__")


@dataclass(frozen=True)
class Options:
    """Which kinds of legacy names are rewritten; all of them unless said otherwise.

    Attributes:
        modern: also rename what works under its old name, and Python 2's leftovers, and let a
            script enter graph mode by itself: for ``migrate``.
        methods: methods of the user's classes that `modern` may rename.
        script: the file is run, not imported, whatever it looks like: a notebook.
    """

    tensorpack: bool = True
    tensorflow: bool = True
    numpy: bool = True
    stdlib: bool = True
    modern: bool = False
    methods: frozenset[str] = frozenset()
    script: bool = False


@dataclass(frozen=True)
class Remark:
    """One place in a script: what stood there, and what stands there now or why it is in doubt."""

    line: int
    old: str
    new: str = ""
    why: str = ""


@dataclass(frozen=True)
class Rewritten:
    """The result of `rewrite`: the text, what was changed, and what a person must decide."""

    text: str
    changes: tuple[Remark, ...] = field(default=())
    doubts: tuple[Remark, ...] = field(default=())


def rewrite(source: str, options: Options = Options(), filename: str = "<script>") -> Rewritten:
    """Rewrite one legacy source text.

    Args:
        source: the text of a Python 3 file.
        options: what to rewrite.
        filename: the name that a SyntaxError shows.

    Returns:
        The new text, with as many lines as the old one, and remarks in the order of lines.

    Raises:
        SyntaxError: for a text that today's Python cannot read.

    Example:
        >>> rewrite("import tensorpack.dataflow as df\\n").text
        'import tfqueue_compat.dataflow as df\\n'
    """
    if not options.modern and not _TOUCHED.search(source):
        return Rewritten(source)
    tree = compile(source, filename, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    assert isinstance(tree, ast.Module)
    worker = _Rewriter(Edits(source), options, tree)
    worker.visit(tree)
    worker.finish(tree)
    return Rewritten(worker.edits.apply(), tuple(sorted(worker.changes, key=_by_line)),
                     tuple(sorted(worker.doubts, key=_by_line)))


def _by_line(remark: Remark) -> int:
    return remark.line


class _Rewriter(ast.NodeVisitor):
    def __init__(self, edits: Edits, options: Options, tree: ast.Module) -> None:
        self.edits = edits
        self.options = options
        self.changes: list[Remark] = []
        self.doubts: list[Remark] = []
        self.bound = set(names_bound(tree))
        self.numpy = {a.asname or a.name for a in aliases(tree, "numpy")} - self.bound
        self.read: set[str] = set()
        self.stars = [n for n in ast.walk(tree) if is_legacy_star(n)] \
            if options.tensorpack else []
        self.leaked = set(LEAKED) - self.bound - self.numpy if self.stars else set()
        self.numpy |= self.leaked & {"np"}
        uses = find_uses(tree) if options.tensorpack else []
        self.renames = Renames(edits, uses, self.bound, options.modern, options.methods,
                               self._changed, self._doubt)

    # -- imports

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            new = self._module(alias.name)
            if new is None:
                self._doubt_kept(alias)
            elif alias.asname is not None:
                self._swap(alias, f"{new} as {alias.asname}")
            else:
                root = alias.name.partition(".")[0]
                face = self._module(root)
                self._swap(alias, ("" if face == new else f"{new}, ") + f"{face} as {root}")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level or node.module is None or not self._wanted(node.module):
            return
        new = [self._target(node.module, alias) for alias in node.names]
        same = [n == a.name and b == (a.asname or a.name)
                for (_, n, b), a in zip(new, node.names)]
        modules = {m for m, _, _ in new}
        if modules == {node.module} and all(same):
            return
        if len(modules) > 1 or any(name is None for _, name, _ in new):
            self._split(node, new)
            return
        match = _FROM.match(self.edits.source, self.edits.span(node)[0])
        assert match is not None
        if modules != {node.module}:
            self.edits.replace(match.start(2), match.end(2), new[0][0])
            self._changed(node.lineno, f"from {node.module} import", f"from {new[0][0]} import")
        for kept, alias, (_, name, bound) in zip(same, node.names, new):
            if not kept:
                self._swap(alias, f"{name}" if name == bound else f"{name} as {bound}")

    def _target(self, module: str, alias: ast.alias) -> tuple[str, str | None, str]:
        """Return the module, the name in it or None for the module itself, and what is bound."""
        bound = alias.asname or alias.name
        if module.partition(".")[0] in ("tensorpack", HOUSE) and alias.name != "*":
            found = self.renames.target("tensorpack" + module.removeprefix("tensorpack")
                                        .removeprefix(HOUSE), alias)
            if found is not None:
                return found
        return (*(self._place(module, alias.name) or (module, alias.name)), bound)

    def _split(self, node: ast.ImportFrom, new: list[tuple[str, str | None, str]]) -> None:
        """Write one import as several, where its names have gone to several modules."""
        parts: dict[str, list[str]] = {}
        for module, name, bound in new:
            if name is None:
                parts[f"import {module} as {bound}"] = []
            else:
                item = name if name == bound else f"{name} as {bound}"
                parts.setdefault(f"from {module} import ", []).append(item)
        text = "; ".join(head + ", ".join(items) for head, items in parts.items())
        if not self.edits.replace_statement(node, text):
            self._doubt(node, f"Write instead: {text}")
            return
        self._changed(node.lineno, self.edits.text(node), text)

    def visit_Call(self, node: ast.Call) -> None:
        called = last_name(node.func)
        if called in _BY_NAME and node.args:
            self._import_by_name(node, called)
        elif called == "tostring" and isinstance(node.func, ast.Attribute) \
                and self.options.numpy and not node.args and not node.keywords:
            self._rename(node.func, "tobytes")
        elif called == "fromstring" and self._is_numpy(node.func) and is_binary(node):
            self._rename(node.func, "frombuffer")
            self.edits.replace(self.edits.span(node)[1], self.edits.span(node)[1], ".copy()")
        self.generic_visit(node)

    def _import_by_name(self, node: ast.Call, called: str) -> None:
        name = node.args[0]
        if not isinstance(name, ast.Constant) or not isinstance(name.value, str):
            if called in ("import_module", "__import__"):
                self._doubt(node, "The module's name is computed: it is imported as it is.")
            return
        new = self._module(name.value)
        if new is None:
            return
        if called == "__import__" and name.value.partition(".")[0] != "tensorpack":
            if len(node.args) > 1 or node.keywords or "." in name.value:
                self._doubt(node, "Use importlib.import_module() instead of __import__().")
                return
            self._swap(node, f"__import__({new!r}, fromlist=('__name__',))")
        else:
            self._swap(name, repr(new))

    # -- names

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.read.add(node.id)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        if sys.version_info >= (3, 12):
            self.generic_visit(node)
        else:  # positions inside an f-string are not those of the file
            self.read |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr == "value" and self.options.tensorflow and is_dimension(node.value):
            self._dimension(node, node.value)
        elif isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name):
            owner = node.value.id
            if owner in self.numpy:
                self._numpy_name(node)
            elif owner == "collections" and node.attr in ABCS and self.options.stdlib \
                    and owner not in self.bound:
                self._rename(node, f"abc.{node.attr}")
        self.generic_visit(node)

    def _dimension(self, node: ast.Attribute, item: ast.Subscript) -> None:
        """``shape[i].value`` to ``shape.as_list()[i]``, an int or None with either TensorFlow."""
        shape, end = self.edits.span(item.value)[1], self.edits.span(item)[1]
        self.edits.replace(shape, shape, ".as_list()")
        self.edits.replace(end, self.edits.span(node)[1], "")
        self._changed(node.lineno, "[...].value", ".as_list()[...]")

    def _numpy_name(self, node: ast.Attribute) -> None:
        if not self.options.numpy:
            return
        if node.attr in NUMPY_RENAMED:
            self._rename(node, NUMPY_RENAMED[node.attr])
        elif node.attr in NUMPY_BUILTINS:
            new = NUMPY_BUILTINS[node.attr]
            if new in self.bound:
                self._doubt(node, f"{new!r} means something else in this file.")
            else:
                self._swap(node, new)

    def _is_numpy(self, func: ast.expr) -> bool:
        return (self.options.numpy and isinstance(func, ast.Attribute)
                and isinstance(func.value, ast.Name) and func.value.id in self.numpy)

    def finish(self, tree: ast.Module) -> None:
        """Make the edits that need the whole file to have been read."""
        self.renames.apply()
        if self.options.modern:
            self.renames.input_specs(tree)
        missing = {n: LEAKED[n] for n in LEAKED if n in self.read & self.leaked}
        missing.update(self.renames.missing)
        if missing:
            star = self.stars[-1]
            new = "".join(f"; {text}" for text in missing.values())
            end = self.edits.span(star)[1]
            self.edits.replace(end, end, new)
            self._changed(star.lineno, "names that the star import used to bind", new[2:])
        if self.options.modern and self.options.tensorflow:
            add_graph_mode(self.edits, tree, self.renames.uses, "tf" in missing, self._changed,
                           self.options.script)

    # -- bookkeeping

    def _wanted(self, module: str) -> bool:
        root = module.partition(".")[0]
        return {"tensorpack": self.options.tensorpack, HOUSE: self.options.modern,
                "tensorflow": self.options.tensorflow}.get(root, self.options.stdlib)

    def _place(self, module: str, name: str | None = None) -> tuple[str, str | None] | None:
        python2 = inventory().data["python2"]
        if self.options.modern and module in python2["rewritten"]["modules"]:
            return python2["modules"][module], name
        return place(module, name)

    def _module(self, module: str) -> str | None:
        new = self._place(module) if self._wanted(module) else None
        return new[0] if new else None

    def _doubt_kept(self, alias: ast.alias) -> None:
        if alias.asname is None and alias.name.startswith("tensorflow."):
            self._doubt(alias, "This binds `tensorflow` itself, without TF 1's names.")

    def _swap(self, node: ast.stmt | ast.expr | ast.alias, new: str) -> None:
        self._changed(node.lineno, self.edits.text(node), new)
        self.edits.replace(*self.edits.span(node), new)

    def _rename(self, node: ast.expr, new: str) -> None:
        """Change an attribute's own name, the last word of its span."""
        assert isinstance(node, ast.Attribute)
        end = self.edits.span(node)[1]
        self.edits.replace(end - len(node.attr), end, new)
        self._changed(node.lineno, node.attr, new)

    def _changed(self, line: int, old: str, new: str) -> None:
        self.changes.append(Remark(line, old, new))

    def _doubt(self, node: ast.AST, why: str) -> None:
        line: int = getattr(node, "lineno")
        self.doubts.append(Remark(line, self.edits.line(line), why=why))
