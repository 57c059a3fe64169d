# SPDX-License-Identifier: Apache-2.0
"""Summaries, gradients, optimizers and small functions; more of them in tests/parity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat.tfutils import TowerContext, gradproc, optimizer, summary
from tfqueue_compat.tfutils import symbolic_functions as sf

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def graph() -> object:
    with tf.Graph().as_default() as made:
        yield made


def evaluate(y: Any) -> Any:
    with v1.Session() as sess:
        sess.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        return sess.run(y)


@pytest.mark.parametrize("shape", [(5, 7, 3), (5, 7, 1), (2, 5, 7, 4), (3, 5, 7, 3)])
def test_images_decode_to_what_was_given(shape: tuple[int, ...]) -> None:
    images = np.random.RandomState(0).randint(0, 256, shape).astype("uint8")
    made = summary.create_image_summary("pic", images.astype("float32"))
    batch = images.reshape(-1, *shape[-3:])
    assert [v.tag for v in made.value] == (
        ["pic"] if len(batch) == 1 else [f"pic/{i}" for i in range(len(batch))])
    for value, image in zip(made.value, batch):
        assert (value.image.height, value.image.width) == shape[-3:-1]
        got = evaluate(tf.io.decode_png(value.image.encoded_image_string))
        np.testing.assert_array_equal(got, image)
    with pytest.raises(ValueError, match="channels"):
        summary.create_image_summary("pic", images[..., 0])


def test_scalars() -> None:
    made = summary.create_scalar_summary("a", np.float32(0.5))
    assert (made.value[0].tag, made.value[0].simple_value) == ("a", 0.5)


def test_the_average_is_unbiased_from_the_first_value() -> None:
    x = v1.placeholder(tf.float32, [])
    average, = summary.add_moving_summary(x, decay=0.9)
    values = [3.0, -1.0, 4.0, 1.0]
    with v1.Session() as sess:
        sess.run(v1.local_variables_initializer())
        for n in range(1, 5):
            weights = 0.9 ** np.arange(n)[::-1]
            wanted = np.dot(weights, values[:n]) / weights.sum()
            assert sess.run(average, {x: values[n - 1]}) == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("call, error", [
    (lambda x: summary.add_moving_summary(x, decai=0.5), "'decay'"),
    (lambda x: summary.add_moving_summary(tf.zeros([2])), "reduce_mean"),
    (lambda x: summary.add_moving_summary(3.0), "scalar tensors"),
    (lambda x: summary.add_tensor_summary(x, ["means"]), "'mean'"),
    (lambda x: summary.add_param_summary(".*/W"), "pairs"),
])
def test_errors_help(call: Any, error: str) -> None:
    with pytest.raises((TypeError, ValueError), match=error):
        call(tf.constant(1.0))


def test_other_towers_add_nothing(graph: Any) -> None:
    with TowerContext("p", is_training=False):
        assert summary.add_moving_summary(tf.constant(1.0)) == []
        summary.add_activation_summary(tf.zeros([2, 2]))
        summary.add_tensor_summary(tf.zeros([2, 2]), ["mean"], main_tower_only=False)
    kinds = [op.name for op in graph.get_operations() if op.type.endswith("Summary")]
    assert kinds == ["p/p/zeros_1-mean"]


def test_gradients_that_are_not_finite_are_named() -> None:
    v = v1.get_variable("fc/W", initializer=[0.0])
    pairs = v1.train.GradientDescentOptimizer(1.0).compute_gradients(tf.sqrt(v))
    checked = gradproc.CheckGradient().process(pairs)
    with pytest.raises(tf.errors.InvalidArgumentError, match="fc/W"):
        evaluate(checked[0][0])


def test_sparse_gradients_pass_every_processor() -> None:
    table = v1.get_variable("emb", initializer=np.ones([5, 2], "float32"))
    cost = tf.reduce_sum(tf.gather(table, [1, 1, 3]))
    opt = v1.train.GradientDescentOptimizer(1.0)
    for processor in (gradproc.ScaleGradient(("emb", 2.0)), gradproc.CheckGradient(),
                      gradproc.GlobalNormClip(1e9), gradproc.SummaryGradient()):
        opt = optimizer.apply_grad_processors(opt, [processor])
    train = opt.minimize(cost)
    with v1.Session() as sess:
        sess.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        sess.run(train)
        np.testing.assert_array_equal(sess.run(table)[:, 0], [1, -3, 1, -1, 1])


@pytest.mark.parametrize("make", [
    lambda: v1.train.GradientDescentOptimizer(0.1), lambda: v1.train.AdamOptimizer(0.1),
    lambda: optimizer.apply_grad_processors(v1.train.MomentumOptimizer(0.1, 0.9),
                                            [gradproc.ScaleGradient(("a", 0.5))])])
def test_gathered_steps_equal_one_large_step(make: Any) -> None:
    start = np.array([1.0, -2.0], "float32")
    data = np.random.RandomState(0).randn(6, 2).astype("float32")
    x = v1.placeholder(tf.float32, [2])
    a, b = (v1.get_variable("a", initializer=start), v1.get_variable("b/a", initializer=start))
    with v1.variable_scope("few"):
        gathered = optimizer.AccumGradOptimizer(make(), 3).minimize(
            tf.reduce_sum(tf.square(a - x)), var_list=[a])
    with v1.variable_scope("one"):
        # ScaleGradient matches whole names: give the other variable the same factor
        scale = 0.5 if isinstance(make(), optimizer.ProxyOptimizer) else 1.0
        all_ = v1.placeholder(tf.float32, [3, 2])
        opt = make() if scale == 1.0 else v1.train.MomentumOptimizer(0.1, 0.9)
        large = opt.minimize(scale * tf.reduce_sum(tf.square(b - all_)), var_list=[b])
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        for i, row in enumerate(data):
            sess.run(gathered, {x: row})
            if i % 3 == 2:
                sess.run(large, {all_: data[i - 2:i + 1]})
                np.testing.assert_allclose(sess.run(a), sess.run(b), rtol=1e-5)


def test_post_processing() -> None:
    a, b = v1.get_variable("a", initializer=[3.0]), v1.get_variable("b", initializer=[3.0])
    inner = v1.train.GradientDescentOptimizer(1.0)
    clipped = optimizer.VariableAssignmentOptimizer(
        inner, lambda v: tf.clip_by_value(v, 0, 1) if v is a else None)
    both = optimizer.PostProcessOptimizer(
        clipped, lambda v: v.assign_add([10.0]) if v is b else None)
    train = both.minimize(tf.reduce_sum(a + b))
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        sess.run(train)
        assert [sess.run(a)[0], sess.run(b)[0]] == [1.0, 12.0]
    with pytest.raises(TypeError, match="Optimizer"):
        optimizer.AccumGradOptimizer(3, 2)
    with pytest.raises(TypeError, match="GradientProcessors"):
        optimizer.apply_grad_processors(inner, [lambda g: g])


def test_small_functions() -> None:
    logits, labels = tf.constant([[1.0, 2, 0], [3, 0, 1]]), tf.constant([1, 2])
    assert evaluate(sf.prediction_incorrect(logits, labels)).tolist() == [0.0, 1.0]
    assert evaluate(sf.prediction_incorrect(logits, labels, topk=2)).tolist() == [0.0, 0.0]
    assert evaluate(sf.accuracy(logits, labels)) == 0.5
    assert evaluate(sf.rms(tf.constant([3.0, 4.0]))) == pytest.approx(np.sqrt(12.5))
    assert evaluate(sf.psnr(logits, logits + 25.5, 255.0)) == pytest.approx(20.0, rel=1e-5)
    rate = sf.get_scalar_var("learning_rate", 1e-3, summary=True)
    assert evaluate(rate) == pytest.approx(1e-3) and not v1.trainable_variables()
    assert [s.op.name for s in v1.get_collection("summaries")] == ["learning_rate-summary"]


def test_print_stat(capfd: Any) -> None:
    evaluate(sf.print_stat(tf.constant([3.0, 4.0], name="x"), message="here: "))
    assert "here:  [2] 3.5 3.53" in capfd.readouterr().err
