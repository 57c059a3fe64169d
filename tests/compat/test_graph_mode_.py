# SPDX-License-Identifier: Apache-2.0
"""Graph mode without a ``with``, beside eager mode and Keras."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest
import tensorflow

from tfqueue_compat.compat import enter_graph, graph_mode, leave_graph, tfv1 as tf


def test_a_script_at_top_level():
    graph = enter_graph()
    assert enter_graph() is graph and not tf.executing_eagerly()
    x = tf.placeholder(tf.float32, [None, 2])
    y = tf.layers.dense(x, 1, kernel_initializer=tf.ones_initializer())
    with tf.Session() as sess:
        assert sess.graph is graph
        sess.run(tf.global_variables_initializer())
        np.testing.assert_allclose(sess.run(y, {x: [[1, 2]]}), [[3]])
        inner = []

        def helper():
            inner.append(tf.executing_eagerly())
            inner.append(sess.run(y, {x: [[4, 5]]}))
            with sess.graph.as_default():
                inner.append(sess.run(y * 2, {x: [[4, 5]]}))

        thread = threading.Thread(target=helper)
        thread.start()
        thread.join()
    assert inner[0] is True and inner[1] == 9 and inner[2] == 18
    leave_graph()
    leave_graph()
    assert tf.executing_eagerly()
    assert tensorflow.ones([2]).numpy().sum() == 2


def test_reset_default_graph_renews_the_entered_one():
    graph = enter_graph()
    tf.get_variable("v", [2])
    tf.reset_default_graph()
    assert tf.get_default_graph() is not graph
    assert not tf.executing_eagerly() and tf.global_variables() == []
    tf.get_variable("v", [3])
    with tf.Graph().as_default(), pytest.raises(AssertionError):
        tf.reset_default_graph()


def test_entering_inside_a_graph_stays_in_it():
    with tf.Graph().as_default() as graph:
        assert enter_graph() is graph
    assert tf.executing_eagerly()


def test_graph_mode_ends_with_its_block():
    with pytest.raises(KeyError), graph_mode() as graph:
        assert tf.get_default_graph() is graph
        raise KeyError
    assert tf.executing_eagerly()


def test_v1_shapes_for_scripts_that_say_value():
    tf.disable_v2_behavior()
    try:
        x = tf.placeholder(tf.float32, [None, 7])
        assert x.get_shape()[1].value == 7 and x.shape[0].value is None
        # Layers must not care which kind of shape there is.
        y = tf.layers.conv2d(tf.zeros([2, 6, 6, x.shape[1]]), 3, 2)
        y = tf.layers.batch_normalization(tf.layers.max_pooling2d(y, 2, 2), training=True)
        y = tf.layers.dense(tf.layers.flatten(y), y.get_shape()[-1])
        cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(3)])
        z, _ = tf.nn.dynamic_rnn(cell, tf.zeros([2, 4, x.shape[1]]), dtype=tf.float32)
        w = tf.contrib.slim.fully_connected(tf.contrib.slim.layer_norm(z), 2)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            assert [a.shape for a in sess.run([y, w])] == [(2, 3), (2, 4, 2)]
    finally:
        tf.enable_eager_execution()
    assert tf.executing_eagerly() and tensorflow.zeros([2]).shape[0] == 2


def test_keras_fit_works_while_and_after():
    done = subprocess.run([sys.executable, "-c", """
import numpy as np, keras
from tfqueue_compat.compat import enter_graph, leave_graph, tfv1 as tf
enter_graph(v1_shapes=True)
tf.get_variable("v", [2])
leave_graph()
m = keras.Sequential([keras.layers.Dense(2), keras.layers.BatchNormalization()])
m.compile("sgd", "mse")
m.fit(np.ones((8, 3)), np.ones((8, 2)), verbose=0)
enter_graph()
print("ok", tf.get_variable("w", [2]).shape)
"""], capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "ok (2,)", done.stderr[-3000:]
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr
