# SPDX-License-Identifier: Apache-2.0
"""The iterator that ``iter(QueueInput(df))`` gives, in eager code and inside ``tf.function``."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from ..compat.internals import OwnedIterator, iterator_get_next_sync, was_interrupted
from .signature import Signature
from .source import Source

__all__ = ["SourceIterator", "SourceIteratorSpec"]


class SourceIterator(OwnedIterator):
    """A dataset iterator that takes an element without a hop to another thread.

    Args:
        dataset: the dataset, and
        signature: that of its elements; or both None, and
        components, element_spec: as TensorFlow makes one anew inside a function.
        source: is kept alive; its meter is told what reached the user.
        count: datapoints in an element.
    """

    def __init__(self, dataset: Any = None, components: Any = None, element_spec: Any = None,
                 *, signature: Signature | None = None, source: Source | None = None,
                 count: int = 1) -> None:
        super().__init__(dataset, components, element_spec)
        self._signature = signature
        self._source = source
        self._count = count

    def _next_internal(self) -> Any:
        flat = self._flat_next()
        if self._source is not None and tf.executing_eagerly():
            # a last batch may be smaller
            self._source.meter.delivered(1 if self._count == 1 else int(flat[0].shape[0]))
        if self._signature is not None:
            return self._signature.pack(flat)
        return tf.nest.pack_sequence_as(self._element_spec, flat, expand_composites=True)

    def _flat_next(self) -> Any:
        try:
            return iterator_get_next_sync(
                self._iterator_resource, output_types=self._flat_output_types,
                output_shapes=self._flat_output_shapes)
        except RuntimeError as e:
            if not was_interrupted(e):
                raise
        raise KeyboardInterrupt

    @property
    def _type_spec(self) -> Any:
        return SourceIteratorSpec(self.element_spec)


class SourceIteratorSpec(tf.data.IteratorSpec):
    """Keeps a SourceIterator what it is when it is passed to a ``tf.function``."""

    __slots__: list[str] = []

    @property
    def value_type(self) -> Any:
        """The class of the values."""
        return SourceIterator

    def _from_components(self, components: Any) -> SourceIterator:
        return SourceIterator(None, components, self._element_spec)

    @staticmethod
    def from_value(value: Any) -> SourceIteratorSpec:
        """The spec of an iterator."""
        return SourceIteratorSpec(value.element_spec)
