# SPDX-License-Identifier: Apache-2.0
"""tf.nn.rnn_cell against tf-keras', and what it cannot tell: dropout, eager mode, functions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

_SCOPE: dict = {"__name__": "cases"}
exec((Path(__file__).parent / "cases_rnn.py").read_text(), _SCOPE)


@pytest.fixture(scope="module")
def results(both):
    return both("cases_rnn.py")


@pytest.mark.parametrize("case", list(_SCOPE["CASES"]))
def test_equals_tf_keras(case, results):
    theirs, ours = (r[case] for r in results)
    assert "error" not in theirs, theirs["error"]
    assert "error" not in ours, ours["error"]
    assert ours["variables"] == theirs["variables"]
    assert ours["trainable"] == theirs["trainable"]
    assert ours["static"] == theirs["static"]
    for got, want in [*zip(ours["outputs"], theirs["outputs"]),
                      *((ours["grads"][k], theirs["grads"][k]) for k in theirs["grads"])]:
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


@pytest.fixture
def tf():
    from tfqueue_compat.compat import tfv1
    return tfv1


def run(tf, fetches, feed=None):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(fetches, feed)


def test_dropout_keeps_a_share_and_scales(tf):
    rnn = tf.nn.rnn_cell
    with tf.Graph().as_default():
        tf.set_random_seed(0)
        keep = tf.placeholder_with_default(0.25, [])
        cell = rnn.DropoutWrapper(rnn.BasicRNNCell(400), output_keep_prob=keep, seed=7)
        plain = cell.wrapped_cell
        x = tf.ones([8, 3])
        zeros = cell.zero_state(8, tf.float32)
        (dropped, state), (whole, _) = cell(x, zeros), plain(x, zeros)
        dropped, state, whole = run(tf, [dropped, state, whole])
    np.testing.assert_allclose(state, whole, rtol=1e-6)
    kept = dropped != 0
    assert abs(kept.mean() - 0.25) < 0.03
    np.testing.assert_allclose(dropped[kept], whole[kept] / 0.25, rtol=1e-5)


def test_dropout_of_states_spares_c(tf):
    rnn = tf.nn.rnn_cell
    with tf.Graph().as_default():
        cell = rnn.MultiRNNCell([rnn.DropoutWrapper(rnn.BasicLSTMCell(200), state_keep_prob=0.5)])
        _, ((c, h),) = cell(tf.ones([4, 3]), cell.zero_state(4, tf.float32))
        c, h = run(tf, [c, h])
    assert (c != 0).all()
    assert 0.4 < (h == 0).mean() < 0.6


def test_variational_dropout_has_one_mask_for_all_steps(tf):
    rnn = tf.nn.rnn_cell
    with tf.Graph().as_default():
        cell = rnn.DropoutWrapper(rnn.BasicRNNCell(100), output_keep_prob=0.5, dtype=tf.float32,
                                  variational_recurrent=True)
        outputs, _ = tf.nn.static_rnn(cell, [tf.ones([2, 3])] * 4, dtype=tf.float32)
        masks = np.stack(run(tf, outputs)) != 0
    assert 0.3 < masks.mean() < 0.7
    assert (masks == masks[0]).all()


def test_dropout_says_what_is_wrong(tf):
    rnn = tf.nn.rnn_cell
    with pytest.raises(ValueError, match="input_keep_prob: Expected 0 < p <= 1. Received 1.5"):
        rnn.DropoutWrapper(rnn.GRUCell(2), input_keep_prob=1.5)
    with pytest.raises(ValueError, match="dtype and input_size"):
        rnn.DropoutWrapper(rnn.GRUCell(2), input_keep_prob=0.5, variational_recurrent=True)


def test_cell_keeps_its_weights_in_functions_and_eagerly(tf):
    import tensorflow
    cell = tf.nn.rnn_cell.GRUCell(4)

    @tensorflow.function
    def total(x):
        outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
        return outputs

    x = np.random.RandomState(0).randn(2, 3, 5).astype("float32")
    traced = total(tensorflow.constant(x)).numpy()
    assert len(cell.trainable_variables) == 4
    state = cell.zero_state(2, tf.float32)
    for t in range(3):
        output, state = cell(x[:, t], state)
        np.testing.assert_allclose(traced[:, t], output.numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(total(tensorflow.constant(x[:1])), traced[:1], rtol=1e-5,
                               atol=1e-6)


def test_states_in_nested_sizes(tf):
    rnn = tf.nn.rnn_cell
    with tf.Graph().as_default():
        batch = tf.placeholder(tf.int32, [])
        state = rnn.MultiRNNCell([rnn.LSTMCell(3, num_proj=2), rnn.GRUCell(4)]).zero_state(
            batch, tf.float32)
        assert isinstance(state[0], rnn.LSTMStateTuple)
        assert state[0].h.shape.as_list() == [None, 2]
        with tf.Session() as sess:
            (c, h), g = sess.run(state, {batch: 5})
    assert c.shape == (5, 3) and h.shape == (5, 2) and g.shape == (5, 4)


def test_state_tuple_has_one_dtype(tf):
    pair = tf.nn.rnn_cell.LSTMStateTuple(np.zeros(2, "float32"), np.zeros(2, "float64"))
    with pytest.raises(TypeError, match="c and h of one dtype"):
        pair.dtype
