# SPDX-License-Identifier: Apache-2.0
"""One direction between two processes: from a :class:`~.sender.Sender` to a Receiver.

Arrays travel through shared memory (:mod:`.shm`), written once and read in place; a pipe carries
only what says where they are. Many small datapoints travel as one chunk; the sender sends what it
holds as soon as the receiver waits, so nothing is held back. Where there is no shared memory, or
no room in it that will ever come free, the bytes follow on the pipe.

Flow control counts datapoints that were sent and not taken yet. One below 32 KiB counts for its
share of that, as with a socket's buffers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..utils.argtools import log_once
from .shm import Arena, memory_bytes
from .wire import Fd, pipe

__all__ = ["Closed", "End", "Signal", "channel"]


class Closed(Exception):
    """The other side is gone or wants no more."""


class Signal(NamedTuple):
    """A message that is no chunk: ``name`` says which, ``value`` is what came with it."""

    name: str
    value: Any = None


class End(NamedTuple):
    """One end of a channel; may be pickled while a process is started."""

    arena: Arena | None
    data: Fd
    credit: Fd
    capacity: int
    limit_bytes: int

    def close(self) -> None:
        """Close its pipes."""
        self.data.close()
        self.credit.close()


def channel(capacity: int, share: int = 1) -> tuple[End, End]:
    """Make a channel: return the sender's end and the receiver's.

    Args:
        capacity: datapoints on the way at most.
        share: how many channels share a quarter of the machine's memory.
    """
    total = memory_bytes()
    try:
        arena = Arena(total)
    except OSError as e:
        arena = None
        log_once(f"Workers send their data through pipes, which is slower: {e}", "warning")
    data_r, data_w = pipe(wide=True)
    credit_r, credit_w = pipe()
    limits = max(1, int(capacity)), max(1 << 20, total // 4 // max(1, share))
    return End(arena, data_w, credit_r, *limits), End(arena, data_r, credit_w, *limits)
