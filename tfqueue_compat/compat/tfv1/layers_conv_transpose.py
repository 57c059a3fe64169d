# SPDX-License-Identifier: Apache-2.0
"""``tf.layers`` transposed convolutions over 2 and 3 spatial axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from .layers_conv import ConvBase, Sizes
from .layers_function import as_function
from .layers_shapes import window

__all__ = ["Conv2DTranspose", "Conv3DTranspose", "conv2d_transpose", "conv3d_transpose"]

v1 = tf.compat.v1
_ZEROS = v1.zeros_initializer()


def _grown(size: Any, kernel: int, stride: int, padding: str) -> Any:
    """Size of the output along one axis: the smallest that the convolution maps back."""
    return size * stride if padding == "same" else size * stride + max(kernel - stride, 0)


class _ConvTransposeBase(ConvBase):

    def _kernel_shape(self, channels: int) -> tuple[int, ...]:
        return (*self.kernel_size, self.filters, channels)

    def _output_sizes(self, sizes: Sequence[Any]) -> list[Any]:
        return [None if size is None else _grown(size, kernel, stride, self.padding)
                for size, kernel, stride in zip(sizes, self.kernel_size, self.strides)]

    def _convolve(self, inputs: tf.Tensor, layout: str) -> tf.Tensor:
        first = layout.startswith("NC")
        at = slice(2, None) if first else slice(1, -1)
        known = inputs.shape.as_list()
        dynamic = tf.unstack(tf.shape(inputs), self.rank + 2)
        static = self._output_sizes(known[at])
        sizes = [s if s is not None else d
                 for s, d in zip(static, self._output_sizes(dynamic[at]))]
        batch = dynamic[0] if known[0] is None else known[0]
        shape = [batch, self.filters, *sizes] if first else [batch, *sizes, self.filters]
        op = v1.nn.conv2d_transpose if self.rank == 2 else v1.nn.conv3d_transpose
        outputs = op(inputs, self.kernel, tf.stack(shape), padding=self.padding.upper(),
                     strides=window(self.strides, self.data_format if first else "channels_last"),
                     data_format=layout)
        outputs.set_shape([known[0], self.filters, *static] if first
                          else [known[0], *static, self.filters])
        return outputs


def _signature_of(rank: int) -> Any:
    one = (1,) * rank

    def init(self: ConvBase, filters: int, kernel_size: Sizes, strides: Sizes = one,
             padding: str = "valid", data_format: str = "channels_last",
             activation: Callable[[Any], Any] | None = None, use_bias: bool = True,
             kernel_initializer: Any = None, bias_initializer: Any = _ZEROS,
             kernel_regularizer: Any = None, bias_regularizer: Any = None,
             activity_regularizer: Any = None, kernel_constraint: Any = None,
             bias_constraint: Any = None, trainable: bool = True, name: str | None = None,
             **kwargs: Any) -> None:
        ConvBase.__init__(
            self, rank, filters, kernel_size, strides, padding, data_format, 1, activation,
            use_bias, kernel_initializer, bias_initializer, kernel_regularizer,
            bias_regularizer, activity_regularizer, kernel_constraint, bias_constraint,
            trainable, name, **kwargs)

    return init


class Conv2DTranspose(_ConvTransposeBase):
    """Transposed convolution; kernel (height, width, filters, in).

    The output is ``size * strides`` high and wide for ``same``, and
    ``size * strides + max(kernel_size - strides, 0)`` for ``valid``.
    """

    __init__ = _signature_of(2)


class Conv3DTranspose(_ConvTransposeBase):
    """Transposed convolution over three axes; kernel (depth, height, width, filters, in)."""

    __init__ = _signature_of(3)


conv2d_transpose = as_function(Conv2DTranspose, "conv2d_transpose")
conv3d_transpose = as_function(Conv3DTranspose, "conv3d_transpose")
