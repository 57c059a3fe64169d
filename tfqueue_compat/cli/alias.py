# SPDX-License-Identifier: Apache-2.0
"""For notebooks and other programs of your own: ``tensorpack`` means this package from here on."""

from __future__ import annotations

import builtins
import importlib
import importlib.machinery
import os
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from .places import HOUSE, TFV1, place
from .userfiles import UserFiles, hook

__all__ = ["install", "uninstall"]

_undo: list[Callable[[], None]] = []
_installed: set[str] = set()


def install(tensorflow: bool = False) -> None:
    """Let ``import tensorpack`` give this package, everywhere in this process.

    A second call changes nothing, or adds ``tensorflow``. `uninstall` undoes it.

    Args:
        tensorflow: also let ``import tensorflow as tf``, in the notebook itself and in the modules
            below the working directory, give TF 1's names, and enter a graph for this thread, as
            TF 1 scripts expect. Installed packages keep TensorFlow as it is.

    Raises:
        RuntimeError: where real tensorpack has been imported already.

    Example:
        >>> import tfqueue_compat
        >>> tfqueue_compat.install()
        >>> import tensorpack.dataflow
        >>> tensorpack.dataflow.__name__
        'tfqueue_compat.dataflow'
        >>> tfqueue_compat.uninstall()
    """
    if "tensorpack" not in _installed:
        _alias_tensorpack()
        _installed.add("tensorpack")
    if tensorflow and "tensorflow" not in _installed:
        _alias_tensorflow()
        _installed.add("tensorflow")


def uninstall() -> None:
    """Undo `install`; nothing where it was not called. Modules in use stay what they are."""
    while _undo:
        _undo.pop()()
    _installed.clear()


class _Alias:
    """Finds ``tensorpack.a.b``: the very module object of ``tfqueue_compat.a.b``."""

    def find_spec(self, name: str, path: Sequence[str] | None = None,
                  target: ModuleType | None = None) -> importlib.machinery.ModuleSpec | None:
        root, _, rest = name.partition(".")
        if root != "tensorpack":
            return None
        loader: Any = _AliasLoader(f"{HOUSE}.{rest}" if rest else HOUSE)
        return importlib.machinery.ModuleSpec(name, loader)


class _AliasLoader:
    def __init__(self, name: str) -> None:
        self.name = name
        self.spec: Any = None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.name)
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec  # the import system had put the alias there


def _alias_tensorpack() -> None:
    there = sys.modules.get("tensorpack")
    if there is not None:
        raise RuntimeError(
            f"install(): Expected no tensorpack in this process. Received "
            f"{getattr(there, '__file__', there)}, imported already. "
            f"Do: restart, and call install() before the first import of tensorpack.")
    finder: Any = _Alias()
    sys.meta_path.insert(0, finder)

    def undo() -> None:
        sys.meta_path.remove(finder)
        for name in [n for n in sys.modules if n.partition(".")[0] == "tensorpack"]:
            del sys.modules[name]

    _undo.append(undo)


def _alias_tensorflow() -> None:
    from ..compat import enter_graph, leave_graph

    plain = builtins.__import__

    def import_(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (),
                level: int = 0) -> Any:
        if level or name.partition(".")[0] != "tensorflow" or not globals \
                or globals.get("__name__") != "__main__":
            return plain(name, globals, locals, fromlist, level)
        found = _tf1(name, fromlist or ())
        return plain(name, globals, locals, fromlist, level) if found is None else found

    def undo() -> None:
        if builtins.__import__ is import_:
            builtins.__import__ = plain

    builtins.__import__ = import_
    enter_graph()
    _undo.extend([undo, leave_graph, hook(UserFiles([os.getcwd()]))])


def _tf1(name: str, fromlist: Sequence[str]) -> ModuleType | None:
    """Return what an import statement takes its names from, or None where TF 1 is not meant."""
    if not fromlist:
        new = place(name)
        if new is None:
            return None
        importlib.import_module(new[0])
        return importlib.import_module(TFV1)
    found = [(n, *(place(name, n) or (name, n))) for n in fromlist]
    if all(home == name for _, home, _ in found):
        return None
    if all(home == found[0][1] and n == attribute for n, home, attribute in found):
        return importlib.import_module(found[0][1])
    module = ModuleType(name)
    for bound, home, attribute in found:
        value: Any = importlib.import_module(home)
        if attribute is not None and not hasattr(value, attribute):
            value = importlib.import_module(f"{home}.{attribute}")
        elif attribute is not None:
            value = getattr(value, attribute)
        setattr(module, bound, value)
    return module
