# SPDX-License-Identifier: Apache-2.0
"""Decorators that remember results, and arguments brought into form."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from . import logger
from .errors import near, say

__all__ = ["graph_memoized", "log_once", "map_arg", "memoized", "memoized_ignoreargs",
           "memoized_method", "shape2d", "shape4d"]

F = TypeVar("F", bound=Callable[..., Any])
memoized = functools.lru_cache(maxsize=None)
_NOTHING = object()
_FORMATS = {"NCHW": ("channels_first", "NCHW"), "NHWC": ("channels_last", "NHWC"),
            "channels_first": ("channels_first", "NCHW"),
            "channels_last": ("channels_last", "NHWC")}


def map_arg(**maps: Callable[[Any], Any]) -> Callable[[F], F]:
    """Return a decorator that passes named arguments through functions first.

    Args:
        **maps: name of an argument -> function of its value.

    Example:
        >>> @map_arg(a=abs)
        ... def f(a):
        ...     return a
        >>> f(-3)
        3
    """
    def decorate(func: F) -> F:
        signature = inspect.signature(func)

        @functools.wraps(func)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            for name, change in maps.items():
                if name in bound.arguments:
                    bound.arguments[name] = change(bound.arguments[name])
            return func(*bound.args, **bound.kwargs)
        return wrapper  # type: ignore[return-value]
    return decorate


def graph_memoized(func: F) -> F:
    """Return ``func`` with its results remembered for each default graph of TensorFlow."""
    caches: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        import tensorflow as tf  # asked for here alone: utils works without it
        cache = caches.setdefault(tf.compat.v1.get_default_graph(), {})
        key = (args, tuple(sorted(kwargs.items())))
        if key not in cache:
            cache[key] = func(*args, **kwargs)
        return cache[key]
    return wrapper  # type: ignore[return-value]


def memoized_ignoreargs(func: F) -> F:
    """Return ``func`` made to run once: later calls get the first result, whatever is passed."""
    result: Any = _NOTHING

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        nonlocal result
        if result is _NOTHING:
            result = func(*args, **kwargs)
        return result
    return wrapper  # type: ignore[return-value]


def memoized_method(func: F) -> F:
    """Return a method with its results remembered on each object.

    The results live in the object and die with it.
    """
    name = f"_memo_{func.__name__}"

    @functools.wraps(func)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        cache = self.__dict__.setdefault(name, {})
        key = (args, tuple(sorted(kwargs.items())))
        if key not in cache:
            cache[key] = func(self, *args, **kwargs)
        return cache[key]
    return wrapper  # type: ignore[return-value]


def call_only_once(func: F) -> F:
    """Return a method that may be called once on each object.

    Raises:
        RuntimeError: at the second call.
    """
    name = f"_called_{func.__name__}"

    @functools.wraps(func)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        subject = f"{type(self).__name__}.{func.__name__}"
        if name in self.__dict__:
            raise RuntimeError(say(subject, expected="one call on an object",
                                   received="a second", do="Make another object."))
        self.__dict__[name] = True
        return func(self, *args, **kwargs)
    return wrapper  # type: ignore[return-value]


@memoized
def log_once(message: str, func: str = "info") -> None:
    """Log a message, but only the first time.

    Args:
        message: the text.
        func: name of the logger's function: ``"info"``, ``"warning"``, ...
    """
    getattr(logger, func)(message, stacklevel=2)


def shape2d(a: int | Sequence[int]) -> list[int]:
    """Return ``[a, a]`` for a number, or the two numbers given.

    Args:
        a: an int, or two.

    Raises:
        ValueError: for anything else.

    Example:
        >>> shape2d(3)
        [3, 3]
    """
    if isinstance(a, int):
        return [a, a]
    if isinstance(a, (list, tuple)) and len(a) == 2:
        return list(a)
    raise ValueError(say("shape2d", expected="an int or two of them", received=repr(a),
                         do="Pass e.g. 3 or (3, 5)."))


def get_data_format(data_format: str, keras_mode: bool = True) -> str:
    """Return a data format as Keras (``"channels_last"``) or TensorFlow (``"NHWC"``) says it.

    Args:
        data_format: in either form.
        keras_mode: which form to return.

    Raises:
        ValueError: for an unknown format.
    """
    if data_format not in _FORMATS:
        raise ValueError(say("data_format", expected=" or ".join(map(repr, _FORMATS)),
                             received=f"{data_format!r}.{near(data_format, _FORMATS)}".rstrip("."),
                             do="Pass one of these."))
    return _FORMATS[data_format][0 if keras_mode else 1]


def shape4d(a: int | Sequence[int], data_format: str = "NHWC") -> list[int]:
    """Return the four numbers of a window or stride, from one or two.

    Args:
        a: an int, or (height, width).
        data_format: where the channel axis is.

    Example:
        >>> shape4d((2, 3), "NCHW")
        [1, 1, 2, 3]
    """
    two = shape2d(a)
    return [1, *two, 1] if get_data_format(data_format, False) == "NHWC" else [1, 1, *two]
