# SPDX-License-Identifier: Apache-2.0
"""Convolutions: both data formats, groups, dilation, old words, errors; beside NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat.models import (AvgPooling, BatchNorm, Conv2D, Conv2DTranspose,
                                   FixedUnPooling, GlobalAvgPooling, InstanceNorm, LayerNorm,
                                   MaxPooling)
from tfqueue_compat.tfutils import TowerContext, argscope

v1 = tf.compat.v1
IMAGES = np.random.RandomState(0).randn(2, 8, 6, 4).astype("float32")


def convolved(x: np.ndarray, w: np.ndarray, rate: int = 1) -> np.ndarray:
    """Valid convolution by the definition."""
    kh, kw = ((n - 1) * rate + 1 for n in w.shape[:2])
    h, wid = x.shape[1] - kh + 1, x.shape[2] - kw + 1
    out = np.zeros((x.shape[0], h, wid, w.shape[3]))
    for i in range(w.shape[0]):
        for j in range(w.shape[1]):
            part = x[:, i * rate:i * rate + h, j * rate:j * rate + wid]
            out += np.einsum("bhwc,cd->bhwd", part, w[i, j])
    return out


def evaluate(*tensors: Any) -> list[Any]:
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        return sess.run(list(tensors))


@pytest.mark.parametrize("rate", [1, 2])
def test_values_and_gradients(rate: int) -> None:
    with tf.Graph().as_default():
        x = tf.constant(IMAGES)
        y = Conv2D("c", x, 5, 3, padding="VALID", dilation_rate=rate)
        out, w, grad = evaluate(y, y.variables.W, v1.gradients(y, y.variables.W)[0])
    np.testing.assert_allclose(out, convolved(IMAGES, w, rate), atol=1e-4)
    size = out.shape[1:3]
    expected = [[IMAGES[:, i * rate:i * rate + size[0], j * rate:j * rate + size[1]]
                 .sum((0, 1, 2)) for j in range(3)] for i in range(3)]
    np.testing.assert_allclose(grad, np.repeat(np.array(expected)[..., None], 5, 3), atol=1e-3)


@pytest.mark.parametrize("data_format", ["NHWC", "channels_first"])
def test_groups(data_format: str) -> None:
    first = data_format == "channels_first"
    with tf.Graph().as_default():
        x = tf.constant(IMAGES.transpose(0, 3, 1, 2) if first else IMAGES)
        y = Conv2D("c", x, 6, 3, padding="valid", split=2, data_format=data_format,
                   bias_initializer=2.0, activation=tf.square)
        assert y.variables.W.shape.as_list() == [3, 3, 2, 6]
        out, w = evaluate(y, y.variables.W)
    halves = [convolved(IMAGES[..., i * 2:i * 2 + 2], w[..., i * 3:i * 3 + 3]) for i in (0, 1)]
    wanted = (np.concatenate(halves, 3) + 2) ** 2
    np.testing.assert_allclose(out.transpose(0, 2, 3, 1) if first else out, wanted, atol=1e-3)


LAYERS: dict[str, Any] = {
    "conv": lambda x, f: Conv2D("l", x, 5, 3, strides=2, activation=tf.nn.relu, data_format=f),
    "deconv": lambda x, f: Conv2DTranspose("l", x, 5, 3, strides=2, data_format=f),
    "max": lambda x, f: MaxPooling("l", x, 3, 2, padding="SAME", data_format=f),
    "avg": lambda x, f: AvgPooling("l", x, 2, data_format=f),
    "global": lambda x, f: GlobalAvgPooling("l", x, data_format=f),
    "bn": lambda x, f: BatchNorm("l", x, data_format=f),
    "virtual": lambda x, f: BatchNorm("l", x, data_format=f, virtual_batch_size=1),
    "layer": lambda x, f: LayerNorm("l", x, data_format=f),
    "instance": lambda x, f: InstanceNorm("l", x, data_format=f),
    "unpool": lambda x, f: FixedUnPooling("l", x, (2, 3), np.arange(6.).reshape(2, 3),
                                          data_format=f),
}


@pytest.mark.parametrize("name", LAYERS)
def test_nchw_on_any_device(name: str) -> None:
    with tf.Graph().as_default(), TowerContext("", is_training=True):
        x = tf.constant(IMAGES)
        last = LAYERS[name](x, "channels_last")
        with v1.variable_scope(v1.get_variable_scope(), reuse=True):
            first = LAYERS[name](tf.transpose(x, [0, 3, 1, 2]), "NCHW")
        a, b, ga, gb = evaluate(last, first, v1.gradients(tf.square(last), x)[0],
                                v1.gradients(tf.square(first), x)[0])
    np.testing.assert_allclose(a, b.transpose(0, 2, 3, 1) if b.ndim == 4 else b, atol=1e-4)
    np.testing.assert_allclose(ga, gb, atol=1e-3)


def test_an_unknown_batch_size() -> None:
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, None, None, 4])
        y = Conv2DTranspose("up", Conv2D("c", x, 3, 3), 2, 3, 2)
        assert y.shape.as_list() == [None, None, None, 2]
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            assert sess.run(y, {x: IMAGES}).shape == (2, 16, 12, 2)


def test_old_words() -> None:
    with tf.Graph().as_default():
        x = tf.constant(IMAGES)
        old = Conv2D("a", x, out_channel=5, kernel_shape=3, stride=2, nl=tf.nn.relu, b_init=0.5,
                     W_init=tf.ones_initializer())
        new = Conv2D("b", x, 5, 3, strides=2, activation=tf.nn.relu, bias_initializer=0.5,
                     kernel_initializer=tf.ones_initializer())
        by_position = Conv2D("c", x, 5, 3, "SAME", 2, kernel_initializer=tf.ones_initializer(),
                             nl=lambda y, name: tf.nn.relu(y + 0.5, name=name))
        a, b, c = evaluate(old, new, by_position)
    np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(a, c, rtol=1e-5)


def test_argscope_gives_defaults() -> None:
    with tf.Graph().as_default():
        x = tf.constant(IMAGES)
        with argscope([Conv2D, MaxPooling], strides=2, padding="valid"):
            with argscope(Conv2D, padding="same"):
                assert Conv2D("a", x, 5, 3).shape.as_list() == [2, 4, 3, 5]
            assert Conv2D("b", x, 5, 3).shape.as_list() == [2, 3, 2, 5]
            assert Conv2D("c", x, 5, 3, strides=1).shape.as_list() == [2, 6, 4, 5]
        assert Conv2D("d", x, 5, 3).shape.as_list() == [2, 8, 6, 5]


@pytest.mark.parametrize("call, text", [
    (lambda x: Conv2D("c", x, 5, 3, strde=2), "'strides'"),
    (lambda x: Conv2D(x, 5, 3), "name first"),
    (lambda x: Conv2D("c", 5, 3), "a tensor"),
    (lambda x: Conv2D("c", x, 5, 3, split=3), "divisible by split=3"),
    (lambda x: Conv2D("c", x, 5, 3, padding="sane"), "'same'"),
    (lambda x: Conv2D("c", x, 5, 3, nl=None, activation=None), "both"),
    (lambda x: Conv2D("c", x, 5, 3, stride=2, strides=2), "two values"),
    (lambda x: Conv2D("c", x, 5, 3, data_format="NHCW"), "NCHW"),
    (lambda x: FixedUnPooling("c", x, 2, np.zeros([3, 3])), r"\[2, 2\]"),
    (lambda x: GlobalAvgPooling("c", x[0]), "4 axes"),
])
def test_errors_help(call: Any, text: str) -> None:
    with tf.Graph().as_default(), pytest.raises((TypeError, ValueError), match=text):
        call(tf.constant(IMAGES))
