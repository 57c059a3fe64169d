# SPDX-License-Identifier: Apache-2.0
"""Makes TF 1's layer functions from layer classes: ``conv2d`` from ``Conv2D``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ...utils.errors import near, say
from .layers_base import Layer

__all__ = ["as_function"]


def as_function(layer: type[Layer], name: str, *, reuse: bool = True) -> Callable[..., Any]:
    """Return TF 1's function of a layer class: ``conv2d(inputs, <the class's arguments>)``.

    Args:
        layer: the class.
        name: the function's name.
        reuse: whether the function has weights to reuse: it then takes ``reuse=`` and its
            ``name`` is the exact variable scope.

    Returns:
        A function with ``inputs`` first, then the arguments of the class in their order.
    """
    own = [p for p in inspect.signature(layer).parameters.values()
           if p.kind is p.POSITIONAL_OR_KEYWORD]
    first = inspect.Parameter("inputs", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    last = [inspect.Parameter("reuse", first.kind, default=None)] if reuse else []
    signature = inspect.Signature([first, *own, *last])

    @tf.autograph.experimental.do_not_convert
    def function(*args: Any, **kwargs: Any) -> Any:
        unknown = sorted(set(kwargs) - set(signature.parameters))
        if unknown:
            raise TypeError(say(
                f"tf.layers.{name}", expected=f"keywords of {list(signature.parameters)}",
                received=repr(unknown[0]),
                do=f"Remove or rename it.{near(unknown[0], signature.parameters)}"))
        given = dict(signature.bind(*args, **kwargs).arguments)
        inputs = given.pop("inputs")
        if reuse:
            given |= {"_reuse": given.pop("reuse", None), "_scope": given.get("name")}
        return layer(**given)(inputs)

    function.__name__ = function.__qualname__ = name
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__module__ = layer.__module__
    function.__doc__ = (f"Apply ``{layer.__name__}`` once: ``{layer.__name__}(...)(inputs)``.\n\n"
                        f"    The arguments after ``inputs`` are those of the class.\n    ")
    return function
