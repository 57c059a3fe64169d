# SPDX-License-Identifier: Apache-2.0
"""Large arrays come from memory that is used again; nothing shows of what was in it."""

from __future__ import annotations

import concurrent.futures
import platform
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tfqueue_compat.engine.aligned import align_this_thread, restore_this_thread

pytestmark = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc" or sys.implementation.name != "cpython",
    reason="NumPy's allocator is set through glibc and CPython")

SIZES = [1 << 18, (1 << 18) + 8, 3 << 20, 9_633_792, 38_535_168]


@pytest.fixture
def aligned() -> Iterator[Callable[[Callable[[], Any]], Any]]:
    """Runs functions in one thread with our allocator."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        assert pool.submit(align_this_thread).result(60)
        yield lambda function: pool.submit(function).result(60)
        pool.submit(restore_this_thread).result(60)


def start_of(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


@pytest.mark.parametrize("size", SIZES)
def test_a_dropped_array_gives_its_memory_to_the_next(aligned: Any, size: int) -> None:
    def run() -> list[int]:
        places = []
        for i in range(10):
            array = np.full(size, i, np.uint8)
            places.append(start_of(array))
            assert array[0] == array[-1] == i
            del array
        return places

    places = aligned(run)
    assert len(set(places)) == 1 and places[0] % 64 == 0


def test_arrays_that_live_share_nothing(aligned: Any) -> None:
    kept: list[tuple[np.ndarray, int]] = []
    rng = np.random.RandomState(0)

    def run() -> None:
        for i in range(400):
            kept.append((np.full(SIZES[rng.randint(4)] // 4, i, np.int32), i))
            del kept[rng.randint(len(kept)):rng.randint(len(kept)) + 2]
            del kept[:-12]
            assert all(a[0] == a[-1] == a[len(a) // 2] == j for a, j in kept)

    aligned(run)


def test_zeros_are_zeros_in_used_memory(aligned: Any) -> None:
    def run() -> bool:
        for size in SIZES[:4]:
            dirty = np.full(size, 255, np.uint8)
            place = start_of(dirty)
            del dirty
            clean = np.zeros(size, np.uint8)
            assert start_of(clean) == place
            if clean.any():
                return False
        return True

    assert aligned(run)


def test_resize_keeps_the_values_from_small_to_large_and_back(aligned: Any) -> None:
    def run() -> None:
        array = np.arange(1000, dtype=np.uint32)
        for size in (500_000, 100_000, 2_000_000, 1000, 70_000):
            array.resize(size, refcheck=False)
            assert (array[:1000] == np.arange(1000)).all() and not array[1000:].any()

    aligned(run)


def test_memory_dropped_in_another_thread_is_used_again(aligned: Any) -> None:
    array = aligned(lambda: np.ones(SIZES[2], np.uint8))
    place = start_of(array)
    del array  # here
    assert aligned(lambda: start_of(np.ones(SIZES[2], np.uint8))) == place


def test_arrays_may_outlive_the_last_thread_and_its_successors(aligned: Any) -> None:
    kept = aligned(lambda: [np.full(SIZES[2], i, np.uint8) for i in range(5)])
    aligned(restore_this_thread)  # nobody uses it now
    del kept[::2]
    aligned(align_this_thread)
    del kept[0]
    more = aligned(lambda: [np.full(SIZES[2], 100 + i, np.uint8) for i in range(8)])
    assert (kept[0] == 3).all() and all((a == 100 + i).all() for i, a in enumerate(more))


CTRL_C = """
import os, signal, sys, threading, time, types, numpy as np, tfqueue_compat
engine = sys.modules["tfqueue_compat.engine"] = types.ModuleType("tfqueue_compat.engine")
engine.__path__ = [os.path.join(tfqueue_compat.__path__[0], "engine")]
from tfqueue_compat.engine.aligned import align_this_thread
signal.signal(signal.SIGINT, signal.default_int_handler)
made, lost = [], []
sys.unraisablehook = lost.append

def make():
    assert align_this_thread()
    while len(made) < 20_000:
        made.append(np.empty(300_000, np.uint8) if len(made) % 10 == 0 else np.empty(9))

thread = threading.Thread(target=make)
thread.start()
thread.join()
seen = sent = 0
while made:
    array = made.pop()
    try:
        sent += 1
        signal.raise_signal(signal.SIGINT) if len(made) % 7 == 0 else None
        sent -= len(made) % 7 != 0
        array = None
    except KeyboardInterrupt:
        seen += 1
print(seen == sent, len(lost))
"""


def test_ctrl_c_is_never_lost_in_freeing(fresh_process: Callable[..., str]) -> None:
    assert fresh_process(CTRL_C) == "True 0"


def test_python_may_end_with_arrays_of_all_ages(fresh_process: Callable[..., str]) -> None:
    assert fresh_process("""
import threading, numpy as np
import tfqueue_compat.engine.aligned as aligned
kept = []

class Late:
    def __del__(self, array=np.ones(10)):
        self.array = None

def run():
    assert aligned.align_this_thread()
    late = Late()
    late.array = np.ones(10 ** 6)
    late.me = late
    kept.extend([late, np.ones(10 ** 6), np.ones(3)])

for _ in range(3):
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
print(len(kept))
""", TF_CPP_MIN_LOG_LEVEL="3").splitlines()[-1] == "9"
