# SPDX-License-Identifier: Apache-2.0
"""How it is consumed: each way is a ``take(n)`` that consumes about ``n`` datapoints."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from .alternatives import open_input
from .producers import Kind

__all__ = ["BATCH", "WAYS", "Take", "corner", "opened"]

BATCH = 128

# consumes at least n datapoints; returns how many, and the last one's data and label
Take = Callable[[int], tuple[int, Any, Any]]


@contextlib.contextmanager
def _session(source: Any) -> Iterator[Take]:
    """One ``sess.run`` a datapoint, which is fetched."""
    with _runs(source, list) as take:
        yield take


@contextlib.contextmanager
def _step(source: Any) -> Iterator[Take]:
    """One ``sess.run`` a datapoint, which is used in the graph, as a training step uses it."""
    with _runs(source, lambda tensors: [corner(x) for x in tensors]) as take:
        yield take


@contextlib.contextmanager
def _runs(source: Any, fetched: Callable[[Any], list[Any]]) -> Iterator[Take]:
    import tensorflow as tf
    with tf.Graph().as_default():
        source.build()
        fetches = fetched(source.tensors())
        with tf.compat.v1.Session() as sess:
            sess.run(tf.compat.v1.global_variables_initializer())
            source.start(sess)

            def take(n: int) -> tuple[int, Any, Any]:
                run = sess.run
                for _ in range(n):
                    data, label = run(fetches)
                return n, data, label

            yield take


@contextlib.contextmanager
def _batchqueue(source: Any) -> Iterator[Take]:
    """One ``sess.run`` a batch of 128."""
    with _session(source) as each:
        def take(n: int) -> tuple[int, Any, Any]:
            runs, data, label = each(-(-n // BATCH))
            return runs * BATCH, data[-1], label[-1]

        yield take


def corner(x: Any) -> Any:
    """Return the first number of a tensor: a use of it that costs nothing."""
    import tensorflow as tf
    return x if x.shape.rank == 0 else tf.reshape(x, [-1])[0]


@contextlib.contextmanager
def _loop(source: Any) -> Iterator[Take]:
    """n datapoints in one ``sess.run``, by a while_loop in a v1 graph."""
    import tensorflow as tf
    with tf.Graph().as_default():
        source.build()
        count = tf.compat.v1.placeholder(tf.int32, [])

        def body(i: Any, data: Any, label: Any) -> tuple[Any, Any, Any]:
            x, y = source.tensors()
            return i + 1, tf.cast(corner(x), tf.float32), tf.cast(corner(y), tf.int32)

        end = tf.while_loop(lambda i, data, label: i < count, body,
                            [tf.constant(0), tf.constant(0.), tf.constant(0)],
                            parallel_iterations=1)
        with tf.compat.v1.Session() as sess:
            sess.run(tf.compat.v1.global_variables_initializer())
            source.start(sess)

            def take(n: int) -> tuple[int, Any, Any]:
                done, data, label = sess.run(end, {count: n})
                return int(done), data, label

            yield take


@contextlib.contextmanager
def _function(source: Any) -> Iterator[Take]:
    """n datapoints in one call of a ``tf.function``."""
    import tensorflow as tf
    iterator = iter(source.dataset())

    @tf.function
    def run(it: Any, n: Any) -> Any:
        data, label = tf.constant(0.), tf.constant(0)
        for _ in tf.range(n):
            x, y = next(it)
            data, label = tf.cast(corner(x), tf.float32), tf.cast(corner(y), tf.int32)
        return data, label

    def take(n: int) -> tuple[int, Any, Any]:
        data, label = run(iterator, tf.constant(n))
        return n, data.numpy(), label.numpy()

    yield take


@contextlib.contextmanager
def _eager(source: Any) -> Iterator[Take]:
    """One ``next()`` a datapoint."""
    iterator = iter(source.dataset())

    def take(n: int) -> tuple[int, Any, Any]:
        for _ in range(n):
            data, label = next(iterator)
        return n, data, label

    yield take


@contextlib.contextmanager
def _batch(source: Any) -> Iterator[Take]:
    """One ``next()`` of ``.batch(128)``."""
    iterator = iter(source.dataset().batch(BATCH, drop_remainder=True))

    def take(n: int) -> tuple[int, Any, Any]:
        calls = -(-n // BATCH)
        for _ in range(calls):
            data, label = next(iterator)
        return calls * BATCH, data[-1], label[-1]

    yield take


WAYS: dict[str, Callable[[Any], contextlib.AbstractContextManager[Take]]] = {
    "session": _session,
    "step": _step,
    "loop": _loop,
    "function": _function,
    "eager": _eager,
    "batch": _batch,
    "batchqueue": _batchqueue,
}


def opened(library: str, df: Any, kind: Kind, way: str) -> contextlib.AbstractContextManager[Take]:
    """Open ``df`` by one library and one way; the context's value is the ``take``.

    Args:
        library: one of :data:`alternatives.LIBRARIES`.
        df: what produces.
        kind: its kind.
        way: one of :data:`WAYS`.
    """
    batch = BATCH if way == "batchqueue" else 0
    return WAYS[way](open_input(library, df, kind, batch))
