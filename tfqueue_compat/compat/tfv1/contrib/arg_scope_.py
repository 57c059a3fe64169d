# SPDX-License-Identifier: Apache-2.0
"""slim's ``arg_scope``: default arguments for functions, inside a ``with`` block."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import tensorflow as tf

from ....utils.errors import say

__all__ = ["add_arg_scope", "arg_scope", "arg_scoped_arguments", "current_arg_scope",
           "has_arg_scope"]

Scope = Mapping[str, Mapping[str, Any]]

_scope: ContextVar[Scope] = ContextVar("arg_scope", default={})


def _key(func: Callable[..., Any]) -> str:
    return getattr(func, "_key_op", str(func))


def current_arg_scope() -> Scope:
    """Return the defaults in force: function's key -> arguments."""
    return _scope.get()


@contextmanager
def arg_scope(list_ops_or_scope: Sequence[Callable[..., Any]] | Scope,
              **kwargs: Any) -> Iterator[Scope]:
    """Give functions decorated by ``add_arg_scope`` other default arguments.

    Args:
        list_ops_or_scope: functions, with ``kwargs`` for them; or a scope that an earlier
            ``with arg_scope(...) as scope`` gave, to enter it again.
        kwargs: the arguments.

    Yields:
        The scope, to be entered again.

    Raises:
        TypeError: where neither a list of functions nor a scope is given.
        ValueError: for a scope together with ``kwargs``, or a function not decorated.

    Example:
        >>> @add_arg_scope
        ... def area(width, height=1):
        ...     return width * height
        >>> with arg_scope([area], height=3):
        ...     area(2)
        6
    """
    if isinstance(list_ops_or_scope, Mapping):
        if kwargs:
            raise ValueError(say("arg_scope", expected="a scope alone", received=str(list(kwargs)),
                                 do="Pass functions with keywords, or a scope without."))
        new: Scope = dict(list_ops_or_scope)
    elif isinstance(list_ops_or_scope, (list, tuple)):
        new = {k: dict(v) for k, v in _scope.get().items()}
        for func in list_ops_or_scope:
            if not has_arg_scope(func):
                raise ValueError(say(
                    "arg_scope", expected="functions decorated by add_arg_scope",
                    received=repr(func), do="Decorate it, or leave it out."))
            new[_key(func)] = {**new.get(_key(func), {}), **kwargs}  # type: ignore[index]
    else:
        raise TypeError(say("arg_scope", expected="a list of functions, or a scope",
                            received=type(list_ops_or_scope).__name__, do="Pass [function]."))
    token = _scope.set(new)
    try:
        yield new
    finally:
        _scope.reset(token)


def add_arg_scope(func: Callable[..., Any]) -> Callable[..., Any]:
    """Let ``arg_scope`` set default arguments of a function."""
    @tf.autograph.experimental.do_not_convert
    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **{**_scope.get().get(wrapped._key_op, {}), **kwargs})

    wrapped._key_op = f"{func.__module__}.{func.__qualname__}"  # type: ignore[attr-defined]
    return wrapped


def has_arg_scope(func: Callable[..., Any]) -> bool:
    """Return whether a function was decorated by ``add_arg_scope``."""
    return hasattr(func, "_key_op")


def arg_scoped_arguments(func: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the arguments that ``arg_scope`` may set."""
    inner = getattr(func, "__wrapped__", func)
    while hasattr(inner, "__wrapped__"):
        inner = inner.__wrapped__
    code = inner.__code__
    return tuple(code.co_varnames[:code.co_argcount][-len(inner.__defaults__ or ()):]
                 if inner.__defaults__ else ())
