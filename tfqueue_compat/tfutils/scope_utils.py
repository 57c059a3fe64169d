# SPDX-License-Identifier: Apache-2.0
"""Decorators and contexts for name scopes and variable scopes."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import tensorflow as tf

from ..utils import logger
from ..utils.argtools import graph_memoized

__all__ = ["auto_reuse_variable_scope", "cached_name_scope", "under_name_scope"]

v1 = tf.compat.v1
F = TypeVar("F", bound=Callable[..., Any])


def auto_reuse_variable_scope(func: F) -> F:
    """Return ``func`` made to reuse its variables from its second call on.

    Calls are counted for each graph and each variable scope that is current at the call.

    Example:
        >>> @auto_reuse_variable_scope
        ... def double(x):
        ...     return x * v1.get_variable("two", initializer=2.)
        >>> with tf.Graph().as_default():
        ...     y = double(double(1.))
        ...     len(v1.global_variables())
        1
    """
    seen: weakref.WeakKeyDictionary[Any, set[str]] = weakref.WeakKeyDictionary()

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        scope = v1.get_variable_scope()
        names = seen.setdefault(v1.get_default_graph(), set())
        if scope.name not in names:
            names.add(scope.name)
            return func(*args, **kwargs)
        with v1.variable_scope(scope, reuse=True, auxiliary_name_scope=False):
            return func(*args, **kwargs)
    return wrapper  # type: ignore[return-value]


def under_name_scope(name_scope: str | None = None) -> Callable[[F], F]:
    """Return a decorator that runs a function in a name scope of its own.

    The decorated function takes a keyword more, ``name_scope``: the scope of that one call, which
    is entered again where it is there.

    Args:
        name_scope: by default the function's name.
    """
    def decorate(func: F) -> F:
        @functools.wraps(func)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            asked = kwargs.pop("name_scope", None)
            with tf.name_scope(name_scope or func.__name__) if asked is None \
                    else cached_name_scope(asked, top_level=False) as scope:
                if asked is not None and scope.split("/")[-2] != asked.split("/")[-1]:
                    logger.warning("%s(name_scope=%r) runs in %r: the name is taken.",
                                   func.__name__, asked, scope)
                return func(*args, **kwargs)
        return wrapper  # type: ignore[return-value]
    return decorate


def under_variable_scope() -> Callable[[F], F]:
    """Return a decorator that runs a function in a variable scope named after it."""
    def decorate(func: F) -> F:
        @functools.wraps(func)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with v1.variable_scope(func.__name__):
                return func(*args, **kwargs)
        return wrapper  # type: ignore[return-value]
    return decorate


@graph_memoized
def _scope_named(name: str) -> str:
    with tf.name_scope(""), tf.name_scope(name) as scope:
        return str(scope)


@contextmanager
def cached_name_scope(name: str, top_level: bool = True) -> Iterator[str]:
    """Enter the same name scope each time, without ``_1``, ``_2`` after its name.

    Args:
        name: of the scope.
        top_level: whether it lies outside of the current scopes.

    Example:
        >>> with tf.Graph().as_default():
        ...     with cached_name_scope("stats"):
        ...         a = tf.zeros([1], name="a")
        ...     with cached_name_scope("stats"):
        ...         b = tf.zeros([1], name="b")
        >>> a.name, b.name
        ('stats/a:0', 'stats/b:0')
    """
    if not top_level:
        current = v1.get_default_graph().get_name_scope()
        name = f"{current}/{name}" if current else name
    with tf.name_scope(_scope_named(name)) as scope:
        yield scope
