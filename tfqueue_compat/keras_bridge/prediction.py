# SPDX-License-Identifier: Apache-2.0
"""Tensors of a model that predicts, inside a function that Keras traces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from ..tfutils.dependency import dependency_of_fetches
from ..utils.errors import say
from .tower import Tower, tower_context
from .variables import VariableStore

__all__ = ["predicted"]

v1 = tf.compat.v1


def predicted(desc: Any, store: VariableStore, inputs: Sequence[Any],
              wanted: Callable[[Tower], Any]) -> Any:
    """Return tensors of a tower that predicts.

    Nothing else of it is run, as in a session: it changes no variable.

    Args:
        desc: the ModelDesc.
        store: its variables.
        inputs: a tensor for each input; None for those that the data does not have.
        wanted: the tensors to return, of the tower.

    Raises:
        ValueError: where they depend on an input that the data does not have.
    """
    fetches: list[Any] = []

    def build(*tensors: Any) -> None:
        given = iter(tensors)
        placed = [x if x is None else next(given) for x in inputs]
        with store.tracing(), tower_context(False) as context:
            fetches.append(wanted(Tower(desc, context, placed)))

    there = [x for x in inputs if x is not None]
    wrapped = v1.wrap_function(build, [tf.TensorSpec(x.shape, x.dtype) for x in there])
    with wrapped.graph.as_default():
        for x, name in zip(inputs, desc.input_names):
            if x is None and dependency_of_fetches(
                    fetches, wrapped.graph.get_operation_by_name(name)):
                raise ValueError(say(
                    f"{type(desc).__name__}'s input {name!r}", expected="a component of the data, "
                    "for the outputs depend on it", received="none", do="Let the data have one "
                    "for each input, or pass input_names= for those that it has."))
    return wrapped.prune(wrapped.inputs[:len(there)], fetches[0])(*there)
