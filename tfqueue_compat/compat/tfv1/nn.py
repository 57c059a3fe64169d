# SPDX-License-Identifier: Apache-2.0
"""TF 1's ``tf.nn``: TensorFlow's own, and ``rnn_cell``."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as _v1

from . import rnn_cell

__all__ = ["rnn_cell"]


def __getattr__(name: str) -> Any:
    return getattr(_v1.nn, name)


def __dir__() -> list[str]:
    return sorted({*__all__, *dir(_v1.nn)})
