# SPDX-License-Identifier: Apache-2.0
"""How datapoints get into a chunk: as rows of columns, or pickled one by one.

Each datapoint is copied when it is added, so its owner may refill its arrays right afterwards.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from .layout import Layout, flatten
from .shm import HUNGRY

__all__ = ["NOTHING", "PICKLES_BYTES", "Columns", "Mixed", "Pickles", "Rows",
           "column_offsets", "columns_of", "compact", "pickled", "span"]

ALIGN = 64
_OUT_OF_BAND = 1 << 9  # bytes; smaller buffers stay inside of the pickle
PICKLES_BYTES = 1 << 18
CURSOR_BYTES = 1 << 15
NOTHING = object()


def align(n: int) -> int:
    """Round up to a multiple of 64."""
    return (n + ALIGN - 1) // ALIGN * ALIGN


def column_offsets(layout: Layout, rows: int) -> tuple[list[int], int]:
    """Return where the columns of a block with ``rows`` rows start, and the block's bytes."""
    offsets, end = [], 0
    for leaf in layout.leaves:
        offsets.append(end)
        end += align(leaf.nbytes * rows)
    return offsets, end


def columns_of(layout: Layout, block: np.ndarray, capacity: int, n: int) -> list[Any]:
    """Return the columns in a block: arrays of ``n`` rows; None for leaves that have none."""
    out: list[Any] = []
    for leaf, start in zip(layout.leaves, column_offsets(layout, capacity)[0]):
        if leaf.dtype is None:
            out.append(None)
        else:
            part = block[start:start + leaf.nbytes * n]
            out.append(part.view(leaf.dtype).reshape((n, *leaf.shape)) if leaf.nbytes
                       else np.empty((n, *leaf.shape), leaf.dtype))
    return out


class Mixed(Exception):
    """Rows turned out not to have the layout they were taken for; ``args[0]`` holds them."""


class Rows:
    """Flat datapoints without arrays: kept as tuples, checked and stacked when they are sent.

    One thread puts; another may take what is there at any moment.
    """

    def __init__(self, layout: Layout, capacity: int, nbytes: int) -> None:
        self.layout, self.capacity, self.nbytes = layout, capacity, nbytes
        self._container: Any = layout.flat
        self._rows: list[tuple[Any, ...]] = []

    @property
    def n(self) -> int:
        """Datapoints so far."""
        return len(self._rows)

    @property
    def full(self) -> bool:
        """Whether no further datapoint should be put."""
        return len(self._rows) >= self.capacity

    def put(self, dp: Any) -> bool:
        """Take in a datapoint; return False where its layout is another."""
        if type(dp) is not self._container:
            return False
        self._rows.append(tuple(dp))  # its components cannot change, but a list can
        return True

    def fill(self, datapoints: Iterator[Any], words: Any, not_before: float) -> tuple[int, Any]:
        """Put until full or, but not before that time, the receiver is hungry.

        Returns:
            How many came, and the last of them if it did not fit, else NOTHING.
        """
        append, container, clock, came = self._rows.append, self._container, time.monotonic, 0
        for came, dp in enumerate(islice(datapoints, self.capacity), 1):
            if type(dp) is not container:
                return came, dp
            append(tuple(dp))
            if words[HUNGRY] and clock() >= not_before:
                break
        return came, NOTHING

    def take(self) -> list[tuple[Any, ...]]:
        """Remove what is there and return it."""
        rows = self._rows[:]
        del self._rows[:len(rows)]
        return rows

    def stack(self, rows: list[tuple[Any, ...]], block: np.ndarray) -> tuple[
            Layout, dict[int, list[Any]]]:
        """Write rows into a block made for as many.

        Returns:
            Their layout, and the components that have no column.

        Raises:
            Mixed: they don't have one layout.
        """
        leaves = self.layout.leaves
        try:
            parts = list(zip(*rows, strict=True))
        except ValueError:
            parts = [()]
        if len(parts) != len(leaves) or any(
                set(map(type, part)) != {leaf.type} for part, leaf in zip(parts, leaves)):
            raise Mixed([self._container(row) for row in rows])
        return _fill_lists(self.layout, block, len(rows), len(rows), dict(enumerate(parts)))


class Columns:
    """Datapoints that have arrays: each array is copied when it is put.

    One thread puts; another may close the chunk at any moment. It sets ``closed`` and then reads
    ``n``; the first writes a row, raises ``n`` and then reads ``closed``: so each knows whether the
    row went along, without a lock.

    Args:
        layout: theirs; none of its leaves is an ``object``.
        block: memory for ``capacity`` rows, uint8.
        capacity: rows.
        cursor: makes writers for small contiguous arrays, faster than NumPy's assignment, from a
            leaf's number and its column's offset in the block; None to do without.

    Attributes:
        n: rows so far.
        closed_n: rows that went along when it was closed.
    """

    def __init__(self, layout: Layout, block: np.ndarray, capacity: int,
                 cursor: Callable[[int, int], Any] | None = None) -> None:
        self.layout, self.block, self.n = layout, block, 0
        self.capacity = self.rows_in_block = capacity
        self.closed, self.closed_n = False, 0
        self._types = tuple(leaf.type for leaf in layout.leaves)
        columns = columns_of(layout, block, capacity, capacity)
        offsets = column_offsets(layout, capacity)[0]
        self._arrays = [
            (j, x.shape, x.dtype,
             cursor(j, offsets[j]).write if cursor is not None and 0 < x.nbytes < CURSOR_BYTES
             else partial(self._store, columns[j]))
            for j, x in enumerate(layout.leaves) if x.kind == "array"]
        self._lists: dict[int, list[Any]] = {
            j: [] for j, x in enumerate(layout.leaves) if x.kind != "array"}

    def _store(self, column: np.ndarray, x: np.ndarray) -> None:
        column[self.n] = x

    @property
    def full(self) -> bool:
        """Whether no further datapoint should be put."""
        return self.n >= self.capacity

    def put(self, dp: Any) -> bool:
        """Take in a datapoint; return False where its layout is another."""
        return self.fill((dp,), None)[1] is NOTHING

    def fill(self, datapoints: Iterable[Any], words: Any,
             not_before: float = 0.0) -> tuple[int, Any]:
        """Put until full, closed or, but not before that time, the receiver is hungry.

        Returns:
            How many came, and the last of them if it did not fit, else NOTHING.
        """
        container, structure, types = self.layout.flat, self.layout.structure, self._types
        arrays, appends = self._arrays, [(j, x.append) for j, x in self._lists.items()]
        n = start = self.n
        clock = time.monotonic
        for dp in datapoints:
            leaves = dp
            if container is None:
                leaves = []
                if not flatten(dp, structure, leaves):
                    return n - start + 1, dp
            elif type(dp) is not container:
                return n - start + 1, dp
            if tuple(map(type, leaves)) != types:
                return n - start + 1, dp
            for j, shape, dtype, write in arrays:
                x = leaves[j]
                if x.shape != shape or (x.dtype is not dtype and x.dtype != dtype):
                    self.capacity = n  # an earlier cursor may have moved on
                    return n - start + 1, dp
                try:
                    write(x)
                except (BufferError, ValueError):  # not contiguous, or of a strange type
                    self.capacity, self.suits_cursors = n, False
                    return n - start + 1, dp
            for j, append in appends:
                append(leaves[j])
            n += 1
            self.n = n
            if self.closed:
                return n - start, NOTHING if self._went_along(n) else dp
            if n >= self.capacity or (words is not None and words[HUNGRY]
                                      and clock() >= not_before):
                break
        return n - start, NOTHING

    suits_cursors = True

    def _went_along(self, n: int) -> bool:
        while not self.closed_n:  # the other thread is about to set it
            time.sleep(0)
        return n <= self.closed_n

    def close(self) -> tuple[int, Layout, dict[int, list[Any]]]:
        """Finish the block.

        Returns:
            The number of rows, their layout, and the components that have no column.
        """
        self.closed = True
        n = self.closed_n = self.n
        lists = {j: held[:n] for j, held in self._lists.items()}
        return n, *_fill_lists(self.layout, self.block, self.rows_in_block, n, lists)


def _fill_lists(layout: Layout, block: np.ndarray, capacity: int, n: int,
                lists: dict[int, Any]) -> tuple[Layout, dict[int, list[Any]]]:
    """Turn lists of numbers into columns; return the rest, and the layout as it came out."""
    columns = columns_of(layout, block, capacity, n)
    leaves, rest = list(layout.leaves), {}
    for j, held in lists.items():
        leaf = leaves[j]
        try:
            if leaf.dtype is not None:
                columns[j][...] = (np.fromiter if leaf.kind == "number" else np.array)(
                    held, leaf.dtype)
                continue
        except OverflowError:  # an int of more than 64 bits
            leaves[j] = leaf._replace(kind="fixed")  # its column stays, unused
            layout = layout._replace(leaves=tuple(leaves))
        rest[j] = list(held)
    return layout, rest


def compact(layout: Layout, block: np.ndarray, capacity: int, n: int) -> np.ndarray:
    """Return a block for ``n`` rows with the first ``n`` of those in ``block``."""
    if n == capacity:
        return block
    out = np.empty(column_offsets(layout, n)[1], np.uint8)
    for new, old in zip(columns_of(layout, out, n, n), columns_of(layout, block, capacity, n)):
        if new is not None:
            new[...] = old
    return out


def pickled(dp: Any) -> tuple[bytes, list[np.ndarray]]:
    """Return a datapoint's pickle, and its larger buffers (not copied) beside it."""
    raws: list[np.ndarray] = []

    def outside(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < _OUT_OF_BAND:
            return True
        raws.append(np.frombuffer(raw, np.uint8))
        return False
    return pickle.dumps(dp, protocol=5, buffer_callback=outside), raws


def span(raws: list[np.ndarray]) -> int:
    """Return the bytes that buffers take in a block."""
    return sum(align(r.nbytes) for r in raws)


class Pickles:
    """Datapoints of any kind, pickled one by one; their larger buffers go into a block.

    Attributes:
        block: memory for the buffers, uint8; None until there is one to store.
        entries: for each datapoint its pickle, and offset and size of each of its buffers.
    """

    def __init__(self) -> None:
        self.block: np.ndarray | None = None
        self.entries: list[tuple[bytes, tuple[tuple[int, int], ...]]] = []
        self._end = 0
        self._pickle_bytes = 0

    @property
    def n(self) -> int:
        """Datapoints so far."""
        return len(self.entries)

    @property
    def full(self) -> bool:
        """Whether no further datapoint should be added."""
        return max(self._end, self._pickle_bytes) >= PICKLES_BYTES or self.n >= 256

    def fits(self, raws: list[np.ndarray]) -> bool:
        """Whether the block has room for these buffers."""
        return not raws or (self.block is not None
                            and self._end + span(raws) <= self.block.nbytes)

    def add(self, data: bytes, raws: list[np.ndarray]) -> None:
        """Take in a pickled datapoint whose buffers fit."""
        places = []
        for raw in raws:
            assert self.block is not None  # fits() was asked
            self.block[self._end:self._end + raw.nbytes] = raw
            places.append((self._end, raw.nbytes))
            self._end += align(raw.nbytes)
        self.entries.append((data, tuple(places)))
        self._pickle_bytes += len(data)
