# SPDX-License-Identifier: Apache-2.0
"""EnqueueThread: a dataflow fed into a TensorFlow queue of the user's own."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from ..dataflow.base import as_dataflow, ensure_reset
from ..dataflow.passes import EmptyPasses
from ..engine.signature import Signature
from ..utils.concurrency import ShareSessionThread
from ..utils.errors import say

__all__ = ["EnqueueThread"]


class EnqueueThread(ShareSessionThread):
    """Puts datapoints into a queue, again and again, until the queue is closed.

    tensorpack's QueueInput ran one. Ours does not: the engine's stream has its role. This is for
    code that keeps a TensorFlow queue of its own. Start it under a default session.

    Args:
        queue: a ``tf.queue.QueueBase`` of the current graph.
        ds: a DataFlow, or what can be made one.
        placehdrs: placeholders, one for each component, in order.

    Attributes:
        error: what ended the thread, if it was not the queue's end. The queue is closed then, so
            that nobody waits for it.
    """

    def __init__(self, queue: Any, ds: Any, placehdrs: Sequence[tf.Tensor]) -> None:
        super().__init__()
        self.name = f"EnqueueThread {queue.name}"
        self.daemon = True
        self.dataflow = as_dataflow(ds, asked_by="EnqueueThread")
        self.queue = queue
        self.placehdrs = list(placehdrs)
        self.error: BaseException | None = None
        self._signature = Signature.from_specs(self.placehdrs)
        self._op = queue.enqueue(self.placehdrs)
        self._close = queue.close(cancel_pending_enqueues=True)
        self._running = threading.Event()
        self._running.set()
        self._again = threading.Event()

    def start(self) -> None:
        """Start to feed.

        Raises:
            RuntimeError: without a default session.
        """
        if tf.compat.v1.get_default_session() is None:
            raise RuntimeError(say(
                "EnqueueThread", expected="to be started under a default session",
                received="none", do="Call start() under with session.as_default()."))
        super().start()

    def run(self) -> None:
        """Feed until the queue is closed, the session is, or the dataflow raises."""
        with self.default_sess() as session:
            try:
                self._feed(session)
            except (tf.errors.CancelledError, tf.errors.OutOfRangeError):
                pass  # the queue was closed
            except Exception as e:
                if not _closed(session):
                    self.error = e
                    session.run(self._close)

    def _feed(self, session: Any) -> None:
        ensure_reset(self.dataflow)
        passes = EmptyPasses()
        while True:
            count = 0
            self._again.clear()
            for datapoint in self.dataflow:
                self._running.wait()
                if self._again.is_set():
                    break
                session.run(self._op, dict(zip(self.placehdrs,
                                               self._signature.arrays(datapoint))))
                count += 1
            if passes.hopeless(count > 0 or self._again.is_set()):
                raise ValueError(say("EnqueueThread", expected="datapoints",
                                     received="passes without any", do="Give the dataflow data."))

    def pause(self) -> None:
        """Stop before the next datapoint."""
        self._running.clear()

    def resume(self) -> None:
        """Go on after ``pause``."""
        self._running.set()

    def reinitialize_dataflow(self) -> None:
        """Begin a new pass with the next datapoint."""
        self._again.set()


def _closed(session: Any) -> bool:
    return bool(getattr(session, "_closed", False))
