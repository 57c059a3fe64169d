# SPDX-License-Identifier: Apache-2.0
"""The dataset over a source: as tf.data would give it, in eager code, functions and graphs."""

from __future__ import annotations

import gc
import threading
from collections import namedtuple
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from tfqueue_compat.engine import DatasetEnded, Signature
from tfqueue_compat.engine.dataset import SourceDataset
from tfqueue_compat.engine.graph import GraphIterator
from tfqueue_compat.engine.iterator import SourceIterator
from tfqueue_compat.engine.pipeline import build
from tfqueue_compat.engine.source import Source
from tfqueue_compat.engine.stream import Mode

v1 = tf.compat.v1
Pair = namedtuple("Pair", "image label")
BFLOAT16 = tf.bfloat16.as_numpy_dtype


@pytest.fixture
def source_of() -> Iterator[Any]:
    made: list[Source] = []

    def make(data: Any, capacity: int = 50, signature: Any = None) -> Source:
        made.append(Source(data, capacity, signature))
        return made[-1]

    yield make
    for source in made:
        source.stop()


def numbers(n: int) -> list[Any]:
    return [[i, np.full(3, i, "float32")] for i in range(n)]


DATAPOINTS: dict[str, Any] = {
    "scalars": [1, 2.5, True, "text", b"\0\xff"],
    "one array": np.arange(6, dtype="float32").reshape(2, 3),
    "a dict": {"image": np.zeros((4, 4), "uint8"), "label": 3},
    "nested": {"a": (1, {"b": np.ones(2), "c": "x"}), "z": [1, 2, 3]},
    "a named tuple": Pair(np.zeros((2, 2), "float16"), np.int64(7)),
    "empty arrays": [np.zeros((0, 3), "float32"), np.zeros((2, 0), "int8")],
    "bfloat16": [np.array([1, 2], BFLOAT16)],
    "complex": [np.array([1j, 2], "complex64"), 1j],
    "strings": [["a", "bc"], np.array([b"x\0", b""], object)],
    "a batch": [np.zeros((8, 2), "float32"), np.zeros(8, "int32")],
    "an empty batch": [np.zeros((0, 2), "float32"), np.zeros(0, "int32")],
    "large": [np.arange(1 << 19, dtype="float32"), np.int32(1)],
    "big-endian": [np.array([1, 2, 3], ">i4")],
    "not contiguous": [np.arange(12).reshape(3, 4).T, np.arange(10)[::-2]],
}


@pytest.mark.parametrize("datapoint", DATAPOINTS.values(), ids=DATAPOINTS.keys())
@pytest.mark.parametrize("group", [0, 2])
def test_values_come_out_as_tf_data_would_give_them(
        eager: Any, same: Any, source_of: Any, datapoint: Any, group: int) -> None:
    signature = Signature.infer(datapoint)
    flat = signature.arrays(datapoint)
    reference = tf.data.Dataset.from_tensors(signature.pack([tf.constant(a) for a in flat]))
    reference = reference.repeat(5)
    if group:
        reference = reference.batch(group)
    want = [tf.nest.map_structure(lambda t: t.numpy(), e) for e in reference]
    got = eager([datapoint] * 5, Mode(group=group))
    assert len(got) == len(want)
    for a, b in zip(got, want):
        same(a, b)
        tf.nest.assert_same_structure(a, b, check_types=True)


@settings(max_examples=25)
@given(st.integers(0, 60), st.integers(1, 20), st.integers(1, 30), st.booleans(), st.booleans())
def test_batches_are_those_of_tf_data(n: int, size: int, capacity: int, drop: bool,
                                      given_signature: bool) -> None:
    data = numbers(n)
    if not n and not given_signature:
        return
    source = Source(data, capacity, Signature.infer(numbers(1)[0]) if given_signature else None)
    dataset = SourceDataset(source, Mode()).batch(size, drop_remainder=drop)
    want = tf.data.Dataset.range(n).batch(size, drop_remainder=drop)
    got = list(dataset)
    source.stop()
    assert [a.numpy().tolist() for a, _ in got] == [b.numpy().tolist() for b in want]
    assert all((b.numpy() == a.numpy()[:, np.newaxis]).all() for a, b in got)
    assert int(dataset.cardinality()) == len(dataset) == int(want.cardinality())
    first = dataset.element_spec[0].shape.as_list()[0]
    assert first == want.element_spec.shape.as_list()[0]


def test_it_can_be_iterated_again_and_twice_at_once(source_of: Any) -> None:
    dataset = SourceDataset(source_of(numbers(6)), Mode())
    for _ in range(3):
        assert [int(a) for a, _ in dataset] == list(range(6))
    assert [(int(a), int(b)) for (a, _), (b, _) in zip(dataset, dataset)] == [
        (i, i) for i in range(6)]


def test_repeat(source_of: Any) -> None:
    dataset = SourceDataset(source_of(numbers(4)), Mode())
    assert int(dataset.repeat().cardinality()) == tf.data.INFINITE_CARDINALITY
    assert [int(a) for a, _ in dataset.repeat().take(10)] == [0, 1, 2, 3] * 2 + [0, 1]
    assert [int(a) for a, _ in dataset.repeat(2)] == [0, 1, 2, 3] * 2
    batches = dataset.repeat().batch(3).take(4)
    assert [a.numpy().tolist() for a, _ in batches] == [[0, 1, 2], [3, 0, 1], [2, 3, 0], [1, 2, 3]]


def test_other_transformations_of_tf_data(source_of: Any) -> None:
    dataset = SourceDataset(source_of(numbers(10)), Mode())
    out = dataset.map(lambda a, b: a * 2).filter(lambda a: a % 4 == 0).shuffle(8).prefetch(2)
    assert sorted(int(a) for a in out) == [0, 4, 8, 12, 16]
    assert [int(a) for a, _ in dataset.skip(7)] == [7, 8, 9]
    zipped = tf.data.Dataset.zip((dataset, tf.data.Dataset.range(3)))
    assert [int(b) for _, b in zipped] == [0, 1, 2]


def test_unknown_cardinality(source_of: Any) -> None:
    dataset = SourceDataset(source_of(lambda: iter(numbers(3))), Mode())
    assert int(dataset.cardinality()) == tf.data.UNKNOWN_CARDINALITY
    with pytest.raises(TypeError, match="knows its length"):
        len(dataset)


def test_inside_a_function(source_of: Any) -> None:
    dataset = SourceDataset(source_of(numbers(100)), Mode())

    @tf.function
    def total() -> tf.Tensor:
        out = tf.constant(0)
        for a, _ in dataset:
            out += a
        return out

    assert [int(total()) for _ in range(2)] == [4950, 4950]


def test_an_iterator_handed_to_a_function_goes_on_where_it_was(source_of: Any) -> None:
    iterator = iter(SourceDataset(source_of(numbers(100)), Mode()))
    assert isinstance(iterator, SourceIterator)

    @tf.function
    def three(it: Any) -> list[tf.Tensor]:
        return [next(it)[0] for _ in range(3)]

    assert int(next(iterator)[0]) == 0
    assert [int(x) for x in three(iterator)] == [1, 2, 3]
    assert [int(x) for x in three(iterator)] == [4, 5, 6]
    assert three.experimental_get_tracing_count() == 1
    assert int(next(iterator)[0]) == 7


@pytest.mark.parametrize("many", [1, 4])
def test_in_a_graph_each_tensor_is_a_datapoint_of_its_own(source_of: Any, many: int) -> None:
    source = source_of(numbers(12))
    with tf.Graph().as_default():
        iterator = GraphIterator(source, Mode())
        tensors = [iterator.get_next()[0] for _ in range(many)]
        with v1.Session() as session:
            got = [int(x) for _ in range(12 // many) for x in session.run(tensors)]
            assert sorted(got) == list(range(12))
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(tensors)
            session.run(iterator.initializer)
            assert sorted(int(x) for x in session.run(tensors)) == list(range(many))


def test_in_a_graphs_while_loop(source_of: Any) -> None:
    with tf.Graph().as_default():
        iterator = GraphIterator(source_of(numbers(50)), Mode(endless=True))
        _, total = tf.while_loop(
            lambda i, s: i < 75, lambda i, s: (i + 1, s + iterator.get_next()[0]), [0, 0],
            parallel_iterations=1)
        with v1.Session() as session:
            assert session.run(total) == sum(range(50)) + sum(range(25))


def test_a_dataset_in_a_graph(source_of: Any) -> None:
    dataset = SourceDataset(source_of(numbers(4)), Mode(group=2))
    with tf.Graph().as_default():
        tensor = v1.data.make_one_shot_iterator(dataset).get_next()[0]
        with v1.Session() as session:
            assert [session.run(tensor).tolist() for _ in range(2)] == [[0, 1], [2, 3]]


def test_datapoints_come_one_by_one_in_lock_step(source_of: Any) -> None:
    arrived = threading.Semaphore(0)

    def produce() -> Iterator[Any]:
        yield [0]
        for i in range(1, 20):
            assert arrived.acquire(timeout=30)
            yield [i]

    for i, (a,) in enumerate(SourceDataset(source_of(produce), Mode())):
        assert int(a) == i
        arrived.release()
    assert i == 19


def test_the_first_datapoint_comes_although_the_second_never_does(source_of: Any) -> None:
    never = threading.Event()

    def produce() -> Iterator[Any]:
        yield [1]
        never.wait(60)

    source = source_of(produce)
    iterator = iter(SourceDataset(source, Mode()))
    assert int(next(iterator)[0]) == 1
    out: list[Any] = []

    def wait() -> None:
        try:
            next(iterator)
        except DatasetEnded as e:
            out.append(e)

    waiting = threading.Thread(target=wait)
    waiting.start()
    source.stop()  # although the dataflow is blocked
    waiting.join(30)
    assert len(out) == 1 and not never.is_set()
    never.set()


def test_a_dataset_whose_source_is_gone_says_so() -> None:
    source = Source(numbers(3), 5)
    dataset = build(source, Mode())
    source.stop()
    del source
    gc.collect()
    with pytest.raises(Exception, match="it is gone. Do: Keep a reference"):
        next(iter(dataset))


def test_an_iterator_that_is_dropped_ends_its_thread(source_of: Any) -> None:
    source = source_of(lambda: ([i] for i in range(10 ** 9)))
    for _ in range(3):
        iterator = iter(SourceDataset(source, Mode()))
        next(iterator)
        del iterator
    gc.collect()  # and the fixture no_thread_is_left looks, before the source is stopped
    threads = [t for t in threading.enumerate() if t.name.startswith("QueueInput ")]
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()


@pytest.mark.parametrize("group", [0, 3])
def test_ragged_datapoints(eager: Any, group: int) -> None:
    data = [[np.full((n, 2), n, "float32")] for n in (3, 3, 3, 1, 1, 1, 3, 0, 2)]
    if not group:
        got = eager(data)
        assert [a.tolist() for (a,) in got] == [a.tolist() for (a,) in data]
    else:
        with pytest.raises(ValueError, match="datapoints of one shape, to be batched|Expected"):
            eager(data, Mode(group=group))
