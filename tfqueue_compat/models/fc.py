# SPDX-License-Identifier: Apache-2.0
"""The fully connected layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from ..compat.tfv1 import layers as tf_layers
from .conv2d import he_normal, with_variables
from .registry import layer_register
from .tflayer import convert_to_tflayer_args, rename_get_variable

__all__ = ["FullyConnected"]

v1 = tf.compat.v1


def batch_flatten(x: Any) -> Any:
    """Return ``x`` as (batch, everything else).

    Example:
        >>> batch_flatten(tf.zeros([2, 3, 4])).shape
        TensorShape([2, 12])
    """
    sizes = x.shape.as_list()[1:]
    if None in sizes:
        return tf.reshape(x, tf.stack([tf.shape(x)[0], -1]))
    return tf.reshape(x, [-1, int(np.prod(sizes))])


@layer_register(log_shape=True)
@convert_to_tflayer_args(args_names=["units"], name_mapping={"out_dim": "units"})
def FullyConnected(inputs: Any, units: int, activation: Callable[[Any], Any] | None = None,
                   use_bias: bool = True, kernel_initializer: Any = None,
                   bias_initializer: Any = v1.zeros_initializer(), kernel_regularizer: Any = None,
                   bias_regularizer: Any = None, activity_regularizer: Any = None) -> Any:
    """Multiply by a matrix; called as ``FullyConnected('name', inputs, units, ...)``.

    Args:
        inputs: (batch, ...): flattened to (batch, features) first; the number of features must
            be known.
        units: features of the output.

    Returns:
        A tensor named ``name/output``, (batch, units). Variables: ``W`` (features, units), ``b``.

    Example:
        >>> with tf.Graph().as_default():
        ...     FullyConnected("fc", tf.zeros([2, 4, 4, 3]), 10).variables.W.shape
        TensorShape([48, 10])
    """
    with rename_get_variable({"kernel": "W", "bias": "b"}):
        layer = tf_layers.Dense(
            units, activation=activation, use_bias=use_bias,
            kernel_initializer=he_normal() if kernel_initializer is None else kernel_initializer,
            bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
            _reuse=v1.get_variable_scope().reuse)
        outputs = layer(batch_flatten(inputs), scope=v1.get_variable_scope())
    return with_variables(outputs, layer)
