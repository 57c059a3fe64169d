# SPDX-License-Identifier: Apache-2.0
"""Memory that TensorFlow can use as it is: 64-byte aligned, reused once nobody looks at it."""

from __future__ import annotations

import math
import mmap
import sys
import weakref
from collections import defaultdict
from typing import Any

import numpy as np

__all__ = ["ALIGNMENT", "BufferPool", "is_aligned", "sole_owner"]

#: Where TensorFlow takes a NumPy array without copying it, in bytes.
ALIGNMENT = 64
_HUGE_PAGE = 1 << 21
_FROM_SYSTEM = 1 << 20  # bytes from which a buffer is mapped by itself


class BufferPool:
    """Hands out arrays; a buffer is free again when the last array that views it is gone.

    Args:
        keep: how many free buffers of one size to keep.

    Example:
        >>> pool = BufferPool()
        >>> a = pool.array((16, 28, 28), np.dtype("float32"))
        >>> a.ctypes.data % ALIGNMENT
        0
    """

    def __init__(self, keep: int = 16) -> None:
        self._keep = keep
        self._free: dict[int, list[memoryview]] = defaultdict(list)
        self._lent: dict[int, weakref.ref[np.ndarray]] = {}

    def array(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """Return an uninitialised, C-ordered, aligned array.

        Args:
            shape: of the array.
            dtype: of the array, any but object.
        """
        size = max(math.prod(shape) * dtype.itemsize, 1)
        memory = self._take(_rounded(size))
        # An ndarray whose base is no ndarray stays the base of every view of it, so that its
        # death tells that of the last view.
        owner = np.frombuffer(memory, np.uint8)
        key = id(owner)
        free, keep, lent = self._free[len(memory)], self._keep, self._lent

        def give_back(_: object) -> None:
            lent.pop(key, None)
            if len(free) < keep:
                free.append(memory)

        lent[key] = weakref.ref(owner, give_back)
        return owner[:size].view(dtype).reshape(shape)

    def _take(self, size: int) -> memoryview:
        try:
            return self._free[size].pop()  # last in, first out: its pages are warm
        except IndexError:
            return _allocate(size)


def _rounded(size: int) -> int:
    unit = mmap.PAGESIZE if size >= _FROM_SYSTEM else ALIGNMENT
    return -(-size // unit) * unit


def _allocate(size: int) -> memoryview:
    if size < _FROM_SYSTEM:
        raw = np.empty(size + ALIGNMENT, np.uint8)
        start = -raw.ctypes.data % ALIGNMENT
        return memoryview(raw)[start:start + size]
    area = mmap.mmap(-1, size)
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
