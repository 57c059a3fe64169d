# SPDX-License-Identifier: Apache-2.0
"""A model written as a chain of calls."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..compat import tfv1
from ..tfutils.symbolic_functions import print_stat
from ..utils.errors import near, say
from .registry import get_registered_layer, registered_layers

__all__ = ["LinearWrap"]


class _InModule:
    """``wrap.tf.nn`` and deeper: functions of TensorFlow with the tensor as first argument."""

    def __init__(self, module: Any, wrapped: LinearWrap) -> None:
        self._module = module
        self._wrapped = wrapped

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if isinstance(found, ModuleType):
            return _InModule(found, self._wrapped)

        def call(*args: Any, **kwargs: Any) -> LinearWrap:
            return self._wrapped.apply(found, *args, **kwargs)
        return call


class LinearWrap:
    """Wraps a tensor, so that layers can be called on it one after the other.

    A call of a layer returns the wrapped output; a call without a layer the tensor.

    Args:
        tensor: the first input.

    Example:
        >>> import tensorflow as tf
        >>> with tf.Graph().as_default():
        ...     y = (LinearWrap(tf.zeros([1, 8, 8, 3]))
        ...          .Conv2D("conv0", 4, 3)
        ...          .tf.nn.relu()
        ...          .FullyConnected("fc", 10)())
        >>> y.shape
        TensorShape([1, 10])
    """

    def __init__(self, tensor: Any) -> None:
        self._t = tensor

    def __getattr__(self, layer_name: str) -> Any:
        if layer_name.startswith("__"):  # copy, pickle and inspect ask for these
            raise AttributeError(layer_name)
        if layer_name == "tf":
            return _InModule(tfv1, self)
        layer = get_registered_layer(layer_name)
        if layer is None:
            raise AttributeError(say("LinearWrap", expected="a registered layer, or tf",
                                     received=repr(layer_name),
                                     do="Use apply(func), or layer_register."
                                     + near(layer_name, registered_layers())))

        def call(*args: Any, **kwargs: Any) -> LinearWrap:
            if args and isinstance(args[0], str) and layer.use_scope is not False:
                return LinearWrap(layer(args[0], self._t, *args[1:], **kwargs))
            if layer.use_scope:
                raise ValueError(say(f"LinearWrap.{layer_name}", expected="the layer's name first",
                                     received=repr(args[0]) if args else "no arguments",
                                     do=f"Write .{layer_name}('name', ...)."))
            return LinearWrap(layer(self._t, *args, **kwargs))
        return call

    def apply(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> LinearWrap:
        """Return the wrapped ``func(tensor, *args, **kwargs)``."""
        return LinearWrap(func(self._t, *args, **kwargs))

    def apply2(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> LinearWrap:
        """Return the wrapped ``func(args[0], tensor, *args[1:], **kwargs)``."""
        return LinearWrap(func(args[0], self._t, *args[1:], **kwargs))

    def __call__(self) -> Any:
        return self._t

    def tensor(self) -> Any:
        """Return the tensor."""
        return self._t

    def print_tensor(self) -> LinearWrap:
        """Return a wrapper of the tensor, whose evaluation prints it."""
        return LinearWrap(print_stat(self._t))
