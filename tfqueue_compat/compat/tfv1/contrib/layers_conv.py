# SPDX-License-Identifier: Apache-2.0
"""contrib.layers with a kernel window: convolutions and pooling."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from ....utils.errors import say
from .. import layers as core
from ..layers_shapes import channels_last_around, sizes_of, window
from .arg_scope_ import add_arg_scope
from .initializers import xavier_initializer
from .layer_scope import Collections, collect, data_format_of, finish, layer_scope

__all__ = ["avg_pool2d", "convolution", "convolution1d", "convolution2d",
           "convolution2d_transpose", "convolution3d", "max_pool2d", "separable_convolution2d"]

v1 = tf.compat.v1
Function = Callable[..., Any] | None
_ZEROS = v1.zeros_initializer()
_NAMES = {"kernel": "weights", "bias": "biases", "depthwise_kernel": "depthwise_weights",
          "pointwise_kernel": "pointwise_weights"}
_XAVIER = xavier_initializer()


@add_arg_scope
def convolution(inputs: Any, num_outputs: int, kernel_size: Any, stride: Any = 1,
                padding: str = "SAME", data_format: str | None = None, rate: Any = 1,
                activation_fn: Function = tf.nn.relu, normalizer_fn: Function = None,
                normalizer_params: Mapping[str, Any] | None = None,
                weights_initializer: Any = _XAVIER, weights_regularizer: Any = None,
                biases_initializer: Any = _ZEROS, biases_regularizer: Any = None,
                reuse: Any = None, variables_collections: Collections = None,
                outputs_collections: Any = None, trainable: bool = True, scope: Any = None,
                conv_dims: int | None = None) -> Any:
    """Convolve over 1, 2 or 3 axes, by the rank of ``inputs``; scope ``Conv``.

    Variables: ``weights``, and ``biases`` where there is no ``normalizer_fn``.

    Args:
        inputs: (batch, ..., channel), or with NCHW (batch, channel, ...).
        normalizer_fn: e.g. ``batch_norm``, called with ``normalizer_params``.
        activation_fn: called last; None for linear.
        conv_dims: the number of axes that is asked for.

    Raises:
        ValueError: for inputs of another rank.
    """
    inputs = tf.convert_to_tensor(inputs)
    rank = inputs.shape.rank
    if rank not in (3, 4, 5) or conv_dims not in (None, rank - 2):
        raise ValueError(say("convolution", expected=f"{conv_dims or '1-3'} spatial axes",
                             received=f"shape {inputs.shape}", do="Reshape the input."))
    kind = {3: core.Conv1D, 4: core.Conv2D, 5: core.Conv3D}[rank]
    with layer_scope(scope, "Conv", inputs, reuse, _NAMES, variables_collections) as opened:
        use_bias = normalizer_fn is None and biases_initializer is not None
        layer = kind(num_outputs, kernel_size, stride, padding, data_format_of(data_format), rate,
                     use_bias=use_bias, kernel_initializer=weights_initializer,
                     bias_initializer=biases_initializer, kernel_regularizer=weights_regularizer,
                     bias_regularizer=biases_regularizer, trainable=trainable, name=opened.name,
                     _scope=opened, _reuse=reuse)
        return finish(layer(inputs), opened, normalizer_fn, normalizer_params, activation_fn,
                      outputs_collections)


def _of_rank(dims: int, name: str) -> Callable[..., Any]:
    @functools.wraps(convolution)
    def function(*args: Any, **kwargs: Any) -> Any:
        return convolution(*args, **{**kwargs, "conv_dims": dims})

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Convolve over {dims} spatial axes: see ``convolution``."
    return add_arg_scope(function)


convolution1d = _of_rank(1, "convolution1d")
convolution2d = _of_rank(2, "convolution2d")
convolution3d = _of_rank(3, "convolution3d")


@add_arg_scope
def convolution2d_transpose(
        inputs: Any, num_outputs: int, kernel_size: Any, stride: Any = 1, padding: str = "SAME",
        data_format: str = "NHWC", activation_fn: Function = tf.nn.relu,
        normalizer_fn: Function = None, normalizer_params: Mapping[str, Any] | None = None,
        weights_initializer: Any = _XAVIER, weights_regularizer: Any = None,
        biases_initializer: Any = _ZEROS, biases_regularizer: Any = None, reuse: Any = None,
        variables_collections: Collections = None, outputs_collections: Any = None,
        trainable: bool = True, scope: Any = None) -> Any:
    """Transposed convolution over two axes; scope ``Conv2d_transpose``."""
    inputs = tf.convert_to_tensor(inputs)
    with layer_scope(scope, "Conv2d_transpose", inputs, reuse, _NAMES,
                     variables_collections) as opened:
        use_bias = normalizer_fn is None and biases_initializer is not None
        layer = core.Conv2DTranspose(
            num_outputs, kernel_size, stride, padding, data_format_of(data_format),
            use_bias=use_bias, kernel_initializer=weights_initializer,
            bias_initializer=biases_initializer, kernel_regularizer=weights_regularizer,
            bias_regularizer=biases_regularizer, trainable=trainable, name=opened.name,
            _scope=opened, _reuse=reuse)
        return finish(layer(inputs), opened, normalizer_fn, normalizer_params, activation_fn,
                      outputs_collections)


@add_arg_scope
def separable_convolution2d(
        inputs: Any, num_outputs: int | None, kernel_size: Any, depth_multiplier: int = 1,
        stride: Any = 1, padding: str = "SAME", data_format: str = "NHWC", rate: Any = 1,
        activation_fn: Function = tf.nn.relu, normalizer_fn: Function = None,
        normalizer_params: Mapping[str, Any] | None = None, weights_initializer: Any = _XAVIER,
        pointwise_initializer: Any = None, weights_regularizer: Any = None,
        biases_initializer: Any = _ZEROS, biases_regularizer: Any = None, reuse: Any = None,
        variables_collections: Collections = None, outputs_collections: Any = None,
        trainable: bool = True, scope: Any = None) -> Any:
    """Separable convolution; scope ``SeparableConv2d``.

    Variables: ``depthwise_weights``, ``pointwise_weights`` (not where ``num_outputs`` is None:
    then only the depthwise half is done), ``biases``.
    """
    inputs = tf.convert_to_tensor(inputs)
    with layer_scope(scope, "SeparableConv2d", inputs, reuse, _NAMES,
                     variables_collections) as opened:
        use_bias = normalizer_fn is None and biases_initializer is not None
        if num_outputs is None:
            outputs = _depthwise(inputs, kernel_size, depth_multiplier, stride, padding,
                                 data_format_of(data_format), rate, weights_initializer,
                                 weights_regularizer, biases_initializer if use_bias else None,
                                 biases_regularizer, trainable)
        else:
            outputs = core.SeparableConv2D(
                num_outputs, kernel_size, stride, padding, data_format_of(data_format), rate,
                depth_multiplier, use_bias=use_bias, depthwise_initializer=weights_initializer,
                pointwise_initializer=pointwise_initializer or weights_initializer,
                bias_initializer=biases_initializer, depthwise_regularizer=weights_regularizer,
                pointwise_regularizer=weights_regularizer, bias_regularizer=biases_regularizer,
                trainable=trainable, name=opened.name, _scope=opened, _reuse=reuse)(inputs)
        return finish(outputs, opened, normalizer_fn, normalizer_params, activation_fn,
                      outputs_collections)


def _depthwise(inputs: Any, kernel_size: Any, multiplier: int, stride: Any, padding: str,
               data_format: str, rate: Any, initializer: Any, regularizer: Any,
               bias_initializer: Any, bias_regularizer: Any, trainable: bool) -> Any:
    channels = inputs.shape.as_list()[1 if data_format == "channels_first" else 3]
    kernel = v1.get_variable(
        "depthwise_weights", [*sizes_of(kernel_size, 2, "kernel_size"), channels, multiplier],
        inputs.dtype, initializer, regularizer, trainable)

    def convolved(x: Any, layout: str) -> Any:
        form = "channels_first" if layout == "NCHW" else "channels_last"
        y = v1.nn.depthwise_conv2d(
            x, kernel, window(sizes_of(stride, 2, "stride"), form), padding,
            rate=sizes_of(rate, 2, "rate"), data_format=layout)
        if bias_initializer is None:
            return y
        bias = v1.get_variable("biases", [channels * multiplier], inputs.dtype, bias_initializer,
                               bias_regularizer, trainable)
        return v1.nn.bias_add(y, bias, data_format=layout)

    return channels_last_around(inputs, data_format, convolved)


def _pool(kind: Any, default: str, inputs: Any, kernel_size: Any, stride: Any, padding: str,
          data_format: str, outputs_collections: Any, scope: Any) -> Any:
    with tf.name_scope(scope or default) as name:
        inputs = tf.convert_to_tensor(inputs)
        outputs = kind(kernel_size, stride, padding, data_format_of(data_format)).call(inputs)
        return collect(outputs_collections, name.rstrip("/"), outputs)


@add_arg_scope
def max_pool2d(inputs: Any, kernel_size: Any, stride: Any = 2, padding: str = "VALID",
               data_format: str = "NHWC", outputs_collections: Any = None,
               scope: Any = None) -> Any:
    """Maximum over windows; stride 2 and VALID by default."""
    return _pool(core.MaxPooling2D, "MaxPool2D", inputs, kernel_size, stride, padding, data_format,
                 outputs_collections, scope)


@add_arg_scope
def avg_pool2d(inputs: Any, kernel_size: Any, stride: Any = 2, padding: str = "VALID",
               data_format: str = "NHWC", outputs_collections: Any = None,
               scope: Any = None) -> Any:
    """Mean over windows; stride 2 and VALID by default."""
    return _pool(core.AveragePooling2D, "AvgPool2D", inputs, kernel_size, stride, padding,
                 data_format, outputs_collections, scope)
