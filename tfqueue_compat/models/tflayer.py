# SPDX-License-Identifier: Apache-2.0
"""Old and new names of layers' arguments, and of their variables."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from numbers import Number
from typing import Any

import tensorflow as tf

from ..tfutils.varreplace import custom_getter_scope
from ..utils.argtools import get_data_format
from ..utils.errors import near, say

__all__ = ["rename_get_variable", "rename_tflayer_get_variable"]

v1 = tf.compat.v1
_COMMON = {"nl": "activation", "W_init": "kernel_initializer", "b_init": "bias_initializer",
           "W_regularizer": "kernel_regularizer", "b_regularizer": "bias_regularizer"}
_RENAMED = {"kernel": "W", "bias": "b", "moving_mean": "mean/EMA",
            "moving_variance": "variance/EMA"}


def map_common_tfargs(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments under today's names and in today's form.

    ``nl`` becomes ``activation``, ``W_init`` ``kernel_initializer``, ``b_init``
    ``bias_initializer``; ``NCHW`` becomes ``channels_first``; a number given as an initializer
    becomes a constant one.

    Example:
        >>> map_common_tfargs({"nl": None, "data_format": "NCHW"})
        {'activation': None, 'data_format': 'channels_first'}
    """
    mapped: dict[str, Any] = {}
    for name, value in kwargs.items():
        new = _COMMON.get(name, name)
        if new in mapped:
            raise TypeError(say("layer", expected=f"one of {name!r} and {new!r}",
                                received="both", do=f"Pass {new!r} alone."))
        if name == "nl" and value is not None:
            value = _without_name(value)
        elif new.endswith("_initializer") and isinstance(value, Number):
            value = v1.constant_initializer(value)
        elif new == "data_format" and value is not None:
            value = get_data_format(value, keras_mode=True)
        mapped[new] = value
    return mapped


def _without_name(activation: Callable[..., Any]) -> Callable[[Any], Any]:
    """Old activations were called with the name of their output."""
    try:
        parameters = inspect.signature(activation).parameters
    except (TypeError, ValueError):
        return activation
    wanted = parameters.get("name")
    if wanted is not None and wanted.default is wanted.empty:
        return lambda x: activation(x, name=None)
    return activation


def convert_to_tflayer_args(args_names: Sequence[str],
                            name_mapping: Mapping[str, str]) -> Callable[..., Any]:
    """Return a decorator that lets a layer be called in tensorpack's old ways too.

    Args:
        args_names: arguments after the inputs that may be passed by position, in order. What
            comes after them is taken for ``padding`` where it is text, else for ``strides``.
        name_mapping: old name -> today's.
    """
    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        known = list(inspect.signature(func).parameters)

        @functools.wraps(func)
        def wrapper(inputs: Any, *args: Any, **kwargs: Any) -> Any:
            given = _by_name(func.__name__, args, args_names, known)
            renamed = {}
            for name, value in kwargs.items():
                new = name_mapping.get(name, name)
                if new in given or new in renamed:
                    raise TypeError(say(func.__name__, expected=f"{new!r} once",
                                        received="two values", do="Remove one."))
                renamed[new] = value
            merged = map_common_tfargs({**given, **renamed})
            unknown = sorted(set(merged) - set(known))
            if unknown:
                every = [*known, *name_mapping, *_COMMON]
                raise TypeError(say(func.__name__, expected=f"arguments of {known[1:]}",
                                    received=repr(unknown[0]),
                                    do=f"Remove or rename it.{near(unknown[0], every)}"))
            return func(inputs, **merged)
        return wrapper
    return decorate


def _by_name(kind: str, args: Sequence[Any], names: Sequence[str],
             known: Sequence[str]) -> dict[str, Any]:
    given = dict(zip(names, args))
    for value in args[len(names):]:
        name = "padding" if isinstance(value, str) else "strides"
        if name not in known or name in given:
            raise TypeError(say(kind, expected=f"by position no more than {list(names)}",
                                received=f"{len(args)}: {value!r}",
                                do="Pass the others by name."))
        given[name] = value
    return given


@contextmanager
def rename_get_variable(mapping: Mapping[str, str]) -> Iterator[None]:
    """Let ``get_variable`` make variables of other names.

    Args:
        mapping: last part of a name -> what stands there instead, e.g. ``{"kernel": "W"}``.

    Example:
        >>> with tf.Graph().as_default(), rename_get_variable({"kernel": "W"}):
        ...     v1.get_variable("fc/kernel", [1]).op.name
        'fc/W'
    """
    def getter(getter: Callable[..., Any], name: str, *args: Any, **kwargs: Any) -> Any:
        head, slash, last = name.rpartition("/")
        return getter(head + slash + mapping.get(last, last), *args, **kwargs)

    with custom_getter_scope(getter):
        yield


def rename_tflayer_get_variable() -> AbstractContextManager[None]:
    """Let layers of ``tf.layers`` name their variables as tensorpack's: W, b, mean/EMA, ..."""
    return rename_get_variable(_RENAMED)


def monkeypatch_tf_layers() -> None:
    """Does nothing: ``compat.tfv1`` has all of ``tf.layers``, and TensorFlow is left as it is."""
