# SPDX-License-Identifier: Apache-2.0
"""A source whose dataflows run in processes of their own, interleaved by tf.data."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dataflow.base import as_dataflow, length
from ..dataflow.ray_workers import RayPool
from ..dataflow.workers import Chunk, Finished, ProducerPool
from ..utils.errors import say
from .chunk import empty, mixed_shapes
from .convert import as_array
from .errors import DatasetEnded
from .interrupt import InterruptWatch
from .signature import Signature
from .source import POLL, Source
from .stream import Mode

__all__ = ["WorkerSource"]

_LEAF = "leaf"


class WorkerSource(Source):
    """Dataflows in processes.

    One dataflow in several workers is run by each of them, with other random numbers, as in
    tensorpack's MultiProcessRunner: a pass is ``len(df)`` datapoints of the mixed stream. Several
    dataflows are run by one worker each: a pass is one pass over each of them.

    Args:
        dataflows: one for each worker.
        shared: whether they are the same one.
        capacity: datapoints that wait for the consumer at most.
        signature: of the datapoints; None to read it off the first one.
        on: ``"ray"`` for actors of Ray, in the place of processes of this machine.
    """

    def __init__(self, dataflows: Sequence[Any], capacity: int, *, shared: bool,
                 signature: Signature | None = None, dtypes: Any = None,
                 on: str | None = None) -> None:
        super().__init__(dataflows[0], capacity, signature, dtypes)
        self.parallel = len(dataflows)
        self._dataflows = [as_dataflow(d, asked_by="QueueInput") for d in dataflows]
        self._shared = shared
        self._sizes = [length(d) for d in self._dataflows[:1 if shared else None]]
        self._make_pool: Any = RayPool if on == "ray" else ProducerPool
        self._pool: ProducerPool | RayPool | None = None
        self._endless = False
        self._waiting: dict[int, list[list[np.ndarray]]] = {}
        self._pass: _Pass | None = None

    @property
    def size(self) -> int | None:
        """Datapoints in a pass, None where a dataflow does not know its length."""
        sizes = [s for s in self._sizes if s is not None]
        return sum(sizes) if len(sizes) == len(self._sizes) else None

    def __len__(self) -> int:
        size = self.size
        return super().__len__() if size is None else size

    def _read_first(self) -> Signature:
        pool = self._running(endless=self.size is not None)
        chunk: Chunk | None = None
        while chunk is None:
            try:
                chunk = pool.take(0, POLL)
            except Finished:
                raise DatasetEnded(say(
                    type(self._dataflows[0]).__name__, expected="at least one datapoint",
                    received="none", do="Check the dataflow, or give the signature.")) from None
        signature = Signature.infer(next(iter(chunk.datapoints())))
        if self.size is None:
            self.stop()  # a pass of unknown length starts afresh
        else:
            self._waiting.setdefault(0, []).extend(_runs(signature, chunk))
            self.meter.produced += chunk.n
        return signature

    def begin(self, mode: Mode, worker: int) -> int:
        """Start one worker's part of a pass; see ``Source.begin``."""
        with self._lock:
            signature = self.signature if mode.group else self.element_signature
            if self._pass is None or worker in self._pass.begun:
                self._pass = self._new_pass(mode)
            self._pass.begun.add(worker)
            self.meter.start()
            number = next(self._numbers)
            self._open[number] = _Channel(self, self._pass, worker, mode, signature)
            return number

    def _new_pass(self, mode: Mode) -> _Pass:
        workers = self.parallel
        if mode.endless:
            return _Pass(self._running(endless=True), workers, None)
        if self.size is None:
            self.stop()
            return _Pass(self._running(endless=False), workers, None)
        shares = [self.size] if self._shared else [s or 0 for s in self._sizes]
        return _Pass(self._running(endless=True), workers, shares)

    def _running(self, endless: bool) -> ProducerPool | RayPool:
        if self._pool is not None and self._endless != endless:
            self.stop()
        if self._pool is None:
            self._endless = endless
            pool: ProducerPool | RayPool = self._make_pool(
                self._dataflows, endless=endless, capacity=self.meter.capacity,
                owner="QueueInput")
            self._pool = pool
            pool.start()
        return self._pool

    def arrived(self, worker: int) -> list[np.ndarray] | None:
        """What a worker has sent beyond the end of an earlier pass, if anything."""
        with self._lock:
            waiting = self._waiting.get(worker)
            return waiting.pop(0) if waiting else None

    def put_back(self, worker: int, runs: list[list[np.ndarray]]) -> None:
        """Keep datapoints for later: they come before what the worker sends next."""
        with self._lock:
            self._waiting.setdefault(worker, [])[:0] = runs

    def stop(self) -> None:
        """Close all channels and end the workers."""
        super().stop()
        pool = self._pool
        if pool is not None:
            pool.stop()  # before the lock: who holds it may wait for a worker
        with self._lock:
            if self._pool is pool:
                self._pool, self._pass = None, None
                self._waiting.clear()


class _Pass:
    """What the channels of one TensorFlow iterator have in common.

    Args:
        pool: of the workers.
        workers: how many there are.
        shares: datapoints that are left: one number for all, or one for each worker; None: all.
    """

    def __init__(self, pool: ProducerPool | RayPool, workers: int,
                 shares: list[int] | None) -> None:
        self.pool = pool
        self.begun: set[int] = set()
        self.rest: list[np.ndarray] | None = None
        self._unsettled = workers
        self._shares = shares
        self._lock = threading.Lock()

    def grant(self, worker: int, count: int) -> int:
        """Take up to ``count`` datapoints off what is left."""
        if self._shares is None:
            return count
        with self._lock:
            i = worker if len(self._shares) > 1 else 0
            granted = min(count, self._shares[i])
            self._shares[i] -= granted
            return granted

    def settle(self, rest: list[np.ndarray] | None) -> bool:
        """Leave an incomplete group for the last worker to end; say whether this one is it."""
        with self._lock:
            if rest is not None:
                self.rest = _joined(self.rest, rest)
            self._unsettled -= 1
            return self._unsettled == 0

    def over(self, worker: int) -> bool:
        """Whether nothing is left for a worker."""
        if self._shares is None:
            return False
        return self._shares[worker if len(self._shares) > 1 else 0] <= 0


class _Channel:
    """One worker's part of a pass."""

    def __init__(self, source: WorkerSource, current: _Pass, worker: int, mode: Mode,
                 signature: Signature) -> None:
        self._source = source
        self._pass = current
        self._worker = worker
        self._mode = mode
        self._signature = signature
        self._rest: list[np.ndarray] | None = None
        self._closed = False
        self._ended = False
        self._last_of_all: bool | None = None
        self._watch = InterruptWatch()
        self._watch.arm()

    def take(self, timeout: float) -> list[np.ndarray]:
        """Return whole elements that have arrived; none after ``timeout`` seconds."""
        while not self._ended:
            columns = self._receive(timeout)
            if self._closed or columns is None:
                return self._nothing()
            out = self._grouped(columns)
            if out is not None:
                return out
        return self._last()

    def close(self) -> None:
        """Give back what was not used."""
        self._closed = True
        self._watch.disarm()

    def _receive(self, timeout: float) -> list[np.ndarray] | None:
        source, pool = self._source, self._pass.pool
        if self._pass.over(self._worker):
            self._ended = True
            return []
        columns = source.arrived(self._worker)
        if columns is None:
            start = time.perf_counter()
            try:
                chunk = pool.take(self._worker, timeout)
            except Finished:
                self._ended = True
                return []
            finally:
                source.meter.consumer_wait += time.perf_counter() - start
            if chunk is None:
                return None
            columns, *more = _runs(self._signature, chunk)
            source.put_back(self._worker, more)
            source.meter.produced += chunk.n
        count = len(columns[0])
        granted = self._pass.grant(self._worker, count)
        if granted < count:
            source.put_back(self._worker, [[c[granted:] for c in columns]])
            columns = [c[:granted] for c in columns]
        return columns

    def _grouped(self, columns: list[np.ndarray]) -> list[np.ndarray] | None:
        group = self._mode.group
        if not group:
            return self._given(columns) if columns and len(columns[0]) else None
        rows = _joined(self._rest, columns)
        whole = len(rows[0]) // group * group if rows else 0
        self._rest = [r[whole:] for r in rows] or None
        if not whole:
            return None
        return self._given([r[:whole] for r in rows], group)

    def _last(self) -> list[np.ndarray]:
        """What is left of all workers' groups; the last of them to end gives it."""
        if self._last_of_all is None:
            self._last_of_all = self._pass.settle(self._rest)
        rest = self._pass.rest if self._last_of_all else None
        if rest and len(rest[0]):
            whole = len(rest[0]) // self._mode.group * self._mode.group
            self._pass.rest = [r[whole:] for r in rest] if whole else None
            if whole:
                return self._given([r[:whole] for r in rest], self._mode.group)
            if not self._mode.drop_remainder:
                return self._given(rest, len(rest[0]))
        self._source.meter.took(0)
        raise StopIteration

    def _given(self, rows: list[np.ndarray], group: int = 0) -> list[np.ndarray]:
        count = len(rows[0])
        self._source.meter.took(count)
        if not group:
            return rows
        return [r.reshape((count // group, group) + r.shape[1:]) for r in rows]

    def _nothing(self) -> list[np.ndarray]:
        if self._closed:
            raise DatasetEnded(say("QueueInput", expected="an open input",
                                   received="one that was stopped", do="Iterate it anew."))
        if self._watch.fired():
            raise KeyboardInterrupt
        return empty(self._signature.components, self._mode.group)


def _joined(rest: list[np.ndarray] | None, columns: list[np.ndarray]) -> list[np.ndarray]:
    if not rest or not len(rest[0]):
        return columns
    if not columns:
        return rest
    if any(a.shape[1:] != b.shape[1:] for a, b in zip(rest, columns)):
        raise mixed_shapes("datapoint", [a.shape[1:] for a in rest],
                           [b.shape[1:] for b in columns])
    return [np.concatenate(pair) for pair in zip(rest, columns)]


def _runs(signature: Signature, chunk: Chunk) -> list[list[np.ndarray]]:
    """The chunk's datapoints stacked, as many as have one shape, checked against the signature."""
    columns = _in_order(signature, chunk)
    if columns is not None:
        return [[as_array(c.batched(None), column)
                 for c, column in zip(signature.components, columns)]]
    rows = [signature.arrays(dp) for dp in chunk.datapoints()]
    alike = itertools.groupby(rows, key=lambda row: [a.shape for a in row])
    return [[np.stack(column) for column in zip(*run)] for _, run in alike]


def _in_order(signature: Signature, chunk: Chunk) -> Sequence[np.ndarray] | None:
    """The chunk's columns in the order of the signature, where they need no more than that."""
    columns = chunk.columns
    if columns is None:
        return None
    kind, *parts = chunk.structure if chunk.structure != _LEAF else ("leaf",)
    if kind == "leaf" or (kind in ("list", "tuple") and all(c == _LEAF for c in parts[-1])):
        plain = signature.node.kind == ("leaf" if kind == "leaf" else "tuple")
        return columns if plain and len(columns) == len(signature.components) else None
    return None
