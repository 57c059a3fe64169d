# SPDX-License-Identifier: Apache-2.0
"""Keras ``fit`` under ``tf.distribute``: on several devices, and across workers."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import keras
import tensorflow as tf

from ..compat.internals import DistributedDatasetsFromFunction, asking_keras
from ..dataflow.base import DataFlow
from ..engine.dataset import SourceDataset
from ..input_source.queue import QueueInput
from ..utils.errors import CompatError, say

__all__ = ["AcrossWorkers", "TowerBatches", "WorkerLost", "across_workers", "batch_per_tower"]

F = TypeVar("F", bound=Callable[..., Any])

_TASK = re.compile(r"/job:worker(?:/replica:\d+)?/task:(\d+)")


def batch_per_tower(data: Any, strategy: Any = None, *, share: bool = True) -> TowerBatches:
    """Return data for ``fit`` of which each tower takes a batch of its own in each step.

    So it is in tensorpack's trainers: with n towers a step trains on n batches, and a pass takes
    ``len(data) // n`` steps. Keras by itself splits each batch over the towers. A tower is a
    replica of the strategy; across workers there are those of all.

    With ``steps_per_epoch`` the data has no end, as in a QueueInput; without, an epoch is one
    pass, less the last ``len(data) % n`` batches. To evaluate and to predict on all of it, pass
    the QueueInput itself.

    Args:
        data: a QueueInput, a DataFlow or a ``tf.data.Dataset`` of batches.
        strategy: by default the current one.
        share: whether workers have the same data in the same order, of which each takes its
            share. Where an order is random, call ``fix_rng_seed`` on all workers with one number.
            False: each worker's data is its own already, and a pass is ``len(data)`` divided by
            the towers of this worker; it must then be as long on each of them.

    Raises:
        TypeError: for data that is something else.

    Example:
        .. code-block:: python

            strategy = tf.distribute.MirroredStrategy()
            with strategy.scope():
                model = make_model()
            model.fit(batch_per_tower(QueueInput(df), strategy), epochs=3)
    """
    data = QueueInput(data) if isinstance(data, DataFlow) else data
    if not isinstance(data, tf.data.Dataset):
        raise TypeError(say("batch_per_tower", expected="a QueueInput, a DataFlow or a "
                            "tf.data.Dataset", received=type(data).__name__,
                            do="Wrap it: QueueInput(data)."))
    return TowerBatches(data, strategy or tf.distribute.get_strategy(), share)


class TowerBatches(DistributedDatasetsFromFunction):
    """Distributed data, made when Keras asks for it: only then is it known whether it ends.

    Made by :func:`batch_per_tower`.
    """

    def __init__(self, data: Any, strategy: Any, share: bool = True, whole: bool = False) -> None:
        # as in engine.SourceDataset the base's constructor, which wants all of it, is left out
        self._source, self._given_strategy, self._share = data, strategy, share
        self._whole = whole  # to the last batch: some towers then get an empty one
        self._made: dict[bool, Any] = {}

    def __len__(self) -> int:
        """Steps in a pass.

        Raises:
            TypeError: where the data does not know its length.
        """
        strategy = self._given_strategy
        batches = int(len(self._source)) * (1 if self._share else _workers(strategy))
        towers = int(strategy.num_replicas_in_sync)
        return -(-batches // towers) if self._whole else batches // towers

    def _endless(self) -> bool:
        _, steps = asking_keras()
        return bool(steps) or int(self._source.cardinality()) == tf.data.INFINITE_CARDINALITY

    def _distributed(self) -> Any:
        endless = self._endless()
        if endless not in self._made:
            self._made[endless] = self._given_strategy.distribute_datasets_from_function(
                lambda context: self._of_worker(context, endless))
        return self._made[endless]

    def _of_worker(self, context: Any, endless: bool) -> Any:
        count, index = context.num_input_pipelines, context.input_pipeline_id
        data = self._source.repeat() if endless else self._source
        if self._share and count > 1:
            data = data.shard(count, index)
        if endless or self._whole:
            return data
        return data.take(len(self) * (context.num_replicas_in_sync // count))

    @property
    def cardinality(self) -> int:
        """Steps in an epoch, as tf.data counts."""
        if self._endless():
            return int(tf.data.INFINITE_CARDINALITY)
        try:
            return len(self)
        except TypeError as e:
            if self._whole:
                return int(tf.data.UNKNOWN_CARDINALITY)
            raise TypeError(say("batch_per_tower", expected="data that knows its length, or "
                                "steps_per_epoch", received="neither",
                                do="Pass steps_per_epoch to fit.")) from e

    def __iter__(self) -> Any:
        return iter(self._distributed())

    @property
    def element_spec(self) -> Any:
        """What all replicas get in a step."""
        return self._distributed().element_spec

    @property
    def _type_spec(self) -> Any:
        return self._distributed()._type_spec

    def __repr__(self) -> str:
        return f"<TowerBatches of {self._source!r}>"


class WorkerLost(CompatError, RuntimeError):
    """Another worker of a MultiWorkerMirroredStrategy is gone; the message names it."""


def _like_keras(method: F) -> F:
    """Give a method the signature and the documentation that it has in Keras."""
    functools.update_wrapper(method, getattr(keras.Model, method.__name__))
    return method


class AcrossWorkers:
    """A base, before ``keras.Model``, of models that are trained across workers.

    Keras 3's own ``fit`` fails under ``tf.distribute.MultiWorkerMirroredStrategy`` in two places:
    it builds a model from the mean of the workers' first batches, which it takes eagerly, off an
    iterator that it then throws away; and it averages what a step measures over the first axis of
    a scalar. Under other strategies this changes nothing but that no batch is thrown away.

    Across workers, which all have the same data, a QueueInput is dealt out as
    :func:`batch_per_tower` does it, also to evaluate and predict, and then to its last batch.

    Where another worker dies, ``fit``, ``evaluate`` and ``predict`` raise :class:`WorkerLost`, at
    the latest when its heartbeat has been missing for TensorFlow's ten seconds.

    Example:
        >>> class MyModel(AcrossWorkers, keras.Model):
        ...     pass
    """

    _distribute_strategy: Any

    @_like_keras
    def fit(self, x: Any = None, *args: Any, validation_data: Any = None, **kwargs: Any) -> Any:
        with _naming_the_lost(self._distribute_strategy):
            return super().fit(  # type: ignore[misc]
                self._dealt(x), *args, validation_data=self._dealt(validation_data, whole=True),
                **kwargs)

    @_like_keras
    def evaluate(self, x: Any = None, *args: Any, **kwargs: Any) -> Any:
        with _naming_the_lost(self._distribute_strategy):
            return super().evaluate(  # type: ignore[misc]
                self._dealt(x, whole=True), *args, **kwargs)

    @_like_keras
    def predict(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        with _naming_the_lost(self._distribute_strategy):
            return super().predict(  # type: ignore[misc]
                self._dealt(x, whole=True), *args, **kwargs)

    def _dealt(self, data: Any, whole: bool = False) -> Any:
        """Deal a queue's batches out to workers: TensorFlow would deal out chunks of them."""
        if not isinstance(data, SourceDataset) or not _has_workers(self._distribute_strategy):
            return data
        return TowerBatches(data, self._distribute_strategy, whole=whole)

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


def _workers(strategy: Any) -> int:
    """How many workers a strategy has."""
    return int(strategy.cluster_resolver.cluster_spec().num_tasks("worker")) \
        if _has_workers(strategy) else 1


@contextmanager
def _naming_the_lost(strategy: Any) -> Iterator[None]:
    """A block whose collective operations' errors name the worker that is gone."""
    try:
        yield
    except (tf.errors.UnavailableError, tf.errors.AbortedError, tf.errors.InternalError,
            tf.errors.DeadlineExceededError) as e:
        if not _has_workers(strategy):
            raise
        addresses = strategy.cluster_resolver.cluster_spec().task_indices("worker")
        own = strategy.cluster_resolver.task_id
        lost = sorted({int(n) for n in _TASK.findall(str(e))} & set(addresses) - {own})
        if not lost:
            raise
        spec = strategy.cluster_resolver.cluster_spec()
        names = ", ".join(f"worker {n} ({spec.task_address('worker', n)})" for n in lost)
        raise WorkerLost(say(
            f"worker {own}", expected=f"{len(addresses)} workers that answer",
            received=f"no answer from {names}", do="Look for the first error in that worker's "
            "log, then start all of them again.")) from e


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
