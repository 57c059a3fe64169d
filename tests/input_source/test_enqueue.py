# SPDX-License-Identifier: Apache-2.0
"""EnqueueThread fills a TensorFlow queue that the user owns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import tensorflow as tf

from tfqueue_compat.dataflow import DataFlow, DataFromList
from tfqueue_compat.input_source import EnqueueThread

v1 = tf.compat.v1
LONG = 30  # seconds that nothing here should need


class Breaks(DataFlow):
    """Two datapoints, then an error."""

    def __iter__(self) -> Iterator[Any]:
        yield [1]
        yield [2]
        raise KeyError("third")


def queue_and_thread(df: DataFlow) -> tuple[Any, EnqueueThread]:
    queue = v1.FIFOQueue(3, [tf.int32], [()])
    return queue, EnqueueThread(queue, df, [v1.placeholder(tf.int32, ())])


def test_it_feeds_pass_after_pass_until_the_queue_is_closed() -> None:
    with tf.Graph().as_default():
        queue, thread = queue_and_thread(DataFromList([[i] for i in range(3)], shuffle=False))
        value, close = queue.dequeue(), queue.close(cancel_pending_enqueues=True)
        with v1.Session() as session:
            thread.start()
            assert [int(session.run(value)) for _ in range(7)] == [0, 1, 2, 0, 1, 2, 0]
            session.run(close)
            thread.join(LONG)
        assert not thread.is_alive() and thread.error is None


def test_an_error_closes_the_queue_and_is_kept() -> None:
    with tf.Graph().as_default():
        queue, thread = queue_and_thread(Breaks())
        value = queue.dequeue()
        with v1.Session() as session:
            thread.start()
            assert [int(session.run(value)) for _ in range(2)] == [1, 2]
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(value)
        assert isinstance(thread.error, KeyError)


def test_pause_holds_it_back_and_a_new_pass_can_be_asked_for() -> None:
    with tf.Graph().as_default():
        queue, thread = queue_and_thread(DataFromList([[i] for i in range(100)], shuffle=False))
        value, size = queue.dequeue(), queue.size()
        close = queue.close(cancel_pending_enqueues=True)
        with v1.Session() as session:
            thread.pause()
            thread.start()
            assert int(session.run(size)) == 0
            thread.resume()
            first = [int(session.run(value)) for _ in range(5)]
            thread.reinitialize_dataflow()
            rest = [int(session.run(value)) for _ in range(20)]
            assert first == [0, 1, 2, 3, 4]
            start = rest.index(0)  # what was queued before comes first, in order
            assert rest[:start] == list(range(5, 5 + start))
            assert rest[start:] == list(range(20 - start))
            session.run(close)
            thread.join(LONG)


def test_without_a_session_it_says_so() -> None:
    with tf.Graph().as_default():
        _, thread = queue_and_thread(Breaks())
        with pytest.raises(RuntimeError, match="default session"):
            thread.start()
