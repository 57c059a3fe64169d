# SPDX-License-Identifier: Apache-2.0
"""slim's arg_scope, the look-ups of variables, assignments from values and checkpoints."""

from __future__ import annotations

import numpy as np
import pytest

from tfqueue_compat.compat import tfv1 as tf

slim = tf.contrib.slim
framework = tf.contrib.framework


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


@slim.add_arg_scope
def f(a, b=1, c=2):
    return a, b, c


def test_arg_scope_nests_and_is_left():
    with slim.arg_scope([f], b=10) as outer:
        assert f(0) == (0, 10, 2)
        with slim.arg_scope([f], c=20):
            assert f(0) == (0, 10, 20) and f(0, c=3) == (0, 10, 3)
        with slim.arg_scope([f], b=11):
            assert f(0) == (0, 11, 2)
        assert f(0) == (0, 10, 2)
    assert f(0) == (0, 1, 2)
    with slim.arg_scope(outer), pytest.raises(KeyError):
        assert f(0) == (0, 10, 2)
        raise KeyError
    assert f(0) == (0, 1, 2)
    assert slim.has_arg_scope(f) and not slim.has_arg_scope(len)
    assert slim.arg_scoped_arguments(f) == ("b", "c")
    assert "weights_regularizer" in slim.arg_scoped_arguments(slim.conv2d)


def test_arg_scope_says_what_is_wrong():
    with pytest.raises(ValueError, match="decorated by add_arg_scope"):
        with slim.arg_scope([len], b=1):
            pass
    with pytest.raises(TypeError, match="Expected a list of functions"):
        with slim.arg_scope(f, b=1):
            pass
    with slim.arg_scope([f], b=1) as scope, pytest.raises(ValueError, match="a scope alone"):
        with slim.arg_scope(scope, c=1):
            pass


def test_device_of_variables():
    with slim.arg_scope([slim.model_variable, slim.variable], device="/cpu:0"):
        slim.conv2d(tf.zeros([1, 2, 2, 1]), 1, 1)
        v = slim.model_variable("v", [2], regularizer=slim.l2_regularizer(0.1), trainable=False)
    assert {x.device for x in tf.global_variables()} == {"/device:CPU:0"}
    assert v in slim.get_model_variables() and v not in tf.trainable_variables()
    assert len(tf.losses.get_regularization_losses()) == 1


def test_look_ups():
    with tf.variable_scope("a"):
        w = tf.get_variable("weights", [1])
        b = tf.get_variable("biases", [1], trainable=False)
    with tf.variable_scope("ab") as scope:
        v = slim.variable("weights", [1])
    local = slim.local_variable(0.0, name="l")
    assert slim.get_variables("a/") == [w, b] and slim.get_variables(scope) == [v]
    assert slim.get_variables_by_name("weights") == [w, v]
    assert slim.get_variables_by_suffix("ases") == [b]
    assert slim.get_trainable_variables("a/") == [w]
    assert slim.get_local_variables() == [local]
    assert slim.get_variables_to_restore(exclude=["a/biases"]) == [w, v]
    assert slim.get_variables_to_restore(include=["a/", "a/b"]) == [w, b]
    assert framework.filter_variables([w, b, v], ["weights"], ["^ab"]) == [w]
    assert slim.get_unique_variable("ab/weights") is v
    with pytest.raises(ValueError, match="Received 'c'"):
        slim.get_unique_variable("c")
    assert slim.get_model_variables() == []
    framework.add_model_variable(w)
    framework.add_model_variable(w)
    assert slim.get_model_variables() == [w]


def test_end_points():
    with slim.arg_scope([slim.conv2d, slim.max_pool2d], outputs_collections="ends"):
        with tf.variable_scope("net"):
            y = slim.conv2d(tf.zeros([1, 4, 4, 1]), 1, 1, scope="c1")
            z = slim.max_pool2d(y, 2, scope="p1")
    ends = slim.utils.convert_collection_to_dict("ends", clear_collection=True)
    assert list(ends.items()) == [("net/c1", y), ("net/p1", z)]
    assert tf.get_collection("ends") == []
    assert slim.utils.n_positive_integers(2, 3) == (3, 3)
    assert slim.utils.last_dimension(z.shape) == 1


def test_assignments(tmp_path):
    w, v = tf.get_variable("w", [2]), tf.get_variable("v", [3])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        slim.assign_from_values_fn({"w": [1, 2], "v": [3, 4, 5]})(sess)
        path = tf.train.Saver([w]).save(sess, str(tmp_path / "m"))
        with pytest.raises(ValueError, match="a variable 'v'"):
            slim.assign_from_checkpoint_fn(path, [w, v])
        restore = slim.assign_from_checkpoint_fn(path, [w, v], ignore_missing_vars=True)
        op, feed = slim.assign_from_checkpoint(path, {"w": w})
        for load in (restore, lambda s: s.run(op, feed)):
            sess.run(tf.global_variables_initializer())
            load(sess)
            np.testing.assert_array_equal(sess.run(w), [1, 2])
        with pytest.raises(ValueError, match=r"shape \[2\]. Received \[3\]"):
            slim.assign_from_values({"w": [1, 2, 3]})
    step = framework.get_or_create_global_step()
    assert framework.get_global_step() is step is tf.train.get_global_step()
