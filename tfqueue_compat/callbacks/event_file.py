# SPDX-License-Identifier: Apache-2.0
"""TensorBoard's event files: records of ``tf.Event``, written without a thread or a graph."""

from __future__ import annotations

import os
import socket
import time
from typing import Any

import tensorflow as tf

__all__ = ["EventFile"]

v1 = tf.compat.v1


class EventFile:
    """Writes events to ``events.out.tfevents.<time>.<host>`` in a directory.

    Args:
        logdir: the directory; made if missing.
        max_queue: events that may wait before they are flushed to the file.
        flush_secs: seconds that they may wait.
    """

    def __init__(self, logdir: str, max_queue: int = 10, flush_secs: float = 120) -> None:
        os.makedirs(logdir, exist_ok=True)
        self._max_queue, self._flush_secs = max_queue, flush_secs
        self._stem = os.path.join(logdir, f"events.out.tfevents.{int(time.time())}."
                                          f"{socket.gethostname()}")
        self._count = 0
        self._writer: Any = None
        self.path = ""
        self.open()

    def open(self) -> None:
        """Begin a file; after ``close`` another one."""
        self.path = self._stem
        while os.path.exists(self.path):
            self._count += 1
            self.path = f"{self._stem}.{self._count}"
        self._writer = tf.io.TFRecordWriter(self.path)
        self._waiting = 0
        self._flushed = time.monotonic()
        self.add(v1.Event(wall_time=time.time(), file_version="brain.Event:2"))
        self.flush()

    def add(self, event: Any) -> None:
        """Write an event."""
        self._writer.write(event.SerializeToString())
        self._waiting += 1
        if self._waiting > self._max_queue or \
                time.monotonic() - self._flushed > self._flush_secs:
            self.flush()

    def flush(self) -> None:
        """Make what was written readable to others."""
        self._writer.flush()
        self._waiting = 0
        self._flushed = time.monotonic()

    def close(self) -> None:
        """Close the file; later calls change nothing."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
