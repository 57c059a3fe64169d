# SPDX-License-Identifier: Apache-2.0
"""Layers that only move values."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from .registry import layer_register

__all__ = ["ConcatWith"]


@layer_register(use_scope=None)
def ConcatWith(x: Any, tensor: Any, dim: int) -> Any:
    """Concatenate; for use in ``LinearWrap``.

    Args:
        x: a tensor.
        tensor: a tensor, or several, put after it.
        dim: the axis.
    """
    others = list(tensor) if isinstance(tensor, (list, tuple)) else [tensor]
    return tf.concat([x, *others], dim)
