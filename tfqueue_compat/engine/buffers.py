# SPDX-License-Identifier: Apache-2.0
"""Memory that TensorFlow can use as it is: 64-byte aligned, reused once nobody looks at it."""

from __future__ import annotations

import functools
import math
import mmap
import sys
import weakref
from typing import Any

import numpy as np

__all__ = ["ALIGNMENT", "BufferPool", "is_aligned", "sole_owner"]

#: Where TensorFlow takes a NumPy array without copying it, in bytes.
ALIGNMENT = 64
_HUGE_PAGE = 1 << 21
_FROM_SYSTEM = 1 << 20  # bytes from which a buffer is mapped by itself
# By default a child process would share the pages and could write into them.
_PRIVATE: Any = ({"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS}
                 if hasattr(mmap, "MAP_PRIVATE") else {})


class BufferPool:
    """Hands out arrays; a buffer is free again when the last array that views it is gone.

    Args:
        keep: how many free buffers of one size to keep.
        most_bytes: how much free memory to keep, whatever the sizes.

    Example:
        >>> pool = BufferPool()
        >>> a = pool.array((16, 28, 28), np.dtype("float32"))
        >>> a.ctypes.data % ALIGNMENT
        0
    """

    # Buffers come back in whichever thread drops the last view, perhaps in the middle of a line
    # here: no lock could be held then, so each step below is one that can't be interrupted.

    def __init__(self, keep: int = 16, most_bytes: int = 256 << 20) -> None:
        self._keep = keep
        self._most_bytes = most_bytes
        self._free: dict[int, list[memoryview]] = {}
        self._lent: dict[int, weakref.ref[np.ndarray]] = {}

    @property
    def free_bytes(self) -> int:
        """Bytes that wait to be used again."""
        return sum(size * len(free) for size, free in list(self._free.items()))

    def array(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """Return an uninitialised, C-ordered, aligned array.

        Args:
            shape: of the array.
            dtype: of the array, any but object.
        """
        size = math.prod(shape) * dtype.itemsize
        memory = self._take(_rounded(max(size, 1)))
        # An ndarray whose base is no ndarray stays the base of every view of it, so that its
        # death tells that of the last view.
        owner = np.frombuffer(memory, np.uint8)
        key = id(owner)
        self._lent[key] = weakref.ref(owner, functools.partial(self._give_back, key, memory))
        return owner[:size].view(dtype).reshape(shape)

    def _take(self, size: int) -> memoryview:
        try:
            return self._free[size].pop()  # last in, first out: its pages are warm
        except (KeyError, IndexError):
            return _allocate(size)

    def _give_back(self, key: int, memory: memoryview, _: object) -> None:
        self._lent.pop(key, None)
        free = self._free.setdefault(len(memory), [])
        if len(free) < self._keep and self._make_room(len(memory), free):
            free.append(memory)

    def _make_room(self, size: int, free: list[memoryview]) -> bool:
        """Drop free buffers of other sizes until one more of this size may be kept."""
        while self.free_bytes + size > self._most_bytes:
            others = [f for f in list(self._free.values()) if f and f is not free]
            if not others:
                return False
            del others[0][:1]
        return True


def _rounded(size: int) -> int:
    """The size of the buffer: at most an eighth more, so that there are few sizes."""
    unit = max(ALIGNMENT, 1 << max(size.bit_length() - 4, 0))
    if size >= _FROM_SYSTEM:
        unit = max(unit, mmap.PAGESIZE)
    return -(-size // unit) * unit


def _allocate(size: int) -> memoryview:
    if size < _FROM_SYSTEM:
        raw = np.empty(size + ALIGNMENT, np.uint8)
        start = -raw.ctypes.data % ALIGNMENT
        return raw.data[start:start + size]
    area = mmap.mmap(-1, size, **_PRIVATE)
    if size >= _HUGE_PAGE and hasattr(mmap, "MADV_HUGEPAGE"):
        try:
            area.madvise(mmap.MADV_HUGEPAGE)
        except OSError:  # a kernel without huge pages
            pass
    return memoryview(area)


def is_aligned(array: np.ndarray) -> bool:
    """Whether TensorFlow would alias this array instead of copying it."""
    return bool(array.ctypes.data % ALIGNMENT == 0 and array.flags.c_contiguous)


def sole_owner(box: list[Any]) -> list[bool]:
    """For each array in a datapoint, prove that it can be reached through the datapoint alone.

    Args:
        box: a list whose one element is the datapoint, a flat list or tuple; the caller holds no
            other reference to either.

    Returns:
        A bool for each component; False wherever it can't be proved. The caller then copies.
    """
    if type(box[0]) not in (list, tuple):
        return []
    container, arrays = _references(box)
    alone = container <= _ALONE[0]
    return [alone and refs <= _ALONE[1] for refs in arrays]


def _references(box: list[Any]) -> tuple[int, list[int]]:
    """Count references to the datapoint, and for each component to it or to what it views."""
    container = box[0]
    counts = []
    for i in range(len(container)):
        array = container[i]
        refs = sys.getrefcount(array) if type(array) is np.ndarray else _MANY
        base = array.base if refs != _MANY else None
        if base is not None:
            plain = type(base) is np.ndarray and base.base is None and base.flags.owndata
            # one reference more than an array has here: the view's own
            refs = max(refs, sys.getrefcount(base)) if plain else _MANY
        counts.append(refs)
    return sys.getrefcount(container), counts


_MANY = 1 << 30


def _calibrate() -> tuple[int, int]:
    """Count the references that the code above itself makes; Python versions differ in it."""
    container, arrays = _references([[np.empty(4, np.uint8)[:2], np.empty(4, np.uint8)]])
    return container, max(arrays)


_ALONE = _calibrate()
