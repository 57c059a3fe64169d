# SPDX-License-Identifier: Apache-2.0
"""Datapoints in another order, where a whole shuffle is too expensive."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from ..utils.errors import say
from .base import DataFlowReentrantGuard, ProxyDataFlow, RNGDataFlow, known_length
from .repeat import RepeatedData

__all__ = ["LocallyShuffleData"]


class LocallyShuffleData(ProxyDataFlow, RNGDataFlow):
    """Shuffle within a buffer, without end.

    Datapoints enter at the buffer's end and, once it is full, leave at its front; the buffer is
    shuffled each time ``shuffle_interval`` datapoints have come from ``ds``. Passes of ``ds`` are
    mixed, and the buffer lives on between iterations of this object, so it allows one iterator
    at a time.

    Args:
        ds: the datapoints.
        buffer_size: datapoints in the buffer.
        num_reuse: put each datapoint in so many times: cheaper, at some cost in randomness.
        shuffle_interval: datapoints of ``ds`` between two shuffles; by default a third of
            ``buffer_size``.
    """

    def __init__(self, ds: Any, buffer_size: int, num_reuse: int = 1,
                 shuffle_interval: int | None = None) -> None:
        super().__init__(ds)
        for name, value in (("buffer_size", buffer_size), ("num_reuse", num_reuse)):
            if value < 1:
                raise ValueError(say("LocallyShuffleData", expected=f"{name} >= 1",
                                     received=str(value), do="Pass a larger one."))
        self.buffer_size = buffer_size
        self.num_reuse = num_reuse
        self.shuffle_interval = max(1, int(shuffle_interval or buffer_size // 3))
        self._endless = RepeatedData(self.ds, -1)

    @cached_property
    def _guard(self) -> DataFlowReentrantGuard:
        return DataFlowReentrantGuard()

    @cached_property
    def _buffer(self) -> deque[Any]:
        return deque()

    @cached_property
    def _source(self) -> Iterator[tuple[int, Any]]:
        return enumerate(self._endless, 1)

    def reset_state(self) -> None:
        """Empty the buffer and start anew."""
        super().reset_state()
        self._start_over()

    def _start_over(self) -> None:
        for name in ("_guard", "_buffer", "_source"):
            self.__dict__.pop(name, None)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the running iterator behind: another process starts its own."""
        return {k: v for k, v in self.__dict__.items() if k not in ("_source", "_buffer")}

    def __len__(self) -> int:
        """Return ``len(ds) * num_reuse``, though iteration does not end there."""
        return known_length(self.ds, type(self).__name__) * self.num_reuse

    def _shuffle(self) -> None:
        points = list(self._buffer)  # a deque is slow in its middle
        self.rng.shuffle(points)
        self._buffer.clear()
        self._buffer.extend(points)

    def __iter__(self) -> Iterator[Any]:
        """Yield datapoints without end."""
        with self._guard:
            for i, dp in self._source:
                if i % self.shuffle_interval == 0:
                    self._shuffle()
                for _ in range(self.num_reuse):
                    full = len(self._buffer) == self.buffer_size
                    self._buffer.append(dp)
                    if full:
                        yield self._buffer.popleft()
