# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfqueue_compat.dataflow import DataFromList, LocallyShuffleData


def numbers(n):
    return DataFromList([[k] for k in range(n)], shuffle=False)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 20), st.integers(1, 12), st.integers(1, 3),
       st.one_of(st.none(), st.integers(1, 9)))
def test_nothing_is_lost_or_doubled(n, buffer_size, num_reuse, interval):
    ds = LocallyShuffleData(numbers(n), buffer_size, num_reuse, interval)
    taken = 3 * n * num_reuse
    got = Counter(dp[0] for dp in itertools.islice(ds, taken))
    came = Counter()  # what has entered the buffer by then
    for k in range(-(-(taken + buffer_size) // num_reuse)):
        came[k % n] += num_reuse
    assert sum(got.values()) == taken
    assert all(got[k] <= came[k] for k in range(n))
    assert sum((came - got).values()) <= buffer_size + num_reuse


def test_it_shuffles_and_arrays_are_fine():
    ds = LocallyShuffleData(DataFromList([[np.full(3, k)] for k in range(50)], shuffle=False), 20)
    got = [int(dp[0][0]) for dp in itertools.islice(ds, 30)]
    assert got != sorted(got)


def test_length_and_arguments():
    assert len(LocallyShuffleData(numbers(10), 4, num_reuse=2)) == 20
    with pytest.raises(ValueError, match="buffer_size"):
        LocallyShuffleData(numbers(3), 0)


def test_the_buffer_lives_on_between_iterations():
    ds = LocallyShuffleData(numbers(100), 10)
    first = [dp[0] for dp in itertools.islice(ds, 20)]
    second = [dp[0] for dp in itertools.islice(ds, 20)]
    assert not set(first) & set(second)
    ds.reset_state()
    assert set(dp[0] for dp in itertools.islice(ds, 5)) <= set(range(15))


def test_the_running_iterator_stays_behind_when_pickled():
    ds = LocallyShuffleData(numbers(10), 3)
    next(iter(ds))
    assert len(list(itertools.islice(pickle.loads(pickle.dumps(ds)), 5))) == 5
