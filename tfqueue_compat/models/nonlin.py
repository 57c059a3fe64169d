# SPDX-License-Identifier: Apache-2.0
"""Activations that have weights, or a history."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from ..utils.errors import say
from .batch_norm import BatchNorm
from .registry import layer_register
from .utils import VariableHolder

__all__ = ["BNReLU", "LeakyReLU", "Maxout", "PReLU"]

v1 = tf.compat.v1


@layer_register(use_scope=None)
def Maxout(x: Any, num_unit: int) -> Any:
    """Take the maximum over groups of channels (Goodfellow et al. 2013, arXiv:1302.4389).

    Args:
        x: (batch, channel) or (batch, height, width, channel).
        num_unit: channels in a group; divides the number of channels.

    Returns:
        A tensor named ``output`` with channel / num_unit channels.
    """
    shape = x.shape.as_list()
    if len(shape) not in (2, 4) or shape[-1] is None or shape[-1] % num_unit:
        raise ValueError(say("Maxout", expected=f"2 or 4 axes, channels divisible by {num_unit}",
                             received=f"shape {x.shape}", do="Change num_unit or the input."))
    sizes = tf.shape(x)
    grouped = tf.reshape(x, tf.concat([sizes[:-1], [shape[-1] // num_unit, num_unit]], 0))
    grouped.set_shape([*shape[:-1], shape[-1] // num_unit, num_unit])
    return tf.reduce_max(grouped, axis=-1, name="output")


@layer_register()
def PReLU(x: Any, init: float = 0.001, name: str | None = None) -> Any:
    """Return x where positive, alpha x elsewhere, alpha trained (He et al. 2015, arXiv:1502.01852).

    Args:
        init: initial value of ``alpha``, a scalar.
        name: old; of the output.
    """
    alpha = v1.get_variable("alpha", [], initializer=v1.constant_initializer(init))
    outputs = tf.multiply((1 + alpha) * x + (1 - alpha) * tf.abs(x), 0.5, name=name)
    outputs.variables = VariableHolder(alpha=alpha)
    return outputs


@layer_register(use_scope=None)
def BNReLU(x: Any, name: str | None = None) -> Any:
    """Return ``relu(BatchNorm('bn', x))``.

    Args:
        name: old; of the output.
    """
    return tf.nn.relu(BatchNorm("bn", x), name=name)


def LeakyReLU(x: Any, alpha: float, name: str = "output") -> Any:
    """Return ``max(x, alpha x)`` for an ``alpha`` below 1: ``tf.nn.leaky_relu``, by its old name.

    Args:
        x: a tensor.
        alpha: slope for negative x.
        name: of the output.
    """
    return tf.maximum(x, alpha * x, name=name)
