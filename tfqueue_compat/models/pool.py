# SPDX-License-Identifier: Apache-2.0
"""Pooling and its reverse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from ..compat.tfv1 import layers as tf_layers
from ..utils.argtools import get_data_format, shape2d
from ..utils.errors import say
from .registry import layer_register
from .tflayer import convert_to_tflayer_args

__all__ = ["AvgPooling", "FixedUnPooling", "GlobalAvgPooling", "MaxPooling"]

Size = int | Sequence[int]


@layer_register(log_shape=True)
@convert_to_tflayer_args(args_names=["pool_size", "strides"],
                         name_mapping={"shape": "pool_size", "stride": "strides"})
def MaxPooling(inputs: Any, pool_size: Size, strides: Size | None = None,
               padding: str = "valid", data_format: str = "channels_last") -> Any:
    """Take the maximum over windows; called as ``MaxPooling('name', inputs, pool_size, ...)``.

    Args:
        inputs: (batch, height, width, channel), or (batch, channel, height, width) for
            ``channels_first``.
        pool_size: one size, or (height, width).
        strides: by default ``pool_size``.

    Returns:
        A tensor named ``name/output``.
    """
    layer = tf_layers.MaxPooling2D(pool_size, pool_size if strides is None else strides,
                                   padding=padding, data_format=data_format)
    return tf.identity(layer.call(inputs), name="output")


@layer_register(log_shape=True)
@convert_to_tflayer_args(args_names=["pool_size", "strides"],
                         name_mapping={"shape": "pool_size", "stride": "strides"})
def AvgPooling(inputs: Any, pool_size: Size, strides: Size | None = None,
               padding: str = "valid", data_format: str = "channels_last") -> Any:
    """Take the mean over windows; called as ``AvgPooling('name', inputs, pool_size, ...)``.

    Args:
        inputs: (batch, height, width, channel), or (batch, channel, height, width) for
            ``channels_first``.
        pool_size: one size, or (height, width).
        strides: by default ``pool_size``.

    Returns:
        A tensor named ``name/output``.
    """
    layer = tf_layers.AveragePooling2D(pool_size, pool_size if strides is None else strides,
                                       padding=padding, data_format=data_format)
    return tf.identity(layer.call(inputs), name="output")


@layer_register(log_shape=True)
def GlobalAvgPooling(x: Any, data_format: str = "channels_last") -> Any:
    """Take the mean over height and width (Lin et al. 2013, arXiv:1312.4400).

    Args:
        x: (batch, height, width, channel), or (batch, channel, height, width) for
            ``channels_first``.

    Returns:
        A tensor named ``name/output``, (batch, channel).
    """
    if x.shape.rank != 4:
        raise ValueError(say("GlobalAvgPooling", expected="4 axes", received=f"shape {x.shape}",
                             do="Reshape the input."))
    axes = [1, 2] if get_data_format(data_format) == "channels_last" else [2, 3]
    return tf.reduce_mean(x, axes, name="output")


def UnPooling2x2ZeroFilled(x: Any) -> Any:
    """Return ``x`` (batch, height, width, channel) twice as high and wide, zeros in between."""
    return _unpooled(x, [2, 2], _corner([2, 2]), "channels_last")


def _corner(size: Sequence[int]) -> np.ndarray:
    mat = np.zeros(size, "float32")
    mat[0, 0] = 1
    return mat


@layer_register(log_shape=True)
def FixedUnPooling(x: Any, shape: Size, unpool_mat: Any = None,
                   data_format: str = "channels_last") -> Any:
    """Replace each pixel by a matrix times the pixel: its Kronecker product with the image.

    Args:
        x: (batch, height, width, channel), or (batch, channel, height, width) for
            ``channels_first``.
        shape: one size, or (height, width): how many times larger the output is.
        unpool_mat: matrix of that shape; by default 1 in its upper left corner, else 0.

    Example:
        >>> with tf.Graph().as_default():
        ...     FixedUnPooling("up", tf.zeros([1, 4, 4, 3]), 2).shape
        TensorShape([1, 8, 8, 3])
    """
    size = shape2d(shape if isinstance(shape, int) else tuple(shape))
    mat = _corner(size) if unpool_mat is None else unpool_mat
    if tuple(mat.shape) != tuple(size):
        raise ValueError(say("FixedUnPooling", expected=f"unpool_mat of shape {size}",
                             received=f"shape {tuple(mat.shape)}", do="Make the two agree."))
    return _unpooled(x, size, mat, get_data_format(data_format))


def _unpooled(x: Any, size: Sequence[int], mat: Any, data_format: str) -> Any:
    mat = tf.cast(tf.convert_to_tensor(mat), x.dtype)
    known, sizes = x.shape.as_list(), tf.unstack(tf.shape(x), 4)
    full = [d if k is None else k for k, d in zip(known, sizes)]
    up = [None if k is None else k * s for k, s in zip(
        known[1:3] if data_format == "channels_last" else known[2:], size)]
    if data_format == "channels_last":
        b, h, w, c = full
        product = (tf.reshape(x, [b, h, 1, w, 1, c])
                   * tf.reshape(mat, [1, 1, size[0], 1, size[1], 1]))
        result = tf.reshape(product, [b, h * size[0], w * size[1], c])
        result.set_shape([known[0], *up, known[3]])
        return result
    b, c, h, w = full
    product = (tf.reshape(x, [b, c, h, 1, w, 1])
               * tf.reshape(mat, [1, 1, 1, size[0], 1, size[1]]))
    result = tf.reshape(product, [b, c, h * size[0], w * size[1]])
    result.set_shape([known[0], known[1], *up])
    return result
