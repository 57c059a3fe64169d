# SPDX-License-Identifier: Apache-2.0
"""Who feeds: real tensorpack, tfqueue_compat, or a bare ``tf.data`` generator, used alike.

``get_input_tensors()`` and a session are asked of all three, an eager iterator of two.
"""

from __future__ import annotations

import importlib
import types
from typing import Any

from .producers import Kind

__all__ = ["LIBRARIES", "Bare", "Queue", "open_input"]

LIBRARIES = ("tensorpack", "tfqueue_compat", "tf.data")
CAPACITY = 50  # tensorpack's default
BATCH_CAPACITY = 3000  # the same for BatchQueueInput


def _fifo(kind: Kind) -> Any:
    """Return the queue that tensorpack 0.11's BatchQueueInput fails to make on TF 2."""
    import tensorflow as tf
    specs = kind.specs()
    return tf.compat.v1.FIFOQueue(BATCH_CAPACITY, [s.dtype for s in specs],
                                  [s.shape for s in specs])


class Queue:
    """``QueueInput`` or ``BatchQueueInput`` of ``tensorpack`` or ``tfqueue_compat``.

    Args:
        library: the one name that is imported; nothing else differs but how it is started.
        df: the DataFlow.
        kind: its kind.
        batch: datapoints a batch, by ``BatchQueueInput``; 0 is ``QueueInput``.
    """

    def __init__(self, library: str, df: Any, kind: Kind, batch: int = 0) -> None:
        self.library, self.df, self.kind, self.batch = library, df, kind, batch

    def _source(self) -> Any:
        """Return the input, set up; in the current graph where there is one."""
        sources = importlib.import_module(self.library + ".input_source")
        if self.batch:
            queue = _fifo(self.kind) if self.library == "tensorpack" else None
            source = sources.BatchQueueInput(self.df, self.batch, queue)
        else:
            source = sources.QueueInput(self.df)
        source.setup(self.kind.specs(batch=bool(self.batch)))
        return source

    def build(self) -> None:
        """Set up in the current graph."""
        self.source = self._source()
        self.callbacks: list[Any] = []
        if self.library == "tensorpack":
            # its thread and reset_state() hang on a trainer's callbacks
            self.callbacks = list(self.source.get_callbacks())
            for cb in self.callbacks:
                cb.setup_graph(types.SimpleNamespace())

    def tensors(self) -> list[Any]:
        """Return the tensors of one more datapoint."""
        return list(self.source.get_input_tensors())

    def start(self, sess: Any) -> None:
        """Begin to produce."""
        with sess.as_default():
            for cb in self.callbacks:
                cb.before_train()

    def dataset(self) -> Any:
        """Return a ``tf.data.Dataset``: what :meth:`build` would set up, used eagerly."""
        return self._source()


class Bare:
    """``tf.data.Dataset.from_generator(...).prefetch(50)``.

    Args:
        df: any iterable.
        kind: its kind.
        batch: datapoints a batch, by ``.batch()``; 0 is none.
    """

    def __init__(self, df: Any, kind: Kind, batch: int = 0) -> None:
        self.df, self.batch, self.specs = df, batch, kind.specs()

    def dataset(self) -> Any:
        """Return the dataset, in the current graph."""
        import tensorflow as tf

        def generator() -> Any:
            for dp in self.df:
                yield tuple(dp)

        ds = tf.data.Dataset.from_generator(generator, output_signature=tuple(self.specs))
        ds = ds.prefetch(CAPACITY)
        return ds.batch(self.batch, drop_remainder=True) if self.batch else ds

    def build(self) -> None:
        """Make the iterator in the current graph."""
        import tensorflow as tf
        self.iterator = tf.compat.v1.data.make_initializable_iterator(self.dataset())

    def tensors(self) -> list[Any]:
        """Return the tensors of one more datapoint."""
        return list(self.iterator.get_next())

    def start(self, sess: Any) -> None:
        """Begin to produce."""
        sess.run(self.iterator.initializer)


def open_input(library: str, df: Any, kind: Kind, batch: int = 0) -> Queue | Bare:
    """Return the named alternative over ``df``.

    Args:
        library: one of :data:`LIBRARIES`.
        df: what produces.
        kind: its kind.
        batch: datapoints a batch made by the input; 0 is none.
    """
    if library == "tf.data":
        return Bare(df, kind, batch)
    if library == "tensorpack":
        try:
            importlib.import_module("tensorpack_on_tf2")  # what TF 2 and NumPy 2 took from it
        except ImportError:
            pass  # an older TF needs no help
    return Queue(library, df, kind, batch)
