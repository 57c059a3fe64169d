# SPDX-License-Identifier: Apache-2.0
"""QueueInput used five ways, with the same dataflow and the same values out."""

from __future__ import annotations

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat.dataflow import DataFromList
from tfqueue_compat.input_source import QueueInput

v1 = tf.compat.v1
pytestmark = pytest.mark.filterwarnings("ignore:.shuffle=True. was passed:UserWarning")


# ---- every way gives (image, label) of the first n datapoints

def towers_way(queue, n):
    with tf.Graph().as_default(), v1.Session() as sess:
        queue.setup([tf.TensorSpec([None, 3], tf.float32, "image"),
                     tf.TensorSpec([None], tf.int32, "label")])
        tensors = queue.get_input_tensors()
        return [sess.run(tensors) for _ in range(n)]


def session_way(queue, n):
    with tf.Graph().as_default(), v1.Session() as sess:
        return [sess.run(queue.dequeue()) for _ in range(n)]


def for_way(queue, n):
    out = []
    for image, label in queue:
        out.append((image.numpy(), label.numpy()))
        if len(out) == n:
            break
    return out


def eager_dequeue_way(queue, n):
    return [[x.numpy() for x in queue.dequeue()] for _ in range(n)]


def _stacked(image, label):
    return list(zip(image.numpy(), label.numpy()))


def function_for_way(queue, n):
    @tf.function
    def loop():
        images = tf.TensorArray(tf.float32, n, element_shape=[4, 3])
        labels = tf.TensorArray(tf.int32, n, element_shape=[4])
        i = 0
        for image, label in queue:
            if i < n:
                images, labels = images.write(i, image), labels.write(i, label)
            i += 1
        return images.stack(), labels.stack()
    return _stacked(*loop())


def function_iterator_way(queue, n):
    @tf.function
    def loop(iterator):
        images = tf.TensorArray(tf.float32, n, element_shape=[4, 3])
        labels = tf.TensorArray(tf.int32, n, element_shape=[4])
        for i in tf.range(n):
            image, label = next(iterator)
            images, labels = images.write(i, image), labels.write(i, label)
        return images.stack(), labels.stack()
    return _stacked(*loop(iter(queue)))


def function_dequeue_way(queue, n):
    @tf.function
    def one():
        image, label = queue.dequeue()
        return image, label
    return [[x.numpy() for x in one()] for _ in range(n)]


WAYS = [towers_way, session_way, for_way, eager_dequeue_way, function_for_way,
        function_iterator_way, function_dequeue_way]


@pytest.mark.parametrize("way", WAYS)
def test_same_values_every_way(way, numbers):
    got = way(QueueInput(numbers(9)), 9)
    assert len(got) == 9
    for (image, label), (want_image, want_label) in zip(got, numbers(9)):
        np.testing.assert_array_equal(image, want_image)
        np.testing.assert_array_equal(label, want_label)
        assert image.dtype == np.float32 and label.dtype == np.int32


def test_same_values_from_predict(numbers, model):
    out = model.predict(QueueInput(numbers(9)), verbose=0)
    np.testing.assert_array_equal(out[:, 1:], np.concatenate([i for i, _ in numbers(9)]))


@pytest.mark.parametrize("way", [towers_way, session_way, eager_dequeue_way,
                                 function_dequeue_way])
def test_goes_on_where_a_pass_ends(way, numbers):
    assert [int(label[0]) for _, label in way(QueueInput(numbers(3)), 8)] == [
        0, 1, 2, 0, 1, 2, 0, 1]


@pytest.mark.parametrize("way", [for_way, function_for_way])
def test_each_loop_is_one_pass_from_the_start(way, numbers):
    df = numbers(5)
    queue = QueueInput(df)
    for _ in range(3):
        assert [int(label[0]) for _, label in way(queue, 5)] == [0, 1, 2, 3, 4]
    assert df.starts == 3


def test_one_queue_in_all_ways_in_turn(numbers):
    queue = QueueInput(numbers(6))
    for way in [for_way, session_way, function_for_way, towers_way, function_iterator_way]:
        assert [int(label[0]) for _, label in way(queue, 6)] == [0, 1, 2, 3, 4, 5]


# ---- (a) graphs

def test_towers_draw_their_own_datapoints(numbers, specs):
    df = numbers(1000)
    with tf.Graph().as_default() as graph:
        queue = QueueInput(df)
        assert queue.setup(specs) == []
        towers = []
        for tower in range(3):
            with tf.device(f"/cpu:{tower}"), v1.variable_scope(f"tower{tower}"):
                towers.append(queue.get_input_tensors())
        for image, label in towers:
            assert image.shape.as_list() == [None, 3] and image.dtype == tf.float32
            assert label.shape.as_list() == [None] and label.dtype == tf.int32
        assert len([op for op in graph.get_operations() if op.type == "OneShotIterator"]) == 1
        with v1.Session() as sess:
            for step in range(10):
                labels = sorted(int(label[0]) for _, label in sess.run(towers))
                assert labels == [3 * step, 3 * step + 1, 3 * step + 2]
    assert df.starts == 1


def test_components_of_a_tower_belong_together(numbers, specs):
    with tf.Graph().as_default():
        queue = QueueInput(numbers(100))
        queue.setup(specs)
        towers = [queue.get_input_tensors() for _ in range(4)]
        with v1.Session() as sess:
            for _ in range(20):
                for image, label in sess.run(towers):
                    np.testing.assert_array_equal(image, numbers.image(int(label[0])))


def test_fixed_shapes_of_the_signature_are_static(numbers):
    with tf.Graph().as_default():
        queue = QueueInput(numbers(3))
        queue.setup([tf.TensorSpec([4, 3], tf.float32, "image"),
                     tf.TensorSpec([4], tf.int32, "label")])
        image, label = queue.get_input_tensors()
        assert image.shape == [4, 3] and label.shape == [4]


def test_placeholders_are_a_signature_too(numbers):
    with tf.Graph().as_default(), v1.Session() as sess:
        queue = QueueInput(numbers(3))
        queue.setup([v1.placeholder(tf.float32, [None, 3], "image"),
                     v1.placeholder(tf.int32, [None], "label")])
        image, label = queue.get_input_tensors()
        assert image.shape.as_list() == [None, 3]
        assert [int(sess.run(label)[0]) for _ in range(3)] == [0, 1, 2]


def test_setup_done_and_size(numbers, specs):
    queue = QueueInput(numbers(7))
    assert not queue.setup_done()
    queue.setup(specs)
    assert queue.setup_done() and queue.size() == len(queue) == 7


def test_size_of_what_has_none(unsized, specs):
    queue = QueueInput(unsized(7))
    queue.setup(specs)
    with pytest.raises((NotImplementedError, TypeError), match="Endless"):
        queue.size()


def test_get_input_tensors_needs_a_graph(numbers, specs):
    queue = QueueInput(numbers(3))
    queue.setup(specs)
    with pytest.raises(RuntimeError, match="eager"):
        queue.get_input_tensors()


def test_inside_a_while_loop(numbers):
    with tf.Graph().as_default(), v1.Session() as sess:
        queue = QueueInput(numbers(50))
        queue.dequeue()

        def body(i, total):
            _, label = queue.get_input_tensors()
            return i + 1, total * 3 + label[0]
        _, total = v1.while_loop(lambda i, _: i < 10, body, [0, 0], parallel_iterations=1)
        want = 0
        for i in range(10):
            want = want * 3 + i
        assert sess.run(total) == want


# ---- (b) alone in a session

def test_dequeue_gives_the_same_tensors_again(numbers):
    with tf.Graph().as_default() as graph, v1.Session() as sess:
        queue = QueueInput(numbers(20))
        first = queue.dequeue()
        assert isinstance(first, list)
        before = len(graph.get_operations())
        for i in range(20):
            again = queue.dequeue()
            assert all(a is b for a, b in zip(again, first))
            assert int(sess.run(again)[1][0]) == i
        assert len(graph.get_operations()) == before


def test_each_graph_and_session_has_its_own_pass(numbers):
    queue = QueueInput(numbers(20))
    for _ in range(2):
        with tf.Graph().as_default():
            label = queue.dequeue()[1]
            for _ in range(2):
                with v1.Session() as sess:
                    assert [int(sess.run(label)[0]) for _ in range(3)] == [0, 1, 2]


def test_without_initializer_beside_variables(numbers):
    with tf.Graph().as_default(), v1.Session() as sess:
        image, label = QueueInput(numbers(5)).dequeue()
        w = v1.get_variable("w", [3], initializer=v1.ones_initializer())
        y = tf.reduce_sum(image * w)
        assert sess.run(label).tolist() == [0] * 4
        assert v1.global_variables() == [w]
        sess.run(w.initializer)
        assert sess.run(y) == pytest.approx(numbers.image(1).sum())


def test_in_a_monitored_session(numbers, specs):
    with tf.Graph().as_default():
        queue = QueueInput(numbers(5))
        hooks = queue.setup(specs)
        label = queue.get_input_tensors()[1]
        v1.train.get_or_create_global_step()
        with v1.train.MonitoredSession(hooks=hooks) as sess:
            assert [int(sess.run(label)[0]) for _ in range(7)] == [0, 1, 2, 3, 4, 0, 1]


# ---- (c), (d): a dataset

def test_is_a_dataset(numbers):
    queue = QueueInput(numbers(6))
    assert isinstance(queue, tf.data.Dataset)
    assert queue.element_spec == (tf.TensorSpec([None, 3], tf.float32),
                                  tf.TensorSpec([None], tf.int32))
    assert int(queue.cardinality()) == 6
    mapped = queue.map(lambda image, label: label[0] * 10).filter(lambda x: x > 10).take(3)
    assert [int(x) for x in mapped] == [20, 30, 40]
    assert [int(label[0]) for _, label in queue.repeat(2)] == [0, 1, 2, 3, 4, 5] * 2
    zipped = tf.data.Dataset.zip((queue, tf.data.Dataset.range(3)))
    assert [int(pair[0][1][0]) for pair in zipped] == [0, 1, 2]


def test_unknown_length(unsized):
    queue = QueueInput(unsized(6))
    assert int(queue.cardinality()) == tf.data.UNKNOWN_CARDINALITY
    assert len(list(queue)) == 6
    with pytest.raises(TypeError):
        len(queue)


@pytest.mark.parametrize("drop, sizes", [(False, [4, 4, 2]), (True, [4, 4])])
def test_batch(drop, sizes):
    queue = QueueInput([[np.float32(i), i] for i in range(10)])
    batches = queue.batch(4, drop_remainder=drop)
    assert len(batches) == len(sizes) == int(batches.cardinality())
    got = [(x.numpy(), y.numpy()) for x, y in batches]
    assert [len(x) for x, _ in got] == sizes
    assert np.concatenate([y for _, y in got]).tolist() == list(range(sum(sizes)))
    assert np.concatenate([x for x, _ in got]).tolist() == list(range(sum(sizes)))


def test_endless_batches_span_passes():
    batches = iter(QueueInput([[i] for i in range(5)]).batch(3).repeat())
    assert [next(batches)[0].numpy().tolist() for _ in range(4)] == [
        [0, 1, 2], [3, 4, 0], [1, 2, 3], [4, 0, 1]]


# ---- (e) Keras

def test_fit_one_pass_an_epoch(numbers, model, seen):
    df = numbers(5)
    model.fit(QueueInput(df), epochs=3, verbose=0, callbacks=[seen])
    assert seen.labels == [0, 1, 2, 3, 4] * 3
    assert seen.steps == [5, 5, 5]
    assert df.starts == 3


@pytest.mark.parametrize("kind", ["sized", "unsized"])
@pytest.mark.parametrize("n, steps", [(6, 6), (6, 4), (6, 15)])
def test_fit_with_steps_is_one_stream(kind, n, steps, numbers, unsized, model, seen):
    df = (numbers if kind == "sized" else unsized)(n)
    model.fit(QueueInput(df), epochs=3, steps_per_epoch=steps, verbose=0, callbacks=[seen])
    assert seen.steps == [steps] * 3
    assert seen.labels == [i % n for i in range(3 * steps)]


@pytest.mark.parametrize("kind", ["sized", "unsized"])
def test_no_epoch_restarts_the_producer(kind, numbers, unsized, model, seen):
    df = (numbers if kind == "sized" else unsized)(100_000)
    model.fit(QueueInput(df), epochs=4, steps_per_epoch=3, verbose=0, callbacks=[seen])
    assert seen.labels == list(range(12))
    assert df.starts == 1


def test_fit_unknown_length(unsized, model, seen):
    df = unsized(5)
    model.fit(QueueInput(df), epochs=3, verbose=0, callbacks=[seen])
    assert seen.labels == [0, 1, 2, 3, 4] * 3
    assert seen.steps == [5, 5, 5]


@pytest.mark.parametrize("steps, want", [(None, [6, 6]), (6, [6, 6]), (4, [4, 4]), (8, [8, 8])])
def test_steps_per_execution(steps, want, numbers, model_of_two_steps, seen):
    model_of_two_steps.fit(QueueInput(numbers(6)), epochs=2, steps_per_epoch=steps, verbose=0,
                           callbacks=[seen])
    assert seen.steps == want
    assert seen.labels == [i % 6 for i in range(sum(want))]


def test_validation_data(numbers, model, seen):
    df, val = numbers(4), numbers(3)
    history = model.fit(QueueInput(df), epochs=2, validation_data=QueueInput(val), verbose=0,
                        callbacks=[seen])
    assert seen.labels == [0, 1, 2, 3, 0, 1, 2] * 2
    assert seen.steps == [4, 4] and seen.evaluated == 6
    assert len(history.history["val_loss"]) == 2


def test_validation_steps_begin_anew_with_each_evaluation(numbers, model, seen):
    model.fit(QueueInput(numbers(10)), epochs=2, steps_per_epoch=3, verbose=0, callbacks=[seen],
              validation_data=QueueInput(numbers(10)), validation_steps=2)
    assert seen.steps == [3, 3] and seen.evaluated == 4
    train, val = seen.labels[:3] + seen.labels[5:8], seen.labels[3:5] + seen.labels[8:]
    assert train == [0, 1, 2, 3, 4, 5]
    assert val in ([0, 1, 0, 1], [0, 1, 2, 3])


def test_evaluate_and_predict_are_one_pass(numbers, model, seen):
    queue = QueueInput(numbers(7))
    for _ in range(2):
        model.evaluate(queue, verbose=0, callbacks=[seen])
    assert seen.evaluated == 14 and seen.labels == list(range(7)) * 2
    assert model.predict(queue, verbose=0).shape == (28, 4)
    assert model.predict(queue, steps=3, verbose=0)[:, 1].tolist() == np.concatenate(
        [numbers.image(i)[:, 0] for i in range(3)]).tolist()


def test_fit_evaluate_fit_on_one_queue(numbers, model, seen):
    queue = QueueInput(numbers(3))
    model.fit(queue, verbose=0)
    model.evaluate(queue, verbose=0)
    seen.labels.clear()
    model.fit(queue, verbose=0, steps_per_epoch=5)
    model.fit(queue, verbose=0)
    assert seen.labels == [0, 1, 2, 0, 1] + [0, 1, 2]


def linear(**kwargs):
    """y = x * w, w = 1, mean squared error; learning rate 1."""
    keras.utils.set_random_seed(1)
    inputs = keras.Input((1,), name="x")
    model = keras.Model(inputs, keras.layers.Dense(1, use_bias=False,
                                                   kernel_initializer="ones")(inputs))
    model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse", jit_compile=False, **kwargs)
    return model


def test_sample_weights_and_class_weight():
    x = np.array([[1.0], [2.0]], "float32")
    y = np.array([[0.0], [1.0]], "float32")
    weight = np.array([3.0, 0.5], "float32")

    def fit(data, **kwargs):
        model = linear()
        model.fit(data, verbose=0, **kwargs)
        return float(model.get_weights()[0][0, 0])
    # w -= lr * mean(weight * 2 * (x * w - y) * x)
    weighted = 1 - 0.1 * float(np.mean(weight * 2 * (x - y)[:, 0] * x[:, 0]))
    assert fit(QueueInput([[x, y, weight]])) == pytest.approx(weighted, rel=1e-6)
    assert fit(QueueInput([[x, y]]), class_weight={0: 3.0, 1: 0.5}) == pytest.approx(
        weighted, rel=1e-6)
    plain = 1 - 0.1 * float(np.mean(2 * (x - y)[:, 0] * x[:, 0]))
    assert fit(QueueInput([[x, y]])) == pytest.approx(plain, rel=1e-6)


def test_dict_inputs():
    a, b = keras.Input((1,), name="a"), keras.Input((1,), name="b")
    model = keras.Model({"a": a, "b": b}, keras.layers.Subtract()([a, b]))
    model.compile(loss="mse", jit_compile=False)
    one = np.ones((2, 1), "float32")
    points = [({"b": one * i, "a": one * 10}, one * 0) for i in range(3)]
    out = model.predict(QueueInput(points), verbose=0)
    assert out[:, 0].tolist() == [10, 10, 9, 9, 8, 8]
    assert model.evaluate(QueueInput(points), verbose=0) == pytest.approx(
        (100 + 81 + 64) / 3)


def test_fit_batches_of_single_datapoints(model, seen):
    points = [[np.full(3, i, "float32"), np.int32(i)] for i in range(10)]
    model.fit(QueueInput(points).batch(2), epochs=2, verbose=0, callbacks=[seen])
    assert seen.steps == [5, 5] and seen.labels == [0, 2, 4, 6, 8] * 2


def test_fit_on_an_endless_mapped_dataset(numbers, model, seen):
    df = numbers(1000)
    data = QueueInput(df).repeat().map(lambda image, label: (image, label + 5))
    model.fit(data, epochs=2, steps_per_epoch=3, verbose=0, callbacks=[seen])
    assert seen.labels == [5, 6, 7, 8, 9, 10] and seen.steps == [3, 3]
    assert df.starts == 1


@pytest.mark.parametrize("workers, on", [(0, "ray"), (2, "spark")])
def test_where_workers_run_is_checked(workers, on):
    with pytest.raises(ValueError, match="on='ray' with workers"):
        QueueInput(DataFromList([[1]]), workers=workers, on=on)


def test_ray_is_asked_for_by_its_pip_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match="Run: pip install ray"):
        next(iter(QueueInput(DataFromList([[1]]), workers=1, on="ray")))
