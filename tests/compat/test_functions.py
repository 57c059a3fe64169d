# SPDX-License-Identifier: Apache-2.0
"""tf.layers inside tf.function, with layers as objects and with a store of variables."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow

from tfqueue_compat.compat import tfv1 as tf

X = np.random.RandomState(0).randn(4, 6, 6, 2).astype("float32")


class Store:
    """A custom getter that keeps variables between traces."""

    def __init__(self):
        self.variables = {}

    def __call__(self, getter, name, shape=None, initializer=None, trainable=True, **kwargs):
        if name not in self.variables:
            with tensorflow.init_scope():
                value = (initializer or tf.glorot_uniform_initializer())(shape, dtype="float32")
                self.variables[name] = tensorflow.Variable(value, trainable=trainable, name=name)
        return self.variables[name]


def network(x, training):
    y = tf.layers.conv2d(x, 3, 3, kernel_regularizer=tf.nn.l2_loss, use_bias=False)
    y = tf.nn.relu(tf.layers.batch_normalization(y, training=training, momentum=0.5))
    y = tf.layers.max_pooling2d(y, 2, 2)
    y = tf.layers.separable_conv2d(y, 4, 1)
    y = tf.layers.dropout(y, 0.5, training=False)
    return tf.layers.dense(tf.layers.flatten(y), 2)


def test_a_store_serves_every_trace_and_equals_a_graph():
    store = Store()

    @tensorflow.function
    def step(x, training):
        with tf.variable_scope("net", custom_getter=store, reuse=tf.AUTO_REUSE):
            y = network(x, training)
        losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
        grads = tensorflow.gradients(tf.reduce_sum(y ** 2), store.variables["net/conv2d/kernel"])
        return y, tf.add_n(losses), grads[0]

    before = {}
    for training in (True, False, True):
        y, loss, grad = step(tensorflow.constant(X), training)
        if not before:
            names = list(store.variables)
    assert step(tensorflow.constant(X[:1]), False)[0].shape == (1, 2)
    assert list(store.variables) == names
    assert names[:2] == ["net/conv2d/kernel", "net/batch_normalization/gamma"]

    # The same weights in a TF 1 graph, trained on the same two batches.
    values = {k: v.numpy() for k, v in store.variables.items()}
    moved = values["net/batch_normalization/moving_mean"]
    with tf.Graph().as_default(), tf.Session() as sess:
        with tf.variable_scope("net"):
            out = network(tf.constant(X), True)
        grad_ = tf.gradients(tf.reduce_sum(out ** 2), tf.trainable_variables()[0])[0]
        mean = [v for v in tf.global_variables() if "moving_mean" in v.name][0]
        sess.run(tf.global_variables_initializer())
        sess.run([tf.assign(v, values[v.op.name]) for v in tf.global_variables()])
        want = sess.run([out, tf.add_n(tf.losses.get_regularization_losses()), grad_])
        sess.run(tf.assign(mean, np.zeros(3, "float32")))
        for _ in range(2):
            sess.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        np.testing.assert_allclose(moved, sess.run(mean), rtol=1e-4, atol=1e-6)
    for got, wanted in zip((y, loss, grad), want):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)


def test_a_layer_object_owns_its_weights():
    conv, norm = tf.layers.Conv2D(3, 2), tf.layers.BatchNormalization()

    @tensorflow.function
    def f(x, training):
        return norm(conv(x), training=training)

    first = f(tensorflow.constant(X), True)
    assert len(conv.variables) == 2 and len(norm.variables) == 4
    f(tensorflow.constant(X[:2]), True)
    assert norm.moving_mean.numpy().any()
    np.testing.assert_allclose(norm(conv(X), training=True), first, rtol=1e-4, atol=1e-5)


def test_eagerly_a_layer_object_keeps_its_weights():
    layer = tf.layers.Dense(3, kernel_regularizer=tf.nn.l2_loss)
    np.testing.assert_array_equal(layer(np.ones((2, 4), "f")), layer(np.ones((2, 4), "f")))
    assert layer.count_params() == 15
    np.testing.assert_allclose(layer.losses[0], (layer.get_weights()[0] ** 2).sum() / 2,
                               rtol=1e-5)
    with pytest.raises(RuntimeError, match="tf.Graph"):
        layer.graph


def test_dropout_masks_differ_from_step_to_step():
    with tf.Graph().as_default(), tf.Session() as sess:
        training = tf.placeholder(tf.bool, [])
        switch = tf.get_variable("switch", initializer=False, trainable=False)
        switched = tf.layers.dropout(tf.ones([200]), training=switch)
        y = tf.layers.dropout(tf.ones([2000]), rate=0.3, training=training)
        a, b = sess.run(y, {training: True}), sess.run(y, {training: True})
        off = sess.run(y, {training: False})
        sess.run(switch.initializer)
        assert (sess.run(switched) == 1).all()
        sess.run(tf.assign(switch, True))
        assert (sess.run(switched) == 0).any()
    assert abs((a == 0).mean() - 0.3) < 0.05 and (a != b).any()
    np.testing.assert_allclose(a[a != 0], 1 / 0.7, rtol=1e-5)
    np.testing.assert_array_equal(off, np.ones(2000))


def test_subclass_and_its_shape():
    class Scale(tf.layers.Layer):
        def build(self, input_shape):
            self.w = self.add_variable("w", [int(input_shape[-1])],
                                       constraint=lambda v: tf.clip_by_value(v, 0, 1))
            super().build(input_shape)

        def call(self, inputs):
            return inputs * self.w

    with tf.Graph().as_default():
        layer = Scale(name="scale", dtype="float32")
        y = layer.apply(tf.zeros([3, 5]))
        assert [v.name for v in layer.variables] == ["scale/w:0"]
        assert layer.w.constraint is not None and layer.dtype == "float32"
        assert layer.output is y and layer.input_shape == (3, 5)
        assert layer.scope_name == "scale" and layer.graph is tf.get_default_graph()
        assert tf.layers.Conv2D(4, 3).compute_output_shape([2, 8, 8, 1]) == (2, 6, 6, 4)
        assert len(tf.global_variables()) == 1
        layer.trainable = False
        assert layer.trainable_variables == [] and len(layer.non_trainable_variables) == 1
