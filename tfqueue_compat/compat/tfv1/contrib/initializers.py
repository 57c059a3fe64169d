# SPDX-License-Identifier: Apache-2.0
"""contrib.layers' initializers, with its own constants."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ....utils.errors import near, say

__all__ = ["variance_scaling_initializer", "xavier_initializer", "xavier_initializer_conv2d"]

_MODES = ("FAN_IN", "FAN_OUT", "FAN_AVG")


def variance_scaling_initializer(factor: float = 2.0, mode: str = "FAN_IN",
                                 uniform: bool = False, seed: int | None = None,
                                 dtype: Any = tf.float32) -> Callable[..., Any]:
    """Return an initializer of variance ``factor / n``; the defaults are He et al. 2015.

    Uniform values lie within sqrt(3 * factor / n). Normal ones have stddev
    sqrt(1.3 * factor / n) and are truncated at two of them; contrib rounded so, and
    ``tf.variance_scaling_initializer`` differs by 0.3 %.

    Args:
        factor: multiple of the variance.
        mode: n is the number of inputs, of outputs, or their mean.
        uniform: the distribution.
        seed: of the random numbers.
        dtype: a floating dtype, where the variable does not say.

    Raises:
        TypeError: for another dtype.
        ValueError: for another mode.
    """
    if not tf.as_dtype(dtype).is_floating:
        raise TypeError(say("variance_scaling_initializer", expected="a floating dtype",
                            received=str(dtype), do="Pass tf.float32."))
    if mode not in _MODES:
        raise ValueError(say("variance_scaling_initializer", expected=f"mode of {_MODES}",
                             received=repr(mode), do=f"Rename it.{near(mode, _MODES)}"))
    given = dtype

    def initialize(shape: Any, dtype: Any = given, partition_info: Any = None) -> Any:
        whole = list(partition_info.full_shape) if partition_info is not None else (
            tf.TensorShape(shape).as_list())
        n = _fan(whole, mode)
        if uniform:
            limit = math.sqrt(3.0 * factor / n)
            return tf.random.uniform(shape, -limit, limit, dtype or given, seed=seed)
        return tf.random.truncated_normal(shape, 0.0, math.sqrt(1.3 * factor / n),
                                          dtype or given, seed=seed)

    return initialize


def _fan(shape: list[int], mode: str) -> float:
    window = math.prod(shape[:-2])
    fan_in = float(shape[-2] if len(shape) > 1 else shape[-1] if shape else 1) * window
    fan_out = float(shape[-1] if shape else 1) * window
    return {"FAN_IN": fan_in, "FAN_OUT": fan_out, "FAN_AVG": (fan_in + fan_out) / 2}[mode]


def xavier_initializer(uniform: bool = True, seed: int | None = None,
                       dtype: Any = tf.float32) -> Callable[..., Any]:
    """Return Glorot & Bengio 2010's initializer: variance 2 / (inputs + outputs)."""
    return variance_scaling_initializer(1.0, "FAN_AVG", uniform, seed, dtype)


xavier_initializer_conv2d = xavier_initializer
