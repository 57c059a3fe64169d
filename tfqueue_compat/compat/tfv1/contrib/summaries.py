# SPDX-License-Identifier: Apache-2.0
"""contrib.layers' summaries of tensors and collections."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

__all__ = ["summarize_activation", "summarize_activations", "summarize_biases",
           "summarize_collection", "summarize_tensor", "summarize_tensors",
           "summarize_variables", "summarize_weights"]

v1 = tf.compat.v1


def summarize_tensor(tensor: Any, tag: str | None = None) -> Any:
    """Return a scalar summary of a scalar, a histogram of anything else."""
    tag = tag or tensor.name.partition(":")[0]
    if tensor.shape.rank == 0:
        return v1.summary.scalar(tag, tensor)
    return v1.summary.histogram(tag, tensor)


def summarize_activation(op: Any) -> Any:
    """Return the summary of an activation; a relu's share of zeros is added as a scalar."""
    tag = op.name.partition(":")[0]
    if op.op.type in ("Relu", "Softplus", "Relu6"):
        smallest = 0.0 if op.op.type != "Softplus" else 1e-6
        v1.summary.scalar(tag + "/zeros", tf.reduce_mean(
            tf.cast(tf.less_equal(op, smallest), tf.float32)))
    return v1.summary.histogram(tag + "/activation", op)


def summarize_tensors(tensors: Iterable[Any],
                      summarizer: Callable[[Any], Any] = summarize_tensor) -> list[Any]:
    """Return the summaries of several tensors."""
    return [summarizer(tensor) for tensor in tensors]


def summarize_collection(collection: str, name_filter: str | None = None,
                         summarizer: Callable[[Any], Any] = summarize_tensor) -> list[Any]:
    """Return the summaries of a collection's tensors whose names match ``name_filter``."""
    return summarize_tensors(v1.get_collection(collection, name_filter), summarizer)


def summarize_variables(name_filter: str | None = None,
                        summarizer: Callable[[Any], Any] = summarize_tensor) -> list[Any]:
    """Return the summaries of the global variables."""
    return summarize_collection(v1.GraphKeys.GLOBAL_VARIABLES, name_filter, summarizer)


def summarize_weights(name_filter: str | None = None,
                      summarizer: Callable[[Any], Any] = summarize_tensor) -> list[Any]:
    """Return the summaries of the collection ``WEIGHTS``."""
    return summarize_collection(v1.GraphKeys.WEIGHTS, name_filter, summarizer)


def summarize_biases(name_filter: str | None = None,
                     summarizer: Callable[[Any], Any] = summarize_tensor) -> list[Any]:
    """Return the summaries of the collection ``BIASES``."""
    return summarize_collection(v1.GraphKeys.BIASES, name_filter, summarizer)


def summarize_activations(name_filter: str | None = None,
                          summarizer: Callable[[Any], Any] = summarize_activation) -> list[Any]:
    """Return the summaries of the collection ``ACTIVATIONS``."""
    return summarize_collection(v1.GraphKeys.ACTIVATIONS, name_filter, summarizer)
