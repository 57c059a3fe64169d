# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tfqueue_compat.dataflow import (BatchData, BatchDataByShape, DataFromGenerator, DataFromList,
                                     FakeData)


def batch(values, **kwargs):
    ds = DataFromList([[v] for v in values], shuffle=False)
    return next(iter(BatchData(ds, len(values), **kwargs)))[0]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_equals_numpy_stack(data):
    dtype = data.draw(st.sampled_from(["float32", "float64", "float16", "uint8", "int64", "bool",
                                       "complex64", "U3", "M8[s]", ">i4"]))
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    n, size = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 4))
    items = [np.arange(k, k + max(1, int(np.prod(shape))))[:int(np.prod(shape))]
             .astype("int64").astype(dtype).reshape(shape) for k in range(n)]
    if data.draw(st.booleans()):
        items = [np.asfortranarray(i) for i in items]
    remainder = data.draw(st.booleans())
    ds = BatchData(DataFromList([[i] for i in items], shuffle=False), size, remainder=True)
    if not remainder and size <= n:
        ds = BatchData(ds.ds, size)
    got = [dp[0] for dp in ds]
    ends = [k for k in range(0, n, size) if ds.remainder or k + size <= n]
    want = [np.stack(items[k:k + size]).astype(dtype) for k in ends]
    assert len(ds) == len(want) == len(got)
    for g, w in zip(got, want):
        assert g.dtype == w.dtype
        np.testing.assert_array_equal(g, w)
        assert g.flags.owndata and g.flags.c_contiguous


@pytest.mark.parametrize("values, dtype", [
    ([1, 2], "int32"), ([True, False], "bool"), ([0.5, 1.5], "float32"), ([0.5, 2], "float32"),
    ([np.uint8(1), np.uint8(2)], "uint8"), ([np.float64(1), np.float64(2)], "float64"),
    ([np.array(1, "int8"), np.array(2, "int8")], "int8"),
    ([np.ones(2, "f4"), np.ones(2, "f8")], "float32"), (["a", "bcd"], "<U3"),
    ([np.array("a"), np.array("bcd")], "<U3"), ([np.array(["a"]), np.array(["bcd"])], "<U3")])
def test_dtypes(values, dtype):
    got = batch(values)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, np.array(values).astype(dtype))


def test_bytes_keep_their_zeros():
    got = batch([b"a\0\0", b"bc"])
    assert got.dtype == object and list(got) == [b"a\0\0", b"bc"]


@pytest.mark.parametrize("values, error, says", [
    ([1, 2.5], TypeError, "float and int"), ([True, 2], TypeError, "bool and int"),
    ([1, "a"], TypeError, "int and str"), ([b"a", "b"], TypeError, "bytes and str"),
    ([0.5, np.complex64(1)], TypeError, "complex64 and float"),
    ([2**40, 1], OverflowError, "int64"),
    ([None, 1], TypeError, "NoneType"), ([[1], [2]], TypeError, "list"),
    ([np.uint8(1), 1.5], TypeError, "uint8"), ([1, np.int64(2**40)], OverflowError, "int64"),
    ([np.ones(2, "i4"), np.ones(2)], TypeError, "int32.*float64"),
    ([np.ones(2), np.ones(3)], ValueError, r"\(2,\).*\(3,\)"),
    ([np.ones((2, 3)), np.ones((3, 2))], ValueError, r"\(2, 3\).*\(3, 2\)"),
    ([np.ones((2, 3)), np.ones((3, 3)), np.ones((1, 3))], ValueError, r"\(1, 3\)"),
    ([np.ones(2), 1.0], ValueError, r"\(2,\).*\(\)"), ([1.0, np.ones(2)], ValueError, r"\(2,\)"),
    ([np.array(1.0), np.ones(2)], ValueError, r"\(\).*\(2,\)")])
def test_what_cannot_be_batched_is_named(values, error, says):
    with pytest.raises(error, match=f"component 0.*{says}"):
        batch(values)


def test_the_component_is_named():
    ds = DataFromList([{"x": 1, "y": np.ones(1)}, {"x": 1, "y": np.ones(2)}], shuffle=False)
    with pytest.raises(ValueError, match="component 'y'"):
        list(BatchData(ds, 2))


@pytest.mark.parametrize("points, error", [
    ([[1], [1, 2]], ValueError), ([{"a": 1}, {"b": 1}], KeyError),
    ([{"a": 1}, {"a": 1, "b": 2}], KeyError), (["ab", "cd"], TypeError), ([1, 2], TypeError)])
def test_datapoints_that_differ(points, error):
    with pytest.raises(error, match="Expected.*Received.*Do:"):
        list(BatchData(DataFromList(points, shuffle=False), 2))


def test_lists_tuples_dicts():
    lists = DataFromList([(1, "a"), (2, "b")], shuffle=False)
    assert list(BatchData(lists, 2, use_list=True)) == [[[1, 2], ["a", "b"]]]
    dicts = DataFromList([{"x": 1}, {"x": 2}], shuffle=False)
    assert list(BatchData(dicts, 2, use_list=True)) == [{"x": [1, 2]}]
    assert next(iter(BatchData(dicts, 2)))["x"].tolist() == [1, 2]


def test_remainder():
    ds = FakeData([[3]], size=10)
    assert [len(b[0]) for b in BatchData(ds, 4)] == [4, 4]
    assert [len(b[0]) for b in BatchData(ds, 4, remainder=True)] == [4, 4, 2]
    assert [len(b[0]) for b in BatchData(ds, 5, remainder=True)] == [5, 5]
    assert (len(BatchData(ds, 4)), len(BatchData(ds, 4, remainder=True))) == (2, 3)


@pytest.mark.parametrize("size", [0, -1, 11])
def test_a_size_that_fits_never(size):
    with pytest.raises(ValueError, match="batch_size"):
        BatchData(FakeData([[1]], size=10), size)


def test_unknown_length_is_fine():
    ds = BatchData(DataFromGenerator(lambda: iter([[1]] * 5)), 2)
    assert len(list(ds)) == 2


def test_aggregate_batch_can_be_overridden_under_either_name():
    class Old(BatchData):
        @staticmethod
        def _aggregate_batch(data_holder, use_list=False):
            return ["old", len(data_holder)]

    class New(BatchData):
        def aggregate_batch(self, data_holder, use_list=False):
            return ["new", self.batch_size]

    ds = FakeData([[1]], size=4)
    assert list(Old(ds, 2)) == [["old", 2]] * 2
    assert list(New(ds, 2)) == [["new", 2]] * 2
    assert BatchData._aggregate_batch([[1], [2]])[0].tolist() == [1, 2]


def test_nothing_else_refers_to_a_batch():
    for ds in (BatchData(FakeData([[3]], size=4), 2),
               BatchDataByShape(FakeData([[3]], size=4), 2, 0)):
        iterator = iter(ds)
        dp = next(iterator)
        array = dp.pop()
        assert sys.getrefcount(dp) == 2
        assert sys.getrefcount(array) == 2


def test_by_shape():
    shapes = (1, 2, 1, 2, 1, 3)
    points = [[np.full(s, k), k] for k, s in enumerate(shapes)]
    ds = BatchDataByShape(DataFromList(points, shuffle=False), 2, 0)
    assert [b[1].tolist() for b in ds] == [[0, 2], [1, 3]]
    # what waited in the first pass goes on waiting in the second
    assert [b[1].tolist() for b in ds] == [[4, 0], [1, 3], [2, 4], [5, 5]]
    ds.reset_state()
    assert [b[1].tolist() for b in ds] == [[0, 2], [1, 3]]


def test_by_shape_lets_subclasses_use_its_guard():
    class Mine(BatchDataByShape):
        def __iter__(self):
            with self._guard:
                yield from self.ds

    assert len(list(Mine(FakeData([[1]], size=3), 2, 0))) == 3
