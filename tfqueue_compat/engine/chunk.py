# SPDX-License-Identifier: Apache-2.0
"""Many datapoints in one block of memory, so that they cross into TensorFlow in one call."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..utils.errors import say
from .buffers import BufferPool, is_aligned
from .convert import Component, as_array
from .errors import SignatureMismatch

__all__ = ["Block", "Cadence", "LARGE", "empty", "mixed_shapes", "shapes_of"]

#: Datapoints of at least this many bytes cross alone, without a copy where that is safe.
LARGE = 1 << 20
_CHUNK_BYTES = 4 << 20
_CHUNK_ROWS = 2048
_LASTS = 0.02

# Scalars that NumPy itself stores rightly: it refuses a Python int that is out of range
# (NumPy 2; NumPy 1 wraps it, so there it takes the slow way).
_CHECKED_INT = (int,) if int(np.__version__.split(".")[0]) >= 2 else ()
_PLAIN: dict[np.dtype, tuple[type, ...]] = {np.dtype(np.bool_): (np.bool_, bool)}
for _t in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64):
    _PLAIN[np.dtype(_t)] = (_t, *_CHECKED_INT)
for _f in (np.float16, np.float32, np.float64):
    _PLAIN[np.dtype(_f)] = (_f, float, np.float64, np.float32, int)


class Block:
    """Rows of datapoints of one shape, filled by the producer while the consumer takes from it.

    The producer writes a row, then raises ``filled``; the consumer reads ``filled``, then the rows
    below it. Each only ever touches its own side, so no lock is needed under the GIL.

    Args:
        components: of the signature.
        shapes: of one datapoint's components, all dimensions known.
        rows: how many datapoints it takes.
        pool: where the memory comes from.
    """

    def __init__(self, components: Sequence[Component], shapes: Sequence[tuple[int, ...]],
                 rows: int, pool: BufferPool) -> None:
        self.rows = rows
        self.filled = 0
        self.start = 0
        self.sealed = False
        self.shapes = shapes
        self._columns: list[Any] = [
            [None] * rows if c.is_string else pool.array((rows, *shape), c.dtype)
            for c, shape in zip(components, shapes)]
        # (column, component, dtype to take as it is, shape, types to take as they are)
        self._plan = [(col, c, None if c.is_string else c.dtype, shape,
                       _PLAIN.get(c.dtype, ()) if shape == () else ())
                      for col, c, shape in zip(self._columns, components, shapes)]

    @classmethod
    def alone(cls, components: Sequence[Component], arrays: Sequence[Any],
              pool: BufferPool, mine: Sequence[bool]) -> Block:
        """A block of one large datapoint; the arrays that are ``mine`` are taken as they are."""
        block = cls.__new__(cls)
        block.rows = block.filled = 1
        block.start, block.sealed = 0, True
        block.shapes = [np.shape(a) for a in arrays]
        block._plan = []
        block._columns = []
        for component, array, own in zip(components, arrays, mine):
            if component.is_string:
                block._columns.append([array])
                continue
            if not (own and is_aligned(array)):
                copy = pool.array(array.shape, component.dtype)
                np.copyto(copy, array)
                array = copy
            block._columns.append(array[np.newaxis])
        return block

    def add(self, leaves: Sequence[Any]) -> bool:
        """Copy one datapoint into the next row.

        Returns:
            False where its shapes are not this block's; nothing is written then.

        Raises:
            SignatureMismatch: where it does not fit the signature.
        """
        i = self.filled
        for (column, component, dtype, shape, plain), x in zip(self._plan, leaves):
            kind = type(x)
            if kind is np.ndarray:
                if x.dtype is not dtype or x.shape != shape:
                    x = as_array(component, x)
                    if x.shape != shape:
                        return False
            elif kind not in plain:
                x = as_array(component, x)
                if x.shape != shape:
                    return False
            try:
                column[i] = x
            except OverflowError:
                column[i] = as_array(component, x)
        self.filled = i + 1
        return True

    def take(self, count: int, group: int) -> list[np.ndarray]:
        """Return the next ``count`` rows, ``group`` of them making one element.

        Returns:
            For each component an array ``(count, ...)``, or ``(count / group, group, ...)``.
        """
        a, b = self.start, self.start + count
        self.start = b
        out = []
        for column, shape in zip(self._columns, self.shapes):
            rows = column[a:b]
            if isinstance(rows, list):
                rows = _strings(rows, shape)
            if group:
                size = min(group, count)
                rows = rows.reshape((count // size, size) + rows.shape[1:])
            out.append(rows)
        return out


def _strings(rows: list[Any], shape: tuple[int, ...]) -> np.ndarray:
    out = np.empty((len(rows), *shape), object)
    for i, row in enumerate(rows):
        out[i] = row[()] if isinstance(row, np.ndarray) and row.ndim == 0 else row
    return out


def shapes_of(components: Sequence[Component], leaves: Sequence[Any]
              ) -> tuple[list[Any], list[tuple[int, ...]], int]:
    """Return the leaves as arrays, their shapes, and the bytes of one datapoint."""
    arrays = [as_array(c, x) for c, x in zip(components, leaves)]
    shapes = [a.shape for a in arrays]
    return arrays, shapes, sum(a.nbytes for a in arrays)


def empty(components: Sequence[Component], group: int) -> list[np.ndarray]:
    """A chunk of no datapoints: TensorFlow asks again, and can be interrupted in between."""
    lead = (0, group) if group else (0,)
    return [np.empty(lead + tuple(d or 0 for d in c.shape or ()), c.dtype) for c in components]


def mixed_shapes(path: str, *shapes: Sequence[tuple[int, ...]]) -> SignatureMismatch:
    """The error for datapoints of different shapes in one batch."""
    return SignatureMismatch(say(
        path, expected="datapoints of one shape, to be batched",
        received=" and ".join(str(tuple(map(tuple, s))) for s in shapes),
        do="Pad or crop them, or group them with BatchDataByShape."))


class Cadence:
    """Chooses how many datapoints cross at once, from their size and the consumer's pace.

    It starts at one, so that the first datapoint is never held back, and at most doubles from
    chunk to chunk; a chunk is to last the consumer for about ``_LASTS`` seconds.
    """

    def __init__(self, group: int) -> None:
        self._group = max(group, 1)
        self._most = max(_CHUNK_ROWS // self._group, 1)
        self._left = 0.0
        self._count = 0
        self.elements = 1

    @property
    def rows(self) -> int:
        """Datapoints in the next chunk: a whole number of groups."""
        return self.elements * self._group

    def block_rows(self, capacity: int) -> int:
        """Datapoints for which to make room at once."""
        elements = max(self.elements, -(-capacity // self._group))
        return min(elements, self._most) * self._group

    def sized(self, nbytes: int) -> None:
        """Note the bytes of one datapoint."""
        fitting = _CHUNK_BYTES // max(nbytes * self._group, 1)
        self._most = max(1, min(_CHUNK_ROWS // self._group, fitting))
        self.elements = min(self.elements, self._most)

    def alone(self) -> None:
        """Note that datapoints are large now: each crosses by itself."""
        self._most = self.elements = 1

    def asked(self) -> None:
        """Note that the consumer came for more: the chunk before has lasted until now."""
        if self._count:
            lasted = max(time.perf_counter() - self._left, 1e-6)
            wanted = int(self._count * _LASTS / lasted)
            wanted = max(wanted, self.elements // 2)  # one hiccup tells little
            self.elements = max(1, min(wanted, self.elements * 2, self._most))

    def answered(self, rows: int) -> None:
        """Note that the consumer got this many datapoints."""
        self._left = time.perf_counter()
        self._count = -(-rows // self._group)
