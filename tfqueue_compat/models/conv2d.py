# SPDX-License-Identifier: Apache-2.0
"""Convolution and transposed convolution, in either data format on any device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from ..compat.tfv1 import layers as tf_layers
from ..compat.tfv1.layers_shapes import channel_axis, channels_last_around, static_size
from ..utils.argtools import shape2d
from ..utils.errors import say
from .registry import layer_register
from .tflayer import convert_to_tflayer_args, rename_get_variable
from .utils import VariableHolder

__all__ = ["Conv2D", "Conv2DTranspose", "Deconv2D"]

v1 = tf.compat.v1
Size = int | Sequence[int]


def he_normal() -> Any:
    """Initializer of std ``sqrt(2 / fan_in)``, not truncated (He et al. 2015, arXiv:1502.01852)."""
    return v1.variance_scaling_initializer(scale=2.0, mode="fan_in",
                                           distribution="untruncated_normal")


def with_variables(outputs: Any, layer: Any) -> Any:
    """Return the outputs, named ``output``, with the layer's variables attached."""
    named = tf.identity(outputs, name="output")
    named.variables = VariableHolder(W=layer.kernel)
    if layer.bias is not None:
        named.variables.b = layer.bias
    return named


@layer_register(log_shape=True)
@convert_to_tflayer_args(
    args_names=["filters", "kernel_size"],
    name_mapping={"out_channel": "filters", "kernel_shape": "kernel_size", "stride": "strides"})
def Conv2D(inputs: Any, filters: int, kernel_size: Size, strides: Size = (1, 1),
           padding: str = "same", data_format: str = "channels_last",
           dilation_rate: Size = (1, 1), activation: Callable[[Any], Any] | None = None,
           use_bias: bool = True, kernel_initializer: Any = None,
           bias_initializer: Any = v1.zeros_initializer(), kernel_regularizer: Any = None,
           bias_regularizer: Any = None, activity_regularizer: Any = None,
           split: int = 1) -> Any:
    """Convolve images; called as ``Conv2D('name', inputs, filters, kernel_size, ...)``.

    Differs from ``tf.layers.conv2d``: padding is ``same`` by default, the kernel's initial values
    have the variance 2 / fan_in.

    Args:
        inputs: (batch, height, width, channel), or (batch, channel, height, width) for
            ``channels_first``; the number of channels must be known.
        filters: channels of the output.
        kernel_size: one size, or (height, width).
        split: groups of channels that are convolved apart (AlexNet 2012).

    Returns:
        A tensor named ``name/output``. Variables: ``W`` (height, width, channel / split,
        filters), ``b``.

    Example:
        >>> with tf.Graph().as_default():
        ...     y = Conv2D("conv0", tf.zeros([1, 28, 28, 1]), 32, 3, activation=tf.nn.relu)
        >>> y.variables.W.op.name, y.shape
        ('conv0/W', TensorShape([1, 28, 28, 32]))
    """
    initializer = he_normal() if kernel_initializer is None else kernel_initializer
    if split != 1:
        return _split_conv(inputs, filters, kernel_size, strides, padding, data_format,
                           dilation_rate, activation, initializer,
                           bias_initializer if use_bias else None,
                           (kernel_regularizer, bias_regularizer, activity_regularizer), split)
    with rename_get_variable({"kernel": "W", "bias": "b"}):
        layer = tf_layers.Conv2D(
            filters, kernel_size, strides=strides, padding=padding, data_format=data_format,
            dilation_rate=dilation_rate, activation=activation, use_bias=use_bias,
            kernel_initializer=initializer, bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer, _reuse=v1.get_variable_scope().reuse)
        outputs = layer(inputs, scope=v1.get_variable_scope())
    return with_variables(outputs, layer)


def _split_conv(inputs: Any, filters: int, kernel_size: Size, strides: Size, padding: str,
                data_format: str, dilation_rate: Size, activation: Any, initializer: Any,
                bias_initializer: Any, regularizers: tuple[Any, Any, Any], split: int) -> Any:
    channels = static_size(inputs.shape, channel_axis(data_format, 4), "Conv2D with split")
    if channels % split or filters % split:
        raise ValueError(say("Conv2D", expected=f"channels and filters divisible by split={split}",
                             received=f"{channels} channels, {filters} filters",
                             do="Change split or filters."))
    kernel = v1.get_variable("W", [*shape2d(_tuple(kernel_size)), channels // split, filters],
                             dtype=inputs.dtype.base_dtype, initializer=initializer,
                             regularizer=regularizers[0])
    bias = None
    if bias_initializer is not None:
        bias = v1.get_variable("b", [filters], dtype=inputs.dtype.base_dtype,
                               initializer=bias_initializer, regularizer=regularizers[1])

    def convolved(x: Any, layout: str) -> Any:
        axis = 1 if layout == "NCHW" else 3
        pieces = [v1.nn.convolution(part, w, padding.upper(), shape2d(_tuple(strides)),
                                    shape2d(_tuple(dilation_rate)), data_format=layout)
                  for part, w in zip(tf.split(x, split, axis), tf.split(kernel, split, 3))]
        y = tf.concat(pieces, axis)
        return y if bias is None else tf.nn.bias_add(y, bias, data_format=layout)

    outputs = channels_last_around(inputs, data_format, convolved)
    if activation is not None:
        outputs = activation(outputs)
    if regularizers[2] is not None:
        loss = regularizers[2](outputs) / tf.cast(tf.shape(outputs)[0], outputs.dtype)
        v1.add_to_collection(v1.GraphKeys.REGULARIZATION_LOSSES, loss)
    named = tf.identity(outputs, name="output")
    named.variables = VariableHolder(W=kernel)
    if bias is not None:
        named.variables.b = bias
    return named


def _tuple(size: Size) -> Size:
    return size if isinstance(size, int) else tuple(size)


@layer_register(log_shape=True)
@convert_to_tflayer_args(
    args_names=["filters", "kernel_size", "strides"],
    name_mapping={"out_channel": "filters", "kernel_shape": "kernel_size", "stride": "strides"})
def Conv2DTranspose(inputs: Any, filters: int, kernel_size: Size, strides: Size = (1, 1),
                    padding: str = "same", data_format: str = "channels_last",
                    activation: Callable[[Any], Any] | None = None, use_bias: bool = True,
                    kernel_initializer: Any = None,
                    bias_initializer: Any = v1.zeros_initializer(),
                    kernel_regularizer: Any = None, bias_regularizer: Any = None,
                    activity_regularizer: Any = None) -> Any:
    """Transposed convolution; called as ``Conv2DTranspose('name', inputs, filters, ...)``.

    Args:
        inputs: (batch, height, width, channel), or (batch, channel, height, width) for
            ``channels_first``.
        filters: channels of the output.
        kernel_size: one size, or (height, width).
        strides: how many times larger the output is.

    Returns:
        A tensor named ``name/output``. Variables: ``W`` (height, width, filters, channel), ``b``.

    Example:
        >>> with tf.Graph().as_default():
        ...     Conv2DTranspose("up", tf.zeros([1, 8, 8, 4]), 2, 3, 2).shape
        TensorShape([1, 16, 16, 2])
    """
    with rename_get_variable({"kernel": "W", "bias": "b"}):
        layer = tf_layers.Conv2DTranspose(
            filters, kernel_size, strides=strides, padding=padding, data_format=data_format,
            activation=activation, use_bias=use_bias,
            kernel_initializer=he_normal() if kernel_initializer is None else kernel_initializer,
            bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
            _reuse=v1.get_variable_scope().reuse)
        outputs = layer(inputs, scope=v1.get_variable_scope())
    return with_variables(outputs, layer)


Deconv2D = Conv2DTranspose
