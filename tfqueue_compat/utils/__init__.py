# SPDX-License-Identifier: Apache-2.0
"""tensorpack's path of the small tools: ``tensorpack.utils``."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["change_env", "execute_only_once", "fix_rng_seed", "get_rng", "get_tqdm",
           "humanize_time_delta", "logger"]

_MODULES = frozenset({
    "argtools", "compatible_serialize", "concurrency", "debug", "develop", "errors", "fs",
    "globvars", "gpu", "loadcaffe", "logger", "naming", "nvml", "palette", "serialize", "stats",
    "timer", "utils", "viz"})


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in __all__:
        return getattr(importlib.import_module(f"{__name__}.utils"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *__all__})
