# SPDX-License-Identifier: Apache-2.0
"""What goes in comes out: exactly once, in order, at any pace, until it is closed."""

from __future__ import annotations

import gc
import random
import threading
import time
import tracemalloc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfqueue_compat.dataflow.base import as_dataflow
from tfqueue_compat.engine import DatasetEnded, Meter, Signature, SignatureMismatch
from tfqueue_compat.engine.stream import Mode, Stream


class Streams:
    """Streams of one test, closed at its end."""

    def __init__(self) -> None:
        self.made: list[Stream] = []

    def __call__(self, dataflow: Any, mode: Mode | None = Mode(), capacity: int = 50,
                 meter: Meter | None = None, signature: Signature | None = None) -> Stream:
        stream = Stream(as_dataflow(dataflow), meter or Meter(capacity), signature)
        self.made.append(stream)
        if mode is not None:
            stream.begin(mode, signature or stream.read_first())
        return stream

    def close(self) -> None:
        for stream in self.made:
            stream.close()
            assert stream.join(30)


@pytest.fixture
def stream_of() -> Iterator[Streams]:
    streams = Streams()
    yield streams
    streams.close()


def rows(stream: Stream, most: int | None = None, timeout: float = 0.05,
         pause: Any = lambda: None) -> list[list[np.ndarray]]:
    """All elements, each a list of arrays; at least ``most`` where that is given."""
    out: list[list[np.ndarray]] = []
    while most is None or len(out) < most:
        try:
            arrays = stream.take(timeout)
        except StopIteration:
            break
        out.extend([np.array(column[i], column.dtype) for column in arrays]
                   for i in range(len(arrays[0])))
        pause()
    return out


# ---- properties

def values(dtype: str, shape: tuple[int, ...], i: int) -> Any:
    if dtype == "str":
        return f"s{i}" if shape == () else np.full(shape, f"s{i}", object)
    return np.full(shape, i % 120, dtype)


components = st.tuples(
    st.sampled_from(["int8", "uint16", "int64", "float32", "float16", "str", "complex64"]),
    st.sampled_from([(), (1,), (3,), (2, 5), (0,), (300,), (70, 70)]))


@settings(max_examples=60)
@given(st.lists(components, min_size=1, max_size=4), st.integers(0, 300),
       st.sampled_from([1, 2, 3, 7, 50, 1000]), st.sampled_from([0, 1, 2, 5, 64]),
       st.booleans(), st.booleans(), st.integers(0, 2 ** 32))
def test_what_goes_in_comes_out(parts: Any, length: int, capacity: int, group: int, drop: bool,
                                endless: bool, seed: int) -> None:
    rng = random.Random(seed)

    def pause(often: float) -> None:
        if rng.random() < often:
            time.sleep(rng.choice([0, 0.0001, 0.001]))

    def produce() -> Iterator[Any]:
        for i in range(length):
            pause(0.05)
            yield [values(dtype, shape, i) for dtype, shape in parts]

    streams = Streams()
    signature = Signature.infer([values(d, s, 0) for d, s in parts])
    mode = Mode(endless and length > 0, group, drop)
    passes = 2.5 if mode.endless else 1
    wanted = [i % length for i in range(int(length * passes))]
    if group and (drop or mode.endless):
        wanted = wanted[:len(wanted) // group * group]
    elements = -(-len(wanted) // group) if group else len(wanted)
    try:
        stream = streams(produce, mode, capacity, signature=signature)
        got = rows(stream, elements if mode.endless else None, 0.02, lambda: pause(0.2))
        assert len(got) == elements if not mode.endless else len(got) >= elements
        for k, element in enumerate(got[:elements]):
            at = wanted[k * group:(k + 1) * group] if group else [wanted[k]]
            for column, (dtype, shape) in zip(element, parts):
                want = np.stack([np.asarray(values(dtype, shape, i),
                                            object if dtype == "str" else None) for i in at])
                assert column.shape == (want.shape if group else want.shape[1:])
                np.testing.assert_array_equal(column, want if group else want[0])
    finally:
        streams.close()


@settings(max_examples=30)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=80), st.sampled_from([1, 3, 50]))
def test_shapes_may_vary(lengths: list[int], capacity: int) -> None:
    streams = Streams()
    signature = Signature.infer([np.zeros(1, "int32"), 0]).cast(["int32", "int32"])
    signature = Signature([signature.components[0].opened(), signature.components[1]],
                          signature.node)
    data = [[np.full(n, i, "int32"), i] for i, n in enumerate(lengths)]
    try:
        got = rows(streams(data, Mode(), capacity, signature=signature))
    finally:
        streams.close()
    assert [(a.tolist(), int(b)) for a, b in got] == [([i] * n, i) for i, n in enumerate(lengths)]


@pytest.mark.parametrize("size", [1, 1 << 18, (1 << 18) + 1, 1 << 20])
def test_around_the_size_that_crosses_alone(stream_of: Streams, size: int) -> None:
    def refilled() -> Iterator[Any]:
        array = np.empty(size, "float32")
        for i in range(12):
            array[:] = i
            yield [array, np.full(size, i, "float32")]

    for i, (a, b) in enumerate(rows(stream_of(refilled, capacity=4))):
        assert (a == i).all() and (b == i).all()
    assert i == 11


def test_large_arrays_of_a_nested_datapoint_that_the_dataflow_refills(stream_of: Streams) -> None:
    def refilled() -> Iterator[Any]:
        array = np.empty(1 << 19, "float32")
        for i in range(24):
            array[:] = i
            yield [(np.full(1 << 19, i, "float32"), array), np.full(1 << 19, i, "float32")]

    got = []
    stream = stream_of(refilled, capacity=3)
    while True:
        try:
            arrays = stream.take(1.0)
        except StopIteration:
            break
        got.extend(tuple(float(x) for x in row) for row in zip(*(a[:, -1] for a in arrays)))
    assert got == [(i, i, i) for i in range(24)]


def test_a_large_array_that_was_cast_or_made_from_a_list(stream_of: Streams) -> None:
    signature = Signature.infer([np.zeros(1 << 19, "float32"), np.zeros((2, 1 << 18), "float32")])
    data = [[np.full(1 << 19, i, "int32"), [np.full(1 << 18, i, "float32")] * 2] for i in range(20)]
    for i, (a, b) in enumerate(rows(stream_of(data, capacity=2, signature=signature))):
        assert (a == i).all() and (b == i).all()
    assert i == 19


# ---- the hand-over under stress

@pytest.mark.parametrize("capacity", [1, 2, 50, 3000])
@pytest.mark.parametrize("group", [0, 1, 7])
def test_a_producer_at_full_speed_and_a_consumer_that_stops_and_goes(
        stream_of: Streams, capacity: int, group: int) -> None:
    rng, n = random.Random(capacity), 30_000
    stream = stream_of(([i] for i in range(n)), Mode(group=group), capacity)

    def pause() -> None:
        if rng.random() < 0.02:
            time.sleep(rng.choice([0.0, 0.0005, 0.005]))

    got = [int(x) for (element,) in rows(stream, pause=pause) for x in np.ravel(element)]
    assert got == list(range(n))


@pytest.mark.parametrize("group", [0, 4])
def test_a_consumer_that_is_always_hungry(stream_of: Streams, group: int) -> None:
    def produce() -> Iterator[Any]:
        for i in range(800):
            if i % 3 == 0:
                time.sleep(0.0002)
            yield [i]

    stream = stream_of(produce, Mode(group=group), 5)
    got = [int(x) for (element,) in rows(stream, timeout=0.0005) for x in np.ravel(element)]
    assert got == list(range(800))


def test_closing_at_random_moments_and_starting_again(stream_of: Streams) -> None:
    rng, meter = random.Random(7), Meter(20)
    signature = Signature.infer([0])
    for _ in range(60):
        stream = stream_of(([i] for i in range(10 ** 9)), Mode(), meter=meter, signature=signature)
        closer = threading.Thread(target=lambda s=stream, t=rng.random() * 0.02:
                                  (time.sleep(t), s.close()))
        closer.start()
        got: list[int] = []
        with pytest.raises(DatasetEnded, match="one that was stopped"):
            while True:
                got.extend(stream.take(0.01)[0].tolist())
        assert got == list(range(len(got)))
        closer.join()
        assert stream.join(30)
    assert meter.occupancy == 0
    assert meter.produced - meter.consumed - meter._dropped == 0


def test_many_streams_over_one_dataflow_do_not_disturb_each_other(stream_of: Streams) -> None:
    data = [[i] for i in range(5000)]
    streams = [stream_of(data, capacity=3 * k + 1) for k in range(4)]
    out: list[Any] = [None] * 4
    threads = [threading.Thread(target=lambda k=k: out.__setitem__(
        k, [int(a) for (a,) in rows(streams[k])])) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert out == [list(range(5000))] * 4


# ---- when it comes

def test_the_first_datapoint_comes_although_the_second_never_does(stream_of: Streams) -> None:
    never = threading.Event()

    def produce() -> Iterator[Any]:
        yield [7]
        never.wait(60)

    stream = stream_of(produce)
    assert rows(stream, 1) == [[7]]
    never.set()


@pytest.mark.parametrize("group", [0, 1, 3])
def test_a_slow_producers_datapoints_come_one_by_one(stream_of: Streams, group: int) -> None:
    taken = threading.Semaphore(0)
    unit = max(group, 1)

    def produce() -> Iterator[Any]:
        for i in range(20 * unit):
            if i and i % unit == 0:
                assert taken.acquire(timeout=30)  # not before the one before has arrived
            yield [i]

    stream = stream_of(produce, Mode(group=group), 1000)
    for k in range(20):
        (element,), = rows(stream, 1)
        assert np.ravel(element).tolist() == list(range(k * unit, (k + 1) * unit))
        taken.release()


def test_a_producer_that_becomes_slow_after_it_was_quick(stream_of: Streams) -> None:
    taken = threading.Semaphore(0)

    def produce() -> Iterator[Any]:
        for i in range(3000):
            yield [i]
        for i in range(3000, 3020):
            assert taken.acquire(timeout=30)
            yield [i]

    stream = stream_of(produce)
    got = 0
    while got < 3000:
        got += len(stream.take(0.05)[0])
    assert got == 3000
    for i in range(3000, 3020):
        taken.release()
        assert rows(stream, 1) == [[i]]


def test_a_producer_is_never_further_ahead_than_the_capacity(stream_of: Streams) -> None:
    given_out = []

    def produce() -> Iterator[Any]:
        for i in range(10_000):
            given_out.append(i)
            yield [np.zeros(40_000, "float32"), i]  # no chunk of more than 26 of these

    meter = Meter(10)
    stream, taken = stream_of(produce, meter=meter), 0
    ahead = []
    for _ in range(100):
        taken += len(stream.take(0.05)[0])
        time.sleep(0.002)
        ahead.append(len(given_out) - taken)
    assert max(ahead) <= max(10, 26) + 1  # one is in the producer's hands


def test_nothing_is_produced_before_somebody_consumes(stream_of: Streams) -> None:
    given_out = []

    def produce() -> Iterator[Any]:
        for i in range(100):
            given_out.append(i)
            yield [i]

    stream = stream_of(produce, mode=None)
    assert stream.read_first() == Signature.infer([0])
    assert given_out == [0]
    stream.begin(Mode(), Signature.infer([0]))
    assert [int(a) for (a,) in rows(stream)] == list(range(100))


# ---- how it ends

def test_after_the_end_it_stays_at_the_end(stream_of: Streams) -> None:
    stream = stream_of([[1], [2]])
    assert len(rows(stream)) == 2
    for _ in range(3):
        with pytest.raises(StopIteration):
            stream.take(0.01)
    stream.close()
    with pytest.raises(DatasetEnded):
        stream.take(0.01)


@pytest.mark.parametrize("group, drop, endless, arrive", [
    (0, False, False, 5), (0, False, True, 5), (2, False, False, 5), (2, True, False, 4),
    (2, False, True, 4), (5, False, False, 5), (6, False, True, 0), (6, False, False, 5)])
def test_an_error_comes_after_the_datapoints_before_it(
        stream_of: Streams, group: int, drop: bool, endless: bool, arrive: int) -> None:
    def produce() -> Iterator[Any]:
        for i in range(5):
            yield [i]
        raise KeyError("lost")

    stream, got = stream_of(produce, Mode(endless, group, drop)), []
    for _ in range(2):  # asked again, it says the same
        with pytest.raises(KeyError, match="lost") as e:
            while True:
                got.extend(np.ravel(stream.take(0.05)[0]).tolist())
        assert [t.name for t in e.traceback][-1] == "produce"
    assert got == list(range(arrive))


class Raising:
    """Raises in one of the places where an iterable can."""

    def __init__(self, where: str, error: BaseException) -> None:
        self.where, self.error, self.n = where, error, 0

    def _at(self, where: str) -> None:
        if self.where == where:
            raise self.error

    def reset_state(self) -> None:
        self._at("reset_state")

    def __iter__(self) -> Raising:
        self._at("iter")
        return self

    def __next__(self) -> Any:
        self.n += 1
        self._at("first" if self.n == 1 else "next")
        return [self.n]

    def close(self) -> None:
        raise OSError("never called: it is no generator's")


@pytest.mark.parametrize("error", [KeyError("a"), GeneratorExit("b"), SystemExit("c"),
                                   KeyboardInterrupt("d"), StopAsyncIteration("e")], ids=repr)
@pytest.mark.parametrize("where", ["reset_state", "iter", "first", "next"])
def test_any_error_anywhere_reaches_the_consumer(
        stream_of: Streams, where: str, error: BaseException) -> None:
    with pytest.raises(type(error)) as e:
        rows(stream_of(Raising(where, error)))
    assert e.value is error


@pytest.mark.parametrize("where", ["reset_state", "iter"])
def test_a_stray_stop_iteration_is_not_the_end(stream_of: Streams, where: str) -> None:
    with pytest.raises(RuntimeError, match="StopIteration"):
        rows(stream_of(Raising(where, StopIteration("stray")), signature=Signature.infer([1])))


@pytest.mark.parametrize("bad, text", [
    (None, "Expected 1 components. Received NoneType"), ([None], "Received None"),
    ([1, 2], "Received list of 2"), ([1.5], "Expected dtype int32"),
    (["a"], "Received dtype string"), ([[1]], r"Expected shape \(\)")])
def test_a_datapoint_that_does_not_fit(stream_of: Streams, bad: Any, text: str) -> None:
    meter, got = Meter(50), []
    stream = stream_of([[1], [2], bad, [3]], meter=meter)
    with pytest.raises(SignatureMismatch, match=text):
        while True:
            got.extend(stream.take(0.05)[0].tolist())
    stream.close()
    assert got == [1, 2] and meter.occupancy == 0 and meter.produced == 3


def test_batches_of_mixed_shapes(stream_of: Streams) -> None:
    signature = Signature([c.batched(None) for c in Signature.infer([1]).components],
                          Signature.infer([1]).node)
    data = [[[1]], [[2]], [[3, 3]], [[4, 4]], [[5]], [[6, 6]]]
    stream, got = stream_of(data, Mode(group=2), signature=signature), []
    with pytest.raises(SignatureMismatch, match=r"\(\(1,\),\) and \(\(2,\),\)"):
        while True:
            got.extend(stream.take(0.05)[0].tolist())
    assert got == [[[1], [2]], [[3, 3], [4, 4]], [[5]]]


@pytest.mark.parametrize("data", [[], lambda: iter(())])
def test_an_empty_dataflow(stream_of: Streams, data: Any) -> None:
    with pytest.raises(DatasetEnded, match="at least one datapoint"):
        stream_of(data)
    assert rows(stream_of(data, signature=Signature.infer([1]))) == []
    with pytest.raises(DatasetEnded, match="an empty dataflow"):
        rows(stream_of(data, Mode(endless=True), signature=Signature.infer([1])))


def test_a_later_pass_without_data_is_an_error_not_a_busy_wait(stream_of: Streams) -> None:
    stream, got = stream_of(iter([[1], [2]]), Mode(endless=True)), []
    with pytest.raises(DatasetEnded, match="empty passes"):
        while True:
            got.extend(stream.take(0.05)[0].tolist())
    assert got == [1, 2]


def test_each_pass_closes_its_generator_in_the_producers_thread(stream_of: Streams) -> None:
    closed_in, kept = [], []

    class Kept:
        def __iter__(self) -> Iterator[Any]:
            kept.append(self.generate())
            return kept[-1]

        def generate(self) -> Iterator[Any]:
            try:
                for i in range(10 ** 9):
                    yield [i]
            finally:
                closed_in.append(threading.current_thread())

    stream = stream_of(Kept())
    rows(stream, 10)
    stream.close()
    assert stream.join(30) and closed_in == [stream._thread]


def test_a_generator_that_will_not_be_closed(stream_of: Streams) -> None:
    def stubborn() -> Iterator[Any]:
        refused = 0
        while refused < 1:  # once: Python itself tries again
            try:
                yield [1]
            except GeneratorExit:
                refused += 1
        yield [2]

    stream = stream_of(stubborn)
    rows(stream, 5)
    stream.close()
    assert stream.join(30)
    with pytest.raises(DatasetEnded):
        stream.take(0.01)


def test_close_wakes_who_waits_while_the_dataflow_is_blocked(stream_of: Streams) -> None:
    release, out = threading.Event(), []

    def blocked() -> Iterator[Any]:
        yield [1]
        release.wait(60)

    stream = stream_of(blocked)
    rows(stream, 1)

    def wait() -> None:
        try:
            stream.take(600)
        except DatasetEnded as e:
            out.append(e)

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.05)
    stream.close()
    thread.join(30)
    assert len(out) == 1 and not release.is_set()
    release.set()


def test_close_wakes_who_waits_for_the_first_datapoint(stream_of: Streams) -> None:
    release = threading.Event()

    def blocked() -> Iterator[Any]:
        release.wait(60)
        yield [1]

    stream = stream_of(blocked, mode=None)
    threading.Timer(0.05, stream.close).start()
    with pytest.raises(DatasetEnded, match="a closed input"):
        stream.read_first()
    release.set()


# ---- what it keeps

def test_a_closed_stream_frees_the_dataflow_and_its_datapoints(stream_of: Streams) -> None:
    class Image(np.ndarray):
        pass

    class Data:
        def __iter__(self) -> Iterator[Any]:
            for i in range(100):
                yield [np.zeros(300_000).view(Image)]

    data = Data()
    gone = weakref.ref(data)
    stream = stream_of(data, capacity=3)
    stream_of.made.clear()
    rows(stream, 2)
    del data
    stream.close()
    assert stream.join(30)
    gc.collect()
    assert gone() is None and len(stream._blocks) == 0


def test_the_producer_holds_no_datapoint_while_it_waits(stream_of: Streams) -> None:
    class Box(list):  # type: ignore[type-arg]
        pass

    def produce() -> Iterator[Any]:
        while True:
            box = Box([np.zeros(100)])
            boxes.append(weakref.ref(box))
            yield box
            del box

    boxes: list[Any] = []
    stream = stream_of(produce, capacity=5)
    rows(stream, 1)
    end = time.monotonic() + 30
    while not stream._put - stream._taken >= 5 and time.monotonic() < end:
        time.sleep(0.01)
    assert len(boxes) >= 5
    # only the generator's own local holds the last one
    assert sum(ref() is not None for ref in boxes) <= 1


@pytest.mark.parametrize("data, limit", [
    # ragged: each datapoint has a block of its own, no larger than twice what it needs
    ("ragged", 40), ("tiny", 4), ("medium", 40)])
def test_no_more_memory_than_the_capacity_and_two_chunks(
        stream_of: Streams, data: str, limit: int) -> None:
    def produce() -> Iterator[Any]:
        rng = np.random.RandomState(0)
        while True:
            n = {"ragged": 20 + rng.randint(200), "tiny": 1, "medium": 50_000}[data]
            yield [np.zeros(n, "float32")]

    capacity = {"ragged": 1000, "tiny": 1000, "medium": 100}[data]
    signature = Signature([c.opened() for c in Signature.infer([np.zeros(1, "f4")]).components],
                          Signature.infer([np.zeros(1, "f4")]).node)
    tracemalloc.start()
    try:
        stream, seen = stream_of(produce, capacity=capacity, signature=signature), 0
        while seen < 1500:
            seen += len(stream.take(0.05)[0])
            end = time.monotonic() + 30
            while stream._put - stream._taken < capacity // 2 and time.monotonic() < end:
                time.sleep(0.001)  # until it fills again
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < limit << 20
