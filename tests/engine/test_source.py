# SPDX-License-Identifier: Apache-2.0
"""A source: reads the signature once, loses nothing by it, opens and closes streams."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat.engine import DatasetEnded, Signature
from tfqueue_compat.engine.source import Source
from tfqueue_compat.engine.stream import Mode


class Counted:
    """Datapoints 0, 1, ...; knows how often it was reset and started."""

    def __init__(self, n: int = 5) -> None:
        self.n, self.resets, self.starts = n, 0, 0

    def reset_state(self) -> None:
        self.resets += 1

    def __iter__(self) -> Iterator[Any]:
        self.starts += 1
        return ([i] for i in range(self.n))

    def __len__(self) -> int:
        return self.n


@pytest.fixture
def source_of() -> Iterator[Any]:
    made: list[Source] = []

    def make(*args: Any, **kwargs: Any) -> Source:
        made.append(Source(*args, **kwargs))
        return made[-1]

    yield make
    for source in made:
        source.stop()


def drain(source: Source, number: int) -> list[int]:
    out: list[int] = []
    try:
        while True:
            out.extend(np.ravel(source.take(number)[0]).tolist())
    except StopIteration:
        return out


def test_reading_the_signature_loses_no_datapoint_and_starts_nothing_twice(source_of: Any) -> None:
    data = Counted()
    source = source_of(data, 10)
    assert source.is_inferred
    assert source.signature == source.signature == Signature.infer([0])
    number = source.begin(Mode(), 0)
    assert drain(source, number) == [0, 1, 2, 3, 4]
    assert (data.starts, data.resets) == (1, 1)
    source.end(number)
    assert drain(source, source.begin(Mode(), 0)) == [0, 1, 2, 3, 4]
    assert (data.starts, data.resets) == (2, 1)


def test_each_iterator_has_a_stream_of_its_own(source_of: Any) -> None:
    source = source_of(Counted(), 10, Signature.infer([0]))
    a, b = source.begin(Mode(), 0), source.begin(Mode(group=2), 0)
    assert a != b
    assert drain(source, b) == drain(source, a) == [0, 1, 2, 3, 4]


def test_a_given_signature_is_not_read_off_the_data(source_of: Any) -> None:
    data = Counted()
    source = source_of(data, 10, Signature.from_specs([tf.TensorSpec((), tf.float64)]))
    assert not source.is_inferred and data.starts == 0
    out = source.take(source.begin(Mode(), 0))[0]
    assert out.dtype == np.float64


def test_given_dtypes(source_of: Any) -> None:
    source = source_of(Counted(), 10, dtypes=[tf.int64])
    assert source.signature.components[0].tf_dtype == tf.int64
    assert drain(source, source.begin(Mode(), 0)) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("length, size", [(lambda self: 3, 3), (lambda self: 0, 0)])
def test_length(source_of: Any, length: Any, size: int) -> None:
    source = source_of(type("D", (Counted,), {"__len__": length})(), 5)
    assert source.size == len(source) == size


def test_no_length(source_of: Any) -> None:
    source = source_of(lambda: iter([[1]]), 5)
    assert source.size is None
    with pytest.raises(TypeError, match="knows its length.*FixedSizeData"):
        len(source)


def test_a_length_that_lies_changes_no_data(source_of: Any) -> None:
    for said in (2, 100):
        source = source_of(type("D", (Counted,), {"__len__": lambda self: said})(), 5)
        assert drain(source, source.begin(Mode(), 0)) == [0, 1, 2, 3, 4]


def test_the_error_before_the_first_datapoint_comes_each_time(source_of: Any) -> None:
    def broken() -> Iterator[Any]:
        raise OSError("no such file")
        yield

    source = source_of(broken, 5)
    for _ in range(2):
        with pytest.raises(OSError, match="no such file"):
            source.signature


def test_stop_ends_all_streams_and_a_new_one_starts_afresh(source_of: Any) -> None:
    source = source_of(Counted(10 ** 9), 5)
    assert source.signature
    numbers = [source.begin(Mode(), 0) for _ in range(3)]
    source.stop()
    for number in numbers:
        with pytest.raises(DatasetEnded, match="one that was stopped"):
            source.take(number)
    source.stop()
    assert source.take(source.begin(Mode(), 0))[0][0] == 0


def test_stop_wakes_who_waits_for_the_first_datapoint(source_of: Any) -> None:
    release, out = threading.Event(), []

    def blocked() -> Iterator[Any]:
        release.wait(60)
        yield [1]

    source = source_of(blocked, 5)

    def read() -> None:
        try:
            out.append(source.signature)
        except DatasetEnded as e:
            out.append(e)

    reader = threading.Thread(target=read)
    reader.start()
    end = time.monotonic() + 30
    while not source._open and time.monotonic() < end:
        time.sleep(0.01)
    source.stop()
    reader.join(30)
    assert not release.is_set() and isinstance(out[0], DatasetEnded)
    release.set()


def test_streams_that_begin_while_others_stop_are_all_closed(source_of: Any) -> None:
    source = source_of(Counted(10 ** 9), 5, Signature.infer([0]))

    def begin() -> None:
        for _ in range(40):
            source.begin(Mode(), 0)

    threads = [threading.Thread(target=begin) for _ in range(3)]
    for thread in threads:
        thread.start()
    while any(t.is_alive() for t in threads):
        source.stop()
    source.stop()  # the fixture no_thread_is_left looks for any left


def test_a_dropped_source_ends_its_threads_and_frees_the_dataflow() -> None:
    class Data:
        def __iter__(self) -> Iterator[Any]:
            return ([i] for i in range(10 ** 9))

    data = Data()
    gone = weakref.ref(data)
    source = Source(data, 5)
    source.take(source.begin(Mode(), 0))
    assert source.signature
    threads = [t for t in threading.enumerate() if t.name.startswith("QueueInput ")]
    del data, source
    gc.collect()
    for thread in threads:
        thread.join(30)
    gc.collect()
    assert gone() is None


def test_an_error_is_kept_once(source_of: Any) -> None:
    source, error = source_of([[1]], 5), ValueError("x")
    assert source.keep(error) is source.keep(error)
    assert source.keep(ValueError("x")) is not source.keep(error)
