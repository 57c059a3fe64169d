# SPDX-License-Identifier: Apache-2.0
"""How fast: datapoints a second, CPU seconds a datapoint, growth of memory."""

from __future__ import annotations

import time
from typing import Any

from .alternatives import CAPACITY
from .producers import KINDS, make_dataflow
from .ways import Take, opened

__all__ = ["check", "core_share", "measure", "page_faults", "resident_mb", "warm_up"]

SLICE = 0.1  # seconds between two looks at the clock


def resident_mb() -> float:
    """Return this process's resident memory in MB (Linux; 0.0 elsewhere)."""
    try:
        with open("/proc/self/status", encoding="ascii") as f:
            for line in f:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


def page_faults() -> int:
    """Return how many pages the system gave to this process so far (0 on Windows)."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def core_share(seconds: float = 0.05) -> float:
    """Return the share of a core that a busy thread gets: 1.0 on a quiet machine."""
    start, cpu = time.perf_counter(), time.thread_time()
    while time.perf_counter() - start < seconds:
        pass
    return (time.thread_time() - cpu) / (time.perf_counter() - start)


def warm_up(take: Take, seconds: float) -> int:
    """Consume until steady; return how many datapoints fill a slice of time.

    Args:
        take: the way.
        seconds: to go on at least; the queue is emptied three times in any case.
    """
    start, n, seen = time.perf_counter(), 1, 0
    while True:
        t = time.perf_counter()
        done, _, _ = take(n)
        now = time.perf_counter()
        seen += done
        if now - start >= seconds and seen >= 3 * CAPACITY:
            return max(1, int(done * SLICE / (now - t)))
        if now - t < SLICE:
            n = min(2 * n, max(1, int(2 * done * SLICE / (now - t + 1e-9))))


def check(take: Take, kind: str, arrays: str) -> None:
    """Take two datapoints and see that they are what was produced.

    Args:
        take: the way.
        kind: name of the kind.
        arrays: as they were produced, one of :data:`producers.ARRAYS`.

    Raises:
        ValueError: where data and label do not belong together.
    """
    for _ in range(2):
        _, data, label = take(1)
        k, number = KINDS[kind], int(KINDS[kind].first(label))
        expected = (number % 200 if k.shape else number) if arrays != "again" else 7
        if k.first(data) != expected or (arrays == "again" and number != 7):
            raise ValueError(f"{kind}: Expected the data to hold {expected} beside label {number}."
                             f" Received {k.first(data)}. Do: don't trust this input's speed.")


def measure(library: str, kind: str, way: str, arrays: str = "fresh", seconds: float = 1.5,
            warm: float = 1.0, count: int = 0) -> dict[str, Any]:
    """Measure one cell in this process.

    Args:
        library: one of :data:`alternatives.LIBRARIES`.
        kind: one of :data:`producers.KINDS`.
        way: one of :data:`ways.WAYS`.
        arrays: one of :data:`producers.ARRAYS`.
        seconds: time to measure, after the warm-up.
        warm: time to warm up; at least three queues full in any case.
        count: consume that many datapoints instead of measuring for ``seconds``.

    Returns:
        ``rate`` (datapoints a second), ``cpu`` (CPU seconds a datapoint, all threads),
        ``faults`` (page faults a datapoint), ``datapoints``, ``growth_mb`` (of resident memory
        while measured), ``held_mb`` (of it since before the input was opened), ``share`` (of a
        core that one busy thread got just before), and the version of ``tensorflow``.
    """
    import tensorflow as tf
    before = resident_mb()
    df = make_dataflow(library, KINDS[kind], arrays)
    share = core_share()
    with opened(library, df, KINDS[kind], way) as take:
        check(take, kind, arrays)
        step = warm_up(take, warm)
        seen, rss = 0, resident_mb()
        faults = page_faults()
        start, cpu = time.perf_counter(), time.process_time()
        while True:
            seen += take(min(step, count - seen) if count else step)[0]
            wall = time.perf_counter() - start
            if seen >= count if count else wall >= seconds:
                break
        cpu = time.process_time() - cpu
        faults = page_faults() - faults
        check(take, kind, arrays)
        return {"rate": seen / wall, "cpu": cpu / seen, "datapoints": seen,
                "growth_mb": resident_mb() - rss, "held_mb": resident_mb() - before,
                "faults": faults / seen, "share": share, "tensorflow": tf.__version__}
