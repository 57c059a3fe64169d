# SPDX-License-Identifier: Apache-2.0
"""tf.contrib.rnn's own cells against NumPy, and tf.contrib.image."""

from __future__ import annotations

import numpy as np
import pytest

from tfqueue_compat.compat import tfv1 as tf

rnn = tf.contrib.rnn
image = tf.contrib.image
X = np.random.RandomState(0).randn(2, 4, 3).astype("float32")


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        tf.set_random_seed(0)
        yield g


def run(fetches):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        values = dict(zip([v.op.name for v in tf.global_variables()],
                          sess.run(tf.global_variables())))
        return sess.run(fetches), values


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, kernel, bias, norm=lambda x, name: x, units=5):
    c = h = np.zeros((len(x), units))
    for t in range(x.shape[1]):
        i, j, f, o = np.split(np.concatenate([x[:, t], h], 1) @ kernel + bias, 4, 1)
        i, j, f, o = (norm(v, n) for v, n in zip(
            (i, j, f, o), ("input", "transform", "forget", "output")))
        c = norm(c * sigmoid(f + 1) + sigmoid(i) * np.tanh(j), "state")
        h = np.tanh(c) * sigmoid(o)
    return c, h


def test_names_are_those_of_nn_rnn_cell():
    for name in tf.nn.rnn_cell.__all__:
        assert getattr(rnn, name) is getattr(tf.nn.rnn_cell, name)
    assert rnn.static_rnn is tf.nn.static_rnn


def test_layer_norm_lstm():
    cell = rnn.LayerNormBasicLSTMCell(5, norm_gain=0.7, norm_shift=0.2)
    _, state = tf.nn.dynamic_rnn(cell, X, dtype=tf.float32)
    (c, h), values = run(state)
    scope = "rnn/layer_norm_basic_lstm_cell/"
    assert set(values) == {scope + "kernel"} | {
        f"{scope}{part}/{n}" for n in ("gamma", "beta")
        for part in ("input", "transform", "forget", "output", "state")}

    def norm(x, name):
        y = (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)
        assert values[f"{scope}{name}/gamma"][0] == np.float32(0.7)
        return 0.7 * y + 0.2

    want = lstm(X, values[scope + "kernel"], 0, norm)
    np.testing.assert_allclose(c, want[0], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(h, want[1], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("make, scope", [
    (lambda: rnn.LayerNormBasicLSTMCell(5, layer_norm=False), "layer_norm_basic_lstm_cell"),
    (lambda: rnn.LSTMBlockCell(5), "lstm_cell")])
def test_other_lstms(make, scope):
    _, state = tf.nn.dynamic_rnn(make(), X, dtype=tf.float32)
    (c, h), values = run(state)
    assert list(values) == [f"rnn/{scope}/kernel", f"rnn/{scope}/bias"]
    want = lstm(X, *values.values())
    np.testing.assert_allclose(c, want[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(h, want[1], rtol=1e-4, atol=1e-5)


def test_projections():
    inner = rnn.BasicRNNCell(4)
    out = rnn.OutputProjectionWrapper(inner, 2)
    cell = rnn.InputProjectionWrapper(rnn.BasicRNNCell(3), 6, activation=tf.nn.relu)
    (y, _), (z, _) = (c(X[:, 0], c.zero_state(2, tf.float32)) for c in (out, cell))
    (y, z), values = run([y, z])
    k, b, pk, pb = (values[n] for n in (
        "output_projection_wrapper/basic_rnn_cell/kernel",
        "output_projection_wrapper/basic_rnn_cell/bias",
        "output_projection_wrapper/kernel", "output_projection_wrapper/bias"))
    np.testing.assert_allclose(y, np.tanh(X[:, 0] @ k[:3] + b) @ pk + pb, rtol=1e-4, atol=1e-5)
    assert values["input_projection_wrapper/kernel"].shape == (3, 6) and z.shape == (2, 3)


def test_stack_of_bidirectional_networks():
    y, fw, bw = rnn.stack_bidirectional_dynamic_rnn(
        [rnn.GRUCell(3), rnn.GRUCell(2)], [rnn.GRUCell(3), rnn.GRUCell(2)], X,
        dtype=tf.float32)
    (y, fw, bw), values = run([y, fw, bw])
    assert y.shape == (2, 4, 4) and [s.shape for s in fw] == [(2, 3), (2, 2)]
    np.testing.assert_allclose(y[:, -1, :2], fw[1], rtol=1e-5)
    np.testing.assert_allclose(y[:, 0, 2:], bw[1], rtol=1e-5)
    assert ("stack_bidirectional_rnn/cell_1/bidirectional_rnn/bw/gru_cell/gates/kernel" in values)
    with pytest.raises(ValueError, match="as many cells each way"):
        rnn.stack_bidirectional_dynamic_rnn([rnn.GRUCell(3)], [], X)


def test_images_turn_and_move():
    im = np.arange(12, dtype="float32").reshape(1, 3, 4, 1)
    square = im[:, :, :3]
    turned = image.rotate(square, np.pi / 2)
    moved = image.translate(im, [1, -1])
    flat = image.translate(im[0, :, :, 0], [[0, 1]])
    twice = image.transform(im, image.compose_transforms([1, 0, -1, 0, 1, 0, 0, 0],
                                                         [1, 0, 0, 0, 1, 1, 0, 0]))
    turned, moved, flat, twice = run([turned, moved, flat, twice])[0]
    np.testing.assert_array_equal(turned[0, :, :, 0], np.rot90(square[0, :, :, 0]))
    want = np.zeros((3, 4))
    want[:2, 1:] = im[0, 1:, :3, 0]
    np.testing.assert_array_equal(moved[0, :, :, 0], want)
    np.testing.assert_array_equal(twice, moved)
    np.testing.assert_array_equal(flat[1:], im[0, :2, :, 0])
