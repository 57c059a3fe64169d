# SPDX-License-Identifier: Apache-2.0
"""Whichever way large arrays go, the values are right, and the thread is left as decided."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from tfqueue_compat.engine import aligned, handover
from tfqueue_compat.engine.buffers import is_aligned
from tfqueue_compat.engine.handover import Handover


def in_a_thread(function: Any) -> Any:
    out: list[Any] = []

    def run() -> None:
        out.append(function())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)
    return out[0]


def all_new_arrays_are_aligned() -> bool:
    kept = [np.empty((1 << 16) + 8 * i, np.uint8) for i in range(20)]
    return all(is_aligned(a) for a in kept)


def spend(seconds: float, clock: list[float]) -> None:
    clock[0] += seconds


@pytest.mark.parametrize("copied, aliased", [(2.0, 1.0), (1.0, 2.0)])
def test_the_cheaper_way_is_taken_and_learned_for_later_threads(
        monkeypatch: pytest.MonkeyPatch, copied: float, aliased: float) -> None:
    if not in_a_thread(aligned.align_this_thread):
        pytest.skip("NumPy's allocator can't be set here")
    clock = [0.0]
    monkeypatch.setattr(handover.time, "thread_time", lambda: clock[0])
    learned = Handover()

    def producer() -> tuple[list[bool], bool]:
        learned.begin()
        ways = []
        for _ in range(40):
            ways.append(learned.aliases(True))
            spend(aliased if ways[-1] else copied, clock)
        return ways, all_new_arrays_are_aligned()

    ways, now_aligned = in_a_thread(producer)
    assert not ways[0] and True in ways and False in ways  # both were tried
    assert ways[-1] == now_aligned == (aliased < copied)
    later, now_aligned = in_a_thread(producer)
    assert set(later) == {aliased < copied} and now_aligned == (aliased < copied)


def test_a_thread_that_begins_in_the_middle_of_the_trial_is_aligned_too() -> None:
    if not in_a_thread(aligned.align_this_thread):
        pytest.skip("NumPy's allocator can't be set here")
    learned = Handover()

    def until_aliasing() -> bool:
        learned.begin()
        return any(learned.aliases(True) for _ in range(8))

    assert in_a_thread(until_aliasing)

    def go_on() -> bool:
        learned.begin()
        return all_new_arrays_are_aligned()

    assert in_a_thread(go_on)


def test_a_thread_that_ends_leaves_nothing_kept() -> None:
    if not in_a_thread(aligned.align_this_thread):
        pytest.skip("NumPy's allocator can't be set here")
    learned = Handover()

    def produce() -> bool:
        learned.begin()
        while not learned.aliases(True):
            pass
        before = all_new_arrays_are_aligned()
        learned.end()
        return before and not all_new_arrays_are_aligned()

    assert in_a_thread(produce)


def test_arrays_that_others_hold_are_copied() -> None:
    learned = Handover()
    assert not any(in_a_thread(lambda: [learned.aliases(False) for _ in range(50)]))
