# SPDX-License-Identifier: Apache-2.0
"""Costs of large weights, and Dropout."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ..tfutils.tower import get_current_tower_context
from ..utils import logger
from ..utils.argtools import graph_memoized
from ..utils.errors import say
from .registry import layer_register

__all__ = ["Dropout", "l1_regularizer", "l2_regularizer", "regularize_cost",
           "regularize_cost_from_collection"]

v1 = tf.compat.v1


def l1_regularizer(x: Any = None, *, scale: Any = None) -> Callable[[Any], Any]:
    """Return a function of weights: ``x * sum(abs(weights))``.

    Args:
        x: the factor.
        scale: another word for it.
    """
    factor = _factor(x, scale, "l1_regularizer")

    def l1(weights: Any) -> Any:
        with tf.name_scope("l1_regularizer"):
            return tf.reduce_sum(tf.abs(weights)) * factor
    return l1


def l2_regularizer(x: Any = None, *, scale: Any = None) -> Callable[[Any], Any]:
    """Return a function of weights: ``x * sum(weights ** 2) / 2``.

    Args:
        x: the factor.
        scale: another word for it.

    Example:
        >>> float(l2_regularizer(0.5)(tf.constant([2.0, 4.0])))
        5.0
    """
    factor = _factor(x, scale, "l2_regularizer")

    def l2(weights: Any) -> Any:
        with tf.name_scope("l2_regularizer"):
            return tf.nn.l2_loss(tf.convert_to_tensor(weights)) * factor
    return l2


def _factor(x: Any, scale: Any, what: str) -> Any:
    factor = scale if x is None else x
    if factor is None:
        raise TypeError(say(what, expected="a factor", received="none", do="Pass e.g. 1e-4."))
    return factor


@graph_memoized
def _log_names(names: tuple[str, ...]) -> None:
    logger.info("The following variables are regularized: %s", ", ".join(names))


def _empty(name: str) -> Any:
    return tf.constant(0.0, name="empty_" + name)


def regularize_cost(regex: str, func: Callable[[Any], Any], name: str = "regularize_cost") -> Any:
    """Return the sum of a function of the trainable variables whose names match.

    Args:
        regex: found anywhere in the variable's name (without ``:0``), e.g. ``fc.*/W``.
        func: maps a variable to a scalar cost, e.g. ``l2_regularizer(1e-4)``.
        name: of the result.

    Returns:
        A scalar; 0 in towers that don't train, and where nothing matches.

    Example:
        >>> with tf.Graph().as_default():
        ...     w = v1.get_variable("fc/W", [2, 2])
        ...     regularize_cost("fc.*/W", l2_regularizer(1e-4)).op.name
        'regularize_cost'
    """
    context = get_current_tower_context()
    if context is not None and not context.is_training:
        return _empty(name)
    own = context is not None and bool(context.vs_name)
    variables = (context.get_collection_in_tower(v1.GraphKeys.TRAINABLE_VARIABLES) if own
                 else v1.trainable_variables())
    prefix = context.vs_name + "/" if own else ""
    with v1.name_scope(name + "_internals"):
        names, costs = [], []
        for variable in variables:
            short = variable.op.name.removeprefix(prefix)
            if re.search(regex, short):
                cost = func(variable)
                if not tf.is_tensor(cost) or cost.shape.rank not in (0, None):
                    raise TypeError(say("regularize_cost", expected="a function to a scalar",
                                        received=repr(cost), do="Sum inside the function."))
                costs.append(cost)
                names.append(short)
        if not costs:
            return _empty(name)
    logger.info("regularize_cost() found %d variables to regularize.", len(costs))
    _log_names(tuple(names))
    return tf.add_n(costs, name=name)


def regularize_cost_from_collection(name: str = "regularize_cost") -> Any:
    """Return the sum of ``REGULARIZATION_LOSSES``: what layers' ``kernel_regularizer`` put there.

    Args:
        name: of the result.

    Returns:
        A scalar; 0 in towers that don't train, and where there are no such losses.
    """
    context = get_current_tower_context()
    if context is not None and not context.is_training:
        return _empty(name)
    own = context is not None and bool(context.vs_name)
    key = v1.GraphKeys.REGULARIZATION_LOSSES
    losses = context.get_collection_in_tower(key) if own else v1.get_collection(key)
    if not losses:
        return _empty(name)
    logger.info("regularize_cost_from_collection() found %d regularizers in "
                "REGULARIZATION_LOSSES collection.", len(losses))
    return tf.add_n(losses, name=name)


@layer_register(use_scope=None)
def Dropout(x: Any, *args: Any, **kwargs: Any) -> Any:
    """Set a share of the values to 0 in training, and scale the rest; ``x`` elsewhere.

    Called as ``Dropout('name', x, rate=0.5)`` or without a name.

    Args:
        rate: (keyword) share that is dropped, 0.5 by default.
        keep_prob: (keyword, or by position) share that is kept: tensorpack's older way.
        is_training: (keyword) by default what the tower does.
        noise_shape, seed, name: (keywords) as of ``tf.nn.dropout``.
    """
    known = ("rate", "keep_prob", "is_training", "training", "noise_shape", "seed", "name")
    unknown = sorted(set(kwargs) - set(known))
    if unknown or len(args) > 1:
        raise TypeError(say("Dropout", expected=f"one number by position, keywords of {known}",
                            received=repr(unknown[0] if unknown else args),
                            do="Pass e.g. rate=0.5."))
    training = kwargs.pop("is_training", kwargs.pop("training", None))
    rate = _rate(args, kwargs)
    if training is None:
        context = get_current_tower_context()
        if context is None:
            raise RuntimeError(say("Dropout", expected="is_training=, or a TowerContext around it",
                                   received="neither", do="Pass is_training=True or False."))
        training = context.is_training
    if not training:
        return x
    return v1.nn.dropout(x, rate=rate, **kwargs)


def _rate(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    keep = args[0] if args else kwargs.pop("keep_prob", None)
    rate = kwargs.pop("rate", None)
    if keep is not None and rate is not None:
        raise TypeError(say("Dropout", expected="rate or keep_prob", received="both",
                            do="Pass rate alone: the share that is dropped."))
    if keep is not None:
        return 1 - keep
    return 0.5 if rate is None else rate
