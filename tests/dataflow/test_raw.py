# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import queue

import numpy as np
import pytest

from tfqueue_compat.dataflow import (DataFromGenerator, DataFromIterable, DataFromList,
                                     DataFromQueue, FakeData)


def test_fake_data():
    ds = FakeData([[2, 3], [], [1]], size=5, dtype=["float32", "int64", "uint8"],
                  domain=[(0, 1), (5, 6), (10, 20)])
    points = list(ds)
    assert len(points) == len(ds) == 5
    for image, zero, one in points:
        assert image.shape == (2, 3) and image.dtype == np.float32
        assert zero.shape == () and zero == 5 and zero.dtype == np.int64
        assert 10 <= one[0] < 20
    assert (points[0][0] != points[1][0]).any()


def test_fake_data_that_stays_the_same():
    first, second = FakeData([[2]], size=2, random=False)
    assert first[0] is second[0] and first is not second


def test_fake_data_checks_its_lists():
    with pytest.raises(ValueError, match="dtype"):
        FakeData([[1]], dtype=["int32", "int32"])


def test_list():
    values = [[k] for k in range(50)]
    ds = DataFromList(values)
    first, second = list(ds), list(ds)
    assert first != values and first != second and sorted(first) == values
    assert list(DataFromList(values, shuffle=False)) == values


def test_generator():
    calls = []

    def gen():
        calls.append(1)
        yield [1]

    ds = DataFromGenerator(gen)
    assert list(ds) == [[1]] and list(ds) == [[1]] and len(calls) == 2
    with pytest.raises(NotImplementedError):
        len(ds)
    assert len(DataFromGenerator([[1], [2]])) == 2
    with pytest.raises(TypeError, match="int"):
        DataFromGenerator(3)


def test_iterable():
    assert list(DataFromIterable(range(3))) == [0, 1, 2] and len(DataFromIterable(range(3))) == 3
    with pytest.raises(NotImplementedError):
        len(DataFromIterable(iter([1])))


def test_queue():
    q = queue.Queue()
    for k in range(3):
        q.put([k])
    assert list(itertools.islice(DataFromQueue(q), 3)) == [[0], [1], [2]]
