# SPDX-License-Identifier: Apache-2.0
"""What is fed: datapoints of five sizes, fresh each time, kept for a while, or the same again."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["ARRAYS", "KINDS", "Kind", "make_dataflow", "make_stamped"]

ARRAYS = ("fresh", "kept", "again")
PERIOD = 1000  # labels count 0..999 and start again, so they fit every dtype


@dataclass(frozen=True)
class Kind:
    """A size of datapoint: ``[data, label]``.

    Args:
        shape: shape of the data; ``()`` is a Python float.
        dtype: NumPy dtype of the data.
        labels: shape of the labels; ``()`` is a Python int.
    """

    shape: tuple[int, ...]
    dtype: str
    labels: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of one datapoint, as TensorFlow holds it."""
        return int(np.prod(self.shape)) * np.dtype(self.dtype).itemsize + 4 * int(
            np.prod(self.labels))

    def specs(self, batch: bool = False) -> list[Any]:
        """Return the two ``tf.TensorSpec``; ``batch`` puts an open dimension in front."""
        import tensorflow as tf
        front = (None,) if batch else ()
        return [tf.TensorSpec(front + self.shape, self.dtype, name="data"),
                tf.TensorSpec(front + self.labels, "int32", name="label")]

    def value(self, i: int) -> list[Any]:
        """Return datapoint ``i`` with its number written in, made anew."""
        label = i % PERIOD
        if not self.shape:
            return [float(label), label]
        data = np.ones(self.shape, self.dtype)
        data[(0,) * data.ndim] = label % 200
        return [data, np.full(self.labels, label, "int32") if self.labels else label]

    def first(self, data: Any) -> int:
        """Return the number that :meth:`value` wrote into the data of one datapoint."""
        return int(np.asarray(data).ravel()[0])


KINDS: dict[str, Kind] = {
    "tiny": Kind((), "float32", ()),
    "small": Kind((28, 28), "float32", ()),
    "medium": Kind((128, 28, 28), "float32", (128,)),
    "u8": Kind((64, 224, 224, 3), "uint8", (64,)),
    "f32": Kind((64, 224, 224, 3), "float32", (64,)),
}


def _numbered(base: np.ndarray, number: int) -> np.ndarray:
    """Return a copy with a number written in."""
    data = base.copy()
    data[(0,) * data.ndim] = number
    return data


def _fresh(kind: Kind) -> Iterator[list[Any]]:
    """Yield datapoints that share no memory and that nobody else holds.

    A generator that keeps its array in a variable cannot be told from one that is about to write
    into it again: its arrays are copied. See ``_kept``.
    """
    if not kind.shape:
        while True:
            for i in range(PERIOD):
                yield [float(i), i]
    base = np.ones(kind.shape, kind.dtype)
    while True:
        for i in range(PERIOD):
            yield [_numbered(base, i % 200),
                   np.full(kind.labels, i, "int32") if kind.labels else i]


def _kept(kind: Kind) -> Iterator[list[Any]]:
    """Yield the same values; the generator's variable holds the array for one round more."""
    for dp in _fresh(kind):
        yield dp


def _again(kind: Kind) -> Iterator[list[Any]]:
    """Yield one and the same datapoint for ever."""
    dp = kind.value(7)
    while True:
        yield dp


def _dataflow(library: str, body: Callable[[], Iterator[list[Any]]]) -> Any:
    """Return a DataFlow of ``library`` that yields what ``body`` yields."""
    base = object if library == "tf.data" else importlib.import_module(
        library + ".dataflow").DataFlow

    class Producer(base):  # type: ignore[misc, valid-type]
        """An endless DataFlow."""

        def __iter__(self) -> Iterator[list[Any]]:
            return body()

    return Producer()


def make_dataflow(library: str, kind: Kind, arrays: str = "fresh") -> Any:
    """Return an endless DataFlow of one kind.

    Args:
        library: whose DataFlow is derived from: ``"tensorpack"``, ``"tfqueue_compat"``, or
            ``"tf.data"`` for a bare object with ``__iter__``.
        kind: the size of its datapoints.
        arrays: one of :data:`ARRAYS`: ``"fresh"``, new for each datapoint; ``"kept"``, the same
            but held by the generator until the next; ``"again"``, one datapoint for ever.
    """
    return _dataflow(library, lambda: {"fresh": _fresh, "kept": _kept, "again": _again}[
        arrays](kind))


def make_stamped(library: str, kind: Kind, burst: int, pause: float) -> tuple[Any, list[float]]:
    """Return a DataFlow that writes down when it yields, and the list it writes to.

    Args:
        library: as in :func:`make_dataflow`.
        kind: the size of its datapoints.
        burst: datapoints that come at full speed, after the first; then they come slowly.
        pause: seconds before each slow datapoint, and between the first and the burst.
    """
    stamps: list[float] = []

    def body() -> Iterator[list[Any]]:
        i = 0
        time.sleep(1.)  # so that the consumer waits already
        while True:
            dp = kind.value(i)
            stamps.append(time.perf_counter())
            yield dp
            if i == 0 or i >= burst:
                time.sleep(pause)
            i += 1

    return _dataflow(library, body), stamps
