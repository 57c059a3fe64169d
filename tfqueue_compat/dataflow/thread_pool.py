# SPDX-License-Identifier: Apache-2.0
"""Threads that apply a function to datapoints: a MapPool's face, without processes."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from typing import Any

from ..utils.ending import end_at_exit
from ..utils.errors import say

__all__ = ["ThreadPool"]

_END = object()


def _work(func: Callable[[Any], Any], tasks: queue.SimpleQueue[Any],
          results: queue.SimpleQueue[Any], stopped: threading.Event) -> None:
    while True:
        task = tasks.get()
        if task is _END or stopped.is_set():
            return
        number, dp, tag = task
        try:
            results.put((number, tag, func(dp), None))
        except BaseException as e:  # to be raised by result()
            results.put((number, tag, None, e))
            return


class ThreadPool:
    """A pool to which tasks are submitted, and from which their results are taken.

    Its threads hold no reference to it, wait without polling, and don't keep a program from
    ending.

    Args:
        func: maps a datapoint to another or to None.
        num_thread: threads.
        owner: the threads' name.
        ordered: whether results come in the order of their tasks.
    """

    def __init__(self, func: Callable[[Any], Any], num_thread: int, *, owner: str,
                 ordered: bool = False) -> None:
        self._func, self._n, self._owner, self._ordered = func, num_thread, owner, ordered
        self._tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._stopped = threading.Event()
        self._early: dict[int, tuple[Any, Any]] = {}  # results before their turn
        self._submitted = self._returned = 0
        self._pid: int | None = None

    @property
    def started(self) -> bool:
        """Whether it was started in this process."""
        return self._pid == os.getpid()

    def start(self) -> None:
        """Start the threads, if they were not yet."""
        if self._pid is not None:
            return
        self._pid = os.getpid()
        for i in range(self._n):
            thread = threading.Thread(target=_work, name=f"{self._owner}-{i}", daemon=True, args=(
                self._func, self._tasks, self._results, self._stopped))
            thread.start()
            end_at_exit(thread, self.stop)

    def submit(self, dp: Any, tag: Any = None) -> None:
        """Give a task to a thread."""
        self.start()
        self._tasks.put((self._submitted, dp, tag))
        self._submitted += 1

    def result(self) -> tuple[Any, Any]:
        """Return the tag and the result of a task, or raise what the function raised."""
        while not (self._ordered and self._returned in self._early):
            number, tag, value, error = self._results.get()
            if error is not None:
                raise error
            if not self._ordered:
                return tag, value
            self._early[number] = tag, value
        self._returned += 1
        return self._early.pop(self._returned - 1)

    def stop(self) -> None:
        """Have the threads end after the task they are at; who waits for a result gets an error."""
        self._stopped.set()
        for _ in range(self._n):
            self._tasks.put(_END)
        self._results.put((-1, None, None, RuntimeError(say(
            self._owner, expected="running threads", received="stopped ones",
            do="Iterate the dataflow anew."))))

    __del__ = stop
