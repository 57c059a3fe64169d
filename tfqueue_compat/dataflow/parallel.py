# SPDX-License-Identifier: Apache-2.0
"""A dataflow run in processes of its own."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import count, repeat
from typing import Any

from ..utils import logger, utils  # noqa: F401 - tensorpack's module has logger too
from .arguments import old_keywords, positive
from .base import ProxyDataFlow, length
from .thread_runner import MultiThreadPrefetchData, MultiThreadRunner
from .workers import ProducerPool
from .zmq_pipes import _bind_guard, _get_pipe_name, _zmq_catch_error  # noqa: F401 - as tensorpack

__all__ = ["MultiProcessPrefetchData", "MultiProcessRunner", "MultiProcessRunnerZMQ",
           "MultiThreadPrefetchData", "MultiThreadRunner", "PrefetchData", "PrefetchDataZMQ",
           "PrefetchOnGPUs"]


class _ProcessRunner(ProxyDataFlow):
    """The endless stream of what some processes make of the same dataflow."""

    def __init__(self, ds: Any, num_proc: int, capacity: int,
                 envs: Sequence[dict[str, str]] | None = None) -> None:
        super().__init__(ds)
        self.num_proc, self._capacity, self._envs = num_proc, capacity, envs
        self._pool: ProducerPool | None = None
        self._process: int | None = None
        self._ready: deque[Any] = deque()
        self._lines: list[deque[Any]] = []  # one for each worker, where their turns are fixed
        self._turn = 0

    def reset_state(self) -> None:
        """Start the processes, if they don't run yet. In each of them ``ds`` is reset, once."""
        if "_turn" in self.__dict__:
            self._running()

    def _running(self) -> ProducerPool:
        if self._pool is None or self._process != os.getpid():
            pool = ProducerPool([self.ds] * self.num_proc, endless=True, capacity=self._capacity,
                                owner=type(self).__name__, envs=self._envs)
            pool.start()
            self._pool, self._process = pool, os.getpid()
            self._ready.clear()
            fixed = utils._RNG_SEED is not None and self.num_proc > 1
            self._lines = [deque() for _ in range(self.num_proc if fixed else 0)]
            self._turn = 0
        return self._pool

    def __iter__(self) -> Iterator[Any]:
        """Yield as many datapoints as ``ds`` has, or without end if it has no length.

        The next pass goes on where this one ends, or is left.
        """
        self._running()
        size, ready = length(self.ds), self._ready
        next_one = ready.popleft
        for _ in count() if size is None else repeat(None, size):
            while not ready:
                self._refill()
            yield next_one()

    def _refill(self) -> None:
        pool = self._running()
        try:
            if self._lines:
                self._take_in_turn(pool)
            else:
                got = pool.take_any(1.0)
                if got is not None:
                    self._ready.extend(got[1].datapoints())
        except BaseException:  # Ctrl-C too: half a message may have been read
            self._pool = None  # the next pass begins with new workers
            pool.stop()
            raise

    def _take_in_turn(self, pool: ProducerPool) -> None:
        """Take one datapoint of each worker in turn, so that the stream is the same each time."""
        line = self._lines[self._turn]
        if not line:
            chunk = pool.take(self._turn, 1.0)
            if chunk is None:
                return
            line.extend(chunk.datapoints())
        self._ready.append(line.popleft())
        self._turn = (self._turn + 1) % self.num_proc

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_pool": None, "_ready": deque(), "_lines": []}


class MultiProcessRunner(_ProcessRunner):
    """Runs a DataFlow in processes, and yields what comes, whichever made it.

    With one process, it yields what ``ds`` yields, in its order. With more, they run
    independently: each iterates over all of ``ds``, with random numbers of its own, so datapoints
    come several times and in any order. That suits training; to have each once, use
    :class:`~.parallel_map.MultiProcessMapData` with ``strict=True``.

    Processes start at ``reset_state()`` or at the first iteration, once; runners may be nested.
    Arrays come over by shared memory; one that you keep is yours and is not overwritten.

    Args:
        ds: the DataFlow; reset in each process, and iterated there again and again.
        num_prefetch: datapoints ready at most.
        num_proc: processes.

    Example:
        >>> from tfqueue_compat.dataflow import FakeData
        >>> df = MultiProcessRunner(FakeData([[2, 3]], size=4), num_prefetch=8, num_proc=2)
        >>> [dp[0].shape for dp in df]
        [(2, 3), (2, 3), (2, 3), (2, 3)]
    """

    @old_keywords(nr_prefetch="num_prefetch", nr_proc="num_proc")
    def __init__(self, ds: Any, num_prefetch: int, num_proc: int) -> None:
        n = positive(num_proc, "num_proc", self)
        self.num_prefetch = positive(num_prefetch, "num_prefetch", self)
        super().__init__(ds, n, -(-self.num_prefetch // n))


class MultiProcessRunnerZMQ(_ProcessRunner):
    """A :class:`MultiProcessRunner` that counts its buffer for each process.

    Its name is kept from tensorpack; its data come by shared memory.

    Args:
        ds: the DataFlow; reset in each process, and iterated there again and again.
        num_proc: processes.
        hwm: datapoints that a process may be ahead.
    """

    @old_keywords(nr_proc="num_proc")
    def __init__(self, ds: Any, num_proc: int = 1, hwm: int = 50) -> None:
        n = positive(num_proc, "num_proc", self)
        self._hwm = positive(hwm, "hwm", self)
        super().__init__(ds, n, self._hwm)


class PrefetchOnGPUs(_ProcessRunner):
    """A runner with one process for each GPU, which sees only that one.

    Args:
        ds: the DataFlow.
        gpus: numbers of GPUs, e.g. ``[0, 1]``, or how many.
    """

    @old_keywords(nr_gpu="gpus")
    def __init__(self, ds: Any, gpus: int | Sequence[int | str]) -> None:
        self.gpus = [str(g) for g in (range(gpus) if isinstance(gpus, int) else gpus)]
        super().__init__(ds, positive(len(self.gpus), "the number of gpus", self), 50,
                         [{"CUDA_VISIBLE_DEVICES": g} for g in self.gpus])


class PlasmaPutData(ProxyDataFlow):
    """Yields what ``ds`` yields.

    Its object store is gone from pyarrow, and needless: the runners hand over arrays by shared
    memory. So ``PlasmaGetData(MultiProcessRunnerZMQ(PlasmaPutData(ds)))`` still gives the data.

    Args:
        ds: the DataFlow.
        socket: not used.
    """

    def __init__(self, ds: Any, socket: str = "/tmp/plasma") -> None:
        super().__init__(ds)


class PlasmaGetData(PlasmaPutData):
    """Yields what ``ds`` yields: the other half of :class:`PlasmaPutData`."""


def del_weakref(x: Any) -> None:
    """Call ``__del__`` of what a weak reference points to, if it is still there."""
    obj = x()
    if obj is not None:
        obj.__del__()


MultiProcessPrefetchData = PrefetchData = MultiProcessRunner
PrefetchDataZMQ = MultiProcessRunnerZMQ
