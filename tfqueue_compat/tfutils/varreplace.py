# SPDX-License-Identifier: Apache-2.0
"""Replaces variables where they are made: remapped, frozen, or by a getter of yours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import tensorflow as tf

from ..utils import logger

__all__ = ["custom_getter_scope", "freeze_variables", "remap_variables"]

v1 = tf.compat.v1


@contextmanager
def custom_getter_scope(custom_getter: Callable[..., Any]) -> Iterator[None]:
    """Let ``get_variable`` go through ``custom_getter(getter, name, *args, **kwargs)``.

    Getters of outer scopes are called by the ``getter`` that it is given.
    """
    with v1.variable_scope(v1.get_variable_scope(), custom_getter=custom_getter,
                           auxiliary_name_scope=False):
        yield


@contextmanager
def remap_variables(fn: Callable[[Any], Any]) -> Iterator[None]:
    """Let ``get_variable`` return ``fn(variable)``.

    Args:
        fn: maps a variable to a tensor, e.g. a quantized one.

    Example:
        >>> with tf.Graph().as_default(), remap_variables(lambda v: v * 2):
        ...     v1.get_variable("a", [3]).shape
        TensorShape([3])
    """
    def getter(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return fn(getter(*args, **kwargs))

    with custom_getter_scope(getter):
        yield


@contextmanager
def freeze_variables(stop_gradient: bool = True, skip_collection: bool = False) -> Iterator[None]:
    """Keep the variables made in the block from being trained.

    Args:
        stop_gradient: whether no gradient reaches them. ``get_variable`` then returns a tensor.
        skip_collection: whether they stay out of ``TRAINABLE_VARIABLES``: regularization and
            optimizers of slots don't see them.
    """
    def getter(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        trainable = kwargs.get("trainable")
        name = kwargs.get("name") or args[0]
        if skip_collection:
            kwargs["trainable"] = False
        variable = getter(*args, **kwargs)
        if skip_collection and _is_trainable(variable):
            logger.warning("Variable %s is trainable although frozen: another custom getter "
                           "does not respect trainable=False.", name)
        if stop_gradient and trainable is not False:
            return tf.stop_gradient(variable, name="freezed_" + str(name))
        return variable

    with custom_getter_scope(getter):
        yield


def _is_trainable(variable: Any) -> bool:
    return any(variable is v for v in v1.trainable_variables())
