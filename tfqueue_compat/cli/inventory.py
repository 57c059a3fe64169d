# SPDX-License-Identifier: Apache-2.0
"""What each name of tensorpack and TF 1 is here: ``inventory.json``, loaded once and looked up."""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Fact", "Inventory", "inventory"]

_FILE = Path(__file__).with_name("inventory.json")
_TF_NAME = re.compile(r"tf(\.\w+)+")
#: Packages whose names the packages above them never offered.
_APART = {"imgaug", "dataset"}
_TF_ROOTS = ("tensorflow.compat.v1", "tensorflow", "tensorpack.compat.tfv1", "tensorpack.tfv1")


@dataclass(frozen=True)
class Fact:
    """What the inventory says of one name.

    Attributes:
        name: the name where it is defined, e.g. ``tensorpack.dataflow.common.BatchData``.
        here: ``works``, ``changed``, ``moved`` (rewritten to today's path), or ``gone``.
        note: what is different, or what to do instead; empty where it just works.
        now: today's name or path, where it has another one.
        since: the first version of tensorpack that had it; None where that does not matter.
        until: the last one; None for 0.11, and where it does not matter.
    """

    name: str
    here: str = "works"
    note: str = ""
    now: str = ""
    since: str | None = None
    until: str | None = None

    @property
    def short(self) -> str:
        """The name's last word."""
        return self.name.rpartition(".")[2]


class Inventory:
    """Look-ups in ``inventory.json``.

    Args:
        data: the file's contents.

    Example:
        >>> inventory().find("tensorpack", "PrefetchData").now
        'tensorpack.dataflow.MultiProcessRunner'
        >>> inventory().module("tensorpack", "imgaug")
        'tensorpack.dataflow.imgaug'
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.versions: list[str] = data["versions"]
        self.modules: dict[str, dict[str, Any]] = data["modules"]
        self._names: dict[str, dict[str, dict[str, Any]]] = data["names"]
        self._faces: dict[str, dict[str, str]] = {
            face: {n: home for home, names in homes.items() for n in names.split()}
            for face, homes in data["faces"].items()}
        self._homes: dict[str, list[str]] = {}
        self._since: dict[str, str] = {}
        for module, names in self._names.items():
            for name, entry in names.items():
                first = entry.get("first", entry.get("since", self.versions[0]))
                known = self._since.setdefault(name, first)
                if self.rank(first) < self.rank(known):
                    self._since[name] = first
                self._homes.setdefault(name, []).append(module)
        self._tf = {k: frozenset(v.split()) for k, v in data["tensorflow"]["offered"].items()}

    def rank(self, version: str) -> int:
        """Return a version's place in the order of time."""
        return self.versions.index(version)

    # -- tensorpack

    def module(self, module: str, name: str = "") -> str | None:
        """Return the full path of a module of tensorpack, or of ``name`` in it; None for others."""
        path = f"{module}.{name}" if name else module
        if path in self.modules:
            return path
        if name and name in self.data["star_modules"].get(module, "").split():
            return next((m for m in self.modules if m.endswith(f".{name}")), None)
        return None

    def module_fact(self, path: str) -> Fact:
        """Return what is known of a module of tensorpack, given by its full path."""
        entry = self.modules[path]
        return _fact(path, entry, entry.get("since"))

    def find(self, module: str, name: str) -> Fact | None:
        """Return what ``from module import name`` means; None where tensorpack never had it."""
        home = self.home(module, name)
        if home is None:
            return None
        entry = self._names[home][name]
        exact = home == module and "now" not in entry
        return _fact(f"{home}.{name}", entry,
                     entry.get("since") if exact else self._since[name])

    def home(self, module: str, name: str) -> str | None:
        """Return the module that defines what ``module`` offers as ``name``."""
        if name in self._names.get(module, ()):
            return module
        face = self._faces.get(module, {}).get(name)
        if face is not None and name in self._names.get(face, ()):
            return face
        for below in self._homes.get(name, ()):
            if below.startswith(f"{module}.") and not _APART & set(
                    below[len(module):].split(".")[:-1]):
                return below
        moved: str | None = self.modules.get(module, {}).get("now")
        return self.home(moved, name) if moved else None

    def offers(self, module: str, name: str) -> bool:
        """Say whether ``module.name`` is in tensorpack 0.11, and so here."""
        entry = self._names.get(module, {}).get(name)
        if entry is not None:
            return "until" not in entry
        return name in self._faces.get(module, ())

    def star(self, module: str, name: str) -> Fact | None:
        """Return what ``name`` is after ``from module import *``, in any version; or None."""
        home = self.home(module, name)
        if home is None or self._names[home][name].get("star") is False:
            return None
        return self.find(module, name)

    def star_today(self, module: str, name: str) -> bool:
        """Say whether 0.11's star import of ``module`` binds ``name``."""
        entry = self._names.get(module, {}).get(name)
        if entry is not None:
            return "until" not in entry and entry.get("star", True) is not False
        return (name in self._faces.get(module, ())
                or name in self.data["star_modules"].get(module, "").split())

    def families(self, name: str) -> set[str]:
        """Return a class's own short name, and those of the classes of tensorpack above it."""
        found: set[str] = set()
        while name and name not in found:
            found.add(name)
            name = next((e[name]["base"] for e in self._names.values()
                         if "base" in e.get(name, ())), "")
        return found

    def keyword(self, callable_: str, keyword: str) -> Fact | None:
        """Return what is known of a keyword in calls of tensorpack's ``callable_``; or None."""
        entry = self.data["keywords"].get(callable_, {}).get(keyword)
        return _fact(f"{callable_}({keyword}=)", entry, None) if entry is not None else None

    def unpacked(self, function: str) -> Fact | None:
        """Return the fact of a call with one list, where a function takes its items today."""
        until = self.data["unpacked"].get(function)
        return until and Fact(f"{function}([...])", "moved", now=f"{function}(*[...])", until=until)

    def method(self, families: set[str], name: str) -> Fact | None:
        """Return what is known of a method that a subclass of one of ``families`` defines."""
        for family in families & self.data["methods"].keys():
            if name in self.data["methods"][family]:
                entry = self.data["methods"][family][name]
                return _fact(f"{family}.{name}()", entry, None)
        return None

    # -- TensorFlow and the rest

    def tensorflow(self, path: str) -> Fact | None:
        """Return what ``path``, a dotted name in TensorFlow, is here; None for a mere module.

        Example:
            >>> inventory().tensorflow("tensorflow.scalar_summary").note
            'Use tf.summary.scalar.'
        """
        root = next((r for r in _TF_ROOTS if path == r or path.startswith(f"{r}.")), None)
        if root is None or path == root:
            return None
        words = path[len(root) + 1:].split(".")
        if words[0] == "contrib":
            return self._contrib(words[1:])
        known = "tf"
        for i, word in enumerate(words):
            if known not in self._tf or word.startswith("__"):
                break
            if word not in self._tf[known]:
                return self._tf_missing(words[:i + 1], known)
            known = f"{known}.{word}"
        return Fact("tf." + ".".join(words))

    def _tf_missing(self, words: list[str], owner: str) -> Fact | None:
        data, path = self.data["tensorflow"], ".".join(words)
        do = data["names"].get(path) or data["members"].get(path)
        if do and _TF_NAME.fullmatch(do):
            return Fact(f"tf.{path}", "moved", now=do)
        if do:
            return Fact(f"tf.{path}", "gone", f"Use {do}.")
        if words[0] in ("python", "core", "keras", "compat", "examples", "experimental"):
            return Fact(f"tf.{path}")
        return Fact(f"tf.{path}", "gone", f"Today's {owner} has none: see tf.compat.v1's pages.")

    def old_call(self, path: str, first_is_number: bool) -> Fact | None:
        """Return the fact of a call with the argument order of TensorFlow before 1.0; or None.

        Args:
            path: what is called, e.g. ``tensorflow.concat``.
            first_is_number: whether its first argument is a number, as an axis is.
        """
        root = next((r for r in _TF_ROOTS if path.startswith(f"{r}.")), "")
        name = path[len(root) + 1:]
        order = self.data["tensorflow"]["calls"].get(name) if root else None
        if order is None or (order[0] == "axis" and not first_is_number):
            return None
        arguments = ", ".join(f"{word}=" for word in order)
        return Fact(f"tf.{name}({', '.join(order)})", "moved", now=f"tf.{name}({arguments})")

    def _contrib(self, words: list[str]) -> Fact | None:
        if not words:
            return None
        tf, name = self.data["tensorflow"], "tf.contrib." + ".".join(words[:2])
        part = f"tf.contrib.{words[0]}"
        if part not in self._tf:
            do = tf["contrib"].get(words[0], "what tf.nn, tf.layers or tf.keras have")
            return Fact(part, "gone", f"Use {do}.")
        if len(words) == 1 or words[1] in self._tf[part] or words[1] in ("python", "ops"):
            return Fact(name)
        do = tf["parts"].get(".".join(words[:2]), "tf.nn and tf.get_variable")
        return Fact(name, "gone", f"Use {do}.")

    def library(self, path: str) -> Fact | None:
        """Return what is known of a removed name of NumPy, OpenCV, SciPy or Python; or None."""
        root, _, rest = path.partition(".")
        name, numpy, cv = rest.partition(".")[0], self.data["numpy"], self.data["opencv"]
        if root == "numpy" and name in numpy["builtins"]:
            return Fact(f"np.{name}", "moved", now=numpy["builtins"][name])
        if root == "numpy" and name in numpy["renamed"]:
            return Fact(f"np.{name}", "moved", now=f"np.{numpy['renamed'][name]}")
        if root == "numpy" and name in numpy["gone"]:
            return Fact(f"np.{name}", "gone", numpy["gone"][name])
        if root == "cv2" and name in cv["renamed"]:
            return Fact(f"cv2.{name}", "moved", now=f"cv2.{cv['renamed'][name]}")
        if root == "cv2" and name in cv["gone"]:
            return Fact(f"cv2.{name}", "gone", cv["gone"][name])
        if root == "collections" and name in self.data["collections_abc"]:
            return Fact(f"collections.{name}", "moved", now=f"collections.abc.{name}")
        for known in (path, path.rpartition(".")[0]):
            if known in self.data["libraries"]:
                return Fact(path, "gone", self.data["libraries"][known])
        return None


def _fact(name: str, entry: dict[str, Any], since: str | None) -> Fact:
    now = entry.get("now", "")
    note = entry.get("do") or entry.get("why") or ""
    return Fact(name, entry.get("here", "works"), note, now, since, entry.get("until"))


@functools.cache
def inventory() -> Inventory:
    """Return the inventory that comes with the package."""
    return Inventory(json.loads(_FILE.read_text(encoding="utf-8")))
