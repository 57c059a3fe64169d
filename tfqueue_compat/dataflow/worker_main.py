# SPDX-License-Identifier: Apache-2.0
"""What runs in a worker process."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..utils.errors import say
from ..utils.pages import keep_pages
from .base import reset
from .passes import EmptyPasses
from .pickling import Payload, pack_error
from .receiver import Receiver
from .seeding import Seed, seed_this_worker
from .sender import Sender
from .transport import Closed, End
from .wire import Fd, wait_readable

__all__ = ["END", "ERROR", "Mapping", "Producing", "WorkerSpec", "main"]

END, ERROR = "end", "error"  # the last signal of a worker
GRACE = 0.2    # seconds for the worker to end by itself
STUCK = 3      # seconds without progress inside of TensorFlow
LOOK = 0.5     # seconds between two looks at the parent and at the main thread
PR_SET_PDEATHSIG = 1


class Producing(NamedTuple):
    """Iterate over a dataflow, once or again and again."""

    dataflow: Any
    endless: bool

    def run(self, sender: Sender, tasks: Receiver | None) -> None:
        """Send its datapoints until it ends or nobody wants more."""
        reset(self.dataflow)
        passes = EmptyPasses()
        while True:
            n = sender.feed(self.dataflow)
            if not self.endless:
                return
            if passes.hopeless(n > 0):
                raise ValueError(say(type(self.dataflow).__name__, expected="datapoints",
                                     received="passes without any", do="Check its source."))


class Mapping(NamedTuple):
    """Apply a function to each datapoint that comes; None is a datapoint to be left out.

    ``setup`` is called first, with no arguments, and returns the function.
    """

    setup: Callable[[], Callable[[Any], Any]]

    def run(self, sender: Sender, tasks: Receiver | None) -> None:
        """Work until no more tasks come."""
        func = self.setup()
        for dp in _arriving(tasks, sender):  # type: ignore[arg-type]
            result = func(dp)
            dp = None  # its memory is free from here on, unless the result views it
            if result is None:
                sender.skip()
            else:
                sender.add(result)


def _arriving(tasks: Receiver, sender: Sender) -> Iterator[Any]:
    while True:
        try:
            chunk = tasks.receive()
            if chunk is None:
                sender.flush()
                chunk = tasks.take(3600.0)
        except EOFError:
            return
        if chunk is not None:
            yield from chunk.datapoints()  # type: ignore[union-attr]
            chunk = None


class WorkerSpec(NamedTuple):
    """All that a worker is given; may be pickled while it is started."""

    job: Payload
    results: End
    tasks: End | None
    bell: Fd
    seed: Seed
    env: dict[str, str]
    hold: float                # seconds; see Sender
    not_mine: tuple[Any, ...]  # the parent's ends, inherited by fork
    parent: int
    forked: bool
    die_with_thread: bool      # whether the thread that starts it lives as long as the parent


def main(spec: WorkerSpec) -> None:
    """Run a worker to its end; whatever happens is told to the parent, and nothing is printed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    for end in spec.not_mine:
        end.close()
    if spec.die_with_thread:
        _die_with_parent()
    parent = os.getppid()
    if spec.forked and parent != spec.parent:
        os._exit(0)
    sender = Sender(spec.results, hold=spec.hold)
    threading.Thread(target=_listen, args=(spec.bell, sender, parent, spec.forked), daemon=True,
                     name="worker-listener").start()
    try:
        keep_pages()  # the parent's TensorFlow may have ended that
        os.environ.update(spec.env)
        seed_this_worker(spec.seed)
        job = spec.job.load()
        job.run(sender, None if spec.tasks is None else Receiver(spec.tasks))
        sender.signal(END)
    except Closed:
        pass
    except BaseException as e:
        _tell(sender, e)


def _tell(sender: Sender, e: BaseException) -> None:
    if isinstance(e, SystemExit):
        told: BaseException = RuntimeError(say("a worker", expected="to run on",
                                               received=f"sys.exit({e.code!r})",
                                               do="Raise an error in dataflows instead."))
        told.__cause__ = e
        e = told
    try:
        sender.signal(ERROR, pack_error(e))
    except Closed:
        pass


def _die_with_parent() -> None:
    """Have the system kill this process when the thread that started it ends (Linux only)."""
    if not sys.platform.startswith("linux"):
        return
    try:
        import ctypes
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass  # the listener sees it too


def _listen(bell: Fd, sender: Sender, parent: int, forked: bool) -> None:
    """Send what is held when the parent rings; end with the parent, however it ends.

    Runs in a thread of its own, as the worker's main thread is in the user's code.
    """
    watch = _TensorFlowWatch() if forked and "tensorflow" in sys.modules else None
    while True:
        if wait_readable([bell.fd], LOOK):
            if bell.drain() < 0:
                time.sleep(GRACE)
                os._exit(0)
            if sender.holding:
                try:
                    sender.flush()
                except Closed:
                    pass  # the bell will end
        if os.getppid() != parent:
            os._exit(0)
        if watch is not None and watch.stuck():
            _tell(sender, watch.error())
            os._exit(0)


class _TensorFlowWatch:
    """Notices that the main thread waits for TensorFlow's threads, which fork did not bring along.

    Small operations of TensorFlow work in a forked process, larger ones wait for ever.
    """

    def __init__(self) -> None:
        self._home = os.path.dirname(sys.modules["tensorflow"].__file__ or "tensorflow")
        self._main = threading.main_thread().ident
        self._last: tuple[int, int] | None = None
        self._cpu = self._since = 0.0

    def stuck(self) -> bool:
        """Whether the main thread has not moved within TensorFlow, nor used the processor."""
        frame = sys._current_frames().get(self._main or 0)
        now, cpu = time.monotonic(), time.process_time()
        at = None
        if frame is not None:
            name = frame.f_code.co_filename
            inside = name.startswith(self._home)
            if inside and os.sep + "lib" + os.sep not in name[len(self._home):]:  # not: files
                at = (id(frame), frame.f_lasti)
        if at is None or at != self._last or cpu - self._cpu > 0.1 * (now - self._since) + 0.05:
            self._last, self._cpu, self._since = at, cpu, now
            return False
        return now - self._since > STUCK

    def error(self) -> RuntimeError:
        """Return what to tell the user."""
        return RuntimeError(say(
            "TensorFlow in a worker process", expected="no TensorFlow computation in a worker that "
            "was forked after TensorFlow had been used", received=f"one that waits since {STUCK} s "
            "for threads that a fork does not copy", do="Start the workers (reset_state()) before "
            "using TensorFlow, or use NumPy there, or start_method 'spawn': "
            "multiprocessing.set_start_method('spawn')."))
