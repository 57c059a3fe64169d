# SPDX-License-Identifier: Apache-2.0
"""``tf.layers`` separable convolutions: one filter per channel, then a 1x1 mix of channels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from .layers_conv import ConvBase, Sizes
from .layers_function import as_function

__all__ = ["SeparableConv1D", "SeparableConv2D", "separable_conv1d", "separable_conv2d"]

v1 = tf.compat.v1
_ZEROS = v1.zeros_initializer()


class _SeparableBase(ConvBase):

    def _setup(self, rank: int, depth_multiplier: int, depthwise: tuple[Any, Any, Any],
               pointwise: tuple[Any, Any, Any], args: tuple[Any, ...],
               kwargs: dict[str, Any]) -> None:
        ConvBase.__init__(self, rank, *args, **kwargs)
        self.depth_multiplier = int(depth_multiplier)
        (self.depthwise_initializer, self.depthwise_regularizer,
         self.depthwise_constraint) = depthwise
        (self.pointwise_initializer, self.pointwise_regularizer,
         self.pointwise_constraint) = pointwise
        self.depthwise_kernel: Any = None
        self.pointwise_kernel: Any = None

    def build(self, input_shape: Any) -> None:
        channels = self._input_channels(input_shape)
        self.depthwise_kernel = self.add_weight(
            "depthwise_kernel", (*self.kernel_size, channels, self.depth_multiplier),
            initializer=self.depthwise_initializer, regularizer=self.depthwise_regularizer,
            constraint=self.depthwise_constraint)
        self.pointwise_kernel = self.add_weight(
            "pointwise_kernel",
            (*(1,) * self.rank, channels * self.depth_multiplier, self.filters),
            initializer=self.pointwise_initializer, regularizer=self.pointwise_regularizer,
            constraint=self.pointwise_constraint)
        self._build_bias()

    def _convolve(self, inputs: tf.Tensor, layout: str) -> tf.Tensor:
        if self.rank == 2:
            return self._separable(inputs, layout, self.depthwise_kernel, self.pointwise_kernel)
        axis = 2 if layout == "NCW" else 1
        if self.padding == "causal":
            left = (self.kernel_size[0] - 1) * self.dilation_rate[0]
            inputs = tf.pad(inputs, [[left, 0] if i == axis else [0, 0] for i in range(3)])
        outputs = self._separable(
            tf.expand_dims(inputs, axis), "NCHW" if axis == 2 else "NHWC",
            tf.expand_dims(self.depthwise_kernel, 0), tf.expand_dims(self.pointwise_kernel, 0))
        return tf.squeeze(outputs, [axis])

    def _separable(self, inputs: tf.Tensor, layout: str, depthwise: Any,
                   pointwise: Any) -> tf.Tensor:
        # The kernel has one stride for both axes; with one spatial axis the other has size 1.
        strides = self.strides * (2 if self.rank == 1 else 1)
        rate = (1, *self.dilation_rate) if self.rank == 1 else self.dilation_rate
        padding = "valid" if self.padding == "causal" else self.padding
        return v1.nn.separable_conv2d(
            inputs, depthwise, pointwise, padding=padding.upper(), rate=rate, data_format=layout,
            strides=[1, 1, *strides] if layout == "NCHW" else [1, *strides, 1])


def _signature_of(rank: int) -> Any:
    one: Sizes = 1 if rank == 1 else (1,) * rank

    def init(self: _SeparableBase, filters: int, kernel_size: Sizes, strides: Sizes = one,
             padding: str = "valid", data_format: str = "channels_last",
             dilation_rate: Sizes = one, depth_multiplier: int = 1,
             activation: Callable[[Any], Any] | None = None, use_bias: bool = True,
             depthwise_initializer: Any = None, pointwise_initializer: Any = None,
             bias_initializer: Any = _ZEROS, depthwise_regularizer: Any = None,
             pointwise_regularizer: Any = None, bias_regularizer: Any = None,
             activity_regularizer: Any = None, depthwise_constraint: Any = None,
             pointwise_constraint: Any = None, bias_constraint: Any = None,
             trainable: bool = True, name: str | None = None, **kwargs: Any) -> None:
        self._setup(
            rank, depth_multiplier,
            (depthwise_initializer, depthwise_regularizer, depthwise_constraint),
            (pointwise_initializer, pointwise_regularizer, pointwise_constraint),
            (filters, kernel_size, strides, padding, data_format, dilation_rate, activation,
             use_bias),
            dict(bias_initializer=bias_initializer, bias_regularizer=bias_regularizer,
                 activity_regularizer=activity_regularizer, bias_constraint=bias_constraint,
                 trainable=trainable, name=name, **kwargs))

    return init


class SeparableConv1D(_SeparableBase):
    """Separable convolution of (batch, step, channel).

    Weights: ``depthwise_kernel`` (width, in, depth_multiplier),
    ``pointwise_kernel`` (1, in * depth_multiplier, filters), ``bias``.
    """

    paddings = ("valid", "same", "causal")
    __init__ = _signature_of(1)


class SeparableConv2D(_SeparableBase):
    """Separable convolution of (batch, height, width, channel).

    Weights: ``depthwise_kernel`` (height, width, in, depth_multiplier),
    ``pointwise_kernel`` (1, 1, in * depth_multiplier, filters), ``bias``.
    """

    __init__ = _signature_of(2)


separable_conv1d = as_function(SeparableConv1D, "separable_conv1d")
separable_conv2d = as_function(SeparableConv2D, "separable_conv2d")
