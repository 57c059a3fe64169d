# SPDX-License-Identifier: Apache-2.0
"""How long something took."""

from __future__ import annotations

import atexit
import time
from collections.abc import Iterator
from contextlib import contextmanager

from . import logger
from .errors import say
from .stats import StatCounter

__all__ = ["IterSpeedCounter", "Timer", "timed_operation"]

_totals: dict[str, StatCounter] = {}


class Timer:
    """A stopwatch that runs from its making on.

    Example:
        >>> timer = Timer()
        >>> timer.pause()
        >>> timer.is_paused(), timer.seconds() < 60
        (True, True)
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Start from zero, running."""
        self._before = 0.0
        self._start: float | None = time.perf_counter()

    def pause(self) -> None:
        """Stop counting.

        Raises:
            RuntimeError: where it is paused already.
        """
        if self._start is None:
            raise _misused("running", "a paused one")
        self._before = self.seconds()
        self._start = None

    def is_paused(self) -> bool:
        """Tell whether it is paused."""
        return self._start is None

    def resume(self) -> None:
        """Go on counting.

        Raises:
            RuntimeError: where it is running already.
        """
        if self._start is not None:
            raise _misused("paused", "a running one")
        self._start = time.perf_counter()

    def seconds(self) -> float:
        """Return the seconds since the start, without the pauses."""
        running = 0.0 if self._start is None else time.perf_counter() - self._start
        return self._before + running


def _misused(state: str, received: str) -> RuntimeError:
    return RuntimeError(say("Timer", expected=f"a {state} timer", received=received,
                            do="Ask is_paused() first."))


@contextmanager
def timed_operation(msg: str, log_start: bool = False) -> Iterator[None]:
    """Log how long the block took.

    Args:
        msg: what the block does.
        log_start: log its start too.
    """
    if log_start:
        logger.info("Start %s ...", msg)
    start = time.perf_counter()
    yield
    logger.info("%s finished, time:%.4f sec.", msg, time.perf_counter() - start)


@contextmanager
def total_timer(msg: str) -> Iterator[None]:
    """Add the time of the block to a total under ``msg``, logged when the program ends."""
    if not _totals:
        atexit.register(print_total_timer)
    start = time.perf_counter()
    yield
    _totals.setdefault(msg, StatCounter()).feed(time.perf_counter() - start)


def print_total_timer() -> None:
    """Log the totals of :func:`total_timer`, if there are any."""
    for name, values in _totals.items():
        if values.count:
            logger.info("Total Time: %s -> %.2f sec, %d times, %.3g sec/time",
                        name, values.sum, values.count, values.average)


class IterSpeedCounter:
    """Log how often a line of code is reached.

    Args:
        print_every: calls between two log lines.
        name: named in the log.

    Example:
        >>> speed = IterSpeedCounter(100)
        >>> for _ in range(10):
        ...     speed()
    """

    def __init__(self, print_every: int, name: str | None = None) -> None:
        self.print_every = int(print_every)
        self.name = name if name else "IterSpeed"
        self.reset()

    def reset(self) -> None:
        """Start from zero."""
        self.cnt = 0
        self.start = time.perf_counter()

    def __call__(self) -> None:
        """Count once."""
        self.cnt += 1
        if self.cnt % self.print_every == 0:
            seconds = (time.perf_counter() - self.start) / self.print_every
            logger.info("%s: %.3g sec, %.4g it/s.", self.name, seconds, 1 / max(seconds, 1e-9))
            self.start = time.perf_counter()
