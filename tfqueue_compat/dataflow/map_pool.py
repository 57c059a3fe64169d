# SPDX-License-Identifier: Apache-2.0
"""Workers that apply a function to datapoints which this process hands them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from .sender import Sender
from .transport import Closed
from .wire import wait_readable
from .worker_main import Mapping
from .workers import WorkerPool

__all__ = ["MapPool"]

HOLD = 4e-3  # seconds; a map is waited for most of the time, and each waking costs


class MapPool(WorkerPool):
    """A pool to which tasks are submitted, and from which their results are taken.

    For one thread at a time. Whatever this process does, it never waits for room without taking
    in results, so the two directions cannot block each other.

    Args:
        setup: called once in each worker; returns the function, which maps a datapoint to another
            or to None.
        num_proc: workers.
        owner: the name that errors carry.
        buffer_size: tasks that will be on the way at most.
        ordered: whether a result's worker and place depend on nothing but its task's number, as
            reproducible random numbers need. Otherwise the worker with the fewest tasks gets the
            next one, and results come as they are ready.
        group: consecutive tasks that go to the same worker.
    """

    def __init__(self, setup: Callable[[], Callable[[Any], Any]], num_proc: int, *, owner: str,
                 buffer_size: int, ordered: bool = False, group: int = 1) -> None:
        super().__init__([Mapping(setup)] * num_proc, owner=owner, capacity=buffer_size)
        self._ordered, self._group = ordered, group
        self._hold, self._patience = HOLD, 3 * HOLD
        self._batch = max(1, buffer_size // (4 * num_proc))
        self._senders: list[Sender] = []
        self._tags: list[deque[Any]] = [deque() for _ in range(num_proc)]
        self._done: list[deque[Any]] = [deque() for _ in range(num_proc if ordered else 1)]
        self._order: deque[int] = deque()  # workers of the tasks, where that is the order
        self._count = 0

    def start(self) -> None:
        """Start the workers, if they were not yet."""
        super().start()
        crew = self._running()
        if not self._senders:
            self._senders = [Sender(w.tasks, self._make_room, self._batch) for w in crew.workers]

    def submit(self, dp: Any, tag: Any = None) -> None:
        """Give a task to a worker.

        Args:
            dp: the datapoint; copied, so it may be changed afterwards.
            tag: comes back with its result.
        """
        if not self._senders:
            self.start()
        worker = self._choose()
        self._tags[worker].append(tag)
        if self._ordered:
            self._order.append(worker)
        try:
            self._senders[worker].add(dp)
        except Closed:
            self._find_out()

    def result(self) -> tuple[Any, Any]:
        """Return the tag and the result of a task; there must be one that was not returned yet.

        Raises:
            WorkerDied: a process is gone, e.g. killed.
            Exception: what the function raised; the cause shows the worker's traceback.
        """
        ready = self._done[self._order[0] if self._ordered else 0]
        while not ready:
            self._feed_the_idle()
            self._absorb(1.0)
        if self._ordered:
            self._order.popleft()
        return ready.popleft()

    def _choose(self) -> int:
        n = len(self._senders)
        if not self._ordered and self._count % self._group == 0:
            self._turn_to = min(range(n), key=lambda i: len(self._tags[i]))
        elif self._ordered:
            self._turn_to = self._count // self._group % n
        self._count += 1
        return self._turn_to

    _turn_to = 0

    def _feed_the_idle(self) -> None:
        """Send the tasks held for workers that have few left; the others' may become more."""
        try:
            for sender, tags in zip(self._senders, self._tags):
                if sender.holding and len(tags) - sender.holding <= self._batch:
                    sender.flush()
        except Closed:
            self._find_out()

    def _absorb(self, timeout: float) -> bool:
        got = self.take_any(timeout)
        if got is None:
            return False
        worker, chunk = got
        tags, done = self._tags[worker], self._done[worker if self._ordered else 0]
        done.extend((tags.popleft(), value) for value in chunk.tasks())
        return True

    def _make_room(self) -> None:
        """Called while a worker takes no more tasks: it may wait for us to take its results."""
        if not self._absorb(0.0):
            wait_readable([w.receiver.fd for w in self._running().workers], 0.005)

    def _find_out(self) -> None:
        """Raise what ended a worker."""
        while True:
            self._absorb(1.0)
