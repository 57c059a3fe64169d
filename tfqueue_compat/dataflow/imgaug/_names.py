# SPDX-License-Identifier: Apache-2.0
"""The names of a module of this package, brought up into the package."""

from __future__ import annotations

import importlib
import sys

__all__ = ["global_import"]


def global_import(name: str) -> None:
    """Load this package's module ``name`` and set its public names in the package.

    Args:
        name: e.g. ``"crop"``.
    """
    package = sys.modules[__package__ or ""]
    module = importlib.import_module(f"{package.__name__}.{name}")
    for public in module.__all__:
        setattr(package, public, getattr(module, public))
