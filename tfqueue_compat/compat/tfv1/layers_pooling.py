# SPDX-License-Identifier: Apache-2.0
"""``tf.layers`` max and average pooling over 1, 2 and 3 spatial axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from .layers_base import Layer
from .layers_function import as_function
from .layers_shapes import channels_last_around, data_format_of, padding_of, sizes_of, window
from .layers_spec import InputSpec

__all__ = ["AveragePooling1D", "AveragePooling2D", "AveragePooling3D", "MaxPooling1D",
           "MaxPooling2D", "MaxPooling3D", "average_pooling1d", "average_pooling2d",
           "average_pooling3d", "max_pooling1d", "max_pooling2d", "max_pooling3d"]

v1 = tf.compat.v1


class _Pooling(Layer):
    rank: int
    op: Callable[..., Any]

    def __init__(self, pool_size: int | Sequence[int], strides: int | Sequence[int],
                 padding: str = "valid", data_format: str = "channels_last",
                 name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        self.pool_size = sizes_of(pool_size, self.rank, "pool_size")
        self.strides = sizes_of(pool_size if strides is None else strides, self.rank, "strides")
        self.padding = padding_of(padding)
        self.data_format = data_format_of(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs: Any) -> tf.Tensor:
        def pooled(x: tf.Tensor, layout: str) -> tf.Tensor:
            form = "channels_first" if layout.startswith("NC") else "channels_last"
            sizes, strides = self.pool_size, self.strides
            if self.rank > 1:
                return type(self).op(x, window(sizes, form), window(strides, form),
                                     self.padding.upper(), data_format=layout)
            # One spatial axis: a second one of size 1.
            axis = 3 if layout == "NCW" else 2
            y = type(self).op(tf.expand_dims(x, axis), window((*sizes, 1), form),
                              window((*strides, 1), form), self.padding.upper(),
                              data_format="NCHW" if layout == "NCW" else "NHWC")
            return tf.squeeze(y, [axis])

        return channels_last_around(inputs, self.data_format, pooled)


class MaxPooling1D(_Pooling):
    """Maximum over windows of (batch, step, channel)."""

    rank, op = 1, staticmethod(v1.nn.max_pool)


class MaxPooling2D(_Pooling):
    """Maximum over windows of (batch, height, width, channel)."""

    rank, op = 2, staticmethod(v1.nn.max_pool)


class MaxPooling3D(_Pooling):
    """Maximum over windows of (batch, depth, height, width, channel)."""

    rank, op = 3, staticmethod(v1.nn.max_pool3d)


class AveragePooling1D(_Pooling):
    """Mean over windows of (batch, step, channel); padding does not count."""

    rank, op = 1, staticmethod(v1.nn.avg_pool)


class AveragePooling2D(_Pooling):
    """Mean over windows of (batch, height, width, channel); padding does not count."""

    rank, op = 2, staticmethod(v1.nn.avg_pool)


class AveragePooling3D(_Pooling):
    """Mean over windows of (batch, depth, height, width, channel); padding does not count."""

    rank, op = 3, staticmethod(v1.nn.avg_pool3d)


max_pooling1d = as_function(MaxPooling1D, "max_pooling1d", reuse=False)
max_pooling2d = as_function(MaxPooling2D, "max_pooling2d", reuse=False)
max_pooling3d = as_function(MaxPooling3D, "max_pooling3d", reuse=False)
average_pooling1d = as_function(AveragePooling1D, "average_pooling1d", reuse=False)
average_pooling2d = as_function(AveragePooling2D, "average_pooling2d", reuse=False)
average_pooling3d = as_function(AveragePooling3D, "average_pooling3d", reuse=False)
