# SPDX-License-Identifier: Apache-2.0
"""Inputs by feeding: placeholders, and a dataflow fed into them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from ..dataflow.base import as_dataflow, ensure_reset, length
from ..dataflow.passes import EmptyPasses
from ..engine.signature import Signature
from ..utils.errors import say
from .input_source_base import InputSource, SessionRunHook, build_or_reuse_placeholder

__all__ = ["FeedInput", "PlaceholderInput"]

v1 = tf.compat.v1


class PlaceholderInput(InputSource):
    """Placeholders of the signature, to be fed by the user."""

    def __init__(self) -> None:
        self._specs: list[tf.TensorSpec] = []

    def _setup(self, input_signature: list[tf.TensorSpec]) -> None:
        self._specs = input_signature

    def _get_input_tensors(self) -> list[tf.Tensor]:
        self._require_setup()
        return [build_or_reuse_placeholder(s) for s in self._specs]


class FeedInput(InputSource):
    """A dataflow fed through placeholders, one datapoint with each ``session.run``.

    It is slow, and simple: nothing is read ahead. QueueInput is what to use.
    The hook of ``get_callbacks()`` does the feeding, e.g. in a
    ``tf.compat.v1.train.MonitoredSession(hooks=source.get_callbacks())``.

    Args:
        ds: a DataFlow, or what can be made one.
        infinite: iterate it again when it ends; otherwise the hook raises StopIteration.
    """

    class _FeedCallback(SessionRunHook):
        def __init__(self, source: FeedInput) -> None:
            self._source = source

        def before_run(self, run_context: Any) -> Any:
            return v1.train.SessionRunArgs(fetches=[], feed_dict=self._source._next_feed_by_name())

    def __init__(self, ds: Any, infinite: bool = True) -> None:
        self.ds = as_dataflow(ds, asked_by="FeedInput")
        self._infinite = infinite
        self._specs: list[tf.TensorSpec] = []
        self._signature: Signature | None = None
        self._iterator: Iterator[Any] | None = None

    def next_feed(self) -> dict[tf.Tensor, Any]:
        """The ``feed_dict`` of the next datapoint.

        Raises:
            StopIteration: after the last one, if not ``infinite``.
            SignatureMismatch: where it does not fit the signature.
        """
        self._require_setup()
        return dict(zip(self._get_input_tensors(), self._next_arrays()))

    def _next_feed_by_name(self) -> dict[str, Any]:
        """The same for the graph of a function, too, whose tensors can't be keys."""
        return dict(zip([t.name for t in self._get_input_tensors()], self._next_arrays()))

    def _next_arrays(self) -> list[Any]:
        if self._signature is None:
            self._signature = Signature.from_specs(self._specs)
        if self._iterator is None:
            self._reset_state()
        for datapoint in self._iterator or ():
            return self._signature.arrays(datapoint)
        if not self._infinite:
            raise StopIteration
        passes = EmptyPasses()
        while not passes.hopeless(False):
            self._iterator = iter(self.ds)
            for datapoint in self._iterator:
                return self._signature.arrays(datapoint)
        raise ValueError(say(f"FeedInput of {type(self.ds).__name__}", expected="datapoints",
                             received="empty passes", do="Give the dataflow data."))

    def _setup(self, input_signature: list[tf.TensorSpec]) -> None:
        self._specs = input_signature

    def _get_input_tensors(self) -> list[tf.Tensor]:
        self._require_setup()
        return [build_or_reuse_placeholder(s) for s in self._specs]

    def _get_callbacks(self) -> Sequence[Any]:
        return [self._FeedCallback(self)]

    def _reset_state(self) -> None:
        ensure_reset(self.ds)
        self._iterator = iter(self.ds)

    def _size(self) -> int:
        size = length(self.ds)
        return super()._size() if size is None else size
