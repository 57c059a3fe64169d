# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfqueue_compat.dataflow import (CacheData, DataFlow, DataFromGenerator, DataFromList,
                                     FixedSizeData, RepeatedData, RepeatedDataPoint)


def numbers(n, shuffle=False):
    return DataFromList([[k] for k in range(n)], shuffle=shuffle)


@pytest.mark.parametrize("num", [0, 1, 3])
def test_repeated(num):
    ds = RepeatedData(numbers(2), num)
    assert list(ds) == [[0], [1]] * num and len(ds) == 2 * num


def test_repeated_without_end():
    ds = RepeatedData(numbers(2), -1)
    assert list(itertools.islice(ds, 5)) == [[0], [1], [0], [1], [0]]
    with pytest.raises(NotImplementedError, match="no end"):
        len(ds)


@pytest.mark.parametrize("ds", [
    RepeatedData(numbers(0), -1), FixedSizeData(DataFromGenerator(lambda: iter([])), 3)])
def test_an_empty_source_is_an_error_not_a_hang(ds):
    with pytest.raises(RuntimeError, match="without any"):
        list(itertools.islice(ds, 3))


def test_repeated_datapoint():
    ds = RepeatedDataPoint(numbers(2), 2)
    assert list(ds) == [[0], [0], [1], [1]] and len(ds) == 4
    with pytest.raises(ValueError, match="num"):
        RepeatedDataPoint(numbers(2), 0)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 7), st.integers(0, 9), st.booleans())
def test_fixed_size(n, size, keep):
    ds = FixedSizeData(numbers(n), size, keep_state=keep)
    endless = itertools.cycle([[k] for k in range(n)])
    for _ in range(3):
        if not keep:
            endless = itertools.cycle([[k] for k in range(n)])
        assert list(ds) == list(itertools.islice(endless, size))
    assert len(ds) == size


def test_fixed_size_after_a_break_goes_on():
    ds = FixedSizeData(numbers(5), 3)
    for dp in ds:
        break
    assert list(ds) == [[1], [2], [3]]
    ds.reset_state()
    assert list(ds) == [[0], [1], [2]]


def test_fixed_size_allows_one_iterator():
    ds = FixedSizeData(numbers(5), 3)
    first = iter(ds)
    next(first)
    with pytest.raises(RuntimeError, match="one iterator"):
        next(iter(ds))
    first.close()
    assert len(list(ds)) == 3


def test_fixed_size_lets_subclasses_use_its_guard():
    class Mine(FixedSizeData):
        def __iter__(self):
            with self._guard:
                yield from self.ds

    assert len(list(Mine(numbers(4), 2))) == 4


def test_what_runs_stays_behind_when_pickled():
    ds = FixedSizeData(numbers(5), 3)
    next(iter(ds))
    assert list(pickle.loads(pickle.dumps(ds))) == [[0], [1], [2]]


class Counts(DataFlow):
    passes = 0

    def __iter__(self):
        self.passes += 1
        for k in range(4):
            yield [k]

    def __len__(self):
        return 4


def test_cache_reads_once():
    source = Counts()
    ds = CacheData(source)
    for _ in range(3):
        assert list(ds) == [[0], [1], [2], [3]]
    assert source.passes == 1
    assert len(ds) == 4


def test_a_broken_off_pass_is_not_taken_for_the_whole():
    ds = CacheData(Counts())
    for dp in ds:
        break
    assert len(list(ds)) == 4
    assert len(list(ds)) == 4


def test_cache_shuffles():
    ds = CacheData(numbers(30), shuffle=True)
    first, second = list(ds), list(ds)
    assert first != second and sorted(first) == sorted(second)
