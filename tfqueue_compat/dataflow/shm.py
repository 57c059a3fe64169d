# SPDX-License-Identifier: Apache-2.0
"""Memory that two processes share, and the giving out of pieces of it.

An :class:`Arena` has no name: nothing of it is left behind, however its processes end. It is
sparse: a page costs memory only once it was written to. Its first bytes are flags that either
side reads and writes without a system call; the rest is given out by the sender in extents
(:class:`Extents`), and an extent comes back when the receiver marks it as free there.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from bisect import bisect_left
from typing import NamedTuple

import numpy as np

from .wire import Fd

__all__ = ["BUDGET", "CONSUMED", "FREED", "HUNGRY", "PENDING", "STARVED", "Arena", "Extent",
           "Extents", "memory_bytes"]

# Words of the header, 8 bytes each. A word has one writer, except for HUNGRY, where a lost write
# costs a wait of milliseconds and nothing else.
CONSUMED = 0  # receiver: tasks taken so far
HUNGRY = 1    # receiver sets it when it waits, sender clears it when it has sent
STARVED = 2   # sender: waits for room
PENDING = 3   # sender: holds datapoints that it has not sent
BUDGET = 4    # sender: bytes it means to use in all

PAGE = 4096
_STATES = PAGE  # offset of the table of states, one byte for each extent
_MAX_EXTENTS = PAGE
_HEADER = _STATES + _MAX_EXTENTS
_USED, FREED = 1, 2


def memory_bytes() -> int:
    """Return the bytes of this machine's memory: no arena needs more, and sparse ones cost none."""
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        total = 1 << 33
    return max(1 << 26, total // PAGE * PAGE)


def _open_nameless(nbytes: int) -> Fd:
    """Open a file of ``nbytes`` that no directory lists."""
    try:
        fd = Fd(os.memfd_create("tfqueue_compat"))
    except (AttributeError, OSError):
        with tempfile.TemporaryFile(prefix="tfqueue_compat") as f:
            fd = Fd(os.dup(f.fileno()))
    os.ftruncate(fd.fd, nbytes)
    return fd


class Arena:
    """Nameless memory that a process shares with those it starts, by fork or by pickling.

    Args:
        nbytes: its size. Where the system refuses it, halves of it are tried, down to 1 MiB.

    Raises:
        OSError: where there is no shared memory at all.
    """

    def __init__(self, nbytes: int) -> None:
        while True:
            try:
                return self._attach(_open_nameless(nbytes), nbytes)
            except (OSError, ValueError) as e:
                nbytes = nbytes // 2 // PAGE * PAGE
                if nbytes < 1 << 20:
                    raise OSError(f"no shared memory: {e}") from e

    def _attach(self, fd: Fd, nbytes: int) -> None:
        self._fd, self.nbytes = fd, nbytes
        self._mmap = mmap.mmap(fd.fd, nbytes)
        self._cursors: dict[int, mmap.mmap] = {}
        self.bytes = np.frombuffer(self._mmap, np.uint8)
        self.address = self.bytes.ctypes.data
        self.words = memoryview(self._mmap)[:_STATES].cast("q")
        self.states = memoryview(self._mmap)[_STATES:_HEADER]

    def cursor(self, number: int, offset: int) -> mmap.mmap:
        """Return a file object on this memory, set to ``offset``.

        Its ``write`` is the fastest way in Python to copy a small array to where it belongs.

        Args:
            number: which one; each moves on its own.
            offset: bytes from the arena's start.
        """
        made = self._cursors.get(number)
        if made is None:
            made = self._cursors[number] = mmap.mmap(self._fd.fd, self.nbytes)
        made.seek(offset)
        return made

    def __getstate__(self) -> tuple[Fd, int]:
        return self._fd, self.nbytes

    def __setstate__(self, state: tuple[Fd, int]) -> None:
        self._attach(*state)


class Extent(NamedTuple):
    """A piece of an arena: the number of its state, its offset and size in bytes."""

    number: int
    offset: int
    nbytes: int


class Extents:
    """The sender's book of an arena: which pieces are given out, where the holes are.

    First fit from the low end, so that the same few pages are used again and again (they stay in
    the cache, and cost no page faults).

    Args:
        arena: the memory; this side is the only one to give out pieces of it.
    """

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._holes: list[tuple[int, int]] = [(_HEADER, arena.nbytes - _HEADER)]  # offset, size
        self._live: dict[int, Extent] = {}
        self._spare = list(range(_MAX_EXTENTS - 1, -1, -1))
        self.used = 0  # bytes
        self.capacity = arena.nbytes - _HEADER

    def reserve(self, nbytes: int, budget: int) -> Extent | None:
        """Give out a piece of at least ``nbytes``, in whole pages.

        Args:
            nbytes: size wanted.
            budget: bytes that may be given out at once, unless nothing else is.

        Returns:
            None where there is no room now.
        """
        size = max(PAGE, (nbytes + PAGE - 1) // PAGE * PAGE)
        self.reclaim()  # always, so that the low and warm pages are used again first
        if (self.used and self.used + size > budget) or not self._spare:
            return None
        found = self._cut(size)
        if found is None:
            return None
        extent = Extent(self._spare.pop(), found, size)
        self._live[extent.number] = extent
        self._arena.states[extent.number] = _USED
        self.used += size
        return extent

    def _cut(self, size: int) -> int | None:
        for i, (offset, room) in enumerate(self._holes):
            if room > size:
                self._holes[i] = (offset + size, room - size)
                return offset
            if room == size:
                del self._holes[i]
                return offset
        return None

    def reclaim(self) -> None:
        """Take back what the receiver has marked as free."""
        states = self._arena.states
        freed = [e for e in self._live.values() if states[e.number] == FREED]
        for e in freed:
            self.release(e)

    def release(self, extent: Extent) -> None:
        """Take back a piece that was not sent, or has come back."""
        del self._live[extent.number]
        self._arena.states[extent.number] = 0
        self._spare.append(extent.number)
        self.used -= extent.nbytes
        at = bisect_left(self._holes, (extent.offset, 0))
        offset, end = extent.offset, extent.offset + extent.nbytes
        if at < len(self._holes) and self._holes[at][0] == end:
            end += self._holes.pop(at)[1]
        if at and sum(self._holes[at - 1]) == offset:
            offset = self._holes.pop(at - 1)[0]
            at -= 1
        self._holes.insert(at, (offset, end - offset))
