# SPDX-License-Identifier: Apache-2.0
"""Data sets: ``tensorpack.dataflow.dataset``, and :class:`Digits`, which needs no download."""

from __future__ import annotations

import importlib
from typing import Any

from ...utils.errors import near

_HOMES = {
    "bsds500": ("BSDS500",),
    "caltech101": ("Caltech101Silhouettes",),
    "cifar": ("Cifar10", "Cifar100", "CifarBase"),
    "digits": ("Digits",),
    "ilsvrc": ("ILSVRC12", "ILSVRC12Files", "ILSVRCMeta", "TinyImageNet"),
    "mnist": ("FashionMnist", "Mnist"),
    "places": ("Places365Standard",),
    "svhn": ("SVHNDigit",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = ["BSDS500", "Caltech101Silhouettes", "Cifar10", "Cifar100", "CifarBase", "Digits",
           "FashionMnist", "ILSVRC12", "ILSVRC12Files", "ILSVRCMeta", "Mnist",
           "Places365Standard", "SVHNDigit", "TinyImageNet"]


def __getattr__(name: str) -> Any:
    if name in _HOMES or name == "common":
        return importlib.import_module(f"{__name__}.{name}")
    if name in _HOME:
        value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    elif name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    else:
        value = _of_dataflow(name)
    globals()[name] = value
    return value


def _of_dataflow(name: str) -> Any:
    """Look the name up in the package above: old tutorials write ``dataset.BatchData``."""
    if name == "logger":
        return importlib.import_module("...utils.logger", __name__)
    above = importlib.import_module("..", __name__)
    try:
        return getattr(above, name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}."
                             f"{near(name, _HOME)}") from None


def global_import(name: str) -> None:
    """Import a module of this package now, and put its public names here.

    Args:
        name: e.g. ``"mnist"``.
    """
    module = importlib.import_module(f"{__name__}.{name}")
    globals().update({n: getattr(module, n) for n in module.__all__})


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_HOMES})
