# SPDX-License-Identifier: Apache-2.0
"""The part of TF 1's ``tf.contrib`` that scripts still use: framework, image, layers, rnn, slim."""

from __future__ import annotations

import importlib
from typing import Any

from ..gone import contrib_gone

__all__ = ["framework", "image", "layers", "rnn", "slim"]


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    whole = f"{__name__}.{name}"
    try:
        return importlib.import_module(whole)
    except ModuleNotFoundError as e:
        if e.name != whole:
            raise
    raise contrib_gone(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
