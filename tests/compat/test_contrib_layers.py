# SPDX-License-Identifier: Apache-2.0
"""tf.contrib.layers and slim against NumPy, with slim's variable names."""

from __future__ import annotations

import numpy as np
import pytest

from tfqueue_compat.compat import tfv1 as tf
from tfqueue_compat.utils.errors import NotSupported

slim = tf.contrib.slim
layers = tf.contrib.layers
RNG = np.random.RandomState(0)
X = RNG.randn(3, 5, 5, 4).astype("float32")


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def names():
    return [v.name.partition(":")[0] for v in tf.global_variables()]


def value(name, shape):
    return np.random.RandomState(len(name)).uniform(0.5, 1.5, shape).astype("float32")


def run(fetches, feed=None, steps=1):
    """Run with every variable set to ``value(its name)``."""
    given = [tf.assign(v, value(v.op.name, v.shape.as_list())) for v in tf.global_variables()]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(given)
        for _ in range(steps):
            result = sess.run(fetches, feed)
        return result


def normalized(x, axes, epsilon):
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(var + epsilon)


def test_names_are_slims():
    y = slim.conv2d(X, 8, [3, 3])
    y = slim.conv2d(y, 8, 3, scope="second", normalizer_fn=slim.batch_norm,
                    normalizer_params={"scale": True})
    y = slim.separable_conv2d(y, 4, 3)
    y = slim.conv2d_transpose(y, 4, 3, stride=2)
    y = slim.repeat(y, 2, slim.conv2d, 3, 1, scope="block")
    y = slim.stack(slim.flatten(y), slim.fully_connected, [6, 5], scope="fc")
    slim.fully_connected(slim.layer_norm(y), 2)
    slim.bias_add(slim.conv1d(slim.instance_norm(tf.zeros([2, 6, 3])), 2, 3))
    assert names() == [
        "Conv/weights", "Conv/biases", "second/weights", "second/BatchNorm/gamma",
        "second/BatchNorm/beta", "second/BatchNorm/moving_mean", "second/BatchNorm/moving_variance",
        "SeparableConv2d/depthwise_weights", "SeparableConv2d/pointwise_weights",
        "SeparableConv2d/biases", "Conv2d_transpose/weights", "Conv2d_transpose/biases",
        "block/block_1/weights", "block/block_1/biases", "block/block_2/weights",
        "block/block_2/biases", "fc/fc_1/weights", "fc/fc_1/biases", "fc/fc_2/weights",
        "fc/fc_2/biases", "LayerNorm/beta", "LayerNorm/gamma", "fully_connected/weights",
        "fully_connected/biases", "InstanceNorm/beta", "InstanceNorm/gamma", "Conv_1/weights",
        "Conv_1/biases", "BiasAdd/biases"]
    assert slim.get_model_variables() == tf.global_variables()


def test_conv_and_fully_connected():
    y = layers.conv2d(X, 6, 1, activation_fn=None)
    z = layers.fully_connected(X, 3)
    y, z = run([y, z])
    w, b = value("Conv/weights", (1, 1, 4, 6)), value("Conv/biases", (6,))
    np.testing.assert_allclose(y, X @ w[0, 0] + b, rtol=1e-4, atol=1e-5)
    w, b = (value(f"fully_connected/{n}", s) for n, s in (("weights", (4, 3)), ("biases", (3,))))
    np.testing.assert_allclose(z, np.maximum(X @ w + b, 0), rtol=1e-4, atol=1e-5)


def test_conv_over_windows_strides_and_rates():
    y = layers.convolution2d(X, 2, 3, stride=2, activation_fn=None, biases_initializer=None)
    z = layers.conv2d(X, 2, 3, rate=2, padding="VALID", activation_fn=None, scope="rated")
    y, z = run([y, z])
    w = value("Conv/weights", (3, 3, 4, 2))
    padded = np.pad(X, [(0, 0), (1, 1), (1, 1), (0, 0)])
    want = np.stack([[np.einsum("bhwc,hwcd->bd", padded[:, i:i + 3, j:j + 3], w)
                      for j in (0, 2, 4)] for i in (0, 2, 4)]).transpose(2, 0, 1, 3)
    np.testing.assert_allclose(y, want, rtol=1e-4, atol=1e-4)
    w, b = value("rated/weights", (3, 3, 4, 2)), value("rated/biases", (2,))
    want = np.einsum("bhwc,hwcd->bd", X[:, ::2, ::2], w) + b
    np.testing.assert_allclose(z[:, 0, 0], want, rtol=1e-4, atol=1e-4)


def test_nchw_equals_nhwc():
    def net(x, form):
        with tf.variable_scope("net", reuse=tf.AUTO_REUSE), slim.arg_scope(
                [slim.conv2d, slim.max_pool2d, slim.avg_pool2d, slim.batch_norm,
                 slim.separable_conv2d], data_format=form):
            y = slim.conv2d(x, 6, 3, normalizer_fn=slim.batch_norm, scope="a")
            y = slim.max_pool2d(y, 2)
            y = slim.separable_conv2d(y, None, 3, scope="b")
            return slim.avg_pool2d(y, 2, stride=1)

    y, z = run([net(X, "NHWC"), net(X.transpose(0, 3, 1, 2), "NCHW")])
    np.testing.assert_allclose(y, z.transpose(0, 2, 3, 1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(6, 3), (2, 4, 4, 3)])
def test_batch_norm_moves_to_the_unbiased_variance(shape):
    x = RNG.randn(*shape).astype("float32")
    training = tf.placeholder_with_default(True, [])
    y = layers.batch_norm(x, decay=0.9, is_training=training)
    assert names() == ["BatchNorm/beta", "BatchNorm/moving_mean", "BatchNorm/moving_variance"]
    variables = tf.global_variables()
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    out, _, = run([y, updates])
    axes = tuple(range(len(shape) - 1))
    beta = value("BatchNorm/beta", (3,))
    np.testing.assert_allclose(out, normalized(x, axes, 0.001) + beta, rtol=1e-4, atol=1e-4)
    with tf.control_dependencies(updates):
        after = [tf.identity(v.read_value()) for v in variables[1:]]
    n = x.size // 3
    for got, batch, name in zip(run(after), (x.mean(axes), x.var(axes) * n / (n - 1)),
                                ("moving_mean", "moving_variance")):
        np.testing.assert_allclose(got, 0.9 * value("BatchNorm/" + name, (3,)) + 0.1 * batch,
                                   rtol=1e-4, atol=1e-5)
    mean, var = (value("BatchNorm/moving_" + n, (3,)) for n in ("mean", "variance"))
    np.testing.assert_allclose(run(y, {training: False}),
                               (x - mean) / np.sqrt(var + 0.001) + beta, rtol=1e-4, atol=1e-4)


def test_batch_norm_in_place_and_collected():
    y = layers.batch_norm(X, decay=0.5, updates_collections=None, scope="bn",
                          variables_collections={"beta": ["betas"], "gamma": ["gammas"]},
                          param_initializers={"beta": tf.constant_initializer(3.0)})
    layers.batch_norm(X, updates_collections="mine", scope="other")
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS) == []
    assert len(tf.get_collection("mine")) == 2
    assert [v.op.name for v in tf.get_collection("betas")] == ["bn/beta"]
    mean = [v for v in tf.global_variables() if v.op.name == "bn/moving_mean"][0]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        out = sess.run(y)
        np.testing.assert_allclose(sess.run(mean), X.mean((0, 1, 2)) / 2, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(out.mean((0, 1, 2)), [3] * 4, rtol=1e-3)


def test_batch_norm_refuses_what_it_lacks():
    with pytest.raises(NotSupported, match="zero_debias_moving_mean"):
        layers.batch_norm(X, zero_debias_moving_mean=True)


def test_other_normalizations():
    y = layers.layer_norm(X)
    z = layers.instance_norm(X)
    w = layers.group_norm(X, groups=2)
    y, z, w = run([y, z, w])
    for got, kind, want in (
            (y, "LayerNorm", normalized(X, (1, 2, 3), 1e-12)),
            (z, "InstanceNorm", normalized(X, (1, 2), 1e-6)),
            (w, "GroupNorm", normalized(X.reshape(3, 5, 5, 2, 2), (1, 2, 4), 1e-6).reshape(
                X.shape))):
        want = want * value(kind + "/gamma", (4,)) + value(kind + "/beta", (4,))
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)
    with pytest.raises(ValueError, match="multiples of 3"):
        layers.group_norm(X, groups=3)


def test_small_functions():
    y = [layers.flatten(X), layers.one_hot_encoding([2, 0], 3), layers.softmax(X),
         layers.unit_norm(X, 3), layers.max_pool2d(X, 3), layers.avg_pool2d(X, [5, 5], 1),
         layers.dropout(X, 0.5, is_training=False)]
    flat, hot, soft, unit, most, mean, same = run(y)
    np.testing.assert_array_equal(flat, X.reshape(3, 100))
    np.testing.assert_array_equal(hot, [[0, 0, 1], [1, 0, 0]])
    np.testing.assert_allclose(soft, np.exp(X) / np.exp(X).sum(-1, keepdims=True), rtol=1e-5)
    np.testing.assert_allclose((unit ** 2).sum(-1), np.ones((3, 5, 5)), rtol=1e-4)
    np.testing.assert_allclose(most[:, 1, 0], X[:, 2:5, 0:3].max((1, 2)))
    np.testing.assert_allclose(mean[:, 0, 0], X.mean((1, 2)), rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(same, X)


def test_regularizers():
    w = tf.constant([[1.0, -2.0], [3.0, 0.0]])
    l1, l2 = layers.l1_regularizer(0.5), layers.l2_regularizer(0.1)
    both = layers.l1_l2_regularizer(0.5, 0.1)
    some = layers.sum_regularizer([l1, None, l1])
    total = layers.apply_regularization(l2, [w, w])
    assert layers.l2_regularizer(0.0)(w) is None
    np.testing.assert_allclose(run([l1(w), l2(w), both(w), some(w), total]),
                               [3, 0.7, 3.7, 6, 1.4], rtol=1e-6)
    assert tf.losses.get_regularization_losses() == [total]
    for bad in (-1.0, 1):
        with pytest.raises(ValueError, match="float scale >= 0"):
            layers.l2_regularizer(bad)


def test_regularizers_reach_the_losses_once():
    with slim.arg_scope([slim.conv2d, slim.fully_connected],
                        weights_regularizer=slim.l2_regularizer(0.1)):
        slim.conv2d(X, 2, 1, scope="a")
        slim.conv2d(X, 2, 1, scope="a", reuse=True)
        slim.fully_connected(X, 2, biases_regularizer=slim.l1_regularizer(1.0))
    assert len(tf.losses.get_regularization_losses()) == 3


@pytest.mark.parametrize("make, low, spread", [
    (lambda: layers.xavier_initializer(), np.sqrt(6 / 300), np.sqrt(2 / 300)),
    (lambda: layers.variance_scaling_initializer(2.0, "FAN_OUT", True), np.sqrt(6 / 200),
     np.sqrt(2 / 200)),
    (lambda: layers.variance_scaling_initializer(), 2 * np.sqrt(2.6 / 100), np.sqrt(2 / 100)),
    (lambda: layers.xavier_initializer(uniform=False), 2 * np.sqrt(1.3 / 150), np.sqrt(1 / 150)),
])
def test_initializers(make, low, spread):
    """The greatest value is the limit of the distribution, the deviation that of the formula."""
    tf.set_random_seed(3)
    with tf.Session() as sess:
        values = sess.run(make()([100, 200]))
    assert 0.99 * low < np.abs(values).max() <= low
    assert abs(values.std() / spread - 1) < 0.02


def test_summaries():
    x = tf.nn.relu(tf.constant([-1.0, 2.0]), name="r")
    tf.add_to_collection(tf.GraphKeys.ACTIVATIONS, x)
    made = [*layers.summarize_activations(), layers.summarize_tensor(tf.reduce_sum(x))]
    text = run(tf.summary.merge_all())
    tags = {v.tag: v for v in tf.Summary.FromString(text).value}
    assert len(made) == 2 and {"r/activation", "r/zeros"} <= set(tags)
    assert tags["r/zeros"].simple_value == 0.5
