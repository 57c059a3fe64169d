# SPDX-License-Identifier: Apache-2.0
"""Keras ``fit`` under ``tf.distribute``: on several devices, and across workers."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from ..utils.errors import say

__all__ = ["AcrossWorkers", "across_workers"]


class AcrossWorkers:
    """A base, before ``keras.Model``, of models that are trained across workers.

    Keras 3's own ``fit`` fails under ``tf.distribute.MultiWorkerMirroredStrategy`` in two places:
    it builds a model from the mean of the workers' first batches, which it takes eagerly, off an
    iterator that it then throws away; and it averages what a step measures over the first axis of
    a scalar. Under other strategies this changes nothing but that no batch is thrown away.

    Example:
        >>> class MyModel(AcrossWorkers, keras.Model):
        ...     pass
    """

    _distribute_strategy: Any

    def _maybe_symbolic_build(self, iterator: Any = None, data_batch: Any = None) -> None:
        if self._distribute_strategy is None or iterator is None:
            super()._maybe_symbolic_build(iterator, data_batch)  # type: ignore[misc]
            return
        spec = keras.tree.map_structure(_of_one_replica, iterator._distributed_dataset.element_spec)
        with self._distribute_strategy.scope():
            self._symbolic_build(data_batch=spec)  # type: ignore[attr-defined]

    def train_step(self, data: Any) -> Any:
        """One step of training in one replica; see ``keras.Model.train_step``."""
        return self._reducible(super().train_step(data))  # type: ignore[misc]

    def test_step(self, data: Any) -> Any:
        """One step of evaluation in one replica; see ``keras.Model.test_step``."""
        return self._reducible(super().test_step(data))  # type: ignore[misc]

    def _reducible(self, measured: Any) -> Any:
        """Give scalars the axis over which Keras averages them across workers."""
        if not _has_workers(self._distribute_strategy):
            return measured
        return keras.tree.map_structure(
            lambda value: tf.reshape(value, [1]) if len(value.shape) == 0 else value, measured)


def _has_workers(strategy: Any) -> bool:
    return isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy) \
        and bool(strategy.extended._in_multi_worker_mode())


def _of_one_replica(spec: Any) -> Any:
    """What one replica gets of a distributed dataset, as a ``tf.TensorSpec``."""
    return spec._value_specs[0] if hasattr(spec, "_value_specs") else spec


def across_workers(model: Any) -> Any:
    """Let a Keras model be trained under ``tf.distribute.MultiWorkerMirroredStrategy``.

    Keras 3's ``fit`` fails there otherwise: see :class:`AcrossWorkers`, which becomes a base of
    this model's class. Models of this package have it already.

    Args:
        model: a ``keras.Model``.

    Returns:
        The same model.

    Raises:
        TypeError: for anything else.

    Example:
        .. code-block:: python

            strategy = tf.distribute.MultiWorkerMirroredStrategy()   # reads TF_CONFIG
            with strategy.scope():
                model = across_workers(keras.Sequential([...]))
                model.compile("sgd", "mse")
            model.fit(batch_per_tower(QueueInput(df), strategy), epochs=3)
    """
    if not isinstance(model, keras.Model):
        raise TypeError(say("across_workers", expected="a keras.Model", received=repr(model),
                            do="Pass the model, made in strategy.scope()."))
    if not isinstance(model, AcrossWorkers):
        kind = type(model)
        model.__class__ = type(kind.__name__, (AcrossWorkers, kind), {
            "__module__": kind.__module__, "__doc__": kind.__doc__})
    return model
