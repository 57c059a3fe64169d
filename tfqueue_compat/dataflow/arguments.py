# SPDX-License-Identifier: Apache-2.0
"""Arguments of the parallel dataflows: their old names, and what they may be.

tensorpack took the old names until 0.9.9.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, TypeVar

from ..utils.errors import say

__all__ = ["function", "old_keywords", "positive"]

F = TypeVar("F", bound=Callable[..., Any])


def old_keywords(**renamed: str) -> Callable[[F], F]:
    """Return a decorator that lets a function take a keyword under its old name as well.

    Args:
        renamed: ``old_name="new_name"``.

    Example:
        >>> @old_keywords(nr_proc="num_proc")
        ... def run(num_proc):
        ...     return num_proc
        >>> run(nr_proc=2)
        2
    """
    def decorate(func: F) -> F:
        @functools.wraps(func)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            for old in renamed.keys() & kwargs.keys():
                new = renamed[old]
                if new in kwargs:
                    raise TypeError(say(func.__qualname__, expected=f"{new!r} or {old!r}",
                                        received="both", do=f"Leave {old!r} out."))
                kwargs[new] = kwargs.pop(old)
            return func(*args, **kwargs)
        return wrapper  # type: ignore[return-value]
    return decorate


def positive(n: Any, name: str, owner: Any) -> int:
    """Return ``n`` as an int, or raise a ValueError in the name of ``owner``'s class."""
    try:
        value = operator.index(n)
    except TypeError:
        value = 0
    if value < 1:
        raise ValueError(say(type(owner).__name__, expected=f"{name} to be an integer >= 1",
                             received=repr(n), do=f"Pass {name}=1 or more."))
    return value


def function(func: Any, name: str, owner: Any) -> Callable[..., Any]:
    """Return ``func``, or raise a TypeError in the name of ``owner``'s class."""
    if not callable(func):
        raise TypeError(say(type(owner).__name__, expected=f"{name} to be a function",
                            received=type(func).__name__, do=f"Pass {name}=."))
    return func
