# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc
import pickle
import sys
import weakref

import numpy as np
import pytest

from tfqueue_compat.dataflow import (DataFlow, DataFromList, FakeData, MapData, MapDataComponent,
                                     SelectComponent)


def points(*dps):
    return DataFromList(list(dps), shuffle=False)


def test_map_and_discard():
    ds = MapData(points([1], [2], [3]), lambda dp: [dp[0] * 10] if dp[0] != 2 else None)
    assert list(ds) == [[10], [30]]
    assert len(ds) == 3


def test_stop_iteration_in_the_function_is_not_the_end():
    def stops(dp):
        raise StopIteration

    with pytest.raises(RuntimeError):
        list(MapData(points([1]), stops))


def test_the_function_must_be_one():
    with pytest.raises(TypeError, match="callable"):
        MapData(points([1]), 3)
    with pytest.raises(TypeError, match="callable"):
        MapDataComponent(points([1]), "x")


@pytest.mark.parametrize("dp, index, want", [
    ([1, 2], 0, [10, 2]), ((1, 2), 1, [1, 20]), ([1, 2], -1, [1, 20]), ({"a": 1}, "a", {"a": 10}),
    ([1, 2, 3], [0, 2], [10, 2, 30]), ({"a": 1, "b": 2}, ("a", "b"), {"a": 10, "b": 20})])
def test_component(dp, index, want):
    before = type(dp)(dp)
    assert list(MapDataComponent(points(dp), lambda x: x * 10, index)) == [want]
    assert dp == before


def test_component_discards():
    ds = MapDataComponent(points([1], [2]), lambda x: x if x == 2 else None)
    assert list(ds) == [[2]]


@pytest.mark.parametrize("dp, index, error", [([1], 3, IndexError), ({"a": 1}, "b", KeyError),
                                              ([1], "a", TypeError)])
def test_component_that_is_not_there(dp, index, error):
    with pytest.raises(error, match="Pass another index"):
        list(MapDataComponent(points(dp), abs, index))


def test_select():
    assert list(SelectComponent(points((1, 2, 3)), [2, 0])) == [[3, 1]]
    assert list(SelectComponent(points({"a": 1, "b": 2}), ["b"])) == [[2]]


def test_can_be_pickled():
    for ds in (SelectComponent(points([1, 2]), [1]), MapDataComponent(points([1, 2]), float, 0)):
        assert list(pickle.loads(pickle.dumps(ds))) == list(ds)


class Fresh(DataFlow):
    def __iter__(self):
        for k in range(3):
            yield [np.full(4, k)]


@pytest.mark.parametrize("wrap", [
    lambda ds: MapData(ds, lambda dp: dp), lambda ds: MapData(ds, lambda dp: [dp[0] + 1]),
    lambda ds: MapDataComponent(ds, lambda x: x + 1), lambda ds: SelectComponent(ds, [0])])
def test_nothing_else_refers_to_a_datapoint(wrap):
    dp = next(iterator := iter(wrap(Fresh())))
    array = dp.pop()
    assert sys.getrefcount(dp) == 2
    assert sys.getrefcount(array) == 2
    del iterator


def test_dropping_it_frees_it_at_once():
    gc.disable()
    try:
        ds = MapDataComponent(FakeData([[1]]), lambda x: x)
        ref = weakref.ref(ds)
        next(iter(ds))
        del ds
        assert ref() is None
    finally:
        gc.enable()
