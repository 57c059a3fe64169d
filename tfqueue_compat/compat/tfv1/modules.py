# SPDX-License-Identifier: Apache-2.0
"""Makes the modules that a namespace forwards importable under its own path."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import ModuleType

__all__ = ["lend_modules"]


def lend_modules(source: ModuleType, path: str, own: Iterable[str] = ()) -> None:
    """Register the loaded submodules of ``source`` under ``path`` in ``sys.modules``.

    So ``import path.train`` and ``from path.train import X`` find the very module that
    ``path.train`` forwards. Nothing is loaded by it.

    Args:
        source: a package whose API modules are its attributes.
        path: dotted name of the package that forwards.
        own: names that ``path`` defines itself, left alone.
    """
    for name, module in list(vars(source).items()):
        if name in own or not _is_api(module, name):
            continue
        key = f"{path}.{name}"
        if key not in sys.modules:
            sys.modules[key] = module
            lend_modules(module, key)


def _is_api(module: object, name: str) -> bool:
    # A lazy loader is a module too: its own dict is asked, so that it stays unloaded.
    if not isinstance(module, ModuleType):
        return False
    known = str(object.__getattribute__(module, "__dict__").get("__name__"))
    return ".compat.v1" in known and known.endswith(f".{name}")
