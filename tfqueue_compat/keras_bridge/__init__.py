# SPDX-License-Identifier: Apache-2.0
"""The eager machine: what tensorpack's users have, under Keras' ``fit``.

A name is imported when it is first asked for.
"""

from __future__ import annotations

import importlib
from typing import Any

from ..utils.errors import near

__all__ = ["AcrossWorkers", "KerasCallback", "ModelDescModel", "TowerBatches", "WorkerLost",
           "across_workers", "batch_per_tower"]

_HOMES: dict[str, tuple[str, ...]] = {
    "keras_callback": ("KerasCallback",),
    "model": ("ModelDescModel",),
    "strategy": ("AcrossWorkers", "TowerBatches", "WorkerLost", "across_workers",
                 "batch_per_tower"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}.{near(name, _HOME)}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
