# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfqueue_compat.dataflow import (ConcatData, DataFlow, DataFromGenerator, DataFromList,
                                     JoinData, RandomChooseData, RandomMixData, RepeatedData)

LISTS = st.lists(st.lists(st.integers(), max_size=5), min_size=1, max_size=4)


def sources(lists):
    return [DataFromList([[k, v] for v in values], shuffle=False)
            for k, values in enumerate(lists)]


@settings(max_examples=50, deadline=None)
@given(LISTS)
def test_concat(lists):
    ds = ConcatData(sources(lists))
    want = [[k, v] for k, values in enumerate(lists) for v in values]
    assert list(ds) == want and len(ds) == len(want)


@settings(max_examples=50, deadline=None)
@given(LISTS.filter(lambda ls: sum(map(len, ls)) > 0))
def test_random_mix_yields_all_in_their_own_order(lists):
    ds = RandomMixData(sources(lists))
    got = list(ds)
    assert len(ds) == len(got)
    for k, values in enumerate(lists):
        assert [v for i, v in got if i == k] == values


@settings(max_examples=50, deadline=None)
@given(LISTS)
def test_join(lists):
    ds = JoinData(sources(lists))
    want = [[c for k, v in enumerate(row) for c in (k, v)] for row in zip(*lists)]
    assert list(ds) == want and len(ds) == len(want)


def test_join_dicts_and_one_twice():
    a = DataFromList([{"a": 1}, {"a": 2}], shuffle=False)
    b = DataFromList([{"b": 3, "a": 9}], shuffle=False)
    assert list(JoinData([a, b])) == [{"a": 9, "b": 3}]
    one = DataFromList([(1, 2)], shuffle=False)
    assert list(JoinData([one, one])) == [[1, 2, 1, 2]]


def test_join_of_different_kinds():
    with pytest.raises(TypeError, match="dict, list"):
        list(JoinData([DataFromList([{"a": 1}]), DataFromList([[1]])]))


def test_join_with_one_that_has_no_length():
    ds = JoinData([DataFromList([[1]]), DataFromGenerator(lambda: iter([[2]]))])
    with pytest.raises(NotImplementedError, match="DataFromGenerator"):
        len(ds)
    assert list(ds) == [[1, 2]]


def test_random_choose_follows_the_probabilities():
    ds = RandomChooseData([(RepeatedData(DataFromList([["a"]]), -1), 0.9),
                           (RepeatedData(DataFromList([["b"]]), -1), 0.1)])
    ds.rng = np.random.RandomState(0)
    share = [dp[0] for dp in itertools.islice(ds, 2000)].count("a") / 2000
    assert 0.87 < share < 0.93


def test_random_choose_ends_with_the_first_that_ends():
    ds = RandomChooseData([DataFromList([["a"]] * 3), RepeatedData(DataFromList([["b"]]), -1)])
    got = [dp[0] for dp in ds]
    assert got.count("a") == 3


def test_random_choose_checks_probabilities():
    with pytest.raises(ValueError, match="sum to 1"):
        RandomChooseData([(DataFromList([[1]]), 0.9), (DataFromList([[1]]), 0.5)])


def test_random_mix_of_one_shorter_than_it_says():
    class Liar(DataFlow):
        def __iter__(self):
            yield [1]

        def __len__(self):
            return 3

    with pytest.raises(RuntimeError, match="Liar"):
        list(RandomMixData([Liar()]))


@pytest.mark.parametrize("cls", [ConcatData, JoinData, RandomMixData, RandomChooseData])
@pytest.mark.parametrize("bad", [[], None, DataFromList([[1]]), [3]])
def test_what_is_no_list_of_dataflows(cls, bad):
    with pytest.raises(TypeError, match="Do:"):
        cls(bad)
