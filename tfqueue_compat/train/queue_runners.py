# SPDX-License-Identifier: Apache-2.0
"""TF 1's queue runners, as ``tf.train.batch`` and ``range_input_producer`` leave them."""

from __future__ import annotations

import threading
from typing import Any

import tensorflow as tf

__all__ = ["QueueRunners"]

v1 = tf.compat.v1
_GRACE = 10.0  # seconds in which a thread ends once its queue is cancelled


class QueueRunners:
    """Runs the queue runners in a session's graph, until closed.

    Args:
        sess: the session, with its variables initialized.
    """

    def __init__(self, sess: Any) -> None:
        self._coordinator = v1.train.Coordinator(clean_stop_exception_types=[])
        self._threads: list[threading.Thread] = []
        for runner in sess.graph.get_collection(v1.GraphKeys.QUEUE_RUNNERS):
            self._threads += runner.create_threads(sess, coord=self._coordinator, daemon=True,
                                                   start=True)

    def raise_failure(self) -> None:
        """Raise what made a runner fail, if one did."""
        self._coordinator.raise_requested_exception()

    def close(self) -> None:
        """Cancel the queues and wait for the threads; call it while the session is open."""
        self._coordinator.request_stop()
        for thread in self._threads:
            thread.join(_GRACE)
