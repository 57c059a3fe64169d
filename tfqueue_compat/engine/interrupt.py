# SPDX-License-Identifier: Apache-2.0
"""Notices Ctrl-C while the main thread is deep inside TensorFlow.

Python handles a signal only when its main thread runs Python again; one that waits in
``session.run`` for data does not. The thread that it waits for can notice the signal and end the
wait. ``faulthandler`` is the one way to hear of a signal in C, from any thread, without taking
it from anybody else: its handler writes to a pipe and then calls the one that was there before.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import threading

__all__ = ["InterruptWatch"]

_lock = threading.Lock()
_watchers = 0
_pipe: tuple[int, int] | None = None
_seen = 0


class InterruptWatch:
    """Says whether SIGINT arrived since ``arm()``; cheap, shared by the whole process."""

    def __init__(self) -> None:
        self._from: int | None = None

    def arm(self) -> None:
        """Begin to listen; later calls change nothing."""
        if self._from is None:
            self._from = _listen()

    def fired(self) -> bool:
        """Whether SIGINT has arrived, and somebody handles it in Python."""
        return self._from is not None and _count() > self._from and callable(
            signal.getsignal(signal.SIGINT))

    def disarm(self) -> None:
        """Stop listening; later calls change nothing."""
        if self._from is not None:
            self._from = None
            _leave()


def _listen() -> int:
    global _watchers, _pipe
    with _lock:
        if _watchers == 0:
            _pipe = os.pipe()
            for end in _pipe:
                os.set_blocking(end, False)
            faulthandler.register(signal.SIGINT, file=_pipe[1], all_threads=False, chain=True)
        _watchers += 1
        return _seen


def _count() -> int:
    global _seen
    with _lock:
        if _pipe is not None:
            try:
                if os.read(_pipe[0], 1 << 16):
                    _seen += 1
            except BlockingIOError:
                pass
        return _seen


def _leave() -> None:
    global _watchers, _pipe
    with _lock:
        _watchers -= 1
        if _watchers == 0 and _pipe is not None:
            faulthandler.unregister(signal.SIGINT)
            for end in _pipe:
                os.close(end)
            _pipe = None
