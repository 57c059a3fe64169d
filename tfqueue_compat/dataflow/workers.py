# SPDX-License-Identifier: Apache-2.0
"""Pools of worker processes: started, seeded, watched and stopped in one place."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Sequence
from multiprocessing import util
from typing import Any

from ..utils.errors import say
from .chunk import Chunk
from .crew import LOOK, Crew, Finished, Worker, WorkerDied, calm_start
from .pickling import Payload
from .receiver import PATIENCE, Receiver
from .seeding import Seed, plan_seeds
from .sender import HOLD
from .transport import channel
from .wire import pipe, wait_readable
from .worker_main import Mapping, Producing, WorkerSpec, main

__all__ = ["Chunk", "Finished", "ProducerPool", "WorkerDied", "WorkerPool"]

_start_locks: dict[int, threading.Lock] = {}  # one for each process: a fork copies held locks


class WorkerPool:
    """Worker processes, each with a job.

    Nothing is started before :meth:`start` or the first :meth:`take`. A pool stops when it is
    garbage and when the program ends, too.

    Args:
        jobs: one for each worker.
        owner: the name that errors carry.
        seeds: one for each worker; see :mod:`.seeding`.
        start_method: ``"fork"``, ``"spawn"``, ``"forkserver"``; by default what
            :mod:`multiprocessing` uses.
        capacity: datapoints that a worker may be ahead.
        envs: environment variables for each worker.
    """

    def __init__(self, jobs: Sequence[Any], *, owner: str, seeds: Sequence[int] | None = None,
                 start_method: str | None = None, capacity: int = 50,
                 envs: Sequence[dict[str, str]] | None = None) -> None:
        if seeds is not None and len(seeds) != len(jobs):
            raise ValueError(say(owner, expected=f"{len(jobs)} seeds", received=str(len(seeds)),
                                 do="Pass one for each worker."))
        self._jobs, self._owner, self._capacity = list(jobs), owner, capacity
        self._seeds = None if seeds is None else list(seeds)
        self._envs = list(envs) if envs is not None else [{} for _ in jobs]
        self._start_method = start_method
        self._crew: Crew | None = None
        self._lock = threading.Lock()
        self._turn = 0
        self._hold, self._patience = HOLD, PATIENCE

    def __len__(self) -> int:
        """Return the number of workers."""
        return len(self._jobs)

    @property
    def started(self) -> bool:
        """Whether it runs, or ran, in this process."""
        return self._crew is not None and self._crew.pid == os.getpid()

    @property
    def pids(self) -> list[int]:
        """The workers' process ids."""
        return [] if self._crew is None else [w.pid or 0 for w in self._crew.workers]

    def start(self) -> None:
        """Start the workers, if they were not yet.

        Raises:
            pickle.PicklingError: a job can't be pickled, and the start method wants that.
        """
        with self._lock:
            if self._crew is not None:
                return
            crew = Crew(self._owner)
            try:
                # one at a time, so that no worker inherits the pipes of one being started
                with _start_locks.setdefault(os.getpid(), threading.Lock()), calm_start():
                    for i, seed in enumerate(plan_seeds(len(self._jobs), self._seeds)):
                        crew.workers.append(self._hire(crew, i, seed))
            except BaseException:
                crew.stop()
                raise
            self._crew = crew
            util.Finalize(self, crew.stop, exitpriority=10)

    def _hire(self, crew: Crew, i: int, seed: Seed) -> Worker:
        context = multiprocessing.get_context(self._start_method)
        forked = context.get_start_method() == "fork"
        results_tx, results_rx = channel(self._capacity, len(self._jobs))
        bell_r, bell_w = pipe()
        tasks_tx = tasks_rx = None
        if isinstance(self._jobs[i], Mapping):
            tasks_tx, tasks_rx = channel(self._capacity, len(self._jobs))
        mine = [end for end in (results_rx, tasks_tx, bell_w) if end is not None]
        others = mine + [end for w in crew.workers for end in w.ends]
        spec = WorkerSpec(
            Payload(self._jobs[i], self._owner), results_tx, tasks_rx, bell_r, seed, self._envs[i],
            self._hold, tuple(others) if forked else (), os.getpid(), forked,
            threading.current_thread() is threading.main_thread()
            and context.get_start_method() != "forkserver")
        process = context.Process(  # type: ignore[attr-defined]
            target=main, args=(spec,), name=f"{self._owner}-{i}", daemon=False)
        try:
            process.start()
        finally:
            for end in (results_tx, tasks_rx, bell_r):
                if end is not None:
                    end.close()
        return Worker(process, Receiver(results_rx, bell_w), bell_w, mine, tasks_tx)

    def _running(self) -> Crew:
        if self._crew is None:
            self.start()
        crew = self._crew
        if crew is None or crew.pid != os.getpid():
            raise RuntimeError(say(self._owner, expected="the process that started the workers",
                                   received="another one", do="Make a new pool after a fork."))
        return crew

    def take(self, worker: int, timeout: float) -> Chunk | None:
        """Return the next chunk of a worker, or None.

        Several threads may take at once. None comes after ``timeout``, and at :meth:`wake`.

        Args:
            worker: which one.
            timeout: seconds.

        Raises:
            Finished: its dataflow has ended, or the pool was stopped.
            WorkerDied: the process is gone, e.g. killed.
            Exception: what its dataflow raised; the cause shows the worker's traceback.
        """
        crew = self._running()
        w = crew.workers[worker]
        end = time.monotonic() + timeout
        patience = self._patience
        with w.lock:
            while True:
                if crew.stopped:
                    raise Finished(f"{self._owner}: stopped")
                got = w.receive(self._owner, worker)
                left = end - time.monotonic()
                if got is not None or left <= 0:
                    return got
                w.receiver.hunger()
                ready = wait_readable([w.receiver.fd, w.wake_r.fd], min(left, patience))
                if w.wake_r.fd in ready:
                    w.wake_r.drain()
                    return None
                if not ready:
                    w.receiver.ring()
                    patience = min(LOOK, 8 * patience)

    def take_any(self, timeout: float) -> tuple[int, Chunk] | None:
        """Return the number of a worker and its next chunk, whichever has one, in turn.

        Args:
            timeout: seconds.

        Raises:
            Finished: all workers have ended.
            Exception: as :meth:`take` does.
        """
        crew = self._running()
        end = time.monotonic() + timeout
        patience = self._patience
        ready: list[int] = []
        with crew.any_lock:
            while True:
                if crew.stopped:
                    raise Finished(f"{self._owner}: stopped")
                got = self._sweep(crew, ready)
                left = end - time.monotonic()
                if got is not None or left <= 0:
                    return got
                waiting = [w for w in crew.workers if w.over is None]
                for w in waiting:
                    w.receiver.hunger()
                ready = wait_readable([crew.wake_r.fd, *(w.receiver.fd for w in waiting)],
                                      min(left, patience))
                if crew.wake_r.fd in ready:
                    crew.wake_r.drain()
                    return None
                if not ready:
                    for w in waiting:
                        w.receiver.ring()
                    patience = min(LOOK, 8 * patience)

    def _sweep(self, crew: Crew, ready: list[int]) -> tuple[int, Chunk] | None:
        """Return what the next worker in turn has, of those ready if there are any, or None."""
        n = len(crew.workers)
        for k in range(n):
            i = (self._turn + k) % n
            if ready and crew.workers[i].receiver.fd not in ready:
                continue
            try:
                with crew.workers[i].lock:
                    got = crew.workers[i].receive(self._owner, i)
            except Finished:
                continue
            if got is not None:
                self._turn = i + 1
                return i, got
        if all(w.finished for w in crew.workers):
            raise Finished(f"{self._owner}: all workers have finished")
        return None

    def stop(self) -> None:
        """Stop the workers, from any thread; takes below a second, and may be called again."""
        with self._lock:
            crew = self._crew
            if crew is None:  # never started, and will not be
                crew = self._crew = Crew(self._owner)
        crew.stop()

    def wake(self) -> None:
        """Let every :meth:`take` that waits return None at once."""
        if self._crew is not None and self._crew.pid == os.getpid():
            self._crew.wake()


class ProducerPool(WorkerPool):
    """One process for each dataflow, sending its datapoints.

    Args:
        dataflows: one for each worker.
        endless: whether a dataflow is iterated again and again.
        seeds: one for each worker; by default each draws different numbers, the same ones again
            after ``fix_rng_seed``.
        start_method: see :class:`WorkerPool`.
        capacity: datapoints that a worker may be ahead.
        owner: the name that errors carry.
        envs: environment variables for each worker.

    Example:
        >>> from tfqueue_compat.dataflow import FakeData
        >>> pool = ProducerPool([FakeData([[2]], size=5)], endless=False)
        >>> chunk = pool.take(0, timeout=30)
        >>> pool.stop()
    """

    def __init__(self, dataflows: Sequence[Any], *, endless: bool,
                 seeds: Sequence[int] | None = None, start_method: str | None = None,
                 capacity: int = 50, owner: str = "ProducerPool",
                 envs: Sequence[dict[str, str]] | None = None) -> None:
        super().__init__([Producing(df, endless) for df in dataflows], owner=owner, seeds=seeds,
                         start_method=start_method, capacity=capacity, envs=envs)
