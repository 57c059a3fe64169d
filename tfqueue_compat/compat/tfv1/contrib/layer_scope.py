# SPDX-License-Identifier: Apache-2.0
"""What contrib's layer functions share: their variable scope, collections and final steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import tensorflow as tf

from ....utils.errors import near, say
from .arg_scope_ import current_arg_scope
from .variables import model_variable, variable

__all__ = ["Collections", "collect", "data_format_of", "finish", "layer_scope"]

v1 = tf.compat.v1
Collections = Sequence[str] | Mapping[str, Sequence[str]] | str | None

_FORMATS = {"NHWC": "channels_last", "NWC": "channels_last", "NDHWC": "channels_last",
            "NCHW": "channels_first", "NCW": "channels_first", "NCDHW": "channels_first"}


def data_format_of(name: str | None) -> str:
    """Return ``channels_last`` or ``channels_first`` for contrib's NHWC, NCHW, ...

    Raises:
        ValueError: for another name.
    """
    if name is None:
        return "channels_last"
    if name not in _FORMATS:
        raise ValueError(say("data_format", expected=f"one of {list(_FORMATS)}",
                             received=repr(name), do=f"Pass NHWC or NCHW.{near(name, _FORMATS)}"))
    return _FORMATS[name]


def _device() -> str:
    """The device that ``arg_scope([slim.variable], device=...)`` asks for."""
    scopes = current_arg_scope()
    for func in (model_variable, variable):
        device = scopes.get(func._key_op, {}).get("device")  # type: ignore[attr-defined]
        if device:
            return device
    return ""


@contextmanager
def layer_scope(scope: Any, default: str, inputs: Any, reuse: Any = None,
                renames: Mapping[str, str] | None = None,
                collections: Collections = None) -> Iterator[Any]:
    """Open a layer's variable scope, where ``get_variable`` makes model variables.

    Args:
        scope: its name, or None for ``default`` made unique.
        default: e.g. ``"Conv"``.
        inputs: the layer's inputs.
        reuse: as in ``tf.variable_scope``.
        renames: a variable's name -> its name in contrib.
        collections: where to add variables, all of them or by name.
    """
    depth: list[int] = []

    def getter(getter: Callable[..., Any], name: str, *args: Any, **kwargs: Any) -> Any:
        head, slash, last = name.rpartition("/")
        last = (renames or {}).get(last, last)
        kwargs["collections"] = [*(kwargs.get("collections") or [v1.GraphKeys.GLOBAL_VARIABLES]),
                                 v1.GraphKeys.MODEL_VARIABLES]
        with tf.device(_device()):
            made = getter(head + slash + last, *args, **kwargs)
        if head.count("/") == depth[0]:
            wanted = collections.get(last) if isinstance(collections, Mapping) else collections
            _add_once(wanted, made)
        return made

    with v1.variable_scope(scope, default, [inputs], reuse=reuse, custom_getter=getter) as opened:
        depth.append(opened.name.count("/"))
        yield opened


def _add_once(collections: Sequence[str] | str | None, value: Any) -> None:
    names = [collections] if isinstance(collections, str) else collections or ()
    for name in names:
        known = v1.get_collection_ref(name)
        if not any(value is v for v in known):
            known.append(value)


def collect(collections: Sequence[str] | str | None, alias: str, outputs: Any) -> Any:
    """Add a layer's outputs to collections, under an alias (``slim.utils`` reads it)."""
    if collections:
        _add_once(collections, outputs)
        outputs.aliases = [*getattr(outputs, "aliases", ()), alias]
    return outputs


def finish(outputs: Any, opened: Any, normalizer_fn: Callable[..., Any] | None,
           normalizer_params: Mapping[str, Any] | None,
           activation_fn: Callable[[Any], Any] | None,
           outputs_collections: Sequence[str] | str | None) -> Any:
    """Normalize, activate and collect a layer's outputs."""
    if normalizer_fn is not None:
        outputs = normalizer_fn(outputs, **(normalizer_params or {}))
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collect(outputs_collections, opened.name, outputs)
