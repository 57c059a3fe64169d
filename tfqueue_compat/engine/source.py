# SPDX-License-Identifier: Apache-2.0
"""The dataflow behind an input: its signature, its streams, and what TensorFlow calls for them."""

from __future__ import annotations

import atexit
import itertools
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from ..dataflow.base import as_dataflow, length
from ..utils.errors import say
from .errors import DatasetEnded, Failure
from .handover import Handover
from .meter import Meter
from .signature import Signature
from .stream import Mode, Stream

__all__ = ["POLL", "Source"]

#: Seconds that TensorFlow waits in Python at most; then it gets an empty chunk, and can notice
#: that it was cancelled.
POLL = 0.1
_PENDING = -1
_GRACE = 5.0  # seconds for TensorFlow's threads to come out when the program ends
_QUIET = 5    # looks in a row at which none was inside


class _Channel(Protocol):
    """What a stream is to its consumer; a worker process has one like it."""

    def take(self, timeout: float) -> list[np.ndarray]: ...
    def close(self) -> None: ...


class Source:
    """A dataflow, opened once for each TensorFlow iterator over it.

    Args:
        dataflow: a DataFlow, a foreign one, a generator function or an iterable.
        capacity: datapoints that wait for the consumer at most.
        signature: of the datapoints; None to read it off the first one.
        dtypes: of the components, where only those are given.
    """

    #: Channels that one iterator reads side by side.
    parallel = 1

    def __init__(self, dataflow: Any, capacity: int,
                 signature: Signature | None = None, dtypes: Any = None) -> None:
        self.dataflow = as_dataflow(dataflow, asked_by="QueueInput")
        self.meter = Meter(capacity)
        self._given = signature
        self._signature = signature
        self._dtypes = dtypes
        self._handover = Handover()
        self._lock = threading.RLock()
        self._numbers = itertools.count()
        self._stops = 0
        self._open: dict[int, _Channel] = {}
        self._failures: deque[Failure] = deque(maxlen=16)
        weakref.finalize(self, _close_all, self._open)
        _live.add(self)

    def __len__(self) -> int:
        size = length(self.dataflow)
        if size is None:
            raise TypeError(say(
                type(self.dataflow).__name__, expected="a dataflow that knows its length",
                received="one without __len__ and size()",
                do="Define __len__, or wrap it in FixedSizeData(df, size)."))
        return size

    @property
    def size(self) -> int | None:
        """The dataflow's length, None where it does not know it."""
        return length(self.dataflow)

    @property
    def signature(self) -> Signature:
        """Of one datapoint; read off the first one, which is kept, where nobody has set it.

        Raises:
            Exception: what the dataflow raised before its first datapoint.
        """
        with self._lock:
            if self._signature is None:
                signature = self._read_first()
                self._signature = signature if self._dtypes is None else signature.cast(
                    self._dtypes)
            return self._signature

    def set_signature(self, signature: Signature) -> None:
        """Set what every datapoint must look like."""
        with self._lock:
            self._given = self._signature = signature

    @property
    def is_inferred(self) -> bool:
        """Whether the signature was read off a datapoint, not set by the user."""
        return self._given is None

    def _read_first(self) -> Signature:
        stops = self._stops
        stream = Stream(self.dataflow, self.meter, None, self._handover)
        self._open[_PENDING] = stream  # the first iterator takes it over
        if self._stops != stops:
            self.end(_PENDING)  # stop() came before it could find the stream
        try:
            return stream.read_first()
        except BaseException:
            self.end(_PENDING)
            raise

    # ---- called by TensorFlow

    def begin(self, mode: Mode, worker: int) -> int:
        """Start a stream for a new TensorFlow iterator and return its number."""
        with self._lock:
            signature = self.signature if mode.group else self.element_signature
            stream = self._open.pop(_PENDING, None)
            if not isinstance(stream, Stream):
                stream = Stream(self.dataflow, self.meter, signature, self._handover)
            stream.begin(mode, signature)
            number = next(self._numbers)
            self._open[number] = stream
            return number

    @property
    def element_signature(self) -> Signature:
        """Of a datapoint as it comes out by itself: an inferred batch dimension is left open."""
        return self.signature.opened() if self.is_inferred else self.signature

    def take(self, number: int) -> list[np.ndarray]:
        """Return a chunk of a stream, empty after ``POLL`` seconds without data."""
        channel = self._open.get(number)
        if channel is None:
            raise DatasetEnded(say("QueueInput", expected="an open input",
                                   received="one that was stopped", do="Iterate it anew."))
        return channel.take(POLL)

    def keep(self, error: BaseException) -> Failure:
        """Keep an error on its way through TensorFlow, which takes a text only."""
        for failure in list(self._failures):
            if failure.error is error:
                return failure
        self._failures.append(Failure(error))
        return self._failures[-1]

    def end(self, number: int) -> None:
        """Close a stream: its iterator is gone."""
        channel = self._open.pop(number, None)
        if channel:
            channel.close()

    # ---- called by the user

    def stop(self) -> None:
        """Close all streams. Iterators over them end with an error; new ones start afresh."""
        # without the lock: its holder may be waiting for the first datapoint
        self._stops += 1
        _close_all(self._open)


def _close_all(channels: dict[int, _Channel]) -> None:
    while channels:
        try:
            _, channel = channels.popitem()
        except KeyError:  # another thread was quicker
            return
        channel.close()


_live: weakref.WeakSet[Source] = weakref.WeakSet()


_inside: set[int] = set()  # TensorFlow's threads that are in a call of ours


@contextmanager
def called_by_tensorflow() -> Iterator[None]:
    """A block that TensorFlow runs in a thread of its own: a program waits for it when it ends."""
    thread = threading.get_ident()
    _inside.add(thread)
    try:
        yield
    finally:
        _inside.discard(thread)


@atexit.register
def _close_live() -> None:
    # A thread that still runs Python code while the interpreter ends can crash the process; and
    # one that TensorFlow waits for would never come back.
    live = list(_live)
    for source in live:
        source.stop()
    end, quiet = time.monotonic() + _GRACE, 0
    while (live or _inside) and quiet < _QUIET and time.monotonic() < end:
        time.sleep(0.01)  # without the GIL: they need it to come out
        quiet = 0 if _inside else quiet + 1
