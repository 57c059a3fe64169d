# SPDX-License-Identifier: Apache-2.0
"""A function applied to datapoints by several processes or threads."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ..utils import utils
from ..utils.errors import say
from .arguments import function, old_keywords, positive
from .base import DataFlow, DataFlowReentrantGuard, ProxyDataFlow, length
from .batch import BatchData
from .map_pool import MapPool
from .thread_pool import ThreadPool

__all__ = ["MultiProcessMapAndBatchData", "MultiProcessMapAndBatchDataZMQ", "MultiProcessMapData",
           "MultiProcessMapDataZMQ", "MultiThreadMapData", "ThreadedMapData"]

MapFunc = Callable[[Any], Any]


class _ParallelMapData(ProxyDataFlow):
    """What the maps by threads and by processes have in common."""

    def __init__(self, ds: Any, buffer_size: int, strict: bool = False) -> None:
        super().__init__(ds)
        self._buffer_size = positive(buffer_size, "buffer_size", self)
        self._strict = strict
        self._guard = DataFlowReentrantGuard()
        self._pool: Any = None
        self._forget()

    def _forget(self) -> None:
        self._source: Iterator[Any] | None = None  # the pass over ds that tasks come from
        self._drawn = 0           # datapoints of it so far
        self._size: int | None = None              # datapoints in a whole pass
        self._on_the_way = 0      # tasks submitted whose result was not taken

    def _make_pool(self, ordered: bool) -> Any:
        raise NotImplementedError

    def reset_state(self) -> None:
        """Reset ``ds`` in this process, and start the workers if they don't run yet."""
        super().reset_state()
        if "_pool" in self.__dict__:
            self._source = None
            self._ready_pool().start()

    def _ready_pool(self) -> Any:
        if self._pool is None or self._pool_process != os.getpid():
            self._forget()
            self._pool = self._make_pool(utils._RNG_SEED is not None)
            self._pool_process = os.getpid()
        return self._pool

    _pool_process: int | None = None

    def _close(self) -> None:
        pool, self._pool = self._pool, None
        self._forget()
        if pool is not None:
            pool.stop()

    def __iter__(self) -> Iterator[Any]:
        """Start a pass: over ``ds`` in strict mode, else over the endless stream of results."""
        with self._guard:
            pool = self._ready_pool()
            try:
                yield from self.get_data_strict() if self._strict else self.get_data_non_strict()
            except GeneratorExit:
                raise
            except BaseException:
                if pool is self._pool:  # the next pass begins with new workers
                    self._close()
                raise

    def _draw(self, endless: bool) -> bool:
        """Submit the next datapoint of ``ds``; return False where there is none."""
        while True:
            if self._source is None:
                self._source, self._drawn = iter(self.ds), 0
            for dp in self._source:
                self._drawn += 1
                self._pool.submit(dp, self._source)
                self._on_the_way += 1
                return True
            self._size = self._drawn
            if not endless or not self._size:
                return False
            self._source = None

    def _take(self) -> tuple[Any, Any]:
        tag, value = self._pool.result()
        self._on_the_way -= 1
        return tag, value

    def get_data_non_strict(self) -> Iterator[Any]:
        """Yield as many results as ``ds`` has datapoints, from any pass over it."""
        size, done = length(self.ds), 0
        while size is None or done < size:
            while self._on_the_way < self._buffer_size and self._draw(endless=True):
                pass
            if not self._on_the_way:
                return
            if size is None:
                size = self._size
            done += 1
            value = self._take()[1]
            if value is not None:
                yield value

    def get_data_strict(self) -> Iterator[Any]:
        """Yield the result of each datapoint of one pass over ``ds``, once."""
        self._source, self._drawn = iter(self.ds), 0
        this, waiting, more = self._source, 0, True
        while True:
            while more and self._on_the_way < self._buffer_size:
                more = self._draw(endless=False)
                waiting += more
            if not waiting:
                return
            tag, value = self._take()
            if tag is not this:  # of a pass that was broken off
                continue
            waiting -= 1
            if value is not None:
                yield value

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_pool": None, "_source": None, "_on_the_way": 0}


class MultiThreadMapData(_ParallelMapData):
    """MapData by threads: for functions that spend their time outside of Python's lock.

    The order of the datapoints is not kept. In strict mode, a pass yields exactly what
    ``MapData(ds, map_func)`` yields. Otherwise results come from an endless repetition of ``ds``:
    a pass has ``len(ds)`` of them, and may reach into the next pass over ``ds``.

    Args:
        ds: where the datapoints come from; iterated in this thread.
        num_thread: threads.
        map_func: datapoint -> datapoint, or None to leave it out.
        buffer_size: datapoints on the way at most.
        strict: see above.

    Example:
        >>> from tfqueue_compat.dataflow import DataFromList
        >>> df = MultiThreadMapData(DataFromList([[1], [2]]), 2, lambda dp: [dp[0] * 10],
        ...                         strict=True)
        >>> sorted(df)
        [[10], [20]]
    """

    @old_keywords(nr_thread="num_thread")
    def __init__(self, ds: Any, num_thread: int | None = None, map_func: MapFunc | None = None, *,
                 buffer_size: int = 200, strict: bool = False) -> None:
        super().__init__(ds, buffer_size, strict)
        self.num_thread = positive(num_thread, "num_thread", self)
        self.map_func = function(map_func, "map_func", self)

    def _make_pool(self, ordered: bool) -> ThreadPool:
        return ThreadPool(self.map_func, self.num_thread, owner=type(self).__name__,
                          ordered=ordered)


class MultiProcessMapData(_ParallelMapData):
    """MapData by processes.

    The order of the datapoints is not kept (but the stream is the same again under
    ``fix_rng_seed``). In strict mode, a pass yields exactly what ``MapData(ds, map_func)`` yields.
    Otherwise results come from an endless repetition of ``ds``: a pass has ``len(ds)`` of them,
    and may reach into the next pass over ``ds``.

    Args:
        ds: where the datapoints come from; iterated in this process.
        num_proc: processes.
        map_func: datapoint -> datapoint, or None to leave it out. By the start methods 'spawn' and
            'forkserver' it is pickled: a function of a module.
        buffer_size: datapoints on the way at most.
        strict: see above.

    Example:
        >>> from tfqueue_compat.dataflow import DataFromList
        >>> df = MultiProcessMapData(DataFromList([[4], [9]]), 2, np.sqrt, strict=True)
        >>> sorted(float(dp[0]) for dp in df)
        [2.0, 3.0]
    """

    @old_keywords(nr_proc="num_proc")
    def __init__(self, ds: Any, num_proc: int | None = None, map_func: MapFunc | None = None, *,
                 buffer_size: int = 200, strict: bool = False) -> None:
        super().__init__(ds, buffer_size, strict)
        self.num_proc = positive(num_proc, "num_proc", self)
        self.map_func = function(map_func, "map_func", self)

    def _make_pool(self, ordered: bool) -> MapPool:
        return MapPool(functools.partial(_give, self.map_func), self.num_proc,
                       owner=type(self).__name__, buffer_size=self._buffer_size, ordered=ordered)


class MultiProcessMapAndBatchData(_ParallelMapData):
    """``BatchData(MapData(ds, map_func), batch_size)`` by processes, which batch as well.

    With one process, a pass is that of BatchData. With more, the datapoints of a batch may come in
    any order and from two passes over ``ds``. A pass has ``len(ds) // batch_size`` batches.

    Args:
        ds: where the datapoints come from; iterated in this process.
        num_proc: processes.
        map_func: datapoint -> datapoint, or None to leave it out.
        batch_size: datapoints in a batch.
        buffer_size: datapoints (not batches) on the way at most; 10 batches by default.
    """

    @old_keywords(nr_proc="num_proc")
    def __init__(self, ds: Any, num_proc: int, map_func: MapFunc, batch_size: int,
                 buffer_size: int | None = None) -> None:
        self.batch_size = positive(batch_size, "batch_size", self)
        buffer_size = 10 * self.batch_size if buffer_size is None else buffer_size
        self.num_proc = positive(num_proc, "num_proc", self)
        self.map_func = function(map_func, "map_func", self)
        super().__init__(ds, buffer_size)

    def __len__(self) -> int:
        """Return the number of batches in a pass."""
        return super().__len__() // self.batch_size

    def _make_pool(self, ordered: bool) -> MapPool:
        return MapPool(functools.partial(_Batcher, self.map_func, self.batch_size), self.num_proc,
                       owner=type(self).__name__, buffer_size=self._buffer_size, ordered=ordered,
                       group=self.batch_size)

    def get_data_non_strict(self) -> Iterator[Any]:
        """Yield the batches of a pass."""
        results, done = self._results(), 0
        size = length(self.ds)
        for batch in results:
            if size is None and self._size is not None:
                size = self._size
            done += 1
            yield batch
            if size is not None and done >= size // self.batch_size:
                return

    def _results(self) -> Iterator[Any]:
        size = length(self.ds)
        if size is not None and size < self.batch_size:
            return
        while True:
            while self._on_the_way < self._buffer_size and self._draw(endless=True):
                pass
            if not self._on_the_way:
                return
            value = self._take()[1]
            if value is not None:
                yield value


class MultiProcessMapDataComponentSharedArray(DataFlow):
    """MapDataComponent by processes, for results of a known shape and dtype.

    A pass yields what MapDataComponent yields, in another order.

    All maps by processes hand over arrays by shared memory; this name remains for old code.

    Args:
        ds: where the datapoints come from.
        nr_proc: processes.
        map_func: component -> array, or None to leave the datapoint out.
        output_shape: of the arrays.
        output_dtype: of the arrays.
        index: of the component.
    """

    @old_keywords(num_proc="nr_proc")
    def __init__(self, ds: Any, nr_proc: int, map_func: MapFunc, output_shape: tuple[int, ...],
                 output_dtype: npt.DTypeLike, index: int = 0) -> None:
        func = _OnComponent(function(map_func, "map_func", self), index, tuple(output_shape),
                            np.dtype(output_dtype))
        self.ds = MultiProcessMapData(ds, nr_proc, func, strict=True)

    def reset_state(self) -> None:
        """Reset ``ds`` and start the workers."""
        self.ds.reset_state()

    def __len__(self) -> int:
        """Return the length of ``ds``."""
        return len(self.ds)

    def __iter__(self) -> Iterator[Any]:
        """Start a pass."""
        return iter(self.ds)


def _give(func: MapFunc) -> MapFunc:
    return func


class _Batcher:
    """Maps in a worker, and returns a batch whenever it has enough."""

    def __init__(self, func: MapFunc, batch_size: int) -> None:
        self._func, self._size = func, batch_size
        self._held: list[Any] = []

    def __call__(self, dp: Any) -> Any:
        result = self._func(dp)
        if result is None:
            return None
        self._held.append(result)
        if len(self._held) < self._size:
            return None
        held, self._held = self._held, []
        return BatchData.aggregate_batch(held)


class _OnComponent:
    """Maps one component and checks what comes out."""

    def __init__(self, func: MapFunc, index: int, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self._func, self._index, self._shape, self._dtype = func, index, shape, dtype

    def __call__(self, dp: Any) -> Any:
        made = self._func(dp[self._index])
        if made is None:
            return None
        if getattr(made, "shape", None) != self._shape or made.dtype != self._dtype:
            raise ValueError(say(
                "MultiProcessMapDataComponentSharedArray", do="Correct map_func or output_*.",
                expected=f"map_func to return an array of {self._shape}, {self._dtype}",
                received=f"{getattr(made, 'shape', type(made).__name__)}, "
                f"{getattr(made, 'dtype', '')}"))
        dp = list(dp)
        dp[self._index] = made
        return dp


MultiProcessMapDataZMQ = MultiProcessMapData
MultiProcessMapAndBatchDataZMQ = MultiProcessMapAndBatchData
ThreadedMapData = MultiThreadMapData
