# SPDX-License-Identifier: Apache-2.0
"""From a source to a ``tf.data.Dataset``: chunks are pulled, prefetched and split."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from ..compat.internals import generator_dataset, route_errors, route_session_errors
from .convert import Component
from .errors import DatasetEnded, failure_in
from .signature import Signature
from .source import Source, called_by_tensorflow
from .stream import Mode

__all__ = ["ChunkError", "build", "element_signature"]

_as_it_is = tf.autograph.experimental.do_not_convert
_CHUNKS_AHEAD = 1  # each holds as much as the consumer uses in some milliseconds


class ChunkError(Exception):
    """Carries the number of a producer's error through TensorFlow."""


def element_signature(source: Source, mode: Mode) -> Signature:
    """The signature of what the dataset gives: datapoints, or batches of them."""
    if not mode.group:
        return source.element_signature
    whole = mode.drop_remainder or mode.endless
    return source.signature.batched(mode.group if whole else None)


def build(source: Source, mode: Mode) -> tf.data.Dataset:
    """Make the dataset in the current graph, or eagerly.

    Its iterators each open a stream of their own. It refers to the source weakly: whoever uses
    the dataset keeps the source alive.

    Args:
        source: of the datapoints.
        mode: how they are consumed.

    Returns:
        A dataset of elements nested as the datapoints are.
    """
    route_errors(failure_in)
    if not tf.executing_eagerly():
        route_session_errors(tf.compat.v1.get_default_graph(), failure_in)
    signature = element_signature(source, mode)
    chunks = _chunks(source, mode, [c.batched(None) for c in signature.components])
    dataset = chunks.prefetch(_CHUNKS_AHEAD).flat_map(
        _as_it_is(lambda *columns: tf.data.Dataset.from_tensor_slices(signature.pack(columns))))
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    options.experimental_warm_start = False
    options.experimental_optimization.apply_default_optimizations = False
    return dataset.with_options(options)


def _chunks(source: Source, mode: Mode, columns: Sequence[Component]) -> tf.data.Dataset:
    if source.parallel == 1:
        return _channel(source, mode, columns, tf.constant(0, tf.int64))
    return tf.data.Dataset.range(source.parallel).interleave(
        _as_it_is(lambda worker: _channel(source, mode, columns, worker)),
        cycle_length=source.parallel, block_length=1,
        num_parallel_calls=source.parallel, deterministic=False)


def _channel(source: Source, mode: Mode, columns: Sequence[Component],
             worker: Any) -> tf.data.Dataset:
    """The chunks of one stream."""
    reference = weakref.ref(source)
    begin_python, take_python = _beginner(reference, mode), _taker(reference)
    end_python = _ender(reference)
    specs = tuple(c.spec for c in columns)

    @_as_it_is
    def begin(worker: tf.Tensor) -> tf.Tensor:
        return _python(begin_python, [worker])

    @_as_it_is
    def following(number: tf.Tensor) -> tuple[tf.Tensor, ...]:
        out = tf.numpy_function(take_python, [number], [s.dtype for s in specs])
        for tensor, spec in zip(out, specs):
            tensor.set_shape(spec.shape)
        return tuple(out)

    @_as_it_is
    def end(number: tf.Tensor) -> tf.Tensor:
        return _python(end_python, [number])

    return generator_dataset(begin, following, end, worker, specs)


def _python(function: Callable[..., Any], inputs: list[tf.Tensor]) -> tf.Tensor:
    out = tf.numpy_function(function, inputs, tf.int64)
    out.set_shape(())
    return out


# TensorFlow keeps the functions below for longer than the dataset, so they hold the source weakly.

def _beginner(reference: weakref.ref[Source], mode: Mode) -> Callable[[Any], Any]:
    def begin(worker: Any) -> np.int64:
        with called_by_tensorflow():
            source = _alive(reference)
            try:
                return np.int64(source.begin(mode, int(worker)))
            except Exception as e:
                raise ChunkError(source.keep(e).text()) from None
    return begin


def _taker(reference: weakref.ref[Source]) -> Callable[[Any], Any]:
    def take(number: Any) -> list[np.ndarray]:
        with called_by_tensorflow():
            source = _alive(reference)
            try:
                return source.take(int(number))
            except StopIteration:
                raise
            except BaseException as e:
                raise ChunkError(source.keep(e).text()) from None
    return take


def _ender(reference: weakref.ref[Source]) -> Callable[[Any], Any]:
    def end(number: Any) -> np.int64:
        with called_by_tensorflow():
            source = reference()
            if source is not None:
                source.end(int(number))
        return np.int64(0)
    return end


def _alive(reference: weakref.ref[Source]) -> Source:
    source = reference()
    if source is None:
        raise DatasetEnded("QueueInput: Expected the QueueInput to be there still. Received: it "
                           "is gone. Do: Keep a reference to it while its data is used.")
    return source
