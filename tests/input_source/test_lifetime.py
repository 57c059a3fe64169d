# SPDX-License-Identifier: Apache-2.0
"""What is dropped is freed; what begins anew begins at the first datapoint."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat.dataflow.base import DataFlow, DataFlowReentrantGuard
from tfqueue_compat.input_source import QueueInput

v1 = tf.compat.v1
pytestmark = pytest.mark.filterwarnings("ignore:.shuffle=True. was passed:UserWarning")
SAFETY = 60


def labels(queue):
    return [int(label[0]) for _, label in queue]


# ---- freeing

def one_pass(queue, model):
    assert len(labels(queue)) == 200


def part_of_a_pass(queue, model):
    next(iter(queue))


def part_and_keep_nothing(queue, model):
    for _ in queue:
        break


def dequeued(queue, model):
    queue.dequeue()


def never_used(queue, model):
    pass


def signature_only(queue, model):
    assert queue.element_spec


def in_session(queue, model):
    with tf.Graph().as_default(), v1.Session() as sess:
        for _ in range(3):
            sess.run(queue.dequeue())


def in_function(queue, model):
    @tf.function
    def total():
        n = 0
        for _ in queue:
            n += 1
        return n
    assert int(total()) == 200


def dequeued_in_function(queue, model):
    @tf.function
    def step():
        return queue.dequeue()
    step()


def mapped(queue, model):
    next(iter(queue.map(lambda a, b: b).batch(3).prefetch(1)))


def fitted(queue, model):
    model.fit(queue, verbose=0, epochs=2, steps_per_epoch=3)
    model.predict(queue, verbose=0, steps=2)


@pytest.mark.parametrize("use", [one_pass, part_of_a_pass, part_and_keep_nothing, dequeued,
                                 never_used, signature_only, in_session, in_function,
                                 dequeued_in_function, mapped, fitted])
def test_dropping_frees_dataflow_and_threads(use, numbers, model, streams):
    gc.collect()
    before = set(streams())
    df = numbers(200)
    queue = QueueInput(df)
    gone = [weakref.ref(df), weakref.ref(queue)]
    use(queue, model)
    started = set(streams()) - before
    del df, queue
    gc.collect()
    assert [r() for r in gone] == [None, None]
    for thread in started:
        thread.join(SAFETY)
        assert not thread.is_alive()


def test_datapoints_are_freed_as_they_pass():
    """Neither the engine nor TensorFlow keeps what was consumed."""
    alive = []

    class Array(np.ndarray):
        pass

    def flow():
        for i in range(300):
            array = np.full((300, 1000), i, "float32").view(Array)
            alive.append(weakref.ref(array))
            yield [array]
    queue = QueueInput(flow, size=5)
    iterator = iter(queue)
    for n in range(250):
        next(iterator)
        assert sum(r() is not None for r in alive) <= 5 + 6


def test_generators_are_closed():
    closed = threading.Event()
    kept = []  # so that the last reference to go does not close it

    def flow():
        try:
            for i in range(10_000):
                yield [i]
        finally:
            closed.set()

    def keeping():
        kept.append(flow())
        return kept[-1]
    queue = QueueInput(keeping)
    next(iter(queue))
    del queue
    gc.collect()
    assert closed.wait(SAFETY)


def test_stop_ends_the_producer_and_a_new_loop_starts_afresh(numbers, streams):
    before = set(streams())
    queue = QueueInput(numbers(1000))
    iterator = iter(queue)
    next(iterator)
    started = set(streams()) - before
    assert started
    queue.stop()
    for thread in started:
        thread.join(SAFETY)
        assert not thread.is_alive()
    assert labels(queue)[:3] == [0, 1, 2]


def test_graph_keeps_its_input(numbers):
    """A user may keep only the tensors, as tensorpack's trainers do."""
    with tf.Graph().as_default(), v1.Session() as sess:
        def build():
            return QueueInput(numbers(5)).dequeue()[1]
        label = build()
        gc.collect()
        assert [int(sess.run(label)[0]) for _ in range(6)] == [0, 1, 2, 3, 4, 0]


def test_iterator_keeps_its_input(numbers):
    iterator = iter(QueueInput(numbers(5)))
    gc.collect()
    assert [int(label[0]) for _, label in iterator] == [0, 1, 2, 3, 4]


def test_derived_dataset_keeps_its_input(numbers):
    data = QueueInput(numbers(5)).map(lambda image, label: label[0])
    gc.collect()
    assert [int(x) for x in data] == [0, 1, 2, 3, 4]
    iterator = iter(QueueInput(numbers(5)).prefetch(1))
    gc.collect()
    assert len(list(iterator)) == 5


def test_a_model_can_be_fitted_on_a_temporary(numbers, model, seen):
    model.fit(QueueInput(numbers(3)), verbose=0, epochs=2)
    assert seen.labels == [0, 1, 2] * 2


def test_no_growth_over_many_passes(streams):
    gc.collect()
    before = len(streams())
    queue = QueueInput([[i] for i in range(10)])
    for _ in range(50):
        assert len(list(queue)) == 10
    gc.collect()
    for thread in streams():
        thread.join(0.5)
    assert len(streams()) <= before + 1


# ---- starting anew

def test_refill_queue_in_a_session(numbers):
    df = numbers(100_000)
    with tf.Graph().as_default(), v1.Session() as sess:
        queue = QueueInput(df)
        label = queue.dequeue()[1]
        for _ in range(4):
            assert [int(sess.run(label)[0]) for _ in range(3)] == [0, 1, 2]
            with sess.as_default():
                queue.refill_queue()
        assert df.starts >= 4


def test_reset_state_before_the_first_step_loses_nothing(numbers, specs):
    with tf.Graph().as_default(), v1.Session() as sess:
        queue = QueueInput(numbers(10))
        queue.setup(specs)
        label = queue.get_input_tensors()[1]
        with sess.as_default():
            queue.reset_state()
        assert [int(sess.run(label)[0]) for _ in range(4)] == [0, 1, 2, 3]


def test_refill_queue_needs_a_session(numbers):
    with tf.Graph().as_default():
        queue = QueueInput(numbers(10))
        queue.dequeue()
        with pytest.raises(RuntimeError, match="session"):
            queue.refill_queue()


def test_refill_queue_eagerly(numbers):
    queue = QueueInput(numbers(10))
    for _ in range(3):
        assert [int(queue.dequeue()[1][0]) for _ in range(4)] == [0, 1, 2, 3]
        queue.refill_queue()


def test_refill_while_the_dataflow_waits():
    """A new pass begins although the old one never gets on."""
    blocked, never = threading.Event(), threading.Event()
    passes = []

    def flow():
        passes.append(len(passes))
        for i in range(5):
            if i == 3 and passes[-1] == 0:
                blocked.set()
                never.wait(SAFETY)
            yield [i]
    try:
        with tf.Graph().as_default(), v1.Session() as sess:
            queue = QueueInput(flow)
            x = queue.dequeue()[0]
            assert [int(sess.run(x)) for _ in range(3)] == [0, 1, 2]
            assert blocked.wait(SAFETY)
            with sess.as_default():
                queue.refill_queue()
            assert [int(sess.run(x)) for _ in range(6)] == [0, 1, 2, 3, 4, 0]
    finally:
        never.set()


class Counts(DataFlow):
    """A dataflow that has a state, and says how often it was reset."""

    def __init__(self):
        self.resets = 0

    def reset_state(self):
        self.resets += 1

    def __iter__(self):
        for i in range(3):
            yield [i]


def test_reset_state_is_called_once():
    df = Counts()
    queue = QueueInput(df)
    for _ in range(3):
        assert len(list(queue)) == 3
    assert df.resets == 1


def test_reset_by_the_user_is_not_repeated():
    df = Counts()
    df.reset_state()
    assert len(list(QueueInput(df))) == 3
    assert df.resets == 1


# ---- one-shot iterators, two iterators at once

def test_one_shot_iterator_gives_all_once():
    queue = QueueInput(iter([[i] for i in range(5)]))
    assert queue.element_spec == (tf.TensorSpec([], tf.int32),)
    assert [int(x) for x, in queue] == [0, 1, 2, 3, 4]
    assert list(queue) == []


def test_fit_on_a_one_shot_iterator(numbers, model, seen):
    model.fit(QueueInput(iter(list(numbers(6)))), verbose=0)
    assert seen.labels == [0, 1, 2, 3, 4, 5]


def test_fit_with_steps_on_a_one_shot_iterator(numbers, model, seen):
    model.fit(QueueInput(iter(list(numbers(6)))), verbose=0, epochs=2, steps_per_epoch=3)
    assert seen.labels == [0, 1, 2, 3, 4, 5]


def test_generator_object():
    queue = QueueInput([i] for i in range(3))
    assert [int(x) for x, in queue] == [0, 1, 2]


def test_two_iterators_at_once(numbers):
    queue = QueueInput(numbers(8))
    a, b = iter(queue), iter(queue)
    got = [int(next(it)[1][0]) for it in (a, a, b, a, b, b, b)]
    assert got == [0, 1, 0, 2, 1, 2, 3]
    assert labels(a) == [3, 4, 5, 6, 7] and labels(b) == [4, 5, 6, 7]


def test_two_iterators_over_a_dataflow_that_allows_one():
    guard = DataFlowReentrantGuard()

    class Guarded(DataFlow):
        def __iter__(self):
            with guard:
                for i in range(1000):
                    yield [i]
    queue = QueueInput(Guarded())
    first = iter(queue)
    next(first)
    second = iter(queue)
    with pytest.raises(RuntimeError, match="one iterator at a time"):
        next(second)
    assert int(next(first)[0]) == 1


def test_eager_and_graph_at_once(numbers):
    queue = QueueInput(numbers(20))
    iterator = iter(queue)
    next(iterator)
    with tf.Graph().as_default(), v1.Session() as sess:
        label = queue.dequeue()[1]
        assert [int(sess.run(label)[0]) for _ in range(2)] == [0, 1]
    assert int(next(iterator)[1][0]) == 1
