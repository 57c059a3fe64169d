# SPDX-License-Identifier: Apache-2.0
"""NumPy's allocator of one thread: aligned arrays that live as long as any others."""

from __future__ import annotations

import concurrent.futures
import contextvars
import platform
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tfqueue_compat.engine.aligned import align_this_thread, restore_this_thread

pytestmark = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc" or sys.implementation.name != "cpython",
    reason="NumPy's allocator is set through glibc and CPython")

SIZES = [1, 24, 1000, 1024, 5000, 1 << 14, (1 << 17) + 8, (1 << 22) + 24]


def start_of(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def aligned_in(make: Callable[[int], np.ndarray]) -> bool:
    kept = [make(size) for size in SIZES for _ in range(4)]
    return all(start_of(a) % 64 == 0 for a in kept)


def in_a_thread(function: Callable[[], Any]) -> Any:
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result(60)


def test_new_arrays_are_aligned_until_restored() -> None:
    def run() -> list[bool]:
        out = [align_this_thread(), aligned_in(lambda n: np.empty(n, np.uint8))]
        out.append(aligned_in(lambda n: np.arange(n) + 1))
        restore_this_thread()
        out.append(aligned_in(lambda n: np.empty(n, np.uint8)))
        restore_this_thread()
        out.append(align_this_thread() and aligned_in(lambda n: np.empty(n, np.uint8)))
        return out

    assert in_a_thread(run) == [True, True, True, False, True]


def test_only_the_calling_thread_changes() -> None:
    inside, leave = threading.Event(), threading.Event()

    def run() -> bool:
        done = align_this_thread()
        inside.set()
        leave.wait(60)
        return done

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        future = pool.submit(run)
        assert inside.wait(60)
        assert not aligned_in(lambda n: np.empty(n, np.uint8))
        leave.set()
        assert future.result(60)
    assert not aligned_in(lambda n: np.empty(n, np.uint8))


def test_twice_is_once_and_another_context_keeps_its_own() -> None:
    def run() -> list[bool]:
        plain = contextvars.copy_context()
        out = [align_this_thread(), align_this_thread()]
        out.append(plain.run(aligned_in, lambda n: np.empty(n, np.uint8)))
        restore_this_thread()
        out.append(aligned_in(lambda n: np.empty(n, np.uint8)))
        return out

    assert in_a_thread(run) == [True, True, False, False]


def test_arrays_outlive_the_thread_and_are_freed_and_resized_anywhere() -> None:
    def run() -> list[np.ndarray]:
        assert align_this_thread()
        return [np.full(size, size % 251, np.uint8) for size in SIZES * 20]

    arrays = in_a_thread(run)
    for array, size in zip(arrays, SIZES * 20):
        assert (array == size % 251).all()
    for array, size in zip(arrays[:40], SIZES * 5):  # realloc, here, of memory from there
        array.resize(size + 100, refcheck=False)
        assert (array[:size] == size % 251).all() and not array[size:].any()
    in_a_thread(arrays.clear)
    assert arrays == []


def test_arrays_from_before_are_resized_and_freed_while_aligned() -> None:
    before = [np.full(size, 7, np.uint8) for size in SIZES]

    def run() -> bool:
        assert align_this_thread()
        for array, size in zip(before, SIZES):
            array.resize(size * 2, refcheck=False)
        good = all((a[:n] == 7).all() and not a[n:].any() for a, n in zip(before, SIZES))
        before.clear()
        return good

    assert in_a_thread(run)


def test_many_threads_hand_aligned_arrays_round() -> None:
    def make(seed: int) -> list[np.ndarray]:
        assert align_this_thread()
        rng = np.random.RandomState(seed)
        made = [np.full(rng.randint(1, 60_000), seed, np.int32) for _ in range(300)]
        kept = made[::3]
        del made
        restore_this_thread()
        return kept

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for seed, arrays in enumerate(pool.map(make, range(24))):
            assert all((a == seed).all() for a in arrays)
            del arrays


# The package without its __init__, which would load TensorFlow.
ENGINE = """
import os, sys, types, numpy as np, tfqueue_compat
engine = sys.modules["tfqueue_compat.engine"] = types.ModuleType("tfqueue_compat.engine")
engine.__path__ = [os.path.join(tfqueue_compat.__path__[0], "engine")]
"""

TEXT = ENGINE + """
from tfqueue_compat.engine.aligned import align_this_thread, restore_this_thread
kept = [np.ones(1000)]
print(align_this_thread())
kept += [np.ones(n) for n in (1, 1000, 10 ** 6)]
restore_this_thread()
assert all((a == 1).all() for a in kept)
"""


@pytest.mark.parametrize("environment, done", [
    ({}, "True"), ({"PYTHONMALLOC": "malloc"}, "True"), ({"PYTHONMALLOC": "debug"}, "False"),
    ({"PYTHONDEVMODE": "1"}, "False"), ({"PYTHONTRACEMALLOC": "1"}, "False")], ids=str)
def test_debug_allocators_refuse(fresh_process: Callable[..., str], environment: dict[str, str],
                                 done: str) -> None:
    assert fresh_process(TEXT, **environment) == done


def test_tracemalloc_may_start_and_stop_in_between(fresh_process: Callable[..., str]) -> None:
    assert fresh_process(ENGINE + """
import tracemalloc
from tfqueue_compat.engine.aligned import align_this_thread
assert align_this_thread()
a = [np.ones(10 ** 5) for _ in range(9)]
tracemalloc.start()
a[::2] = [np.ones(10 ** 5) for _ in range(5)]
tracemalloc.stop()
print(all((x == 1).all() for x in a))
""") == "True"
