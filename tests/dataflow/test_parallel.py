# SPDX-License-Identifier: Apache-2.0
"""The runners, as users of tensorpack's old and new versions use them."""

from __future__ import annotations

import gc
import inspect
import multiprocessing
import os
import pickle
import threading
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest

from tfqueue_compat.dataflow import (BatchData, DataFlow, DataFromList, FakeData, MapData,
                                     MultiProcessRunner, MultiProcessRunnerZMQ, MultiThreadRunner,
                                     PrefetchData, PrefetchDataZMQ, PrefetchOnGPUs, RNGDataFlow)
from tfqueue_compat.dataflow import parallel
from tfqueue_compat.utils import utils

RUNNERS = {
    "MultiProcessRunner": lambda df, n=1: MultiProcessRunner(df, 20, n),
    "MultiProcessRunnerZMQ": lambda df, n=1: MultiProcessRunnerZMQ(df, n),
    "MultiThreadRunner": lambda df, n=1: MultiThreadRunner(lambda: df, 20, n),
}
runners = pytest.mark.parametrize("make", RUNNERS.values(), ids=list(RUNNERS))


class Endless(DataFlow):
    """Counts on, over all passes: shows what is lost and what is doubled."""

    def __init__(self, length: int = 100, size: int = 1) -> None:
        self.length, self.size_, self.at = length, size, 0

    def __iter__(self) -> Iterator[Any]:
        for _ in range(self.length):
            self.at += 1
            yield [os.getpid(), np.full((self.size_,), self.at - 1)]

    def __len__(self) -> int:
        return self.length


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    yield
    gc.collect()
    assert not multiprocessing.active_children()


def numbers(n: int = 30) -> DataFromList:
    return DataFromList([[i, np.full((20, 30), i)] for i in range(n)], shuffle=False)


def firsts(df: Any) -> list[Any]:
    return [dp[0] for dp in df]


@runners
def test_one_worker_keeps_the_order(make: Any) -> None:
    df = make(numbers())
    df.reset_state()
    assert len(df) == 30
    for _ in range(3):
        got = list(df)
        assert firsts(got) == list(range(30))
        assert all((dp[1] == dp[0]).all() for dp in got)


@runners
def test_reset_state_may_be_left_out_or_repeated(make: Any) -> None:
    df = make(numbers(5))
    assert firsts(df) == list(range(5))
    df.reset_state()
    df.reset_state()
    assert firsts(df) == list(range(5))


@runners
@pytest.mark.parametrize("size", [1, 1000, 50000])
def test_nothing_is_lost_or_doubled_over_passes_and_breaks(make: Any, size: int) -> None:
    df, got = make(Endless(40, size), 1), []
    for take in (40, 7, 1, 40, 0, 13):
        got.extend(int(dp[1][0]) for dp in islice(df, take))
    assert got == list(range(101))


@pytest.mark.parametrize("size", [1, 50000])
def test_each_worker_stream_is_whole(size: int) -> None:
    df, streams = MultiProcessRunnerZMQ(Endless(50, size), 3), {}
    while len(streams) < 3 or min(map(len, streams.values())) < 100:
        for pid, x in df:
            streams.setdefault(pid, []).append(int(x[0]))
    assert all(s == list(range(len(s))) for s in streams.values())


@runners
def test_without_a_length_it_is_endless(make: Any) -> None:
    class NoLength(DataFlow):
        def __iter__(self) -> Iterator[Any]:
            yield [1]
            yield [2]
    assert firsts(islice(make(NoLength()), 9)) == [1, 2, 1, 2, 1, 2, 1, 2, 1]


@runners
def test_errors_reach_the_iteration_and_the_next_one_starts_anew(make: Any) -> None:
    class Bad(DataFlow):
        def __iter__(self) -> Iterator[Any]:
            yield [1]
            raise KeyError("broken")

        def __len__(self) -> int:
            return 10
    df = make(Bad())
    for _ in range(2):
        got = []
        with pytest.raises(KeyError, match="broken"):
            for dp in df:
                got.append(dp)
        assert got == [[1]]


@pytest.mark.parametrize("make", list(RUNNERS.values())[:2], ids=list(RUNNERS)[:2])
def test_runners_may_be_nested(make: Any) -> None:
    inner = make(numbers(12), 2)
    for start_early in (False, True):
        df = MultiProcessRunnerZMQ(MapData(inner, lambda dp: [dp[0]]), 1)
        if start_early:
            inner.reset_state()
        got = Counter(firsts(islice(df, 12)) + firsts(islice(df, 12)))
        assert sum(got.values()) == 24 and set(got) <= set(range(12))
        del df
        gc.collect()


def test_a_runner_started_before_a_fork_works_in_both_processes() -> None:
    df = MultiProcessRunner(numbers(10), 10, 1)
    assert firsts(islice(df, 3)) == [0, 1, 2]
    queue = multiprocessing.SimpleQueue()
    context = multiprocessing.get_context("fork")
    child = context.Process(target=lambda: queue.put(firsts(df)))
    child.start()
    assert queue.get() == list(range(10))
    child.join()
    assert firsts(islice(df, 7)) == [3, 4, 5, 6, 7, 8, 9]
    queue.close()


def test_old_names_and_old_keywords() -> None:
    assert PrefetchData is parallel.MultiProcessPrefetchData
    for df in (PrefetchData(numbers(4), nr_prefetch=4, nr_proc=1), PrefetchData(numbers(4), 4, 1),
               PrefetchDataZMQ(numbers(4), nr_proc=1), PrefetchDataZMQ(numbers(4)),
               MultiThreadRunner(lambda: numbers(4), nr_prefetch=4, nr_thread=1)):
        assert firsts(df.get_data()) == [0, 1, 2, 3] and df.size() == 4
    with pytest.raises(TypeError, match="received both|Received both"):
        PrefetchData(numbers(4), 4, num_proc=1, nr_proc=1)
    assert list(inspect.signature(PrefetchDataZMQ.__init__).parameters) == [
        "self", "ds", "num_proc", "hwm"]


def test_old_code_that_overrides_get_data() -> None:
    class Old(DataFlow):
        def get_data(self) -> Iterator[Any]:
            for i in range(3):
                yield [i]

        def size(self) -> int:
            return 3

        def reset_state(self) -> None:
            pass
    assert firsts(PrefetchDataZMQ(Old(), 1).get_data()) == [0, 1, 2]


@pytest.mark.parametrize(("make", "said"), [
    (lambda: MultiProcessRunner(numbers(), 1, 0), "num_proc to be an integer >= 1. Received 0"),
    (lambda: MultiProcessRunner(numbers(), 0, 1), "num_prefetch"),
    (lambda: MultiProcessRunnerZMQ(numbers(), 1, hwm=-1), "hwm"),
    (lambda: MultiProcessRunnerZMQ(numbers(), "2"), "num_proc"),
    (lambda: MultiThreadRunner(numbers, 1, 0), "num_thread"),
    (lambda: PrefetchOnGPUs(numbers(), []), "gpus"),
])
def test_bad_arguments_are_refused(make: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make()


def test_a_worker_on_each_gpu() -> None:
    class Gpu(DataFlow):
        def __iter__(self) -> Iterator[Any]:
            yield [os.environ["CUDA_VISIBLE_DEVICES"]]
    df = PrefetchOnGPUs(Gpu(), [1, 3])
    assert set(firsts(islice(df, 40))) <= {"1", "3"} and df.num_proc == 2
    assert "CUDA_VISIBLE_DEVICES" not in os.environ


class Random(RNGDataFlow):
    def __iter__(self) -> Iterator[Any]:
        while True:
            time.sleep(0.001 * self.rng.rand())
            yield [int(self.rng.randint(1 << 40)), int(np.random.randint(1 << 40))]


@pytest.mark.parametrize("make", list(RUNNERS.values())[:2], ids=list(RUNNERS)[:2])
def test_the_mixed_stream_is_reproducible_under_a_fixed_seed(make: Any, monkeypatch: Any) -> None:
    free = list(islice(make(Random(), 3), 60))
    assert len(set(map(tuple, free))) == 60
    monkeypatch.setattr(utils, "_RNG_SEED", 5)
    first, second = (list(islice(make(Random(), 3), 60)) for _ in range(2))
    assert first == second and len(set(map(tuple, first))) == 60


def test_one_worker_draws_what_its_dataflow_would(monkeypatch: Any) -> None:
    monkeypatch.setattr(utils, "_RNG_SEED", 5)
    data = [[i] for i in range(20)]
    alone = DataFromList(data)
    alone.reset_state()
    assert firsts(MultiProcessRunnerZMQ(DataFromList(data), 1)) == firsts(alone)


def test_capacity_limits_how_far_a_worker_runs_ahead() -> None:
    made = multiprocessing.Value("l", 0)

    class Counting(DataFlow):
        def __iter__(self) -> Iterator[Any]:
            while True:
                with made.get_lock():
                    made.value += 1
                yield [np.zeros(1 << 16)]
    df = iter(MultiProcessRunnerZMQ(Counting(), 1, hwm=4))
    for _ in range(20):
        next(df)
    time.sleep(0.3)
    assert 20 <= made.value <= 20 + 4 + 4


def test_batches_through_a_runner() -> None:
    df = MultiProcessRunnerZMQ(BatchData(numbers(32), 8), 1)
    got = list(df)
    assert len(df) == len(got) == 4
    assert [b[0].tolist() for b in got] == [list(range(i, i + 8)) for i in range(0, 32, 8)]
    assert got[1][1].shape == (8, 20, 30) and (got[3][1][:, 0, 0] == got[3][0]).all()


def test_runners_can_be_pickled() -> None:
    for df in (MultiProcessRunner(numbers(3), 5, 1), MultiProcessRunnerZMQ(numbers(3), 1)):
        assert firsts(df) == [0, 1, 2]
        assert firsts(pickle.loads(pickle.dumps(df))) == [0, 1, 2]


def test_threads_end_when_the_runner_is_dropped() -> None:
    before = threading.active_count()
    df = MultiThreadRunner(lambda: FakeData([[3]], size=10 ** 9), 5, 3)
    next(iter(df))
    assert threading.active_count() == before + 3
    del df
    gc.collect()
    end = time.monotonic() + 30
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.01)
    assert threading.active_count() == before


def test_thread_runner_makes_a_dataflow_for_each_thread() -> None:
    made = []

    def get_df() -> Endless:
        made.append(Endless(10))
        return made[-1]
    df = MultiThreadRunner(get_df, 10, 3)
    assert len(made) == 3
    counts = Counter(int(dp[1][0]) for dp in islice(df, 10)) + Counter(
        int(dp[1][0]) for dp in islice(df, 10))
    assert sum(counts.values()) == 20 and max(counts.values()) <= 3


def test_plasma_hands_the_data_through() -> None:
    df = parallel.PlasmaGetData(MultiProcessRunnerZMQ(parallel.PlasmaPutData(numbers(5)), 1))
    assert firsts(df) == [0, 1, 2, 3, 4]
