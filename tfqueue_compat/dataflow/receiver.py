# SPDX-License-Identifier: Apache-2.0
"""The end of a channel where datapoints come out."""

from __future__ import annotations

import os
import pickle
import time
from functools import partial
from typing import Any

import numpy as np

from .chunk import Chunk, Lease
from .shm import BUDGET, CONSUMED, FREED, HUNGRY, PENDING, STARVED, Arena, Extent
from .transport import End, Signal
from .wire import Fd, Reader, wait_readable

__all__ = ["PATIENCE", "Receiver"]

PATIENCE = 2e-3  # seconds in which a sender should have answered to hunger by itself


class Receiver:
    """Receives chunks. One thread at a time.

    Args:
        channel: what to receive from.
        bell: a pipe that makes the sender send what it holds, where it can't look by itself.
    """

    def __init__(self, channel: End, bell: Fd | None = None) -> None:
        self._arena, self._credit, self._bell = channel.arena, channel.credit, bell
        self._reader = Reader(channel.data)
        self._layout: Any = None  # of the last columns
        self._pinned: dict[int, int] = {}  # extents that the user has not let go: their bytes
        self._taken = 0
        self._pid = os.getpid()

    @property
    def fd(self) -> int:
        """To wait on: readable when something arrives."""
        return self._reader.fd.fd

    def receive(self) -> Chunk | Signal | None:
        """Return what has arrived, None if nothing has.

        Raises:
            EOFError: the sender is gone, and everything it sent was returned.
        """
        got = self._reader.read()
        if got is None:
            return None
        message = pickle.loads(got[0])
        if isinstance(message, Signal):
            return message
        chunk = self._chunk(message, got[1])
        self._taken += chunk.n + len(chunk.skips)
        if self._arena is None:
            self._credit.nudge(chunk.n + len(chunk.skips))
        else:
            self._arena.words[CONSUMED] = self._taken
            if self._arena.words[STARVED]:
                self._credit.nudge()
        return chunk

    def hunger(self) -> None:
        """Tell the sender that this side is about to wait."""
        if self._arena is not None:
            self._arena.words[HUNGRY] = 1

    def ring(self) -> None:
        """Have the sender send what it holds, even if it is busy with making the next."""
        if self._arena is not None and self._arena.words[PENDING] and self._bell is not None:
            self._bell.nudge()

    def take(self, timeout: float, *also: int) -> Chunk | Signal | None:
        """Return what arrives within ``timeout`` seconds.

        Args:
            timeout: seconds.
            also: further file descriptors that end the wait.

        Raises:
            EOFError: the sender is gone.
        """
        end = time.monotonic() + timeout
        patience = PATIENCE
        while True:
            got = self.receive()
            left = end - time.monotonic()
            if got is not None or left <= 0:
                return got
            self.hunger()
            ready = wait_readable([self.fd, *also], min(left, patience))
            if any(fd in ready for fd in also):
                return self.receive()
            if not ready:
                self.ring()
                patience = min(1.0, 8 * patience)

    def _chunk(self, message: tuple[Any, ...], payload: np.ndarray | None) -> Chunk:
        kind, *rest, extent = message
        block: Any = payload
        private = True
        if extent is not None and self._arena is not None:
            block, private = self._lend(self._arena, extent)
        if kind == "pickles":
            skips, entries = rest
            return Chunk.of_pickles(skips, entries, block, private)
        n, skips, layout, capacity, lists = rest
        self._layout = layout or self._layout
        return Chunk.of_columns(n, skips, self._layout, capacity, lists, block, private)

    def _lend(self, arena: Arena, extent: Extent) -> tuple[np.ndarray, bool]:
        """Return an extent's memory, and whether the user may keep views of it."""
        pinned = sum(list(self._pinned.values())) + extent.nbytes
        self._pinned[extent.number] = extent.nbytes
        lease = Lease(arena.address + extent.offset, extent.nbytes,
                      partial(self._give_back, arena, extent.number), arena)
        return np.asarray(lease), pinned <= arena.words[BUDGET] // 2

    def _give_back(self, arena: Arena, number: int) -> None:
        if os.getpid() != self._pid:  # a copy of the array in a forked process
            return
        self._pinned.pop(number, None)
        arena.states[number] = FREED
        if arena.words[STARVED]:
            self._credit.nudge()
