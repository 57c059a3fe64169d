# SPDX-License-Identifier: Apache-2.0
"""``tf.layers`` without a kernel window: Dense, Dropout, Flatten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from .layers_base import Layer
from .layers_function import as_function
from .layers_shapes import data_format_of, smart_cond, static_size
from .layers_spec import InputSpec

__all__ = ["Dense", "Dropout", "Flatten", "dense", "dropout", "flatten"]

v1 = tf.compat.v1
_ZEROS = v1.zeros_initializer()


class Dense(Layer):
    """``activation(inputs . kernel + bias)`` over the last axis; weights ``kernel``, ``bias``.

    Args:
        units: size of the output's last axis.
        activation: function of the output, or None.
        use_bias: whether there is a bias.
        kernel_initializer: glorot_uniform where None (or the scope's).

    Example:
        >>> with tf.Graph().as_default():
        ...     y = Dense(10, activation=tf.nn.relu)(tf.zeros([2, 5]))
        >>> y.shape
        TensorShape([2, 10])
    """

    def __init__(self, units: int, activation: Callable[[Any], Any] | None = None,
                 use_bias: bool = True, kernel_initializer: Any = None,
                 bias_initializer: Any = _ZEROS, kernel_regularizer: Any = None,
                 bias_regularizer: Any = None, activity_regularizer: Any = None,
                 kernel_constraint: Any = None, bias_constraint: Any = None,
                 trainable: bool = True, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(trainable=trainable, name=name,
                         activity_regularizer=activity_regularizer, **kwargs)
        self.units = int(units)
        self.activation = activation
        self.use_bias = use_bias
        self.kernel_initializer = kernel_initializer
        self.bias_initializer = bias_initializer
        self.kernel_regularizer = kernel_regularizer
        self.bias_regularizer = bias_regularizer
        self.kernel_constraint = kernel_constraint
        self.bias_constraint = bias_constraint
        self.kernel: Any = None
        self.bias: Any = None
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: Any) -> None:
        size = static_size(input_shape, -1, f"Dense {self.name!r}")
        self.input_spec = InputSpec(min_ndim=2, axes={-1: size})
        self.kernel = self.add_weight(
            "kernel", [size, self.units], initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer, constraint=self.kernel_constraint)
        if self.use_bias:
            self.bias = self.add_weight(
                "bias", [self.units], initializer=self.bias_initializer,
                regularizer=self.bias_regularizer, constraint=self.bias_constraint)

    def call(self, inputs: Any) -> tf.Tensor:
        if inputs.shape.rank == 2:
            outputs = tf.matmul(inputs, self.kernel)
        else:
            outputs = tf.tensordot(inputs, self.kernel, [[inputs.shape.rank - 1], [0]])
        if self.bias is not None:
            outputs = tf.nn.bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)


class Dropout(Layer):
    """Set a fraction ``rate`` of the inputs to 0 and scale the rest, where ``training`` is true.

    Args:
        rate: fraction dropped, a number or a scalar tensor.
        noise_shape: shape of the mask, broadcast to the input's.
        seed: seed of the mask.
    """

    def __init__(self, rate: Any = 0.5, noise_shape: Any = None, seed: int | None = None,
                 name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        self.rate = rate
        self.noise_shape = noise_shape
        self.seed = seed

    def _mask_shape(self, inputs: tf.Tensor) -> Any:
        if self.noise_shape is None or tf.is_tensor(self.noise_shape):
            return self.noise_shape
        shape = tf.shape(inputs)
        return [shape[i] if n is None else n for i, n in enumerate(self.noise_shape)]

    def call(self, inputs: Any, training: Any = False) -> tf.Tensor:
        def dropped() -> tf.Tensor:
            return v1.nn.dropout(inputs, rate=self.rate, seed=self.seed,
                                 noise_shape=self._mask_shape(inputs))

        return smart_cond(training, dropped, lambda: tf.identity(inputs))


class Flatten(Layer):
    """Reshape to (batch, everything else); ``channels_first`` inputs are put last first."""

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = data_format_of(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Any) -> tf.Tensor:
        rank = inputs.shape.rank
        if rank == 1:
            return inputs[:, tf.newaxis]
        if self.data_format == "channels_first" and rank > 2:
            inputs = tf.transpose(inputs, [0, *range(2, rank), 1])
        sizes = inputs.shape.as_list()
        if None not in sizes[1:]:
            return tf.reshape(inputs, [-1 if sizes[0] is None else sizes[0],
                                       int(np.prod(sizes[1:]))])
        outputs = tf.reshape(inputs, [tf.shape(inputs)[0], -1])
        outputs.set_shape([sizes[0], None])
        return outputs


dense = as_function(Dense, "dense")


def dropout(inputs: Any, rate: Any = 0.5, noise_shape: Any = None, seed: int | None = None,
            training: Any = False, name: str | None = None) -> tf.Tensor:
    """Apply ``Dropout`` once; ``training`` is a bool or a scalar tensor."""
    return Dropout(rate, noise_shape=noise_shape, seed=seed, name=name)(inputs, training=training)


def flatten(inputs: Any, name: str | None = None,
            data_format: str = "channels_last") -> tf.Tensor:
    """Reshape to (batch, everything else)."""
    return Flatten(name=name, data_format=data_format)(inputs)
