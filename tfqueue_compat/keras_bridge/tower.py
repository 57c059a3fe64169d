# SPDX-License-Identifier: Apache-2.0
"""One call of a ModelDesc inside a function that Keras traces: one replica's tower."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from ..tfutils.tower import (PredictTowerContext, TowerTensorHandle, TrainTowerContext,
                             get_current_tower_context)
from ..utils.errors import NotSupported, say

__all__ = ["Tower", "samples_of", "tower_context"]

v1 = tf.compat.v1


class _Records:
    """Keeps the scalars of ``add_moving_summary``: they become metrics."""

    scalars: dict[str, Any]

    def record_scalars(self, scalars: Sequence[Any]) -> None:
        """Take scalars; they lose the name scope of a replica."""
        prefix = self.name + "/"  # type: ignore[attr-defined]
        for x in scalars:
            name = x.op.name
            name = name[len(prefix):] if name.startswith(prefix) else name
            self.scalars[name] = tf.cast(tf.reshape(x, []), tf.float32)


class _Training(_Records, TrainTowerContext):
    """A replica that trains: each of them is the first tower of its own data."""

    is_main_training_tower = True
    has_own_variables = True

    def _keys_to_freeze(self) -> tuple[str, ...]:
        return ()


class _Predicting(_Records, PredictTowerContext):
    """A replica that predicts."""


def tower_context(training: bool) -> Any:
    """Return a context for the model's code, in the current name scope.

    Its ``scalars`` are what the code gave to ``add_moving_summary``: name -> float32 tensor.
    """
    if get_current_tower_context() is not None and tf.distribute.has_strategy():
        raise NotSupported(say(
            "build_graph under a tf.distribute.Strategy", expected="code that leaves variables "
            "that are trained to the optimizer", received="an assignment to one, or its moving "
            "average, for which replicas wait for each other", do="Train on one device, or do it "
            "in a callback."))
    scope = v1.get_default_graph().get_name_scope()
    context: Any = _Training(scope) if training else _Predicting(scope)
    context.scalars = {}
    return context


class Tower:
    """A model, built in the function that is being traced, inside of a tower's context.

    Args:
        desc: the ModelDesc.
        context: the context, entered.
        inputs: a tensor for each input; None for one that is not to be needed.

    Attributes:
        cost: what the model returned, or kept in ``self.cost``; None where neither.
        handle: finds tensors by their names.
        scalars: those given to ``add_moving_summary``: name -> float32 tensor.
        samples: how many there are in the batch, as a tensor; 1 where no input says.
    """

    def __init__(self, desc: Any, context: Any, inputs: Sequence[Any]) -> None:
        specs = desc.get_input_signature()
        self.samples = samples_of(inputs, specs)
        named = [v1.placeholder(spec.dtype, spec.shape, spec.name) if x is None
                 else tf.identity(x, name=spec.name) for x, spec in zip(inputs, specs)]
        self.cost = desc._build_graph_get_cost(*named)
        self.handle = TowerTensorHandle(context, named, self.cost, specs)
        self.scalars: dict[str, Any] = context.scalars


def samples_of(inputs: Sequence[Any], specs: Sequence[tf.TensorSpec]) -> Any:
    """Return how many samples a batch has, as a tensor; 1 where no input says.

    Args:
        inputs: the batch.
        specs: of the inputs; a first dimension that is open is that of the samples.
    """
    for x, spec in zip(inputs, specs):
        if x is not None and spec.shape.rank and spec.shape[0] is None:
            return tf.shape(x)[0]
    return tf.constant(1)
