# SPDX-License-Identifier: Apache-2.0
"""How datapoints get into a chunk: as rows of columns, or pickled one by one.

Each datapoint is copied when it is added, so its owner may refill its arrays right afterwards.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .layout import Layout, flatten

__all__ = ["PICKLES_BYTES", "Columns", "Mixed", "Pickles", "Rows", "column_offsets",
           "columns_of", "compact", "pickled", "span"]

ALIGN = 64
_OUT_OF_BAND = 1 << 9  # bytes; smaller buffers stay inside of the pickle
PICKLES_BYTES = 1 << 18
CURSOR_BYTES = 1 << 15


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


class _Builder:
    """A chunk of one layout that is being filled.

    One thread puts; another may close the chunk at any moment. It sets ``closed`` and then reads
    ``n``; the first writes a row, raises ``n`` and then reads ``closed``: so each knows whether the
    row went along, without a lock.
    """

    closed = False
    closed_n = 0        # rows that went along
    n: int
    capacity: int       # rows it takes, at most those that its block has room for
    rows_in_block: int
    block: np.ndarray

    def put(self, dp: Any) -> bool:
        """Copy a datapoint into the next row; return False where its layout is another."""
        raise NotImplementedError

    def close(self) -> tuple[int, Layout, dict[int, list[Any]]]:
        """Finish the block.

        Returns:
            The number of rows, their layout, and the components that have no column.
        """
        raise NotImplementedError

    @property
    def full(self) -> bool:
        """Whether no further datapoint should be put."""
        return self.n >= self.capacity


class Rows(_Builder):
    """Flat datapoints without arrays: kept as tuples, checked and stacked when closed."""

    def __init__(self, layout: Layout, block: np.ndarray, capacity: int) -> None:
        self.layout, self.block = layout, block
        self.capacity = self.rows_in_block = capacity
        self.rows: list[tuple[Any, ...]] = []
        container: Any = layout.flat
        append = self.rows.append

        def put(dp: Any) -> bool:
            if type(dp) is not container:
                return False
            append(tuple(dp))  # its components cannot change, but a list can
            return True
        self.put = put  # type: ignore[method-assign]

    @property
    def n(self) -> int:  # type: ignore[override]
        """Datapoints so far."""
        return len(self.rows)

    def close(self) -> tuple[int, Layout, dict[int, list[Any]]]:
        """Finish the block, or raise :class:`Mixed`."""
        self.closed = True
        n = self.closed_n = len(self.rows)
        rows = self.rows[:n]
        parts = list(zip(*rows))
        if {len(self.layout.leaves)} != set(map(len, rows)) or any(
                set(map(type, part)) != {leaf.type}
                for part, leaf in zip(parts, self.layout.leaves)):
            container: Any = self.layout.flat
            raise Mixed([container(row) for row in rows])
        return n, *_fill_lists(self.layout, self.block, self.rows_in_block, n,
                               dict(enumerate(parts)))


class Columns(_Builder):
    """Datapoints that have arrays: each array is copied when it is put.

    Args:
        layout: theirs; none of its leaves is an ``object``.
        block: memory for ``capacity`` rows, uint8.
        capacity: rows.
        cursors: writers for small contiguous arrays, faster than NumPy's assignment: a function
            that takes a leaf's number and its column's offset in the block; None without them.
    """

    def __init__(self, layout: Layout, block: np.ndarray, capacity: int,
                 cursor: Callable[[int, int], Any] | None = None) -> None:
        self.layout, self.block, self.n = layout, block, 0
        self.capacity = self.rows_in_block = capacity
        self._container = layout.flat
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
        self._appends = [(j, held.append) for j, held in self._lists.items()]

    def _store(self, column: np.ndarray, x: np.ndarray) -> None:
        column[self.n] = x

    def put(self, dp: Any) -> bool:
        """Copy a datapoint into the next row; return False where its layout is another.

        Raises:
            BufferError: a cursor cannot take this array; the chunk can take no more.
        """
        if self._container is None:
            leaves: list[Any] = []
            if not flatten(dp, self.layout.structure, leaves):
                return False
            dp = leaves
        elif type(dp) is not self._container:
            return False
        if tuple(map(type, dp)) != self._types:
            return False
        for j, shape, dtype, write in self._arrays:
            x = dp[j]
            if x.shape != shape or (x.dtype is not dtype and x.dtype != dtype):
                self.capacity = self.n  # an earlier cursor may have moved on
                return False
            write(x)
        for j, append in self._appends:
            append(dp[j])
        self.n += 1
        return True

    def close(self) -> tuple[int, Layout, dict[int, list[Any]]]:
        """Finish the block."""
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
            leaves[j] = leaf._replace(kind="fixed", dtype=None)
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
