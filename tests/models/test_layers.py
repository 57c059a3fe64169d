# SPDX-License-Identifier: Apache-2.0
"""The smaller layers, LinearWrap, layer_register and penalties, beside NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat import models as m
from tfqueue_compat.models.shape_utils import StaticDynamicShape
from tfqueue_compat.models.tflayer import rename_get_variable
from tfqueue_compat.tfutils import TowerContext
from tfqueue_compat.tfutils.tower import TrainTowerContext
from tfqueue_compat.utils import logger

v1 = tf.compat.v1
X = np.random.RandomState(0).randn(2, 4, 4, 6).astype("float32")


def evaluate(y: Any) -> Any:
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        return sess.run(y)


def test_maxout() -> None:
    with tf.Graph().as_default():
        y = m.Maxout(tf.constant(X), 3)
        assert y.op.name == "output"
        np.testing.assert_array_equal(evaluate(y), X.reshape(2, 4, 4, 2, 3).max(-1))
        assert m.Maxout("named", tf.constant(X[:, 0, 0]), 2).shape == [2, 3]
        with pytest.raises(ValueError, match="divisible by 4"):
            m.Maxout(tf.constant(X), 4)


def test_prelu_and_leaky_relu() -> None:
    wanted = np.where(X > 0, X, 0.2 * X)
    with tf.Graph().as_default():
        y = m.PReLU("p", tf.constant(X), init=0.2)
        assert y.variables.alpha.op.name == "p/alpha"
        np.testing.assert_allclose(evaluate(y), wanted, atol=1e-6)
        np.testing.assert_allclose(evaluate(m.LeakyReLU(tf.constant(X), 0.2)), wanted, atol=1e-6)


@pytest.mark.parametrize("kwargs, args, kept", [
    ({"rate": 0.25}, (), 0.75), ({"keep_prob": 0.25}, (), 0.25), ({}, (0.9,), 0.9), ({}, (), 0.5)])
def test_dropout(kwargs: Any, args: Any, kept: float) -> None:
    ones = tf.constant
    with tf.Graph().as_default():
        with TowerContext("", is_training=True):
            out = evaluate(m.Dropout("d", ones(np.ones(20000, "float32")), *args, **kwargs))
        assert set(np.round(np.unique(out), 4)) == {0.0, np.float32(np.round(1 / kept, 4))}
        assert (out > 0).mean() == pytest.approx(kept, abs=0.02)
        with TowerContext("p", is_training=False):
            x = ones(X)
            assert m.Dropout(x, *args, **kwargs) is x


def test_unpooling_is_the_kronecker_product() -> None:
    mat = np.arange(6.0).reshape(2, 3).astype("float32")
    with tf.Graph().as_default():
        out = evaluate(m.FixedUnPooling("u", tf.constant(X), (2, 3), mat))
        np.testing.assert_allclose(out[1, :, :, 5], np.kron(X[1, :, :, 5], mat), atol=1e-6)
        x = v1.placeholder(tf.float32, [None, None, None, 6])
        y = m.FixedUnPooling("v", x, 2)
        with v1.Session() as sess:
            out = sess.run(y, {x: X})
    np.testing.assert_allclose(out[0, :, :, 0], np.kron(X[0, :, :, 0], [[1, 0], [0, 0]]))


def test_linear_wrap() -> None:
    def twice(name: str, x: Any, by: float) -> Any:
        return tf.multiply(x, by, name=name)

    with tf.Graph().as_default(), TowerContext("", is_training=True):
        chain = (m.LinearWrap(tf.constant(X)).Conv2D("c", 3, 3).tf.nn.relu().BNReLU()
                 .BNReLU("again").tf.multiply(2.0).apply2(twice, "x", 0.5)
                 .Dropout(rate=0.0).ConcatWith(tf.constant(X), 3).MaxPooling("p", 2))
        assert chain().shape == [2, 2, 2, 9] and chain.tensor() is chain()
        with pytest.raises(AttributeError, match="'Conv2D'"):
            chain.Conv2d("d", 3, 3)
        with pytest.raises(ValueError, match="name first"):
            chain.Conv2D(3, 3)


def test_layer_register_and_its_log(monkeypatch: Any) -> None:
    lines: list[str] = []
    monkeypatch.setattr(logger, "info", lambda text, *args, **_: lines.append(text % args))

    @m.layer_register(log_shape=True)
    def MyBlock(x: Any, size: int) -> Any:
        return m.FullyConnected("inner", m.Conv2D("conv", x, size, 3), size)

    with tf.Graph().as_default():
        for i in range(2):
            with v1.variable_scope(v1.get_variable_scope(), reuse=i > 0):
                with TrainTowerContext(f"tower{i}", index=i, total=2):
                    MyBlock("block", tf.constant(X), 3)
        names = [v.op.name for v in v1.global_variables()]
        assert m.LinearWrap(tf.constant(X)).MyBlock("other", 3)().shape == [2, 3]
    assert names == ["block/conv/W", "block/conv/b", "block/inner/W", "block/inner/b"]
    assert lines[:4] == ["'block' input: [2, 4, 4, 6]",
                         "  'block/conv': [2, 4, 4, 6] --> [2, 4, 4, 3]",
                         "  'block/inner': [2, 4, 4, 3] --> [2, 3]", "'block' output: [2, 3]"]
    assert sum("'block/conv'" in line for line in lines) == 1
    assert MyBlock.symbolic_function.__name__ == "MyBlock"


def test_a_failing_layer_leaves_the_log_in_order(monkeypatch: Any) -> None:
    lines: list[str] = []
    monkeypatch.setattr(logger, "info", lambda text, *args, **_: lines.append(text % args))
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="padding"):
            m.Conv2D("bad", tf.constant(X), 3, 3, padding="no")
        m.Conv2D("good", tf.constant(X), 3, 3)
    assert lines == ["'good': [2, 4, 4, 6] --> [2, 4, 4, 3]"]


def test_penalties() -> None:
    ones = tf.ones_initializer()
    with tf.Graph().as_default(), TrainTowerContext("t", "t", index=0, total=2):
        m.FullyConnected("fc", tf.zeros([1, 2]), 3, kernel_initializer=ones,
                         kernel_regularizer=m.l1_regularizer(scale=1))
        # a tower with variables of its own: their names count without its scope
        costs = [m.regularize_cost("^fc/W", m.l2_regularizer(0.5)),
                 m.regularize_cost("^t/fc", m.l2_regularizer(0.5), name="none"),
                 m.regularize_cost_from_collection(name="kept")]
        assert evaluate(costs) == [1.5, 0.0, 6.0]
        with pytest.raises(TypeError, match="scalar"):
            m.regularize_cost("W", lambda v: tf.square(v))


def test_variable_holder() -> None:
    holder = m.VariableHolder(W=1)
    holder.b = 2
    assert (holder.W, holder.b, holder.all()) == (1, 2, [1, 2])
    with pytest.raises(AttributeError, match="'gamma'"):
        holder.gamma


def test_renamed_variables() -> None:
    with tf.Graph().as_default(), rename_get_variable({"kernel": "W"}):
        with v1.variable_scope("kernel"):
            assert v1.get_variable("kernel", [1]).op.name == "kernel/W"


def test_static_and_dynamic_shapes() -> None:
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 3])
        shape = StaticDynamicShape(x)
        shape.apply(0, lambda n: n * 2)
        shape.apply(1, lambda n: n + 1)
        assert shape.get_static() == [None, 4] and shape.get_dynamic(1) == 4
        with v1.Session() as sess:
            assert sess.run(shape.get_dynamic(0), {x: np.zeros([5, 3])}) == 10
