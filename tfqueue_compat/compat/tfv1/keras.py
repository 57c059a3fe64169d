# SPDX-License-Identifier: Apache-2.0
"""TF 1's path of ``tf.keras``: Keras 3, with the learning phase, and inputs over tensors."""

from __future__ import annotations

from typing import Any

import tensorflow as _tf

from . import keras_backend as backend
from . import keras_layers as layers
from .keras_layers import Input

__all__ = ["Input", "backend", "layers"]


def __getattr__(name: str) -> Any:
    return getattr(_tf.keras, name)


def __dir__() -> list[str]:
    return sorted({*__all__, *dir(_tf.keras)})
