# SPDX-License-Identifier: Apache-2.0
"""A source inside a TF 1 graph: one iterator, ready without an initializer, one op a datapoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ..compat.internals import route_session_errors
from .errors import failure_in
from .pipeline import build, element_signature
from .source import Source
from .staging import Devices, on_device
from .stream import Mode

__all__ = ["GraphIterator", "keep_with"]

v1 = tf.compat.v1
Make = Callable[[Source, Mode], tf.data.Dataset]


def keep_with(graph: tf.Graph, key: Any, make: Callable[[], Any]) -> Any:
    """Return what ``make`` made for this graph and key; it lives as long as the graph.

    It may refer to the graph: both are freed together.
    """
    kept: dict[Any, Any] | None = getattr(graph, "_tfqueue_compat", None)
    if kept is None:
        kept = {}
        graph._tfqueue_compat = kept
    if key not in kept:
        kept[key] = make()
    return kept[key]


class GraphIterator:
    """An iterator over a source in the current graph.

    The first ``session.run`` of its tensors starts it: a one-shot iterator needs no initializer.
    Running ``initializer`` starts it again, from the first datapoint of a new pass.

    Args:
        source: of the datapoints.
        mode: how they are consumed.
        make: makes the dataset.
        devices: where the next datapoint waits; one at most.
    """

    def __init__(self, source: Source, mode: Mode,
                 make: Make = build, devices: Devices = ()) -> None:
        self.graph = v1.get_default_graph()
        self._device: str = devices[0] if devices else "/cpu:0"
        keep_with(self.graph, ("source", id(source)), lambda: source)
        route_session_errors(self.graph, failure_in)
        with tf.device("/cpu:0"):
            dataset = on_device(make(source, mode), devices)
            self._signature = element_signature(source, mode)
            iterator = v1.data.make_one_shot_iterator(dataset)
            self._handle = iterator._iterator_resource
            self.initializer: tf.Operation = tf.raw_ops.MakeIterator(
                dataset=dataset._variant_tensor, iterator=self._handle)

    def get_next(self) -> list[tf.Tensor]:
        """Return new tensors, flat, whose every run gives the next datapoint.

        May be called in a ``while_loop`` body or another function of the graph.
        """
        components = self._signature.components
        with tf.device(self._device):
            # The plain op hops over to another thread for each datapoint; this one does not.
            out = tf.raw_ops.IteratorGetNextSync(
                iterator=self._handle, output_types=[c.tf_dtype for c in components],
                output_shapes=[c.spec.shape for c in components])
        return list(out)
