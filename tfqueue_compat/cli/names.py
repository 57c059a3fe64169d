# SPDX-License-Identifier: Apache-2.0
"""Which names of tensorpack, TF 1 and removed parts of other packages a file uses, and where.

Imports, their aliases, star imports, attributes, keywords in calls, and methods that a subclass
overrides are resolved by the syntax tree alone; nothing is imported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from .inventory import Fact, inventory
from .syntax import defaults, is_number

__all__ = ["Use", "find_uses"]

_ROOTS = ("tensorpack", "tensorflow", "numpy", "cv2", "collections", "scipy", "sklearn", "time",
          "inspect", "platform", "fractions", "base64", "os", "string", "itertools", "sys", "types")
_HOUSE = "tfqueue_compat"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True)
class Use:
    """One place where a name is used.

    Attributes:
        line: line in the file, counted from 1.
        kind: ``name``, ``module``, ``star``, ``call``, ``keyword``, ``method``, ``tf``,
            ``library`` or ``python2``.
        fact: what the inventory says of the name.
        node: where it stands in the syntax tree.
        owner: the module of tensorpack that it was looked up in.
    """

    line: int
    kind: str
    fact: Fact
    node: ast.AST
    owner: str = ""


def find_uses(tree: ast.Module) -> list[Use]:
    """Return every use of a name that the inventory knows, in the order of lines.

    Example:
        >>> tree = ast.parse("from tensorpack import *\\nds = PrefetchDataZMQ(ds, nr_proc=2)\\n")
        >>> [(u.line, u.fact.short) for u in find_uses(tree)]
        [(1, 'tensorpack'), (2, 'PrefetchDataZMQ'), (2, 'PrefetchDataZMQ(nr_proc=)')]
    """
    finder = _Finder(tree)
    finder.visit(tree)
    return sorted(finder.uses, key=lambda u: u.line)


class _Finder(ast.NodeVisitor):
    def __init__(self, tree: ast.Module) -> None:
        self.inventory = inventory()
        self.uses: list[Use] = []
        self.stars: list[str] = []
        self.foreign = False  # a star import of something else may bind anything
        self.classes: dict[str, set[str]] = {}
        self.scopes: list[dict[str, str]] = [_bindings(tree.body)]
        self.python2 = inventory().data["python2"]

    # -- imports

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._imported(_path(alias.name), alias)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        star = node.names[0].name == "*"
        if star and (node.module or "").partition(".")[0] not in ("tensorpack", _HOUSE):
            self.foreign = True
        if node.level or not node.module:
            return
        module = _path(node.module)
        for alias in node.names:
            if alias.name != "*":
                self._imported(f"{module}.{alias.name}", alias)
            elif module.partition(".")[0] == "tensorpack":
                full = self.inventory.module(module)
                if full:
                    self.stars.append(full)
                    self._add(node, "star", self.inventory.module_fact(full))

    def _imported(self, path: str, node: ast.alias) -> None:
        if path in self.python2["modules"]:
            self._add(node, "python2", _python2(path, self.python2["modules"]))
        self._dotted(path, node)

    # -- names

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            return
        path = self._lookup(node.id)
        if path is not None:
            if path:
                self._dotted(path, node)
            return
        for star in reversed(self.stars):
            fact = self.inventory.star(star, node.id)
            if fact is not None:
                self._add(node, "name", fact)
                return
        if node.id in self.python2["names"] and not self.foreign:
            self._add(node, "python2", _python2(node.id, self.python2["names"]))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = self._path_of(node)
        if path:
            self._dotted(path, node)
            return
        if node.attr in self.python2["methods"] and isinstance(node.ctx, ast.Load) \
                and not (isinstance(node.value, ast.Name) and node.value.id == "six"):
            self._add(node, "python2", _python2(node.attr, self.python2["methods"]))
        self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        self._old_call(node)
        fact = self._tensorpack(node.func) or self._wrapped(node.func)
        if fact is not None:
            callables = [fact.short]
            unpacked = self.inventory.unpacked(fact.short)
            if unpacked and len(node.args) == 1 and isinstance(node.args[0], ast.List):
                self._add(node, "call", unpacked)
            if fact.short == "argscope" and node.args:
                first = node.args[0]
                layers = first.elts if isinstance(first, (ast.List, ast.Tuple)) else [first]
                found = [self._tensorpack(x) for x in layers]
                callables = [f.short for f in found if f is not None]
            for keyword in node.keywords:
                facts = [self.inventory.keyword(c, keyword.arg or "") for c in callables]
                if facts and facts[0] is not None and len({f and f.now for f in facts}) == 1:
                    self._add(keyword, "keyword", facts[0])
        self.generic_visit(node)

    def _old_call(self, node: ast.Call) -> None:
        """Note arguments in an order that TensorFlow 1.0 changed, or forbade."""
        path = self._path_of(node.func) if len(node.args) > 1 else None
        if path:
            fact = self.inventory.old_call(path, is_number(node.args[0]))
            if fact is not None and not any(isinstance(a, ast.Starred) for a in node.args):
                self._add(node, "tf", fact)

    # -- scopes

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for outer in (*node.decorator_list, *defaults(node.args)):
            self.visit(outer)
        self.scopes.append(_bindings(node.body, node.args))
        for statement in node.body:
            self.visit(statement)
        self.scopes.pop()

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)  # type: ignore[arg-type]  # the same fields

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for outer in defaults(node.args):
            self.visit(outer)
        self.scopes.append(_bindings([], node.args))
        self.visit(node.body)
        self.scopes.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        families: set[str] = set()
        for base in node.bases:
            fact = self._tensorpack(base)
            if fact is not None:
                families |= self.inventory.families(fact.short)
            elif isinstance(base, ast.Name):
                families |= self.classes.get(base.id, set())
        self.classes[node.name] = families
        for statement in node.body:
            if families and isinstance(statement, ast.FunctionDef):
                method = self.inventory.method(families, statement.name)
                if method is not None:
                    self._add(statement, "method", method)
        self.generic_visit(node)

    # -- resolving

    def _lookup(self, name: str) -> str | None:
        """Return what a name is bound to: a dotted path, "" for other things, None for nothing."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def _path_of(self, node: ast.expr) -> str | None:
        words: list[str] = []
        while isinstance(node, ast.Attribute):
            words.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        root = self._lookup(node.id)
        if root is None:
            root = next((m for m in (self.inventory.module(star, node.id)
                                     for star in reversed(self.stars)) if m), None)
            if root is None and node.id == "tf" and self.stars:
                root = "tensorflow"  # old star imports left it behind
        if root:
            return ".".join([root, *reversed(words)])
        return None

    def _resolve(self, path: str) -> tuple[str, Fact, str] | None:
        """Return the kind, the fact and the module of a dotted path, as far as it is known."""
        root = path.partition(".")[0]
        if path.startswith(("tensorpack.tfv1", "tensorpack.compat.tfv1")) or root == "tensorflow":
            fact = self.inventory.tensorflow(path)
            return ("tf", fact, "") if fact else None
        if root != "tensorpack":
            fact = self.inventory.library(path)
            return ("library", fact, "") if fact else None
        module = "tensorpack"
        for word in path.split(".")[1:]:
            below = self.inventory.module(module, word)
            if below is None:
                fact = self.inventory.find(module, word)
                return ("name", fact, module) if fact else None
            module = below
        return "module", self.inventory.module_fact(module), module

    def _tensorpack(self, node: ast.expr) -> Fact | None:
        if isinstance(node, ast.Name) and self._lookup(node.id) is None:
            return next((f for f in (self.inventory.star(star, node.id)
                                     for star in reversed(self.stars)) if f), None)
        path = self._path_of(node)
        found = self._resolve(path) if path and path.startswith("tensorpack.") else None
        return found[1] if found and found[0] == "name" else None

    def _wrapped(self, func: ast.expr) -> Fact | None:
        """Return the layer that ``LinearWrap(x).Layer1(...).Layer2(...)`` calls last."""
        if not isinstance(func, ast.Attribute):
            return None
        node: ast.expr = func.value
        while True:
            made = self._tensorpack(node.func) if isinstance(node, ast.Call) else None
            if made is not None and made.short == "LinearWrap":
                return self.inventory.find("tensorpack.models", func.attr)
            if isinstance(node, ast.Call):
                node = node.func
            elif isinstance(node, ast.Attribute):
                node = node.value
            else:
                return None

    def _dotted(self, path: str, node: ast.expr | ast.alias) -> None:
        found = self._resolve(path)
        if found is not None and (found[0] != "module" or isinstance(node, ast.alias)):
            self._add(node, *found)

    def _add(self, node: ast.AST, kind: str, fact: Fact, owner: str = "") -> None:
        self.uses.append(Use(getattr(node, "lineno", 0), kind, fact, node, owner))


def _path(module: str) -> str:
    """Return a module's name, tensorpack's and TensorFlow's own for ours."""
    if module == _HOUSE or module.startswith(f"{_HOUSE}."):
        module = "tensorpack" + module[len(_HOUSE):]
    if module.startswith("tensorpack.compat.tfv1"):
        return "tensorflow" + module[len("tensorpack.compat.tfv1"):]
    return module


def _python2(name: str, table: dict[str, str]) -> Fact:
    return Fact(name, "gone", f"Python 2's. Use {table[name]}.", table[name])


def _bindings(body: list[ast.stmt], args: ast.arguments | None = None) -> dict[str, str]:
    """Return what a scope binds: names to dotted paths of imports, or "" for anything else."""
    found: dict[str, str] = {}
    if args is not None:
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
        found = {a.arg: "" for a in every if a is not None}
    todo: list[ast.AST] = list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update(_imports(node))
        elif isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            if not isinstance(node, ast.Lambda):
                found.setdefault(node.name, "")
        else:
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                found.setdefault(node.id, "")
            elif isinstance(node, ast.ExceptHandler) and node.name:
                found.setdefault(node.name, "")
            todo.extend(ast.iter_child_nodes(node))
    return found


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            path = _path(alias.name)
            root = path.partition(".")[0]
            known = path if alias.asname else root
            yield (alias.asname or alias.name.partition(".")[0], known if root in _ROOTS else "")
    elif node.names[0].name != "*":
        module = _path(node.module or "")
        root = "" if node.level else module.partition(".")[0]
        for alias in node.names:
            path = f"{module}.{alias.name}" if root in _ROOTS else ""
            yield alias.asname or alias.name, _path(path)
