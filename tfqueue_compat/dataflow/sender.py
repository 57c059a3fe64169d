# SPDX-License-Identifier: Apache-2.0
"""The end of a channel where datapoints go in."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from .layout import Layout, describe, flatten
from .packing import (NOTHING, PICKLES_BYTES, Columns, Mixed, Pickles, Rows, column_offsets,
                      compact, pickled, span)
from .shm import BUDGET, CONSUMED, HUNGRY, PENDING, STARVED, Extent, Extents
from .transport import Closed, End, Signal
from .wire import Writer, aligned_empty, wait_readable

__all__ = ["HOLD", "Sender"]

CHUNK_BYTES = 1 << 22  # of arrays in a chunk of several datapoints
LARGE = 1 << 20        # bytes of a datapoint that travels alone
SMALL = 1 << 15        # bytes under which datapoints of changing shapes are pickled together
MAX_ROWS = 2048
STREAM_ROWS = 8        # a chunk this long is filled without locks
UNIT = 1 << 15         # bytes that count as one datapoint in the capacity
MAX_SHARE = 128        # small datapoints that count as one
MIN_BUDGET = 1 << 25
HOLD = 5e-4            # seconds
RETRY = 64             # datapoints to pickle before stacking is tried again


class Sender:
    """Sends datapoints, several in a chunk where they come fast.

    Args:
        channel: what to send through.
        rest: called while there is no room on the other side; returns after some milliseconds, or
            raises. By default it waits for the receiver.
        max_rows: datapoints in a chunk at most.
        hold: seconds; more often than this, a receiver that waits is not woken.
    """

    def __init__(self, channel: End, rest: Callable[[], None] | None = None,
                 max_rows: int = MAX_ROWS, hold: float = HOLD) -> None:
        arena = channel.arena
        self._arena, self._credit = arena, channel.credit
        self._extents = Extents(arena) if arena is not None else None
        self._words: Any = arena.words if arena is not None else [0, 1, 0, 0, 0]
        self._writer = Writer(channel.data, rest)
        self._rest = rest or self._wait_for_receiver
        self._lock = threading.RLock()
        self._capacity, self._limit_bytes = channel.capacity, channel.limit_bytes
        self._max_rows = max_rows
        # the receiver can only ask for what is held through shared memory
        self._hold = hold if arena is not None else 0.0
        self._limit = channel.capacity
        self._layout: Layout | None = None   # of the last chunk of columns
        self._grow = 1
        self._misses = self._plain = 0
        self._cursors_serve = True
        self._sent_layout: Layout | None = None
        self._open: Rows | Columns | Pickles | None = None
        self._extent: Extent | None = None   # its memory
        self._skips: list[int] = []          # positions in it of tasks without a datapoint
        self._sent = 0     # tasks sent
        self._credits = 0  # tasks taken, where there is no shared memory to read it from
        self._sent_at = 0.0
        self._streaming = 0  # 1 while a chunk is filled without locks
        self._budget = 0
        self._raise_budget(MIN_BUDGET)

    @property
    def holding(self) -> int:
        """Tasks done and not sent."""
        return (0 if self._open is None else self._open.n) + len(self._skips)

    def add(self, dp: Any) -> None:
        """Send a datapoint, now or together with the next ones.

        Raises:
            Closed: the receiver is gone.
        """
        with self._lock:
            if self._sent + self.holding - self._taken() >= self._limit:
                self._wait_for_credit()
            if not self._put(dp):
                self._start(dp)
            self._added()

    def feed(self, datapoints: Iterable[Any]) -> int:
        """Send all of them; return how many they were. The fastest way, for one thread.

        Raises:
            Closed: the receiver is gone.
        """
        n, iterator = 0, iter(datapoints)
        for dp in iterator:
            n += 1
            self.add(dp)
            held = self._open
            if isinstance(held, (Rows, Columns)) and held.capacity >= STREAM_ROWS:
                n += self._stream(iterator, held)
        return n

    def _stream(self, iterator: Iterator[Any], held: Rows | Columns) -> int:
        """Put datapoints into one chunk, without locks; return how many came.

        The other thread may send the chunk meanwhile.
        """
        self._words[PENDING] = self._streaming = 1
        try:
            came, left_over = held.fill(iterator, self._words, self._sent_at + self._hold)
        finally:
            self._streaming = 0
        with self._lock:
            if left_over is not NOTHING:
                self.add(left_over)
            else:
                self._added()
        return came

    def skip(self) -> None:
        """Let the receiver know of a task that gave no datapoint."""
        with self._lock:
            self._skips.append(self.holding)
            self._added()

    def _added(self) -> None:
        self._words[PENDING] = 1  # first this, then the look at HUNGRY: the receiver does it too
        if (self._words[HUNGRY] and time.monotonic() - self._sent_at >= self._hold) or (
                self._open is not None and self._open.full) or len(self._skips) >= MAX_ROWS:
            self.flush()

    def signal(self, name: str, value: Any = None) -> None:
        """Send what is held, and then a :class:`~.transport.Signal`; ``value`` is picklable."""
        with self._lock:
            self.flush()
            self._send(Signal(name, value))

    def flush(self) -> None:
        """Send what is held."""
        with self._lock:
            if not self.holding:
                return
            held, self._open = self._open, None
            if isinstance(held, Rows):
                self._send_rows(held)
            elif isinstance(held, Columns):
                self._send_columns(held)
            else:
                self._send_pickles(held)

    def _send_rows(self, held: Rows) -> None:
        rows = held.take()
        n = len(rows)
        block = self._allocate(column_offsets(held.layout, n)[1], flush=False)
        try:
            layout, lists = held.stack(rows, block)
        except Mixed as e:
            self._give_up_memory()
            self._repack(e.args[0])
            self._open = held  # the thread that fills it may be at it
            return
        held.capacity = self._rows_now(held.nbytes)
        self._open = held  # as above
        self._send_layout(n, n, layout, lists, block)

    def _send_columns(self, held: Columns) -> None:
        n, layout, lists = held.close()
        if self._extent is None:
            block = compact(layout, held.block, held.rows_in_block, n)
            self._send_layout(n, n, layout, lists, block)
        else:
            self._send_layout(n, held.rows_in_block, layout, lists, held.block)

    def _send_layout(self, n: int, rows: int, layout: Layout, lists: dict[int, list[Any]],
                     block: np.ndarray) -> None:
        new = None if layout is self._sent_layout else layout
        self._sent_layout = layout
        self._grow = min(MAX_ROWS, max(2 * n, self._grow))
        self._send_chunk(n, ("columns", n, self._take_skips(), new, rows, lists, self._extent),
                         None if self._extent is not None else block)

    def _send_pickles(self, held: Pickles | None) -> None:
        entries = held.entries if held is not None else []
        self._send_chunk(len(entries), ("pickles", self._take_skips(), entries, self._extent),
                         held.block if held is not None and self._extent is None else None)

    def _take_skips(self) -> tuple[int, ...]:
        skips, self._skips = tuple(self._skips), []
        return skips

    def _send_chunk(self, n: int, message: tuple[Any, ...], block: np.ndarray | None) -> None:
        self._extent = None
        self._sent += n + len(message[1 if message[0] == "pickles" else 2])
        self._sent_at = time.monotonic()
        self._words[PENDING] = self._streaming
        if self._arena is not None:
            self._words[HUNGRY] = 0  # before sending: it may be hungry again right after
        self._send(message, block)

    def _repack(self, rows: list[Any]) -> None:
        """Send datapoints that turned out to differ, pickled."""
        skips = self._take_skips()
        for i in range(len(rows) + len(skips)):
            if i in skips:
                self._skips.append(self.holding)
            else:
                self._add_pickled(rows.pop(0))
        self.flush()

    def _send(self, message: Any, payload: np.ndarray | None = None) -> None:
        try:
            self._writer.send(pickle.dumps(message, protocol=5), payload)
        except OSError as e:
            raise Closed("the receiver is gone") from e

    # what a chunk is made of

    def _put(self, dp: Any) -> bool:
        held = self._open
        if not isinstance(held, (Rows, Columns)):
            return False
        return not held.full and held.put(dp)

    def _start(self, dp: Any) -> None:
        """Open a chunk and put ``dp`` into it, or into the open one if that takes pickles."""
        if self._plain:
            self._plain -= 1
            return self._add_pickled(dp)
        if isinstance(self._open, Columns) and not self._open.suits_cursors:
            self._cursors_serve = False
        if self._open is not None:
            self.flush()
            self._open = None
        layout = describe(dp)
        nbytes = sum(leaf.nbytes for leaf in layout.leaves)
        if layout == self._layout:
            layout, self._misses = self._layout, 0
        else:
            self._misses += 1
            self._layout, self._grow, self._cursors_serve = layout, 1, True
        if any(leaf.kind == "object" for leaf in layout.leaves) or (
                self._misses > 3 and nbytes < SMALL):
            self._plain = RETRY
            return self._add_pickled(dp)
        self._open_columns(layout, nbytes + _text_bytes(dp, layout))
        held = self._open
        if not self._put(dp) and isinstance(held, Columns):  # it does not suit the cursors
            self._cursors_serve = False
            self._open = Columns(layout, held.block, held.rows_in_block)
            self._put(dp)

    def _open_columns(self, layout: Layout, nbytes: int) -> None:
        self._set_limit(nbytes)
        rows = self._rows_now(nbytes)
        self._raise_budget((self._limit + 4 * rows) * nbytes)
        if layout.flat and all(leaf.kind != "array" for leaf in layout.leaves):
            self._open = Rows(layout, rows, nbytes)
            return
        block = self._allocate(column_offsets(layout, rows)[1])
        extent, arena = self._extent, self._arena
        if extent is None or arena is None or rows == 1 or not self._cursors_serve:
            self._open = Columns(layout, block, rows)
        else:
            start = extent.offset
            self._open = Columns(layout, block, rows, lambda j, at: arena.cursor(j, start + at))

    def _rows_now(self, nbytes: int) -> int:
        """Return how many datapoints of ``nbytes`` the next chunk should take."""
        if nbytes >= LARGE:
            return 1
        room = self._limit - (self._sent - self._taken())
        return max(1, min(self._grow, self._max_rows, CHUNK_BYTES // max(1, nbytes),
                          self._limit // 2, room))

    def _add_pickled(self, dp: Any) -> None:
        data, raws = pickled(dp)
        held = self._open
        if not isinstance(held, Pickles) or held.full or (held.n and not held.fits(raws)):
            self.flush()
            held = Pickles()
            self._set_limit(len(data) + span(raws))
        if raws and held.block is None:
            size = span(raws)
            self._raise_budget((self._limit + 8) * size)
            held.block = self._allocate(size if size >= SMALL else PICKLES_BYTES)
        held.add(data, raws)
        self._open = held

    def _give_up_memory(self) -> None:
        if self._extent is not None and self._extents is not None:
            self._extents.release(self._extent)
        self._extent = None

    # room

    def _set_limit(self, nbytes: int) -> None:
        share = UNIT // max(1, nbytes)
        self._limit = self._capacity * max(1, min(share, MAX_SHARE))

    def _raise_budget(self, nbytes: int) -> None:
        nbytes = min(nbytes, self._limit_bytes)
        if nbytes > self._budget:
            self._budget = self._words[BUDGET] = nbytes

    def _taken(self) -> int:
        return self._words[CONSUMED] if self._arena is not None else self._credits

    def _wait_for_credit(self) -> None:
        self.flush()
        self._until(lambda: self._sent - self._taken() < self._limit)

    def _allocate(self, nbytes: int, flush: bool = True) -> np.ndarray:
        """Find memory for a chunk: shared, or private where sharing can never work out."""
        extents, arena = self._extents, self._arena
        if extents is not None and arena is not None and (
                nbytes <= min(extents.capacity, self._limit_bytes)):
            def found() -> bool:
                self._extent = extents.reserve(nbytes, self._budget)
                # all was taken, and yet there is no room: the receiver keeps it
                return self._extent is not None or self._taken() >= self._sent
            if not found():
                if flush:
                    self.flush()
                self._until(found)
            if self._extent is not None:
                start = self._extent.offset
                return arena.bytes[start:start + nbytes]
        return aligned_empty(nbytes)

    def _until(self, ready: Callable[[], bool]) -> None:
        while not ready():
            self._words[STARVED] = 1
            try:
                if ready():
                    return
                self._rest()
            finally:
                self._words[STARVED] = 0
            self.absorb_credit()

    def _wait_for_receiver(self) -> None:
        wait_readable([self._credit.fd], 0.05)

    def absorb_credit(self) -> None:
        """Read what the receiver wrote."""
        got = self._credit.drain()
        if got < 0:
            raise Closed("the receiver is gone")
        self._credits += got


def _text_bytes(dp: Any, layout: Layout) -> int:
    """Return the bytes of the strings in a datapoint."""
    if all(leaf.kind != "fixed" for leaf in layout.leaves):
        return 0
    leaves: list[Any] = []
    flatten(dp, layout.structure, leaves)
    return sum(len(x) for x in leaves if isinstance(x, (str, bytes)))
