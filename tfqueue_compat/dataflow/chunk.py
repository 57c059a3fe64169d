# SPDX-License-Identifier: Apache-2.0
"""What the receiving side gets: some datapoints, in memory that is theirs while they live."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any

import numpy as np

from .layout import LEAF, Layout, rebuild
from .packing import columns_of
from .wire import aligned_empty

__all__ = ["Chunk", "Lease"]


class Lease:
    """Memory on loan: given back when the last array that views it is gone.

    NumPy lets the arrays derived from one share its base, and this is that base.

    Args:
        address: of the memory.
        nbytes: its size.
        give_back: called once, from whichever thread drops the last array.
        keep: kept alive as long as the memory is in use.
    """

    __slots__ = ("__array_interface__", "_give_back", "_keep")

    def __init__(self, address: int, nbytes: int, give_back: Callable[[], None],
                 keep: Any) -> None:
        self.__array_interface__ = {"data": (address, False), "shape": (nbytes,),
                                    "typestr": "|u1", "version": 3}
        self._give_back, self._keep = give_back, keep

    def __del__(self) -> None:
        self._give_back()


class Chunk:
    """Datapoints that came in one message.

    Attributes:
        n: how many.
        structure: how a datapoint is nested, as in :class:`~.layout.Layout`; None where they
            differ.
        skips: positions, among ``n + len(skips)`` tasks, of those that gave no datapoint.
    """

    __slots__ = ("_block", "_columns", "_entries", "_layout", "_lists", "_private", "n", "skips",
                 "structure")

    def __init__(self, n: int, skips: tuple[int, ...] = ()) -> None:
        self.n, self.skips = n, skips
        self.structure: Any = None
        self._layout: Layout | None = None
        self._columns: list[Any] = []
        self._lists: dict[int, list[Any]] = {}
        self._entries: list[Any] = []
        self._block: np.ndarray | None = None
        self._private = True  # the memory may be kept for as long as anyone likes

    @classmethod
    def of_columns(cls, n: int, skips: tuple[int, ...], layout: Layout, capacity: int,
                   lists: dict[int, list[Any]], block: np.ndarray, private: bool) -> Chunk:
        """Return a chunk of datapoints that have a layout in common."""
        self = cls(n, skips)
        self.structure, self._layout = layout.structure, layout
        self._columns, self._lists = columns_of(layout, block, capacity, n), lists
        self._private = private
        return self

    @classmethod
    def of_pickles(cls, skips: tuple[int, ...], entries: list[Any], block: np.ndarray | None,
                   private: bool) -> Chunk:
        """Return a chunk of pickled datapoints."""
        self = cls(len(entries), skips)
        self._entries, self._block, self._private = entries, block, private
        return self

    @property
    def columns(self) -> tuple[np.ndarray, ...] | None:
        """The datapoints stacked: for each component an array of shape ``(n, ...)``.

        Each starts at a multiple of 64 bytes. None where they can't be stacked.
        """
        if self._layout is None or not self._layout.stackable:
            return None
        self._make_private()
        return tuple(self._columns)

    def _make_private(self) -> None:
        if not self._private:
            self._columns = [None if c is None else _aligned_copy(c) for c in self._columns]
            self._private = True

    def datapoints(self) -> Iterator[Any]:
        """Return the datapoints as Python objects, in order."""
        if self._layout is None:
            return iter(self._unpickled())
        leaves = [self._leaf(j) for j in range(len(self._columns))]
        if not leaves:
            return (rebuild(self.structure, iter(())) for _ in range(self.n))
        flat = self._layout.flat
        if flat is tuple:
            return zip(*leaves)
        if flat is list:
            return map(list, zip(*leaves))
        if self.structure == LEAF:
            return iter(leaves[0])
        return map(rebuild, repeat(self.structure), map(iter, zip(*leaves)))

    def tasks(self) -> Iterator[Any]:
        """Return the datapoints, and None at each position in ``skips``."""
        if not self.skips:
            return self.datapoints()
        skips, dps = set(self.skips), self.datapoints()
        return (None if i in skips else next(dps) for i in range(self.n + len(skips)))

    def _leaf(self, j: int) -> Any:
        assert self._layout is not None
        kind, column = self._layout.leaves[j].kind, self._columns[j]
        if kind == "array":
            if column.ndim == 1:  # arrays without dimensions, not NumPy's scalars
                rows = [column[i, ...] for i in range(self.n)]
            else:
                rows = list(column)
            # one by one: a copy of all would be held by any that the user keeps
            return rows if self._private else [r.copy() for r in rows]
        if kind == "scalar":
            return list(column)
        if kind == "number":
            return column.tolist()
        return self._lists[j]

    def _unpickled(self) -> list[Any]:
        out = []
        for data, places in self._entries:
            buffers: list[Any] = [self._block[start:start + size]  # type: ignore[index]
                                  for start, size in places]
            if not self._private:
                buffers = [_aligned_copy(b) for b in buffers]
            out.append(pickle.loads(data, buffers=buffers) if places else pickle.loads(data))
        return out


def _aligned_copy(a: np.ndarray) -> np.ndarray:
    out = aligned_empty(a.nbytes).view(a.dtype).reshape(a.shape) if a.nbytes else a.copy()
    out[...] = a
    return out
