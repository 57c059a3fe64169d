# SPDX-License-Identifier: Apache-2.0
"""How much was produced and consumed, and who waited for whom."""

from __future__ import annotations

import time
from typing import NamedTuple

from ..utils.bottleneck import bottleneck

__all__ = ["Meter", "Reading"]

_SAMPLE_EVERY = 0.02  # seconds between two samples of the history
_KEEP = 4096  # samples; beyond it, every second one is dropped


class Reading(NamedTuple):
    """What a meter showed, or what came on it between two readings.

    Attributes:
        seconds: that passed.
        consumed: datapoints that went to the model.
        producer_wait: seconds that the producer waited because the queue was full.
        consumer_wait: seconds that the consumer waited because the queue was empty.
    """

    seconds: float = 0.0
    consumed: int = 0
    producer_wait: float = 0.0
    consumer_wait: float = 0.0

    def since(self, before: Reading) -> Reading:
        """Return what came on between an earlier reading and this one."""
        return Reading(self.seconds - before.seconds, self.consumed - before.consumed,
                       self.producer_wait - before.producer_wait,
                       self.consumer_wait - before.consumer_wait)

    @property
    def rate(self) -> float:
        """Datapoints a second."""
        return self.consumed / self.seconds if self.seconds > 0 else 0.0

    @property
    def data_waited(self) -> float:
        """Share of the time that the dataflow waited for the model, 0 to 1."""
        return self.producer_wait / self.seconds if self.seconds > 0 else 0.0

    @property
    def model_waited(self) -> float:
        """Share of the time that the model waited for the dataflow, 0 to 1."""
        return self.consumer_wait / self.seconds if self.seconds > 0 else 0.0

    def verdict(self) -> str:
        """Say in one line whether the data or the model is the bottleneck."""
        if not self.seconds > 0 or not self.consumed:
            return "no data has passed yet"
        return bottleneck(self.model_waited, self.data_waited, self.rate)


class Meter:
    """Counts what goes through one input; readable at any time, from any thread.

    It is how a user learns whether the data or the model is the bottleneck.

    Attributes:
        capacity: datapoints that the queue holds.
        produced: datapoints that the dataflow has given.
        producer_wait: seconds that the producer waited because the queue was full.
        consumer_wait: seconds that the consumer waited because the queue was empty.
        producer_waits_since: when the producer began the wait that it is in, which is not yet
            counted; None where it is in none. In ``time.perf_counter()``'s seconds.

    Example:
        >>> meter = Meter(capacity=50)
        >>> meter.produced, meter.consumed, meter.occupancy
        (0, 0, 0)
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.produced = 0
        self.producer_wait = 0.0
        self.consumer_wait = 0.0
        self.producer_waits_since: float | None = None
        self._taken = 0
        self._last = 0
        self._delivered = 0
        self._dropped = 0
        self._started: float | None = None
        self._last_sample = 0.0
        self._stride = _SAMPLE_EVERY
        self._history: list[tuple[float, int]] = []

    @property
    def consumed(self) -> int:
        """Datapoints that have left the queue for the model.

        Exact after a pass. Within one, and after an iterator was dropped early, TensorFlow does
        not tell how much it has used up of the chunk that it works on: all of it is counted as
        consumed.
        """
        return max(self._taken - self._last, min(self._delivered, self._taken))

    @property
    def occupancy(self) -> int:
        """Datapoints waiting now: produced, neither consumed nor dropped by a restart."""
        return max(self.produced - self.consumed - self._dropped, 0)

    def start(self) -> None:
        """Begin to measure; later calls change nothing."""
        if self._started is None:
            self._started = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since the first datapoint was asked for."""
        return 0.0 if self._started is None else time.perf_counter() - self._started

    def took(self, count: int) -> None:
        """Note that ``count`` datapoints went over to TensorFlow, where they wait for their turn.

        TensorFlow asks for a chunk when it has begun with the one before; 0 tells of the end.
        """
        self._taken += count
        self._last = count
        now = self.seconds
        if now - self._last_sample >= self._stride:
            self._last_sample = now
            self._history.append((now, self.occupancy))
            if len(self._history) > _KEEP:
                del self._history[::2]
                self._stride *= 2

    def dropped(self, count: int) -> None:
        """Note that ``count`` datapoints were thrown away, by a restart or an early stop."""
        self._dropped += count

    def delivered(self, count: int) -> None:
        """Note that ``count`` datapoints reached the user's own code."""
        self._delivered += count

    def history(self) -> list[tuple[float, int]]:
        """Pairs of seconds since the start and occupancy then, a few dozen a second at most."""
        return list(self._history)

    def read(self) -> Reading:
        """Return what it shows now."""
        since = self.producer_waits_since
        going_on = 0.0 if since is None else max(time.perf_counter() - since, 0.0)
        return Reading(self.seconds, self.consumed, self.producer_wait + going_on,
                       self.consumer_wait)

    def verdict(self) -> str:
        """Say in one line whether the data or the model was the bottleneck so far.

        ``meter.read().since(earlier)`` tells it of a part of the time.
        """
        return self.read().verdict()

    def __repr__(self) -> str:
        return (f"Meter(produced={self.produced}, consumed={self.consumed}, "
                f"occupancy={self.occupancy}, producer_wait={self.producer_wait:.3f}s, "
                f"consumer_wait={self.consumer_wait:.3f}s)")
