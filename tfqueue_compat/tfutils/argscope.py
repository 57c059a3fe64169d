# SPDX-License-Identifier: Apache-2.0
"""Default arguments of layers, for a block of code."""

from __future__ import annotations

import functools
import inspect
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from ..utils import logger
from ..utils.errors import say
from .model_utils import get_shape_str
from .tower import get_current_tower_context

__all__ = ["argscope", "enable_argscope_for_function", "enable_argscope_for_module",
           "get_arg_scope"]

Scope = dict[str, dict[str, Any]]


class _Stack(threading.local):
    def __init__(self) -> None:
        self.scopes: list[Scope] = [defaultdict(dict)]


_stack = _Stack()


@contextmanager
def argscope(layers: Any, **kwargs: Any) -> Iterator[None]:
    """Give layers other defaults inside the block.

    Args:
        layers: one layer or a sequence of them.
        **kwargs: the arguments; a call that passes them itself wins, an inner scope too.

    Raises:
        TypeError: for what is no layer.

    Example:
        >>> from tfqueue_compat.models import Conv2D
        >>> with argscope(Conv2D, filters=8):
        ...     get_arg_scope()["Conv2D"]
        {'filters': 8}
    """
    listed = list(layers) if isinstance(layers, (list, tuple, set, frozenset)) else [layers]
    for layer in listed:
        if not getattr(layer, "__argscope_enabled__", False):
            raise TypeError(say("argscope", expected="layers", received=repr(layer),
                                do="Register it by layer_register, or wrap it by "
                                   "enable_argscope_for_function."))
    scope = get_arg_scope()
    for layer in listed:
        scope[layer.__name__].update(kwargs)
    _stack.scopes.append(scope)
    try:
        yield
    finally:
        _stack.scopes.pop()


def get_arg_scope() -> Scope:
    """Return the defaults in force: name of a layer -> arguments. A copy."""
    copied: Scope = defaultdict(dict)
    copied.update((name, dict(values)) for name, values in _stack.scopes[-1].items())
    return copied


def enable_argscope_for_function(func: Callable[..., Any],
                                 log_shape: bool = True) -> Callable[..., Any]:
    """Return ``func``, able to be given to ``argscope``.

    Args:
        func: takes and returns tensors; has ``name`` among its arguments, or none.
        log_shape: whether to log the shapes that went in and came out, in the first tower.
    """
    if not callable(func):
        raise TypeError(say("enable_argscope_for_function", expected="a function",
                            received=repr(func), do="Pass the function itself."))

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        merged = {**get_arg_scope()[func.__name__], **kwargs}
        outputs = func(*args, **merged)
        if log_shape:
            _log(merged.get("name") or func.__name__, args, outputs)
        return outputs

    wrapper.__argscope_enabled__ = True  # type: ignore[attr-defined]
    return wrapper


def _log(name: str, args: Sequence[Any], outputs: Any) -> None:
    context = get_current_tower_context()
    if context is not None and not context.is_main_training_tower:
        return
    if args and hasattr(args[0], "shape"):
        logger.info("%20s: %20s -> %20s", name, get_shape_str(args[0]), get_shape_str(outputs))


def enable_argscope_for_module(module: ModuleType, log_shape: bool = True) -> None:
    """Wrap every function of a module, in place, by ``enable_argscope_for_function``.

    Args:
        module: e.g. ``tf.layers``.
        log_shape: whether to log shapes.
    """
    for name, value in inspect.getmembers(module, inspect.isfunction):
        if not name.startswith("_") and not getattr(value, "__argscope_enabled__", False):
            setattr(module, name, enable_argscope_for_function(value, log_shape))
