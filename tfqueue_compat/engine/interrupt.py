# SPDX-License-Identifier: Apache-2.0
"""Notices Ctrl-C while the main thread is deep inside TensorFlow.

Python handles a signal only when its main thread runs Python again; one that waits in
``session.run`` for data does not. The thread that it waits for can notice the signal and end the
wait. ``faulthandler`` is the one way to hear of a signal in C, from any thread, without taking
it from anybody else: its handler writes to a pipe and then calls the one that was there before.
A thread of ours reads the pipe, and asks the main thread for a sign of life: as long as none
comes, the signal waits to be handled.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import threading
import time
from typing import Any

__all__ = ["InterruptWatch"]

_GRACE = 0.05  # seconds in which a main thread that runs Python has handled the signal

_lock = threading.Lock()
_watchers = 0
_write_end: int | None = None
_waiting_since: float | None = None


class InterruptWatch:
    """Says whether SIGINT waits for a main thread that can't handle it; one for each stream."""

    def __init__(self) -> None:
        self._armed = False

    def arm(self) -> None:
        """Begin to listen; later calls change nothing."""
        if not self._armed:
            self._armed = True
            _listen()

    def fired(self) -> bool:
        """Whether SIGINT has arrived, is not handled yet, and somebody handles it in Python."""
        since = _waiting_since
        return (self._armed and since is not None and time.monotonic() - since > _GRACE
                and callable(signal.getsignal(signal.SIGINT)))

    def disarm(self) -> None:
        """Stop listening; later calls change nothing."""
        if self._armed:
            self._armed = False
            _leave()


def _listen() -> None:
    global _watchers
    with _lock:
        if _watchers == 0:
            faulthandler.register(signal.SIGINT, file=_pipe(), all_threads=False, chain=True)
        _watchers += 1


def _leave() -> None:
    global _watchers
    with _lock:
        if _watchers == 1:
            faulthandler.unregister(signal.SIGINT)
        _watchers = max(_watchers - 1, 0)


def _pipe() -> int:
    """The end that the signal is written to; its reader starts with the first stream, and stays."""
    global _write_end
    if _write_end is None:
        read_end, _write_end = os.pipe()
        os.set_blocking(_write_end, False)
        threading.Thread(target=_read, args=(read_end,), daemon=True,
                         name="tfqueue_compat Ctrl-C").start()
        os.register_at_fork(after_in_child=_forget)
    return _write_end


def _read(end: int) -> None:
    global _waiting_since
    while os.read(end, 1 << 16):
        _waiting_since = time.monotonic()
        # Run by the main thread, when it runs Python again: just after the signal's handler.
        ctypes.pythonapi.Py_AddPendingCall(_sign_of_life, None)


@ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
def _sign_of_life(_: Any) -> int:
    global _waiting_since
    _waiting_since = None
    return 0


def _forget() -> None:
    """A forked child does not write to its parent's pipe, and has no reader of its own."""
    global _lock, _watchers, _write_end, _waiting_since
    if _watchers:
        faulthandler.unregister(signal.SIGINT)
    _lock = threading.Lock()
    _watchers, _write_end, _waiting_since = 0, None, None
