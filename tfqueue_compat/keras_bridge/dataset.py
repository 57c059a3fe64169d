# SPDX-License-Identifier: Apache-2.0
"""The data of a Keras call as the inputs of a ModelDesc."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from ..dataflow.base import DataFlow
from ..input_source.input_source_base import InputSource
from ..input_source.queue import QueueInput
from ..utils.errors import near, say

__all__ = ["as_keras_data", "as_model_inputs"]


def as_keras_data(who: str, data: Any, signature: Sequence[tf.TensorSpec]) -> Any:
    """Return what Keras takes for what a tensorpack user has.

    A DataFlow becomes a QueueInput, and a QueueInput is told the model's signature, so that a
    datapoint that does not fit it is named where it is made. Anything else goes on to Keras.

    Args:
        who: asks; named in errors.
        data: a DataFlow, an input source, or what Keras takes.
        signature: of the model's inputs.

    Raises:
        TypeError: for an input source that is no ``tf.data.Dataset``.
    """
    if isinstance(data, DataFlow):
        data = QueueInput(data)
    if not isinstance(data, InputSource):
        return data
    if not isinstance(data, tf.data.Dataset):
        raise TypeError(say(who, expected="a QueueInput, a DataFlow, or data that Keras takes",
                            received=f"a {type(data).__name__}",
                            do="Pass the dataflow, or QueueInput(df)."))
    if not data.setup_done() and isinstance(data.element_spec, (tuple, list)) \
            and len(data.element_spec) == len(signature):
        data.setup(list(signature))
    return data


def as_model_inputs(desc: Any, data: Any, names: Sequence[str] | None = None,
                    partial: bool = False) -> list[Any]:
    """Return a tensor for each input of a model, of a batch as Keras hands it over.

    Args:
        desc: the ModelDesc.
        data: tensors, nested in tuples, lists and dicts. Those in a dict are taken by their
            names, others in the order of the model's inputs.
        names: the inputs that the tensors are for, where not the first ones.
        partial: whether inputs may be left out: they are None then.

    Raises:
        ValueError: where the data does not fit the inputs.
    """
    specs = {spec.name: spec for spec in desc.get_input_signature()}
    who = f"{type(desc).__name__}'s inputs"
    given: dict[str, Any] = {}
    order = list(specs) if names is None else list(names)
    for name, x in _leaves(data):
        if name is None:
            free = [n for n in order if n not in given]
            if not free:
                raise ValueError(_count(who, order, data))
            name = free[0]
        if name not in specs:
            raise ValueError(say(who, expected=f"components named {list(specs)}",
                                 received=repr(name), do="Rename it." + near(name, specs)))
        given[name] = _fitting(f"{who}, {name!r}", x, specs[name])
    missing = [n for n in specs if n not in given]
    if missing and not partial:
        raise ValueError(_count(who, order, data))
    return [given.get(name) for name in specs]


def _count(who: str, names: Sequence[str], data: Any) -> str:
    kinds = [f"{x.dtype.name} {x.shape}" for _, x in _leaves(data)]
    return say(who, expected=f"{len(names)} components, {list(names)}",
               received=f"{len(kinds)}: {kinds}",
               do="Let the dataflow give one for each input, in their order.")


def _leaves(data: Any) -> list[tuple[str | None, Any]]:
    """The tensors of a batch, with their names where they come in a dict; None is left out."""
    if isinstance(data, dict):
        return [(name, x) for name, x in data.items() if x is not None]
    if isinstance(data, (tuple, list)):
        return [leaf for part in data for leaf in _leaves(part)]
    return [] if data is None else [(None, data)]


def _fitting(who: str, x: Any, spec: tf.TensorSpec) -> Any:
    """The tensor with the input's dtype, and all that is known of its shape."""
    x = tf.convert_to_tensor(x)
    if not x.shape.is_compatible_with(spec.shape):
        raise ValueError(say(who, expected=f"the shape {spec.shape}", received=str(x.shape),
                             do="Reshape it in the dataflow; a batch has one more dimension than "
                             "its datapoints."))
    if x.dtype != spec.dtype:
        alike = (x.dtype.is_integer and spec.dtype.is_integer
                 or x.dtype.is_floating and spec.dtype.is_floating)
        if not alike:
            raise ValueError(say(who, expected=spec.dtype.name, received=x.dtype.name,
                                 do="Convert it in the dataflow."))
        x = tf.cast(x, spec.dtype)
    if x.shape.rank is None or spec.shape.rank is not None:
        x = tf.ensure_shape(x, spec.shape)
    return x
