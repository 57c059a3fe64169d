# SPDX-License-Identifier: Apache-2.0
"""Spatial arguments of TF 1's layers, and NCHW where TensorFlow has no kernel for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow as tf

from ...utils.errors import near, say

__all__ = ["channel_axis", "channels_last_around", "data_format_of", "known_value", "padding_of",
           "sizes_of", "smart_cond", "static_size", "window"]

_FORMATS = {"channels_last": "channels_last", "channels_first": "channels_first"}


def sizes_of(value: int | Sequence[int], rank: int, what: str) -> tuple[int, ...]:
    """Return ``rank`` positive integers from one integer or a sequence of ``rank``.

    Raises:
        ValueError: for another length, or for a size that is no positive integer.
    """
    try:
        sizes = tuple(int(v) for v in value) if isinstance(value, Iterable) else (
            (int(value),) * rank)
    except (TypeError, ValueError):
        sizes = ()
    if len(sizes) != rank or min(sizes) < 1:
        raise ValueError(say(what, expected=f"a positive integer or {rank} of them",
                             received=repr(value), do=f"Pass e.g. {what}={(3,) * rank}."))
    return sizes


def data_format_of(value: str | None) -> str:
    """Return ``channels_last`` or ``channels_first``, whatever the case.

    Raises:
        ValueError: for another name.
    """
    name = str(value or "channels_last").lower()
    if name not in _FORMATS:
        raise ValueError(say("data_format", expected="channels_last or channels_first",
                             received=repr(value), do=f"Pass one of them.{near(name, _FORMATS)}"))
    return name


def padding_of(value: str, allowed: Sequence[str] = ("valid", "same")) -> str:
    """Return the padding in lower case.

    Raises:
        ValueError: for one that is not allowed.
    """
    name = str(value).lower()
    if name not in allowed:
        raise ValueError(say("padding", expected=" or ".join(allowed), received=repr(value),
                             do=f"Pass one of them.{near(name, allowed)}"))
    return name


def channel_axis(data_format: str, rank: int) -> int:
    """Return the axis of the channels in inputs of ``rank`` axes."""
    return 1 if data_format == "channels_first" else rank - 1


def static_size(shape: Any, axis: int, what: str) -> int:
    """Return the size of an axis.

    Raises:
        ValueError: where it is not known when the graph is built.
    """
    shape = tf.TensorShape(shape)
    size = None if shape.rank is None else shape.as_list()[axis]
    if size is None:
        raise ValueError(say(what, expected=f"a known size in axis {axis} of the input",
                             received=f"shape {shape}",
                             do="Set it with set_shape or reshape before the layer."))
    return int(size)


def window(sizes: Sequence[int], data_format: str) -> list[int]:
    """Return sizes with 1 for the batch and the channels: strides and windows of ``tf.nn``."""
    if data_format == "channels_first":
        return [1, 1, *sizes]
    return [1, *sizes, 1]


def channels_last_around(inputs: tf.Tensor, data_format: str,
                         op: Callable[[tf.Tensor, str], tf.Tensor]) -> tf.Tensor:
    """Return ``op(inputs, 'NHWC' or 'NCHW')`` (or the 1D or 3D name of it), in the input's layout.

    TensorFlow has NCHW kernels for GPUs and, through oneDNN, for some CPUs. Where no GPU is
    visible the tensor is transposed around the operation; Grappler removes pairs of transposes
    between two such layers.

    Args:
        inputs: (batch, ..., channel), or (batch, channel, ...) for ``channels_first``.
        data_format: ``channels_last`` or ``channels_first``.
        op: gets the tensor and the layout's name.
    """
    rank = inputs.shape.rank
    last, first = {3: ("NWC", "NCW"), 4: ("NHWC", "NCHW"), 5: ("NDHWC", "NCDHW")}[rank]
    if data_format == "channels_last":
        return op(inputs, last)
    if tf.config.list_physical_devices("GPU"):
        return op(inputs, first)
    spatial = list(range(2, rank))
    moved = tf.transpose(inputs, [0, *spatial, 1])
    return tf.transpose(op(moved, last), [0, rank - 1, *range(1, rank - 1)])


def known_value(condition: Any) -> Any:
    """Return a condition's value where it is known now, else None.

    Args:
        condition: a bool, an int, a tensor or a variable.
    """
    if isinstance(condition, tf.Variable):
        return condition.numpy() if tf.executing_eagerly() else None
    return tf.get_static_value(condition) if tf.is_tensor(condition) else condition


def smart_cond(condition: Any, when_true: Callable[[], Any], when_false: Callable[[], Any]) -> Any:
    """Call one of two functions: now where the condition is known, else by ``tf.cond``.

    Args:
        condition: a bool, an int, or a scalar tensor or variable (cast to bool).
    """
    known = known_value(condition)
    if known is not None:
        return when_true() if known else when_false()
    return tf.cond(tf.cast(condition, tf.bool), when_true, when_false)
