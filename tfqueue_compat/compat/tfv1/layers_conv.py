# SPDX-License-Identifier: Apache-2.0
"""``tf.layers`` convolutions over 1, 2 and 3 spatial axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from ...utils.errors import say
from .layers_base import Layer
from .layers_function import as_function
from .layers_shapes import (channel_axis, channels_last_around, data_format_of, padding_of,
                            sizes_of, static_size)
from .layers_spec import InputSpec

__all__ = ["Conv1D", "Conv2D", "Conv3D", "ConvBase", "conv1d", "conv2d", "conv3d"]

v1 = tf.compat.v1
_ZEROS = v1.zeros_initializer()
Sizes = int | Sequence[int]


class ConvBase(Layer):
    """What the convolutions share: arguments, weights ``kernel`` and ``bias``, activation."""

    paddings: tuple[str, ...] = ("valid", "same")

    def __init__(self, rank: int, filters: int, kernel_size: Sizes, strides: Sizes = 1,
                 padding: str = "valid", data_format: str = "channels_last",
                 dilation_rate: Sizes = 1, activation: Callable[[Any], Any] | None = None,
                 use_bias: bool = True, kernel_initializer: Any = None,
                 bias_initializer: Any = _ZEROS, kernel_regularizer: Any = None,
                 bias_regularizer: Any = None, activity_regularizer: Any = None,
                 kernel_constraint: Any = None, bias_constraint: Any = None,
                 trainable: bool = True, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(trainable=trainable, name=name,
                         activity_regularizer=activity_regularizer, **kwargs)
        self.rank = rank
        self.filters = int(filters)
        self.kernel_size = sizes_of(kernel_size, rank, "kernel_size")
        self.strides = sizes_of(strides, rank, "strides")
        self.padding = padding_of(padding, self.paddings)
        self.data_format = data_format_of(data_format)
        self.dilation_rate = sizes_of(dilation_rate, rank, "dilation_rate")
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ValueError(say(self.name, expected="strides > 1 or dilation_rate > 1",
                                 received=f"strides={strides}, dilation_rate={dilation_rate}",
                                 do="Leave one of the two at 1."))
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
        self.input_spec = InputSpec(ndim=rank + 2)

    def _input_channels(self, input_shape: Any) -> int:
        axis = channel_axis(self.data_format, self.rank + 2)
        channels = static_size(input_shape, axis, f"{type(self).__name__} {self.name!r}")
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={axis: channels})
        return channels

    def _kernel_shape(self, channels: int) -> tuple[int, ...]:
        return (*self.kernel_size, channels, self.filters)

    def build(self, input_shape: Any) -> None:
        self.kernel = self.add_weight(
            "kernel", self._kernel_shape(self._input_channels(input_shape)),
            initializer=self.kernel_initializer, regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint)
        self._build_bias()

    def _build_bias(self) -> None:
        if self.use_bias:
            self.bias = self.add_weight(
                "bias", [self.filters], initializer=self.bias_initializer,
                regularizer=self.bias_regularizer, constraint=self.bias_constraint)

    def _convolve(self, inputs: tf.Tensor, layout: str) -> tf.Tensor:
        padding = self.padding
        if padding == "causal":
            padding = "valid"
            left = (self.kernel_size[0] - 1) * self.dilation_rate[0]
            edges = [[0, 0], [left, 0], [0, 0]]
            inputs = tf.pad(inputs, edges if layout == "NWC" else [edges[0], edges[2], edges[1]])
        return v1.nn.convolution(inputs, self.kernel, padding.upper(), self.strides,
                                 self.dilation_rate, data_format=layout,
                                 name=f"Conv{self.rank}D" if self.rank > 1 else "conv1d")

    def call(self, inputs: Any) -> tf.Tensor:
        def convolved(x: tf.Tensor, layout: str) -> tf.Tensor:
            y = self._convolve(x, layout)
            if self.bias is None:
                return y
            first = layout.startswith("NC")
            return v1.nn.bias_add(y, self.bias, data_format="NCHW" if first else "NHWC")

        outputs = channels_last_around(inputs, self.data_format, convolved)
        return outputs if self.activation is None else self.activation(outputs)


def _signature_of(rank: int) -> Any:
    one: Sizes = 1 if rank == 1 else (1,) * rank

    def init(self: ConvBase, filters: int, kernel_size: Sizes, strides: Sizes = one,
             padding: str = "valid", data_format: str = "channels_last",
             dilation_rate: Sizes = one, activation: Callable[[Any], Any] | None = None,
             use_bias: bool = True, kernel_initializer: Any = None,
             bias_initializer: Any = _ZEROS, kernel_regularizer: Any = None,
             bias_regularizer: Any = None, activity_regularizer: Any = None,
             kernel_constraint: Any = None, bias_constraint: Any = None,
             trainable: bool = True, name: str | None = None, **kwargs: Any) -> None:
        ConvBase.__init__(
            self, rank, filters, kernel_size, strides, padding, data_format, dilation_rate,
            activation, use_bias, kernel_initializer, bias_initializer, kernel_regularizer,
            bias_regularizer, activity_regularizer, kernel_constraint, bias_constraint,
            trainable, name, **kwargs)

    return init


class Conv1D(ConvBase):
    """Convolution of (batch, step, channel); kernel (width, in, filters).

    ``padding`` may be ``causal``: outputs see no later step.
    """

    paddings = ("valid", "same", "causal")
    __init__ = _signature_of(1)


class Conv2D(ConvBase):
    """Convolution of (batch, height, width, channel); kernel (height, width, in, filters).

    Args:
        filters: channels of the output.
        kernel_size: one size, or (height, width).
        data_format: ``channels_first`` takes (batch, channel, height, width), on CPU too.

    Example:
        >>> with tf.Graph().as_default():
        ...     y = Conv2D(8, 3, padding="same")(tf.zeros([1, 28, 28, 1]))
        >>> y.shape
        TensorShape([1, 28, 28, 8])
    """

    __init__ = _signature_of(2)


class Conv3D(ConvBase):
    """Convolution of (batch, depth, height, width, channel)."""

    __init__ = _signature_of(3)


conv1d = as_function(Conv1D, "conv1d")
conv2d = as_function(Conv2D, "conv2d")
conv3d = as_function(Conv3D, "conv3d")
