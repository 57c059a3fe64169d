# SPDX-License-Identifier: Apache-2.0
"""Dataflows in Ray actors, on this machine or on others; the optional package ``ray``."""

from __future__ import annotations

import os
import pickle
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from ..utils import logger
from ..utils.errors import require, say
from .base import reset
from .chunk import Chunk
from .crew import Finished, WorkerDied
from .layout import describe
from .packing import Columns, column_offsets, compact
from .pickling import pack_error, unpack_error
from .seeding import Seed, plan_seeds, seed_this_worker
from .wire import aligned_empty

__all__ = ["RayPool"]

HOLD = 0.01            # seconds; longer an actor does not collect datapoints for one message
CHUNK_BYTES = 1 << 20
CHUNK_ROWS = 512
AHEAD = 2              # messages that are asked for before they are needed


class _Actor:
    """What runs in an actor's process: iterates, and answers each call with a message."""

    def __init__(self, dataflow: Any, endless: bool, seed: Seed) -> None:
        self._dataflow, self._endless, self._seed = dataflow, endless, seed
        self._datapoints: Iterator[Any] | None = None
        self._held: list[Any] = []  # a datapoint that did not fit the last message
        self._over: tuple[Any, ...] | None = None

    def where(self) -> str:
        return f"pid {os.getpid()} on {socket.gethostname()}"

    def message(self) -> tuple[Any, ...]:
        """``("columns", ...)``, ``("pickles", ...)``, ``("end",)`` or ``("error", bytes)``."""
        first = self._next()
        if first is None:
            return self._over or ("end",)
        deadline = time.monotonic() + HOLD
        layout = describe(first[0])
        if any(leaf.kind == "object" for leaf in layout.leaves):
            return "pickles", [(pickle.dumps(first[0], protocol=5), ())]
        size = sum(leaf.nbytes for leaf in layout.leaves)
        capacity = max(1, min(CHUNK_ROWS, CHUNK_BYTES // max(1, size)))
        block = aligned_empty(column_offsets(layout, capacity)[1])
        columns = Columns(layout, block, capacity)
        columns.put(first[0])
        while not columns.full and time.monotonic() < deadline:
            following = self._next()
            if following is None:
                break
            if not columns.put(following[0]):
                self._held = following
                break
        n, layout, lists = columns.close()
        return "columns", n, layout, lists, compact(layout, block, capacity, n)

    def _next(self) -> list[Any] | None:
        """The next datapoint in a list; None where none comes any more."""
        if self._held:
            held, self._held = self._held, []
            return held
        if self._over is not None:
            return None
        try:
            if self._datapoints is None:
                seed_this_worker(self._seed)
                reset(self._dataflow)
                self._datapoints = self._stream()
            return [next(self._datapoints)]
        except StopIteration:
            self._over = ("end",)
        except Exception as e:  # the user's own, whatever it is: raised where data is consumed
            self._over = ("error", pack_error(e))
        return None

    def _stream(self) -> Iterator[Any]:
        while True:
            came = False
            for dp in self._dataflow:
                came = True
                yield dp
            if not self._endless:
                return
            if not came:
                raise ValueError(say(type(self._dataflow).__name__, expected="datapoints",
                                     received="a pass without any", do="Check its source."))


class _Worker:
    """An actor as its pool sees it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.actor: Any = None
        self.where = "a process that never answered"
        self.pending: deque[Any] = deque()
        self.hired = 0
        self.fruitful = False  # whether this actor has sent anything
        self.over: Callable[[], BaseException] | None = None


class RayPool:
    """One Ray actor for each dataflow, sending its datapoints; used like a ProducerPool.

    Connects to the cluster that ``ray.init`` or ``RAY_ADDRESS`` names, else to one that it starts
    on this machine. The machines of the cluster need this package, and what the dataflow imports.

    Where all actors run one dataflow without end, a new one takes the place of one that died.

    Args:
        dataflows: one for each actor; pickled by Ray.
        endless: whether a dataflow is iterated again and again.
        capacity: as of ProducerPool; an actor is two messages of about a megabyte ahead.
        owner: the name that errors carry.

    Raises:
        ImportError: ``ray`` is not installed.
    """

    def __init__(self, dataflows: Sequence[Any], *, endless: bool, capacity: int = 50,
                 owner: str = "RayPool") -> None:
        self._ray = require("ray", "ray", f"{owner}(on='ray')")
        self._dataflows, self._endless, self._owner = list(dataflows), endless, owner
        self._replace = endless and all(d is dataflows[0] for d in dataflows)
        self._seeds = plan_seeds(len(self._dataflows))
        self._workers = [_Worker() for _ in self._dataflows]
        self._stopped = False

    def __len__(self) -> int:
        """Return the number of actors."""
        return len(self._workers)

    def start(self) -> None:
        """Start the actors; does not wait for them."""
        if not self._ray.is_initialized():
            self._ray.init(log_to_driver=False)
        shared = self._ray.put(self._dataflows[0]) if self._replace else None
        for i in range(len(self._workers)):
            self._hire(i, shared)

    def _hire(self, i: int, dataflow: Any = None) -> None:
        worker, seed = self._workers[i], self._seeds[i]
        if worker.hired:  # other numbers than those that were drawn already
            seed = seed._replace(path=(*seed.path, worker.hired))
        given = self._dataflows[i] if dataflow is None else dataflow
        worker.actor = self._ray.remote(_Actor).remote(given, self._endless, seed)
        worker.pending.clear()
        worker.hired, worker.fruitful = worker.hired + 1, False
        worker.pending.append(worker.actor.where.remote())

    def take(self, worker: int, timeout: float) -> Chunk | None:
        """Return the next chunk of an actor, or None after ``timeout`` seconds.

        Raises:
            Finished: its dataflow has ended, or the pool was stopped.
            WorkerDied: the actor is gone, and can't be replaced.
            Exception: what its dataflow raised; the cause shows the actor's traceback.
        """
        w = self._workers[worker]
        with w.lock:
            if self._stopped:
                raise Finished(f"{self._owner}: stopped")
            if w.over is not None:
                raise w.over()
            while len(w.pending) < AHEAD:
                w.pending.append(w.actor.message.remote())
            if not self._ray.wait([w.pending[0]], timeout=timeout)[0]:
                return None
            try:
                got = self._ray.get(w.pending.popleft())
            except self._ray.exceptions.RayActorError as e:
                self._died(worker, e)
                return None
            if isinstance(got, str):
                w.where = got
                return None
            return self._chunk(worker, got)

    def _chunk(self, i: int, message: tuple[Any, ...]) -> Chunk:
        kind, *parts = message
        worker = self._workers[i]
        if kind == "end":
            worker.over = partial(Finished, f"{self._owner}: worker {i} has finished")
            raise worker.over()
        if kind == "error":
            worker.over = partial(unpack_error, parts[0])
            raise worker.over()
        worker.fruitful = True
        if kind == "pickles":
            return Chunk.of_pickles((), parts[0], None, private=True)
        n, layout, lists, block = parts
        return Chunk.of_columns(n, (), layout, n, lists, block, private=True)

    def _died(self, i: int, error: BaseException) -> None:
        worker = self._workers[i]
        if self._stopped:
            raise Finished(f"{self._owner}: stopped")
        what = f"{self._owner}, worker {i} ({worker.where})"
        if self._replace and worker.fruitful:
            logger.warning("%s has died; a new Ray actor takes its place.", what)
            self._hire(i)
            return
        worker.over = partial(WorkerDied, say(
            what, expected="a Ray actor that goes on", received=str(error).splitlines()[0],
            do="Look at its log in Ray's dashboard; a killed process is often out of memory."))
        raise worker.over() from error

    def stop(self) -> None:
        """Stop the actors, from any thread; may be called again."""
        self._stopped = True
        if not self._ray.is_initialized():  # then they are gone with it
            return
        for worker in self._workers:
            if worker.actor is not None:
                self._ray.kill(worker.actor)
