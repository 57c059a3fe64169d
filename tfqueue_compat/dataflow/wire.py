# SPDX-License-Identifier: Apache-2.0
"""Messages over a pipe, of which neither end ever blocks for longer than it was told to.

A message is a short head (bytes) and, where there is no shared memory for it, a payload.
"""

from __future__ import annotations

import fcntl
import os
import select
import struct
from collections.abc import Callable
from multiprocessing import reduction
from typing import Any

import numpy as np

__all__ = ["Fd", "Reader", "Writer", "aligned_empty", "pipe", "wait_readable"]

_FRAME = struct.Struct("<QQ")  # bytes of the head, bytes of the payload
_READ = 1 << 16
_WIDE = 1 << 18  # bytes in a pipe for data, where the system allows it
ALIGN = 64


class Fd:
    """A file descriptor that is closed once, and that may be pickled while a process is started."""

    __slots__ = ("fd",)

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def __reduce__(self) -> tuple[Any, tuple[Any]]:
        return _arrive, (reduction.DupFd(self.fd),)

    def __del__(self) -> None:
        self.close()

    def close(self, _close: Callable[[int], None] = os.close) -> None:
        """Close it, if it is open."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            _close(fd)  # a default argument, as it may run when modules are gone

    def nudge(self, count: int = 1) -> None:
        """Write ``count`` bytes, to wake who reads; a full or closed pipe is no error."""
        try:
            os.write(self.fd, b"\0" * count)
        except OSError:
            pass

    def drain(self) -> int:
        """Read away what nudges left: return how many bytes, -1 where the other end is closed."""
        total = 0
        try:
            while got := len(os.read(self.fd, _READ)):
                total += got
                if got < _READ:
                    return total
            return total or -1
        except BlockingIOError:
            return total


def _arrive(dup: Any) -> Fd:
    return Fd(dup.detach())


def pipe(wide: bool = False) -> tuple[Fd, Fd]:
    """Return the reading and the writing end of a new pipe; no call on them blocks."""
    r, w = os.pipe()
    os.set_blocking(r, False)
    os.set_blocking(w, False)
    if wide:
        try:
            fcntl.fcntl(w, fcntl.F_SETPIPE_SZ, _WIDE)
        except (AttributeError, OSError):  # Linux only, and limited per user
            pass
    return Fd(r), Fd(w)


def wait_readable(fds: list[int], timeout: float) -> list[int]:
    """Return those of ``fds`` that have something to read or are at their end.

    Args:
        fds: open file descriptors.
        timeout: seconds to wait at most.
    """
    poller = select.poll()
    for fd in fds:
        poller.register(fd, select.POLLIN)
    return [fd for fd, _ in poller.poll(max(0, int(timeout * 1000 + 0.5)))]


def aligned_empty(nbytes: int) -> np.ndarray:
    """Return ``nbytes`` of private memory, uint8, starting at a multiple of 64 bytes."""
    raw = np.empty(nbytes + ALIGN, np.uint8)
    start = -raw.ctypes.data % ALIGN
    return raw[start:start + nbytes]


class Writer:
    """The sending end.

    Args:
        fd: the writing end of a pipe.
        wait: called while the pipe is full; returns after a while, or raises.
    """

    def __init__(self, fd: Fd, wait: Callable[[], None] | None = None) -> None:
        self.fd = fd
        self.wait = wait or self._wait_writable

    def _wait_writable(self) -> None:
        poller = select.poll()
        poller.register(self.fd.fd, select.POLLOUT)
        poller.poll(1000)

    def send(self, head: bytes, payload: np.ndarray | None = None) -> None:
        """Send a message.

        Raises:
            BrokenPipeError: nobody reads any more.
        """
        size = 0 if payload is None else payload.nbytes
        self._write(memoryview(_FRAME.pack(len(head), size) + head))
        if payload is not None and size:
            self._write(payload.data)

    def _write(self, data: memoryview) -> None:
        while len(data):
            try:
                data = data[os.write(self.fd.fd, data):]
            except BlockingIOError:
                self.wait()


class Reader:
    """The receiving end.

    Args:
        fd: the reading end of a pipe.
    """

    def __init__(self, fd: Fd) -> None:
        self.fd = fd
        self._buffer = bytearray()
        self._payload: np.ndarray | None = None  # of the message that is arriving
        self._filled = 0

    def read(self) -> tuple[bytes, np.ndarray | None] | None:
        """Return the next message, or None if it has not arrived in full.

        Raises:
            EOFError: the sender is gone, and nothing complete is left.
        """
        while True:
            message = self._parse()
            if message is not None:
                return message
            try:
                if not self._fill():
                    raise EOFError
            except BlockingIOError:
                return None

    def _fill(self) -> int:
        if self._payload is None:
            data = os.read(self.fd.fd, _READ)
            self._buffer += data
            return len(data)
        got = os.readv(self.fd.fd, [self._payload.data[self._filled:]])
        self._filled += got
        return got

    def _parse(self) -> tuple[bytes, np.ndarray | None] | None:
        if len(self._buffer) < _FRAME.size:
            return None
        head, size = _FRAME.unpack_from(self._buffer)
        end = _FRAME.size + head
        if len(self._buffer) < end:
            return None
        if size and self._payload is None:
            self._payload = aligned_empty(size)
            early = self._buffer[end:end + size]
            self._payload[:len(early)] = np.frombuffer(early, np.uint8)
            self._filled = len(early)
            del self._buffer[end:end + len(early)]
        if self._payload is not None and self._filled < size:
            return None
        message = bytes(self._buffer[_FRAME.size:end]), self._payload
        del self._buffer[:end]
        self._payload = None
        return message
