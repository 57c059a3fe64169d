# SPDX-License-Identifier: Apache-2.0
"""Threads and processes that can be stopped, and that don't stay behind."""

from __future__ import annotations

import atexit
import ctypes
import multiprocessing as mp
import os
import queue
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from . import logger
from .errors import say

__all__ = ["LoopThread", "ShareSessionThread", "StoppableThread", "ensure_proc_terminate",
           "start_proc_mask_signal"]

_POLL = 0.1  # seconds between two looks at the stop event


class StoppableThread(threading.Thread):
    """A thread that can be asked to stop.

    Args:
        evt: the event that says so; by default its own.
    """

    def __init__(self, evt: threading.Event | None = None) -> None:
        super().__init__()
        self._stop_evt = threading.Event() if evt is None else evt

    def stop(self) -> None:
        """Ask the thread to stop."""
        self._stop_evt.set()

    def stopped(self) -> bool:
        """Tell whether it was asked to stop."""
        return self._stop_evt.is_set()

    def queue_put_stoppable(self, q: Any, obj: Any) -> None:
        """Put ``obj`` on a queue; give up when asked to stop."""
        while not self.stopped():
            try:
                q.put(obj, timeout=_POLL)
                return
            except queue.Full:
                pass

    def queue_get_stoppable(self, q: Any) -> Any:
        """Take an object off a queue; give up, with None, when asked to stop."""
        while not self.stopped():
            try:
                return q.get(timeout=_POLL)
            except queue.Empty:
                pass
        return None


class LoopThread(StoppableThread):
    """A daemon thread that calls a function again and again.

    Args:
        func: the function.
        pausable: whether ``pause()`` and ``resume()`` work.
    """

    def __init__(self, func: Callable[[], Any], pausable: bool = True) -> None:
        super().__init__()
        self._func = func
        self._pausable = pausable
        self._go = threading.Event()
        self._go.set()
        self.daemon = True

    def run(self) -> None:
        """Call the function until stopped."""
        while not self.stopped():
            if self._go.wait(_POLL):
                self._func()

    def _check_pausable(self) -> None:
        if not self._pausable:
            raise RuntimeError(say("LoopThread", expected="pausable=True", received="False",
                                   do="Make it with pausable=True."))

    def pause(self) -> None:
        """Stop calling, after the call that is running."""
        self._check_pausable()
        self._go.clear()

    def resume(self) -> None:
        """Go on calling."""
        self._check_pausable()
        self._go.set()


class ShareSessionThread(threading.Thread):
    """A thread in which the starter's default TensorFlow session, and its graph, are default.

    Args:
        th: a thread whose ``run`` to run; by default this one's own target.
    """

    def __init__(self, th: threading.Thread | None = None) -> None:
        super().__init__()
        self._sess: Any = None
        self._th = th
        if th is not None:
            self.name = th.name
            self.daemon = th.daemon

    @contextmanager
    def default_sess(self) -> Iterator[Any]:
        """Enter the session; yields it, or None where the starter had none."""
        with ExitStack() as stack:
            if self._sess is not None:
                stack.enter_context(self._sess.graph.as_default())
                stack.enter_context(self._sess.as_default())
            else:
                logger.warning("ShareSessionThread %s wasn't under a default session!", self.name)
            yield self._sess

    def start(self) -> None:
        """Remember the default session, and start."""
        tf = sys.modules.get("tensorflow")  # without it there is no session
        self._sess = tf.compat.v1.get_default_session() if tf is not None else None
        super().start()

    def run(self) -> None:
        """Run in the session."""
        with self.default_sess():
            if self._th is None:
                super().run()
            else:
                self._th.run()


class DIE:
    """What is put on a queue to say that nothing more will come."""


class OrderedContainer:
    """Hand out numbered objects in the order of their numbers, whatever order they come in.

    Args:
        start: the first number.
    """

    def __init__(self, start: int = 0) -> None:
        self.next_rank = start
        self._waiting: dict[int, Any] = {}

    def put(self, rank: int, val: Any) -> None:
        """Take the object of a number."""
        if rank < self.next_rank or rank in self._waiting:
            raise ValueError(say("OrderedContainer", expected="each number once",
                                 received=f"{rank} again", do="Number the objects anew."))
        self._waiting[rank] = val

    def has_next(self) -> bool:
        """Tell whether the next object is there."""
        return self.next_rank in self._waiting

    def get(self) -> tuple[int, Any]:
        """Return the next number and its object.

        Raises:
            RuntimeError: where it is not there yet.
        """
        if not self.has_next():
            raise RuntimeError(say("OrderedContainer", expected=f"object {self.next_rank}",
                                   received="not there yet", do="Ask has_next() first."))
        rank = self.next_rank
        self.next_rank += 1
        return rank, self._waiting.pop(rank)


class OrderedResultGatherProc(mp.Process):
    """A process that takes (number, object) pairs off a queue and hands them out in order.

    Args:
        data_queue: a ``multiprocessing.Queue`` of pairs, or of :class:`DIE` in place of a number.
        nr_producer: it ends after so many ``DIE``.
        start: the first number.
    """

    def __init__(self, data_queue: Any, nr_producer: int, start: int = 0) -> None:
        super().__init__()
        self.data_queue = data_queue
        self.ordered_container = OrderedContainer(start=start)
        self.result_queue: Any = mp.Queue()
        self.nr_producer = nr_producer

    def run(self) -> None:
        """Sort until all producers are done."""
        finished = 0
        while finished < self.nr_producer:
            rank, val = self.data_queue.get()
            if rank == DIE:
                finished += 1
                continue
            self.ordered_container.put(rank, val)
            while self.ordered_container.has_next():
                self.result_queue.put(self.ordered_container.get())
        self.result_queue.put((DIE, None))

    def get(self) -> Any:
        """Return the next (number, object), at the end ``(DIE, None)``."""
        return self.result_queue.get()


def _as_list(proc: Any) -> list[Any]:
    return list(proc) if isinstance(proc, Iterable) else [proc]


def _end(ref: weakref.ref[Any]) -> None:
    proc = ref()
    if proc is not None and proc.is_alive():
        proc.terminate()
        proc.join()


def ensure_proc_terminate(proc: Any) -> None:
    """Terminate a process, or several, when this program ends.

    Args:
        proc: a ``multiprocessing.Process`` or a list of them.
    """
    for p in _as_list(proc):
        atexit.register(_end, weakref.ref(p))


def enable_death_signal(_warn: bool = True) -> None:
    """Let the kernel end this process when its parent dies (Linux only).

    Args:
        _warn: warn where that is not possible.
    """
    if not sys.platform.startswith("linux"):
        if _warn:
            logger.warning("enable_death_signal works on Linux only: a killed parent may leave "
                           "processes behind.")
        return
    set_parent_death_signal = 1
    under_nohup = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    death = signal.SIGTERM if under_nohup else signal.SIGHUP
    ctypes.CDLL(None, use_errno=True).prctl(set_parent_death_signal, death)
    parent = mp.parent_process()
    if parent is not None and not parent.is_alive():  # it died before: no signal will come
        os.kill(os.getpid(), death)


def is_main_thread() -> bool:
    """Tell whether this is the program's main thread."""
    return threading.current_thread() is threading.main_thread()


@contextmanager
def mask_sigint() -> Iterator[bool]:
    """Ignore Ctrl-C in the block; yields False, and does nothing, outside the main thread."""
    if not is_main_thread():
        yield False
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield True
    finally:
        signal.signal(signal.SIGINT, before)


def start_proc_mask_signal(proc: Any) -> None:
    """Start a process, or several, that ignore Ctrl-C.

    Args:
        proc: a ``multiprocessing.Process`` or a list of them.
    """
    with mask_sigint():
        for p in _as_list(proc):
            p.start()


def subproc_call(cmd: str, timeout: float | None = None) -> tuple[bytes, int]:
    """Run a shell command.

    Args:
        cmd: the command line.
        timeout: seconds to wait for it.

    Returns:
        Its output, stdout and stderr together, and its exit status; -1 for a timeout.
    """
    try:
        done = subprocess.run(cmd, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=timeout)
    except subprocess.TimeoutExpired as e:
        logger.warning("Command %r timed out after %s seconds", cmd, timeout)
        return e.output or b"", -1
    if done.returncode:
        logger.warning("Command %r failed, exit status %d", cmd, done.returncode)
    return done.stdout, done.returncode
