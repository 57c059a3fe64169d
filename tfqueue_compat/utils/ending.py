# SPDX-License-Identifier: Apache-2.0
"""Daemon threads at a program's end."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable

__all__ = ["end_at_exit"]

_GRACE = 5.0  # seconds, for all threads together

_stops: weakref.WeakKeyDictionary[threading.Thread, weakref.WeakMethod[Callable[[], object]]] = (
    weakref.WeakKeyDictionary())
_registered = False


def end_at_exit(thread: threading.Thread, stop: Callable[[], object]) -> None:
    """When the program ends, ask a daemon thread to stop, and give it some seconds to do so.

    Python ends a daemon thread wherever it is at exit; inside a C++ function, as of OpenCV, that
    aborts the program.

    Args:
        thread: a daemon thread.
        stop: a bound method that asks it to stop; its object is not kept alive.
    """
    global _registered
    _stops[thread] = weakref.WeakMethod(stop)
    if not _registered:
        _registered = True
        atexit.register(_end_all)
        os.register_at_fork(after_in_child=_stops.clear)  # a child has none of these threads


def _end_all() -> None:
    for reference in list(_stops.values()):
        stop = reference()
        if stop is not None:
            stop()
    end = time.monotonic() + _GRACE
    for thread in list(_stops):
        while thread.is_alive() and not _waits(thread) and time.monotonic() < end:
            thread.join(0.05)


def _waits(thread: threading.Thread) -> bool:
    """Whether a thread waits for another in Python: it may never end, and does no harm."""
    frame = sys._current_frames().get(thread.ident or 0)
    return frame is not None and frame.f_code.co_filename == threading.__file__
