# SPDX-License-Identifier: Apache-2.0
"""The weights, losses and updates of a TF 1 layer, kept in the layer and in collections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from ...utils.errors import say

__all__ = ["WeightMixin"]

v1 = tf.compat.v1

_REGULARIZED = "_tfqueue_compat_regularized"


class WeightMixin:
    """Half of ``tf.layers.Layer``: what it owns."""

    _scope: Any
    _name: str

    def __init__(self, trainable: bool, dtype: Any) -> None:
        self._trainable = bool(trainable)
        self._dtype = None if dtype is None else tf.as_dtype(dtype).base_dtype
        self._reset_weights()

    def _reset_weights(self) -> None:
        self._trainable_weights: list[Any] = []
        self._non_trainable_weights: list[Any] = []
        self._losses: list[tuple[Any, list[Any] | None]] = []
        self._updates: list[tuple[Any, list[Any] | None]] = []

    @property
    def dtype(self) -> Any:
        """Name of the weights' dtype, e.g. ``'float32'``; None before the first call."""
        return None if self._dtype is None else self._dtype.name

    @property
    def trainable(self) -> bool:
        """Whether the weights are trainable."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = bool(value)

    @property
    def trainable_weights(self) -> list[Any]:
        """Weights to train; empty where ``trainable`` is False."""
        return list(self._trainable_weights) if self._trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        """Weights not to train."""
        rest = [] if self._trainable else self._trainable_weights
        return [*rest, *self._non_trainable_weights]

    @property
    def weights(self) -> list[Any]:
        """All weights, trainable ones first."""
        return self.trainable_weights + self.non_trainable_weights

    trainable_variables = trainable_weights
    non_trainable_variables = non_trainable_weights
    variables = weights

    def count_params(self) -> int:
        """Number of scalars in the weights."""
        return int(sum(np.prod(w.shape.as_list()) for w in self.weights))

    @property
    def losses(self) -> list[Any]:
        """Regularization losses of this layer."""
        return [loss for loss, _ in self._losses]

    @property
    def updates(self) -> list[Any]:
        """Update ops of this layer, as in ``UPDATE_OPS``; none where ``trainable`` is False."""
        return [update for update, _ in self._updates] if self._trainable else []

    def get_losses_for(self, inputs: Any) -> list[Any]:
        """Return the losses that depend on ``inputs``; None for those that depend on none."""
        return _recorded_for(self._losses, inputs)

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """Return the updates that depend on ``inputs``; None for those that depend on none."""
        return _recorded_for(self._updates, inputs)

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Add scalar losses to the layer and to ``REGULARIZATION_LOSSES``.

        Args:
            losses: a tensor, a function that makes one, or a list of them.
            inputs: what the losses depend on; None where only on weights.
        """
        made = [x() if callable(x) and not tf.is_tensor(x) else x for x in _listed(losses)]
        self._record(self._losses, made, inputs, v1.GraphKeys.REGULARIZATION_LOSSES)

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Add ops that keep statistics to the layer and, if trainable, to ``UPDATE_OPS``."""
        made = [x() if callable(x) and not tf.is_tensor(x) else x for x in _listed(updates)]
        made = [_assign_op(x) for x in made]
        self._record(self._updates, made, inputs,
                     v1.GraphKeys.UPDATE_OPS if self._trainable else None)

    def _record(self, own: list[Any], made: list[Any], inputs: Any,
                collection: str | None) -> None:
        flat = None if inputs is None else tf.nest.flatten(inputs)
        own.extend((x, flat) for x in made if x is not None)
        if collection is None or v1.executing_eagerly():
            return
        known = v1.get_collection_ref(collection)
        known.extend(x for x in made if x is not None and not any(x is y for y in known))

    def add_weight(self, name: str, shape: Any = (), dtype: Any = None, initializer: Any = None,
                   regularizer: Callable[[Any], Any] | None = None, trainable: bool | None = None,
                   constraint: Callable[[Any], Any] | None = None,
                   use_resource: bool | None = None,
                   synchronization: Any = tf.VariableSynchronization.AUTO,
                   aggregation: Any = tf.VariableAggregation.NONE,
                   partitioner: Any = None, **kwargs: Any) -> Any:
        """Get or create a variable in the layer's scope, by ``get_variable``.

        Args:
            name: its name inside the scope.
            shape: its shape.
            dtype: by default the layer's, else float32.
            initializer: by default the scope's, else glorot_uniform.
            regularizer: adds a loss when the variable is new (not when it is reused).
            trainable: by default True; False for ``synchronization=ON_READ``.
            constraint: projection applied by the optimizer after each update.

        Raises:
            ValueError: for a trainable variable with ``ON_READ``.
        """
        if synchronization == tf.VariableSynchronization.ON_READ:
            if trainable:
                raise ValueError(say(f"weight {name!r}", expected="trainable=False for ON_READ",
                                     received="trainable=True", do="Choose one of the two."))
            trainable = False
        trainable = True if trainable is None else trainable
        existing = {id(v) for v in v1.global_variables()} if regularizer else set()
        variable = v1.get_variable(
            name, shape=tf.TensorShape(shape), dtype=tf.as_dtype(dtype or self._dtype or "float32"),
            initializer=initializer, trainable=trainable and self._trainable,
            constraint=constraint, use_resource=use_resource, synchronization=synchronization,
            aggregation=aggregation, partitioner=partitioner)
        (self._trainable_weights if trainable else self._non_trainable_weights).append(variable)
        if regularizer is not None and _is_new(variable, existing):
            with tf.name_scope(name + "/Regularizer"):
                parts = list(variable) if hasattr(variable, "as_tensor") else [variable]
                self.add_loss([regularizer(part) for part in parts])
        return variable

    def add_variable(self, *args: Any, **kwargs: Any) -> Any:
        """Return ``add_weight(...)``: its older name."""
        return self.add_weight(*args, **kwargs)

    def get_weights(self) -> list[np.ndarray]:
        """Return the weights' values, eagerly or from the default session."""
        return [w.numpy() if v1.executing_eagerly() else v1.get_default_session().run(w)
                for w in self.weights]


def _listed(values: Any) -> list[Any]:
    return list(values) if isinstance(values, (list, tuple)) else [values]


def _assign_op(update: Any) -> Any:
    # An assignment to a resource variable returns the variable; what UPDATE_OPS needs is the op.
    if isinstance(update, tf.Variable) and not v1.executing_eagerly():
        return getattr(update, "op", update)
    return update


def _recorded_for(recorded: list[tuple[Any, list[Any] | None]], inputs: Any) -> list[Any]:
    if inputs is None:
        return [x for x, on in recorded if on is None]
    wanted = {id(x) for x in tf.nest.flatten(inputs)}
    return [x for x, on in recorded if on is not None and wanted & {id(y) for y in on}]


def _is_new(variable: Any, existing: set[int]) -> bool:
    if not v1.executing_eagerly_outside_functions():
        parts = list(variable) if hasattr(variable, "as_tensor") else [variable]
        return not any(id(part) in existing for part in parts)
    if v1.executing_eagerly():
        return True
    # Every trace of a tf.function makes its losses anew, once per variable.
    seen = v1.get_collection_ref(_REGULARIZED)
    if any(variable is other for other in seen):
        return False
    seen.append(variable)
    return True
