# SPDX-License-Identifier: Apache-2.0
"""Running worker processes, as their parent sees them: what they send, how they end."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing.process import BaseProcess
from typing import Any

from ..utils.errors import CompatError, say
from .chunk import Chunk
from .pickling import unpack_error
from .receiver import Receiver
from .transport import Signal
from .wire import Fd, pipe
from .worker_main import END

__all__ = ["LOOK", "Crew", "Finished", "Worker", "WorkerDied", "calm_start"]

LOOK = 0.5      # seconds between two looks whether a worker lives
STOP = 0.5      # seconds that a worker has to end by itself


class Finished(Exception):
    """A worker's dataflow has come to its end, or the pool was stopped."""


class WorkerDied(CompatError, RuntimeError):
    """A worker process ended without a word."""


@contextmanager
def calm_start() -> Iterator[None]:
    """A block in which processes are started: no Ctrl-C in between, no warning about fork."""
    current = multiprocessing.current_process()
    daemon = current._config.pop("daemon", None)  # type: ignore[attr-defined]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with warnings.catch_warnings():
            # Python 3.12 warns of locks that other threads may hold at the fork. A worker takes
            # none of those, and its watch on TensorFlow tells of the one case known.
            warnings.filterwarnings("ignore", ".*fork", DeprecationWarning)
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if daemon is not None:
            current._config["daemon"] = daemon  # type: ignore[attr-defined]


class Worker:
    """A worker as its parent sees it."""

    def __init__(self, process: BaseProcess, receiver: Receiver, bell: Fd, ends: list[Any],
                 tasks: Any) -> None:
        self.process, self.receiver, self.bell, self.ends = process, receiver, bell, ends
        self.tasks = tasks
        self.pid = process.pid
        self.lock = threading.Lock()
        self.wake_r, self.wake_w = pipe()
        # Makes what take() raises, when it is over. Made anew each time, as a raised exception
        # refers to the frames that it went through, and so to the pool.
        self.over: Callable[[], BaseException] | None = None
        self.finished = False
        self.looked = 0.0

    def receive(self, owner: str, number: int) -> Chunk | None:
        """Return what has arrived; raise what ended the worker."""
        if self.over is not None:
            raise self.over()
        now = time.monotonic()
        code = None
        if now - self.looked > LOOK:
            self.looked, code = now, self.process.exitcode
            if code:
                raise self._ended(owner, number)
        try:
            got = self.receiver.receive()
        except EOFError:
            raise self._ended(owner, number) from None
        if got is None and code == 0:  # someone else keeps the pipe open
            raise self._ended(owner, number)
        if isinstance(got, Signal):
            self.finished = got.name == END
            self.over = partial(Finished, f"{owner}: worker {number} has finished") \
                if self.finished else partial(unpack_error, got.value)
            raise self.over()
        return got

    def stopped(self, owner: str) -> None:
        """Close its pipes; nothing can be taken any more."""
        if self.over is None:
            self.finished, self.over = True, partial(Finished, f"{owner}: stopped")
        for end in (*self.ends, self.wake_r, self.wake_w):
            end.close()

    def _ended(self, owner: str, number: int) -> BaseException:
        self.process.join(1.0)
        self.over = partial(WorkerDied, self._obituary(owner, number, self.process.exitcode))
        return self.over()

    def _obituary(self, owner: str, number: int, code: int | None) -> str:
        how, do = f"exit status {code}", "Look for os._exit or a crash in its log."
        if code is None:
            how = "closed pipes"
        elif code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = "unknown"
            how = f"death by signal {-code} ({name})"
            if -code in (signal.SIGKILL, signal.SIGBUS):
                how += ", likely out of memory"
                do = "Use fewer workers, smaller buffers or smaller datapoints."
            else:
                do = "Look for a crash in native code, e.g. of an extension module."
        elif code == 1:
            do = ("Look at its output; under the start method 'spawn' the main script needs "
                  "if __name__ == '__main__'.")
        return say(f"{owner}, worker {number}", expected=f"pid {self.pid} to go on",
                   received=how, do=do)


class Crew:
    """The running workers; holds no reference to the pool, so that the pool can be collected."""

    def __init__(self, owner: str) -> None:
        self.owner, self.pid = owner, os.getpid()
        self.workers: list[Worker] = []
        self.stopped = False
        self.any_lock = threading.Lock()
        self.wake_r, self.wake_w = pipe()
        self._stop_lock = threading.Lock()

    def wake(self) -> None:
        self.wake_w.nudge()
        for w in self.workers:
            w.wake_w.nudge()

    def stop(self) -> None:
        """Stop all workers and wait for them; in another process than theirs, do nothing."""
        if os.getpid() != self.pid:
            return
        with self._stop_lock:
            if self.stopped:
                return
            self.stopped = True
        self.wake()
        for w in self.workers:
            w.bell.close()
        with self.any_lock:
            for w in self.workers:
                with w.lock:
                    w.stopped(self.owner)
            self.wake_r.close()
            self.wake_w.close()
        self._reap()

    def _reap(self) -> None:
        end = time.monotonic() + STOP
        for w in self.workers:
            w.process.join(max(0.0, end - time.monotonic()))
        for w in self.workers:
            if w.process.exitcode is None:
                w.process.kill()
        for w in self.workers:
            w.process.join(5.0)
            if w.process.exitcode is not None:
                w.process.close()
