# SPDX-License-Identifier: Apache-2.0
"""What a user's own TensorFlow queue says about the input that it was made for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from ..engine.pipeline import build
from ..engine.source import Source
from ..engine.stream import Mode
from ..utils.errors import NotSupported, say

__all__ = ["QueueSettings", "settings_of"]

_KINDS = {"FIFOQueueV2": False, "FIFOQueue": False, "PaddingFIFOQueueV2": False,
          "PaddingFIFOQueue": False, "RandomShuffleQueueV2": True, "RandomShuffleQueue": True}


@dataclass(frozen=True)
class QueueSettings:
    """Capacity, contents and order of an input queue.

    Attributes:
        capacity: datapoints that wait at most.
        signature: specs of the components, where the queue names shapes and dtypes.
        dtypes: of the components.
        min_after_dequeue: of a shuffling queue; None for one that keeps the order.
        seed: of its order.
    """

    capacity: int = 50
    signature: list[tf.TensorSpec] | None = None
    min_after_dequeue: int | None = None
    seed: int | None = None
    dtypes: list[tf.DType] | None = None

    def build(self, source: Source, mode: Mode) -> tf.data.Dataset:
        """Make the dataset, shuffled as the queue would have: among so many others at least."""
        if self.min_after_dequeue is None:
            return build(source, mode)
        singly = build(source, Mode(mode.endless))
        shuffled = singly.shuffle(self.min_after_dequeue + 1, seed=self.seed)
        return shuffled.batch(mode.group, mode.drop_remainder) if mode.group else shuffled


def settings_of(queue: Any) -> QueueSettings:
    """Read the settings off a ``tf.queue`` object.

    Raises:
        TypeError: where it is none.
        NotSupported: for a queue whose order can't be kept.
    """
    if not isinstance(queue, tf.queue.QueueBase):
        raise TypeError(say("QueueInput", expected="queue: a tf.queue.FIFOQueue or "
                            "RandomShuffleQueue, or None", received=type(queue).__name__,
                            do="To set the capacity, write QueueInput(df, size=...)."))
    reference = queue.queue_ref
    signature = _signature(queue)
    if not hasattr(reference, "op") or tf.executing_eagerly():
        return _eager_settings(queue, signature)
    op = reference.op
    if op.type not in _KINDS:
        raise NotSupported(say("QueueInput", expected="a FIFOQueue or a RandomShuffleQueue",
                               received=op.type, do="Order the datapoints in the dataflow."))
    capacity = op.get_attr("capacity")
    if not _KINDS[op.type]:
        return QueueSettings(_bounded(capacity), signature, dtypes=queue.dtypes)
    seed = op.get_attr("seed") or op.get_attr("seed2") or None
    return QueueSettings(_bounded(capacity), signature, op.get_attr("min_after_dequeue"), seed,
                         queue.dtypes)


def _eager_settings(queue: Any, signature: list[tf.TensorSpec] | None) -> QueueSettings:
    raise NotSupported(say(
        "QueueInput", expected="a queue made in a graph, where its capacity can be read",
        received=f"an eager {type(queue).__name__}",
        do="Write QueueInput(df, size=capacity); to shuffle, QueueInput(df).shuffle(n)."))


def _signature(queue: Any) -> list[tf.TensorSpec] | None:
    """The queue's dtypes always hold; its shapes where it was given some."""
    shapes = queue.shapes or [None] * len(queue.dtypes)
    if any(tf.TensorShape(s).rank is None for s in shapes):
        return None  # setup() or the first datapoint tells the shapes
    return [tf.TensorSpec(s, d, n) for s, d, n in zip(
        shapes, queue.dtypes, queue.names or [None] * len(queue.dtypes))]


def _bounded(capacity: int) -> int:
    return capacity if capacity > 0 else 1 << 20
