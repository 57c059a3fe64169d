# SPDX-License-Identifier: Apache-2.0
"""malloc and free for NumPy: aligned, and the memory of large arrays is used again.

A fresh large array costs the kernel a page fault, and the clearing of the page, for each page of
it: as much time again as filling it. glibc gives such memory back at each free, so it is kept here.
"""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

from .buffers import ALIGNMENT

__all__ = ["Recycler"]

_LARGE = 1 << 18  # bytes from which memory is kept
_HUGE_PAGE = 1 << 21
_KEEP = 16  # free blocks of one size
_MOST = 256 << 20  # free bytes

_MALLOC = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
_CALLOC = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_size_t)
_REALLOC = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_size_t)
_FREE = ctypes.CFUNCTYPE(None, ctypes.c_size_t, ctypes.c_size_t)


class Recycler:
    """The four functions of NumPy's memory handler (NEP 49), as C pointers.

    All of its memory is libc's, so that libc's own ``free`` may take over at any time. ``malloc``
    and ``calloc`` are only called in threads that chose this handler; ``free`` may be called in any
    thread, so it is ``list.insert(0, pointer)``: it runs no line of Python, in which Ctrl-C could
    be raised and lost. The next ``malloc`` looks through what was noted.

    Args:
        libc: the C library, with ``aligned_alloc``.
    """

    # Each step on shared state is one that the GIL makes whole: arrays may be freed between any
    # two lines here.

    def __init__(self, libc: ctypes.CDLL) -> None:
        self._aligned_alloc = _function(libc.aligned_alloc, ctypes.c_void_p, 2)
        self._libc_realloc = _function(libc.realloc, ctypes.c_void_p, 2)
        self._libc_free = _function(libc.free, None, 1)
        self._advise = (_function(libc.madvise, ctypes.c_int, 3)
                        if hasattr(mmap, "MADV_HUGEPAGE") else None)
        self._noted: list[int] = []
        self._sizes: dict[int, int] = {}  # of the large blocks that are out
        self._free: dict[int, list[int]] = {}
        self._thunks = (_MALLOC(self._malloc), _CALLOC(self._calloc), _REALLOC(self._realloc),
                        _FREE(self._noted.insert))

    @property
    def pointers(self) -> list[Any]:
        """malloc, calloc, realloc and free, to be called with a context of 0."""
        return [ctypes.cast(thunk, ctypes.c_void_p).value for thunk in self._thunks]

    @property
    def kept_bytes(self) -> int:
        """Bytes that wait to be used again."""
        return sum(size * len(blocks) for size, blocks in list(self._free.items()))

    def forget(self) -> None:
        """Give free memory back; blocks that are out belong to libc from now on."""
        self._collect()
        self._sizes.clear()
        for size in list(self._free):
            for block in self._free.pop(size, []):
                self._libc_free(block)

    def _malloc(self, _context: int, size: int) -> Any:
        self._collect()
        if size < _LARGE:
            return self._aligned_alloc(ALIGNMENT, size or 1)
        size = _rounded(size)
        try:
            block = self._free[size].pop()  # last in, first out: its pages are warm
        except (KeyError, IndexError):
            block = self._new(size)
        if block:
            self._sizes[block] = size
        return block

    def _new(self, size: int) -> Any:
        if size < _HUGE_PAGE:
            return self._aligned_alloc(mmap.PAGESIZE, size)
        block = self._aligned_alloc(_HUGE_PAGE, size)
        if block and self._advise:
            self._advise(block, size, mmap.MADV_HUGEPAGE)
        return block

    def _calloc(self, context: int, count: int, size: int) -> Any:
        block = self._malloc(context, count * size)
        if block:
            ctypes.memset(block, 0, count * size)
        return block

    def _realloc(self, context: int, block: int, size: int) -> Any:
        had = self._sizes.get(block)
        if had is None:
            return self._libc_realloc(block, size or 1)
        moved = self._malloc(context, size)
        if moved:
            ctypes.memmove(moved, block, min(had, size))
            self._noted.insert(0, block)
        return moved

    def _collect(self) -> None:
        """Keep the large blocks among those that were freed, and free the others."""
        while self._noted:
            try:
                block = self._noted.pop()
            except IndexError:  # another thread's
                return
            size = self._sizes.pop(block, 0)
            blocks = self._free.setdefault(size, []) if size else []
            if size and len(blocks) < _KEEP and self.kept_bytes + size <= _MOST:
                blocks.append(block)
            else:
                self._libc_free(block)


def _rounded(size: int) -> int:
    """Few sizes, so that a block serves again: at most an eighth more."""
    unit = max(mmap.PAGESIZE, 1 << (size.bit_length() - 4))
    if size >= _HUGE_PAGE:
        unit = max(unit, _HUGE_PAGE)
    return -(-size // unit) * unit


def _function(function: Any, returns: Any, arguments: int) -> Any:
    function.restype = returns
    function.argtypes = [ctypes.c_size_t] * arguments
    return function
