# SPDX-License-Identifier: Apache-2.0
"""Old names, keywords and methods to today's, at the places that `find_uses` found.

What is not here under its old path is rewritten for ``run``, too; what works under its old name
is rewritten only where `Options.modern` asks for it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from .edits import Edits
from .inventory import Fact, inventory
from .names import Use
from .places import HOUSE

__all__ = ["Renames", "house"]

Change = Callable[[int, str, str], None]
Doubt = Callable[[ast.AST, str], None]
_TF_NAME = re.compile(r"tf(\.\w+)+")


def house(path: str) -> str:
    """Return this package's path for one of tensorpack's."""
    return HOUSE + path[len("tensorpack"):]


class Renames:
    """The edits of one file that come from the inventory.

    Args:
        edits: receives them.
        uses: what the file uses.
        bound: names that the file binds anywhere, other than by star imports.
        modern: also rename what works under its old name.
        methods: methods of the user's classes that may be renamed.
        changed: told of each change: line, old, new.
        doubt: told of what a person must decide.
    """

    def __init__(self, edits: Edits, uses: list[Use], bound: set[str], modern: bool,
                 methods: frozenset[str], changed: Change, doubt: Doubt) -> None:
        self.edits = edits
        self.uses = uses
        self.bound = bound
        self.modern = modern
        self.methods = methods
        self.changed = changed
        self.doubt = doubt
        self.inventory = inventory()
        self.python2: dict[str, list[str]] = self.inventory.data["python2"]["rewritten"]
        self.stars = [u.fact.name for u in uses if u.kind == "star"]
        self.renamed: dict[str, str] = {}
        self.missing: dict[str, str] = {}

    def target(self, module: str, alias: ast.alias) -> tuple[str, str, str] | None:
        """Return what ``from module import alias`` becomes: module, name, and what it binds.

        None where the name stays as it is, or tensorpack never had it.
        """
        fact = self.inventory.find(module, alias.name)
        bound = alias.asname or alias.name
        if fact is None:
            return None
        if fact.here == "gone":
            self.doubt(alias, f"{fact.short} is gone. {fact.note}")
            return None
        if not fact.now:
            home = fact.name.rpartition(".")[0]
            moved = self.inventory.modules.get(module, {}).get("now")
            if moved or (home != module and not self.inventory.offers(module, alias.name)):
                return house(moved or home), alias.name, bound
            return None
        path, _, name = fact.now.rpartition(".")
        if name == alias.name:
            return house(path), name, bound
        free = name not in self.bound or self.renamed.get(alias.name) == name
        if self.modern and alias.asname is None and free:
            self.renamed[alias.name] = name
            return self._keep(module, path, name), name, name
        if fact.here == "moved":
            return house(path), name, bound
        return None

    def apply(self) -> None:
        """Make the edits of names, keywords and methods outside of import statements."""
        for use in self.uses:
            node = use.node
            if isinstance(node, ast.Name) and use.kind == "name":
                self._name(node, use.fact)
            elif isinstance(node, ast.Name) and use.kind == "python2" and self.modern:
                if node.id in self.python2["names"] and use.fact.now not in self.bound:
                    self._swap(node, use.fact.now)
            elif isinstance(node, ast.Attribute) and use.fact.now:
                self._attribute(node, use)
            elif isinstance(node, ast.Attribute) and use.kind == "name" \
                    and not self.inventory.offers(use.owner, use.fact.short):
                self._to_home(node, use)
            elif isinstance(node, ast.Attribute) and use.fact.here == "gone" \
                    and use.kind != "python2":
                self.doubt(node, f"{use.fact.name} is gone. {use.fact.note}")
            elif isinstance(node, ast.Call) and use.kind == "call":
                start = self.edits.span(node.args[0])[0]
                self.edits.replace(start, start, "*")
                self.changed(node.lineno, use.fact.name, use.fact.now)
            elif isinstance(node, ast.Call):
                self._old_call(node, use.fact)
            elif isinstance(node, ast.keyword) and self.modern:
                self._keyword(node, use.fact)
            elif isinstance(node, ast.FunctionDef) and self.modern:
                self._method(node, use.fact)

    def input_specs(self, tree: ast.Module) -> None:
        """Write ``InputDesc(type, shape, name)`` as ``tf.TensorSpec(shape, type, name)``."""
        if "tf" not in self.bound:
            return
        old = {id(u.node) for u in self.uses if u.fact.short in ("InputDesc", "InputVar")}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and id(node.func) in old and len(node.args) == 3 \
                    and not node.keywords and node.lineno == node.end_lineno \
                    and isinstance(node.func, ast.Name) \
                    and not self.edits.touches(*self.edits.span(node)):
                old.discard(id(node.func))
                kind, shape = node.args[:2]
                texts = self.edits.text(kind), self.edits.text(shape)
                self.edits.replace(*self.edits.span(node.func), "tf.TensorSpec")
                self.edits.replace(*self.edits.span(kind), texts[1])
                self.edits.replace(*self.edits.span(shape), texts[0])
                self.changed(node.lineno, "InputDesc(type, shape, name)",
                             "tf.TensorSpec(shape, dtype, name)")
        left = {u.fact.short for u in self.uses if id(u.node) in old}
        for name in {"InputDesc", "InputVar"} - left:
            self.missing.pop(name, None)

    # -- by kind

    def _name(self, node: ast.Name, fact: Fact) -> None:
        if node.id in self.bound:
            if node.id in self.renamed:
                self._swap(node, self.renamed[node.id])
            return
        name = fact.now.rpartition(".")[2] if fact.now else node.id
        if fact.here == "gone":
            self.doubt(node, f"{node.id} is gone. {fact.note}")
        elif any(self.inventory.star_today(star, node.id) for star in self.stars) \
                and not (self.modern and fact.now):
            return
        elif self.modern and name != node.id and name not in self.bound \
                and any(self.inventory.star_today(star, name) for star in self.stars):
            self._swap(node, name)
        elif not any(self.inventory.star_today(star, node.id) for star in self.stars):
            path = fact.now or fact.name
            module = house(path.rpartition(".")[0])
            how = "" if name == node.id else f" as {node.id}"
            self.missing[node.id] = f"from {module} import {name}{how}"

    def _attribute(self, node: ast.Attribute, use: Use) -> None:
        now, fact = use.fact.now, use.fact
        if use.kind == "tf" and _TF_NAME.fullmatch(now):
            root: ast.expr = node
            depth = 0
            while isinstance(root, ast.Attribute):
                root, depth = root.value, depth + 1
            if depth != fact.name.count("."):  # not through `tf` itself
                self.doubt(node, f"{fact.name} is now {now}.")
                return
            self.edits.replace(self.edits.span(root)[1], self.edits.span(node)[1], now[2:])
            self.changed(node.lineno, fact.name, now)
        elif use.kind == "library" and fact.name.startswith("cv2."):
            self._rename(node, now.partition(".")[2])
        elif use.kind == "name" and node.attr == fact.short \
                and (self.modern or fact.here == "moved"):
            name = now.rpartition(".")[2]
            if self.inventory.star_today(use.owner, name) and name != node.attr:
                self._rename(node, name)
            elif fact.here == "moved":
                self.doubt(node, f"{fact.name} is now {house(now)}: import it from there.")
        elif use.kind == "python2" and self.modern:
            if node.attr in self.python2["methods"]:
                self._rename(node, now.rstrip("()"))

    def _to_home(self, node: ast.Attribute, use: Use) -> None:
        """Reach an old name where it is defined: ``tp.InputDesc`` is no name of the root today."""
        home = use.fact.name.rpartition(".")[0]
        if use.fact.here == "gone":
            self.doubt(node, f"{use.fact.name} is gone. {use.fact.note}")
        elif node.attr == use.fact.short and home.startswith(f"{use.owner}."):
            self._rename(node, f"{home[len(use.owner) + 1:]}.{node.attr}")

    def _old_call(self, node: ast.Call, fact: Fact) -> None:
        """Name the arguments that stand in the order of TensorFlow before 1.0."""
        order = fact.name.partition("(")[2].rstrip(")").split(", ")
        ends = [self.edits.span(n)[1] for n in (node.func, *node.args)]
        between = "".join(self.edits.source[end:self.edits.span(argument)[0]]
                          for end, argument in zip(ends, node.args))
        if len(node.args) > len(order) or between.count("(") != 1:  # an argument in parentheses
            self.doubt(node, f"These arguments are in an old order. Write {fact.now}.")
            return
        for argument, name in zip(node.args, order):
            start = self.edits.span(argument)[0]
            self.edits.replace(start, start, f"{name}=")
        self.changed(node.lineno, fact.name, fact.now)

    def _keyword(self, node: ast.keyword, fact: Fact) -> None:
        assert node.arg is not None
        if fact.now:
            start = self.edits.span(node)[0]
            self.edits.replace(start, start + len(node.arg), fact.now)
            self.changed(node.lineno, fact.short, f"{fact.now}=")
        elif fact.here == "gone":
            self.doubt(node, f"{fact.name} is gone. {fact.note}")

    def _method(self, node: ast.FunctionDef, fact: Fact) -> None:
        if fact.here == "gone":
            self.doubt(node, f"{node.name}() is called by nobody. {fact.note}")
        elif fact.now and node.name in self.methods:
            start = self.edits.source.index(node.name, self.edits.span(node)[0] + len("def"))
            self.edits.replace(start, start + len(node.name), fact.now)
            self.changed(node.lineno, f"def {node.name}", f"def {fact.now}")

    # -- bookkeeping

    def _keep(self, module: str, path: str, name: str) -> str:
        """Return the module to import a new name from: the old one where that has it."""
        current = "now" not in self.inventory.modules.get(module, {"now": ""})
        has = self.inventory.star_today(module, name)
        return house(module if current and has else path)

    def _swap(self, node: ast.Name, new: str) -> None:
        self.edits.replace(*self.edits.span(node), new)
        self.changed(node.lineno, node.id, new)

    def _rename(self, node: ast.Attribute, new: str) -> None:
        end = self.edits.span(node)[1]
        self.edits.replace(end - len(node.attr), end, new)
        self.changed(node.lineno, node.attr, new)
