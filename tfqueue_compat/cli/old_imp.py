# SPDX-License-Identifier: Apache-2.0
"""What scripts used of the module ``imp``, which Python 3.12 removed, over ``importlib``."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import Any

__all__ = ["acquire_lock", "load_module", "load_source", "lock_held", "new_module",
           "release_lock", "reload"]

reload = importlib.reload


def load_source(name: str, pathname: str, file: Any = None) -> ModuleType:
    """Load the Python file ``pathname`` as module ``name`` and return it.

    Args:
        name: the module's name in ``sys.modules``.
        pathname: path of the source file.
        file: an open file, as ``imp`` took one; not needed.

    Raises:
        ImportError: if the file is no Python source.
    """
    spec = importlib.util.spec_from_file_location(name, pathname)
    if spec is None or spec.loader is None:
        raise ImportError(f"load_source: Expected the path of a Python file. Received "
                          f"{pathname!r}. Do: Pass a path that ends in .py.", name=name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def load_module(name: str, file: Any, pathname: str, description: Any = None) -> ModuleType:
    """Load ``pathname`` as module ``name``; for source files only."""
    return load_source(name, pathname, file)


def new_module(name: str) -> ModuleType:
    """Return an empty module that is in no table yet."""
    return ModuleType(name)


def lock_held() -> bool:
    """Say whether an import is locked; always False, since locks are per module today."""
    return False


def acquire_lock() -> None:
    """Do nothing: importlib locks each module by itself."""


def release_lock() -> None:
    """Do nothing: importlib locks each module by itself."""
