# SPDX-License-Identifier: Apache-2.0
"""contrib.layers' regularizers: functions from weights to a scalar loss."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from ....utils.errors import say

__all__ = ["apply_regularization", "l1_l2_regularizer", "l1_regularizer", "l2_regularizer",
           "sum_regularizer"]

v1 = tf.compat.v1
Regularizer = Callable[..., Any]


def _scale_of(scale: Any, what: str) -> float:
    if isinstance(scale, numbers.Integral) or not isinstance(scale, numbers.Real) or scale < 0:
        raise ValueError(say(what, expected="a float scale >= 0", received=repr(scale),
                             do="Pass e.g. 1e-4."))
    return float(scale)


def l1_regularizer(scale: float, scope: str | None = None) -> Regularizer:
    """Return ``scale * sum(abs(weights))``; for a scale of 0 a function that returns None.

    Raises:
        ValueError: for a negative scale or an integer.
    """
    factor = _scale_of(scale, "l1_regularizer")
    if factor == 0:
        return lambda weights, name=None: None

    def l1(weights: Any, name: str | None = None) -> Any:
        with tf.name_scope(scope or name or "l1_regularizer"):
            return tf.multiply(tf.constant(factor, weights.dtype.base_dtype),
                               tf.reduce_sum(tf.abs(weights)))

    return l1


def l2_regularizer(scale: float, scope: str | None = None) -> Regularizer:
    """Return ``scale * sum(weights ** 2) / 2``; for a scale of 0 a function that returns None.

    Raises:
        ValueError: for a negative scale or an integer.

    Example:
        >>> float(l2_regularizer(0.5)(tf.constant([2.0, 4.0])))
        5.0
    """
    factor = _scale_of(scale, "l2_regularizer")
    if factor == 0:
        return lambda weights, name=None: None

    def l2(weights: Any, name: str | None = None) -> Any:
        with tf.name_scope(scope or name or "l2_regularizer"):
            return tf.multiply(tf.constant(factor, weights.dtype.base_dtype),
                               tf.nn.l2_loss(weights))

    return l2


def l1_l2_regularizer(scale_l1: float = 1.0, scale_l2: float = 1.0,
                      scope: str | None = None) -> Regularizer:
    """Return the sum of ``l1_regularizer`` and ``l2_regularizer``."""
    both = [l1_regularizer(scale_l1), l2_regularizer(scale_l2)]
    return sum_regularizer(both, scope=scope or "l1_l2_regularizer")


def sum_regularizer(regularizer_list: Sequence[Regularizer | None],
                    scope: str | None = None) -> Regularizer:
    """Return the sum of regularizers; None among them count as nothing."""
    parts = [r for r in regularizer_list if r is not None]

    def total(weights: Any) -> Any:
        with tf.name_scope(scope or "sum_regularizer"):
            losses = [loss for loss in (r(weights) for r in parts) if loss is not None]
            return tf.add_n(losses) if losses else None

    return total


def apply_regularization(regularizer: Regularizer, weights_list: Sequence[Any] | None = None
                         ) -> Any:
    """Return the sum of a regularizer over weights, added to ``REGULARIZATION_LOSSES``.

    Args:
        regularizer: from weights to a scalar.
        weights_list: by default the collection ``WEIGHTS``.

    Raises:
        ValueError: where there are no weights.
    """
    if weights_list is None:
        weights_list = v1.get_collection(v1.GraphKeys.WEIGHTS)
    if not weights_list:
        raise ValueError(say("apply_regularization", expected="weights", received="none",
                             do="Pass weights_list."))
    with tf.name_scope("get_regularization_penalty"):
        losses = [loss for loss in (regularizer(w) for w in weights_list) if loss is not None]
        total = tf.add_n(losses) if losses else tf.constant(0.0)
    v1.add_to_collection(v1.GraphKeys.REGULARIZATION_LOSSES, total)
    return total
