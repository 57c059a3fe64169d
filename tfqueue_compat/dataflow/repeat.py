# SPDX-License-Identifier: Apache-2.0
"""One DataFlow repeated, cut to a size, or kept in memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from ..utils.errors import say
from ..utils.utils import get_rng
from .base import DataFlowReentrantGuard, NoLength, ProxyDataFlow, known_length
from .passes import EmptyPasses

__all__ = ["CacheData", "FixedSizeData", "RepeatedData", "RepeatedDataPoint"]


def _empty(asked_by: str, ds: Any) -> RuntimeError:
    return RuntimeError(say(asked_by, expected=f"datapoints from {type(ds).__name__}",
                            received="passes without any",
                            do="Look whether it is empty, or an iterator already used up."))


class RepeatedData(ProxyDataFlow):
    """Go through a DataFlow several times.

    Args:
        ds: the datapoints.
        num: number of passes; -1 for no end.
    """

    def __init__(self, ds: Any, num: int) -> None:
        super().__init__(ds)
        self.num = num

    def __len__(self) -> int:
        """Return ``len(ds) * num``; without end there is no length."""
        if self.num == -1:
            raise NoLength(say("RepeatedData", expected="a finite number of passes",
                               received="num=-1, no end", do="Do without the length."))
        return known_length(self.ds, type(self).__name__) * self.num

    def __iter__(self) -> Iterator[Any]:
        """Yield the datapoints of each pass."""
        if self.num != -1:
            for _ in range(self.num):
                yield from self.ds
            return
        passes = EmptyPasses()
        while True:
            came = False
            out: list[Any] = []
            for dp in self.ds:
                came = True
                out.append(dp)
                del dp
                yield out.pop()
            if passes.hopeless(came):  # else this would spin for ever
                raise _empty("RepeatedData", self.ds)


class RepeatedDataPoint(ProxyDataFlow):
    """Yield each datapoint several times in a row.

    Args:
        ds: the datapoints.
        num: how often, at least once.
    """

    def __init__(self, ds: Any, num: int) -> None:
        super().__init__(ds)
        self.num = int(num)
        if self.num < 1:
            raise ValueError(say("RepeatedDataPoint", expected="num >= 1", received=str(num),
                                 do="Pass how often to yield each datapoint."))

    def __len__(self) -> int:
        """Return ``len(ds) * num``."""
        return known_length(self.ds, type(self).__name__) * self.num

    def __iter__(self) -> Iterator[Any]:
        """Yield each datapoint ``num`` times."""
        for dp in self.ds:
            for _ in range(self.num):
                yield dp


class FixedSizeData(ProxyDataFlow):
    """Passes of a given size out of a DataFlow of any size.

    Args:
        ds: the datapoints; begun anew where they end.
        size: datapoints in a pass.
        keep_state: go on in ``ds`` where the last pass stopped; False begins anew each time.
            With it, one iterator at a time is allowed.

    Example:
        >>> from tfqueue_compat.dataflow import DataFromList
        >>> ds = FixedSizeData(DataFromList([[1], [2], [3]], shuffle=False), 2)
        >>> list(ds), list(ds)
        ([[1], [2]], [[3], [1]])
    """

    def __init__(self, ds: Any, size: int, keep_state: bool = True) -> None:
        super().__init__(ds)
        self._size = int(size)
        self._keep = keep_state
        self._itr: Iterator[Any] | None = None

    @cached_property
    def _guard(self) -> DataFlowReentrantGuard:
        return DataFlowReentrantGuard()

    def reset_state(self) -> None:
        """Begin anew."""
        super().reset_state()
        self._guard = DataFlowReentrantGuard()
        self._itr = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave the running iterator behind: another process starts its own."""
        return {**self.__dict__, "_itr": None}

    def __len__(self) -> int:
        """Return ``size``."""
        return self._size

    def __iter__(self) -> Iterator[Any]:
        """Yield ``size`` datapoints."""
        if not self._keep:
            yield from self._take(iter(self.ds))
            return
        with self._guard:
            yield from self._take(iter(self.ds) if self._itr is None else self._itr)

    def _take(self, iterator: Iterator[Any]) -> Iterator[Any]:
        for _ in range(self._size):
            try:
                out = [next(iterator)]
            except StopIteration:
                iterator = iter(self.ds)
                try:
                    out = [next(iterator)]
                except StopIteration:
                    raise _empty("FixedSizeData", self.ds) from None
            if self._keep:
                self._itr = iterator
            yield out.pop()


class CacheData(ProxyDataFlow):
    """Keep the first whole pass in memory, and yield from there afterwards.

    A pass that is broken off leaves nothing behind.

    Args:
        ds: the datapoints.
        shuffle: yield the kept datapoints in another random order at each pass.
    """

    def __init__(self, ds: Any, shuffle: bool = False) -> None:
        super().__init__(ds)
        self.shuffle = shuffle
        self.buffer: list[Any] = []

    @cached_property
    def rng(self) -> Any:
        """The random numbers of this object in this process."""
        return get_rng(self)

    @cached_property
    def _guard(self) -> DataFlowReentrantGuard:
        return DataFlowReentrantGuard()

    def reset_state(self) -> None:
        """Forget what was kept, and start ``rng`` anew."""
        super().reset_state()
        self._guard = DataFlowReentrantGuard()
        if self.shuffle:
            self.rng = get_rng(self)
        self.buffer = []

    def __iter__(self) -> Iterator[Any]:
        """Yield from ``ds`` the first time, from memory afterwards."""
        if self.buffer:
            if self.shuffle:
                self.rng.shuffle(self.buffer)
            yield from list(self.buffer)
            return
        kept = []
        for dp in self.ds:
            kept.append(dp)
            yield dp
        self.buffer = kept
