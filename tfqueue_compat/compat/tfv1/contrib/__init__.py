# SPDX-License-Identifier: Apache-2.0
"""The part of TF 1's ``tf.contrib`` that scripts still use: framework, image, layers, rnn, slim."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import tensorflow.compat.v1 as _v1

from ..gone import contrib_gone

__all__ = ["autograph", "distributions", "framework", "image", "keras", "layers", "rnn",
           "signal", "slim"]

#: Parts that moved into TensorFlow as they were.
autograph, distributions, signal = _v1.autograph, _v1.distributions, _v1.signal
for _module in (autograph, distributions, signal):
    sys.modules[f"{__name__}.{_module.__name__.rpartition('.')[2]}"] = _module


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "keras":
        return importlib.import_module("..keras", __name__)
    whole = f"{__name__}.{name}"
    try:
        return importlib.import_module(whole)
    except ModuleNotFoundError as e:
        if e.name != whole:
            raise
    raise contrib_gone(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
