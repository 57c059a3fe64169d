# SPDX-License-Identifier: Apache-2.0
"""tf.layers against tf-keras': names, shapes, values, gradients, statistics, losses."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

_TEXT = (Path(__file__).parent / "cases_layers.py").read_text()
_SCOPE: dict = {"__name__": "cases"}
exec(compile(_TEXT, "cases_layers.py", "exec"), _SCOPE)


@pytest.fixture(scope="module")
def results(both):
    return both("cases_layers.py")


@pytest.mark.parametrize("case", list(_SCOPE["CASES"]))
def test_equals_tf_keras(case, results):
    theirs, ours = (r[case] for r in results)
    assert "error" not in theirs, theirs["error"]
    assert "error" not in ours, ours["error"]
    assert ours["variables"] == theirs["variables"]
    assert ours["trainable"] == theirs["trainable"]
    assert ours["static"] == theirs["static"]
    assert ours["updates"] == theirs["updates"]
    assert ours["loss_names"] == theirs["loss_names"]
    assert ours["grads"] is not None
    if theirs["grads"] is None:
        theirs["grads"] = {}
    else:
        assert ours["grads"].keys() == theirs["grads"].keys()
    for got, want in [*zip(ours["outputs"], theirs["outputs"]),
                      *zip(ours["losses"], theirs["losses"]),
                      *((ours["grads"][k], theirs["grads"][k]) for k in theirs["grads"]),
                      *((ours["after"][k], theirs["after"][k]) for k in theirs["after"])]:
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)


def test_initial_values_are_of_the_same_family(results):
    """Kernels: uniform within Glorot's limit, which most of them come near; the rest constants."""
    seen = 0
    for case in results[1]:
        theirs, ours = (r[case].get("initial", {}) for r in results)
        for name, value in theirs.items():
            if not re.search("kernel|W:", name):
                np.testing.assert_array_equal(ours[name], value, err_msg=f"{case}: {name}")
            elif value.size >= 48:
                seen += 1
                window = np.prod(value.shape[:-2])
                limit = np.sqrt(6 / (window * (value.shape[-2] + value.shape[-1])))
                assert 0.7 * limit < np.abs(ours[name]).max() <= limit, name
                assert abs(np.std(ours[name]) - limit / np.sqrt(3)) < 0.25 * limit, name
    assert seen >= 6


@pytest.mark.parametrize("kind, args, shape", [
    ("conv1d", (4, 3), (2, 3, 9)), ("conv2d", (4, 3), (2, 3, 7, 8)),
    ("conv2d_transpose", (4, 3), (2, 3, 4, 5)), ("separable_conv2d", (4, 3), (2, 3, 7, 8)),
    ("separable_conv1d", (4, 3), (2, 3, 9)), ("conv3d", (4, 2), (1, 2, 4, 4, 3)),
    ("conv3d_transpose", (4, 2), (1, 2, 3, 3, 2)), ("max_pooling1d", (2, 2), (2, 3, 8)),
    ("average_pooling2d", (2, 2), (2, 3, 8, 8)), ("max_pooling3d", (2, 2), (1, 2, 4, 4, 4)),
    ("batch_normalization", (), (2, 3, 4, 4))])
def test_channels_first_equals_channels_last(kind, args, shape):
    """On CPU too, gradients included."""
    from tfqueue_compat.compat import tfv1 as tf
    value = np.random.RandomState(0).randn(*shape).astype("float32")
    last = [0, *range(2, len(shape)), 1]
    with tf.Graph().as_default(), tf.variable_scope("v", reuse=tf.AUTO_REUSE):
        first_in, last_in = tf.constant(value), tf.constant(value.transpose(last))
        function = getattr(tf.layers, kind)
        first, plain = ((dict(axis=1, training=True), dict(training=True)) if not args else
                        (dict(data_format="channels_first"), {}))
        y = function(first_in, *args, name="l", **first)
        z = function(last_in, *args, name="l", **plain)
        grads = [tf.gradients(tf.reduce_sum(tf.sin(o)), [i, *tf.trainable_variables()])
                 for o, i in ((y, first_in), (z, last_in))]
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            y, z, (dy, *dw), (dz, *dv) = sess.run([y, z, *grads])
    np.testing.assert_allclose(y.transpose(last), z, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(dy.transpose(last), dz, rtol=1e-4, atol=1e-5)
    for a, b in zip(dw, dv, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
