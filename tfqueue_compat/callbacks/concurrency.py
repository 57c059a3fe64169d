# SPDX-License-Identifier: Apache-2.0
"""Threads and processes that run beside a training."""

from __future__ import annotations

import multiprocessing as mp
import threading
from collections.abc import Sequence
from typing import Any

from ..engine.hooks import Callback
from ..utils import logger
from ..utils.concurrency import StoppableThread, start_proc_mask_signal
from ..utils.errors import say

__all__ = ["StartProcOrThread"]

_PATIENCE = 5.0  # seconds for something to end, once it was asked to


class StartProcOrThread(Callback):
    """Starts threads or processes before training, and ends them after it.

    Args:
        startable: something with a ``start()`` method, or a list of such.
        stop_at_last: end them after training: a process by ``terminate()``, a
            ``StoppableThread`` by ``stop()``. Anything else can't be ended, and is left alone.
    """

    _chief_only = False

    def __init__(self, startable: Any, stop_at_last: bool = True) -> None:
        self._procs_threads: Sequence[Any] = (
            list(startable) if isinstance(startable, (list, tuple)) else [startable])
        for one in self._procs_threads:
            if not callable(getattr(one, "start", None)):
                raise TypeError(say("StartProcOrThread", expected="an object with start()",
                                    received=f"{type(one).__name__} {one!r}",
                                    do="Pass a process or a thread that is not started yet."))
        self._stop_at_last = stop_at_last
        self._running: list[Any] = []

    def _before_train(self) -> None:
        for one in self._procs_threads:
            logger.info("Starting %s ...", getattr(one, "name", type(one).__name__))
            if isinstance(one, mp.process.BaseProcess):
                start_proc_mask_signal(one)
            else:
                one.start()
            self._running.append(one)

    def _after_train(self) -> None:
        running, self._running = self._running, []
        if not self._stop_at_last:
            return
        ended = [one for one in running if _ask_to_end(one)]
        for one in ended:
            one.join(_PATIENCE)
            if one.is_alive():
                logger.warning("%s did not end in %g seconds.", one.name, _PATIENCE)


def _ask_to_end(one: Any) -> bool:
    """Ask a process or thread to end; False where it can't be asked."""
    if isinstance(one, mp.process.BaseProcess):
        one.terminate()
    elif isinstance(one, StoppableThread):
        one.stop()
    else:
        return False
    return one is not threading.current_thread()
