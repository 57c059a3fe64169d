# SPDX-License-Identifier: Apache-2.0
"""A ``tf.data.Dataset`` over a source that is built when, and where, it is first used."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from ..compat.internals import asking_keras
from .graph import Make, keep_with
from .iterator import SourceIterator
from .meter import Meter
from .pipeline import build, element_signature
from .source import Source
from .staging import DeviceRounds, Devices, on_device
from .stream import Mode

__all__ = ["SourceDataset"]

v1 = tf.compat.v1


class SourceDataset(tf.data.Dataset):
    """Datapoints of a source as a dataset, for eager code, ``tf.function``, Keras and graphs.

    tf.data's constructor takes the finished dataset. This one has only the source then: what
    tf.data reads of a dataset are properties here, and lead to a real one, made for the current
    graph (or for eager code) when first asked for.
    """

    _source: Source
    _mode: Mode

    def __init__(self, source: Source, mode: Mode, devices: Devices = (),
                 make: Make = build) -> None:
        self._source = source
        self._mode = mode
        self._devices = devices
        self._build = make
        self._built: dict[Mode, tf.data.Dataset] = {}

    # ---- what tf.data reads

    @property
    def element_spec(self) -> Any:
        """The nesting of ``tf.TensorSpec`` of an element."""
        return element_signature(self._source, self._mode).element_spec

    @property
    def _variant_tensor(self) -> Any:
        return self._dataset()._variant_tensor

    @property
    def _variant_tensor_attr(self) -> Any:
        return self._dataset()._variant_tensor

    @property
    def _options_attr(self) -> Any:
        return self._dataset()._options_attr

    @property
    def _graph_attr(self) -> Any:
        return self._dataset()._graph_attr

    def _inputs(self) -> list[Any]:
        return [self._dataset()]

    def _current_mode(self) -> Mode:
        """Endless for Keras with a number of steps, as the user made it otherwise."""
        asked, steps = asking_keras()
        if asked and steps and not self._mode.endless:
            return Mode(True, self._mode.group, self._mode.drop_remainder)
        return self._mode

    def _dataset(self) -> tf.data.Dataset:
        mode = self._current_mode()
        graph = v1.get_default_graph()
        if not tf.executing_eagerly():
            keep_with(graph, ("source", id(self)), lambda: self)
            if not _is_function(graph):
                return keep_with(graph, ("dataset", id(self), mode), lambda: self._make(mode))
        with tf.init_scope():
            if not tf.executing_eagerly():
                return self._dataset()  # a function inside a graph: that graph's
            if mode not in self._built:
                self._built[mode] = self._make(mode)
            return self._built[mode]

    def _make(self, mode: Mode) -> tf.data.Dataset:
        dataset = self._build(self._source, mode)
        if mode.endless:
            return dataset.apply(tf.data.experimental.assert_cardinality(
                tf.data.INFINITE_CARDINALITY))
        return dataset

    # ---- what users call

    def __iter__(self) -> Any:
        if tf.executing_eagerly():
            mode = self._current_mode()
            if len(self._devices) > 1:
                return DeviceRounds(self._dataset(), self._devices, self)
            dataset = on_device(self._dataset(), self._devices)
            return SourceIterator(dataset, signature=element_signature(self._source, mode),
                                  source=self._source, count=mode.group or 1)
        return super().__iter__()

    def __len__(self) -> int:
        return self._elements(len(self._source))

    def cardinality(self) -> tf.Tensor:
        """The number of elements, as ``tf.data.Dataset.cardinality``."""
        if self._current_mode().endless:
            return tf.constant(tf.data.INFINITE_CARDINALITY, tf.int64)
        size = self._source.size
        return tf.constant(tf.data.UNKNOWN_CARDINALITY if size is None else self._elements(size),
                           tf.int64)

    def _elements(self, datapoints: int) -> int:
        group = self._mode.group
        if not group:
            return datapoints
        return datapoints // group if self._mode.drop_remainder else -(-datapoints // group)

    def batch(self, batch_size: Any, drop_remainder: bool = False, **kwargs: Any) -> Any:
        """Combine datapoints into batches; whole batches then cross into TensorFlow.

        See ``tf.data.Dataset.batch``.
        """
        plain = isinstance(batch_size, int) and batch_size > 0 and not kwargs
        if plain and not self._mode.group:
            return self._as(Mode(self._mode.endless, batch_size, bool(drop_remainder)))
        return super().batch(batch_size, drop_remainder, **kwargs)

    def repeat(self, count: Any = None, **kwargs: Any) -> Any:
        """Repeat the data; without a count, the dataflow goes on where a pass ends.

        See ``tf.data.Dataset.repeat``.
        """
        if count in (None, -1) and not kwargs:
            return self._as(Mode(True, self._mode.group, self._mode.drop_remainder))
        return super().repeat(count, **kwargs)

    def _as(self, mode: Mode) -> SourceDataset:
        return SourceDataset(self._source, mode, self._devices, self._build)

    @property
    def meter(self) -> Meter:
        """What was produced and consumed, and who waited for whom; readable at any time."""
        return self._source.meter

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {type(self._source.dataflow).__name__}>"

    __str__ = __repr__


def _is_function(graph: Any) -> bool:
    return bool(getattr(graph, "building_function", False))
