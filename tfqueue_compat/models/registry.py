# SPDX-License-Identifier: Apache-2.0
"""Makes layers of functions: a variable scope each, defaults from ``argscope``, logged shapes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ..tfutils.argscope import get_arg_scope
from ..tfutils.model_utils import get_shape_str
from ..tfutils.tower import get_current_tower_context
from ..utils import logger
from ..utils.errors import say

__all__ = ["disable_layer_logging", "layer_register"]

v1 = tf.compat.v1
_layers: dict[str, Callable[..., Any]] = {}


class LayerShapeLogger:
    """Logs the shapes that go into layers and come out; a layer inside another is indented."""

    def __init__(self) -> None:
        self._open: list[list[Any]] = []  # [name, message, told]
        self.enabled = True

    def push_inputs(self, name: str, message: str) -> None:
        """A layer begins.

        Args:
            name: of its scope.
            message: the shapes that go in.
        """
        if self._open and not self._open[-1][2]:  # it holds layers: it gets a line of its own
            outer = self._open[-1]
            outer[2] = True
            self._write(len(self._open) - 1, f"'{outer[0]}' input: {outer[1]}")
        self._open.append([name, message, False])

    def push_outputs(self, name: str, message: str) -> None:
        """The layer that began last ends.

        Args:
            name: of its scope.
            message: the shapes that come out.
        """
        _, inputs, told = self._open.pop()
        line = f"'{name}' output: {message}" if told else f"'{name}': {inputs} --> {message}"
        self._write(len(self._open), line)

    def drop(self) -> None:
        """The layer that began last ended by an error."""
        self._open.pop()

    def _write(self, depth: int, line: str) -> None:
        if self.enabled:
            logger.info("%s%s", "  " * depth, line)


_shapes = LayerShapeLogger()


def disable_layer_logging() -> None:
    """Log no shapes of layers from now on."""
    _shapes.enabled = False


def get_registered_layer(name: str) -> Any:
    """Return the layer of this name, or None."""
    return _layers.get(name)


def registered_layers() -> list[str]:
    """Return the names of all layers."""
    return list(_layers)


def layer_register(log_shape: bool = False, use_scope: bool | None = True) -> Callable[..., Any]:
    """Return a decorator that makes a layer of ``func(inputs, ...)``.

    The layer is called with its scope's name in front: ``MyLayer('name', inputs, ...)``. It takes
    its defaults from ``argscope`` and can be used in ``LinearWrap``. A layer of the same name that
    was registered before is replaced.

    Args:
        log_shape: whether to log shapes, once for each scope and in the first tower only.
        use_scope: False for a layer without a name in front, None where it may be left out.

    Example:
        >>> @layer_register()
        ... def Doubled(x):
        ...     return x * 2
        >>> with tf.Graph().as_default():
        ...     Doubled("twice", tf.zeros([3])).op.name
        'twice/mul'
    """
    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def layer(*args: Any, **kwargs: Any) -> Any:
            name, rest = _split_name(func.__name__, args, use_scope)
            inputs = _check_inputs(func.__name__, name, rest)
            merged = {**get_arg_scope()[func.__name__], **kwargs}
            if name is None:
                return func(*rest, **merged)
            with v1.variable_scope(name) as scope:
                if not (log_shape and _first_time(scope.name)):
                    return func(*rest, **merged)
                _shapes.push_inputs(scope.name, get_shape_str(inputs))
                try:
                    outputs = func(*rest, **merged)
                except BaseException:
                    _shapes.drop()
                    raise
                _shapes.push_outputs(scope.name, get_shape_str(outputs))
                return outputs

        layer.use_scope = use_scope  # type: ignore[attr-defined]
        layer.__argscope_enabled__ = True  # type: ignore[attr-defined]
        layer.symbolic_function = func  # type: ignore[attr-defined]
        if func.__name__ == "tf":
            raise ValueError(say("layer_register", expected="another name than 'tf'",
                                 received="'tf', which LinearWrap knows as TensorFlow",
                                 do="Rename the function."))
        _layers[func.__name__] = layer
        return layer
    return decorate


def _split_name(kind: str, args: tuple[Any, ...],
                use_scope: bool | None) -> tuple[str | None, tuple[Any, ...]]:
    named = bool(args) and isinstance(args[0], str)
    if use_scope is False or use_scope is None and not named:
        return None, args
    if not named:
        raise ValueError(say(kind, expected="the layer's name first",
                             received=repr(args[0]) if args else "no arguments",
                             do=f"Write {kind}('name', inputs, ...)."))
    return args[0], args[1:]


def _check_inputs(kind: str, name: str | None, args: tuple[Any, ...]) -> Any:
    what = kind if name is None else f"{kind} {name!r}"
    inputs = args[0] if args else None
    listed = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    if not listed or not all(tf.is_tensor(x) or isinstance(x, tf.Variable) for x in listed):
        raise ValueError(say(what, expected="a tensor, or a list of tensors, as inputs",
                             received=repr(inputs), do="Pass the tensor after the name."))
    return inputs


_SEEN = "_tfqueue_compat_logged_layers"


def _first_time(scope: str) -> bool:
    context = get_current_tower_context()
    if context is not None and context.is_training and not context.is_main_training_tower:
        return False
    seen = v1.get_collection_ref(_SEEN)
    if scope in seen:
        return False
    seen.append(scope)
    return True
