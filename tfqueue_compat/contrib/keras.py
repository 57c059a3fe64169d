# SPDX-License-Identifier: Apache-2.0
"""Keras 3 models in legacy trainers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from ..callbacks.base import Callback
from ..callbacks.inference import ScalarStats
from ..callbacks.inference_runner import InferenceRunner
from ..compat.tfv1 import keras_backend
from ..models.regularize import regularize_cost_from_collection
from ..tfutils.keras_calls import number_from_one, variable_names
from ..tfutils.summary import add_moving_summary
from ..tfutils.tower import get_current_tower_context
from ..train.interface import apply_default_prefetch
from ..train.tower import SingleCostTrainer
from ..train.trainers import (DistributedTrainerBase, SimpleTrainer,
                              SyncMultiGPUTrainerParameterServer)
from ..utils import logger
from ..utils.errors import say
from ..utils.gpu import get_num_gpu

__all__ = ["KerasModel", "KerasModelCaller", "KerasPhaseCallback", "logger",
           "setup_keras_trainer"]

v1 = tf.compat.v1
keras = tf.keras
TOTAL_LOSS_NAME = "total_loss"


class KerasModelCaller:
    """Calls a Keras model in each tower: a new one where a tower has variables of its own.

    In a training tower the model trains: statistics of BatchNormalization move, each step has new
    dropout masks. In others it infers.

    Args:
        get_model: maps the input tensors to a ``keras.Model``.

    Attributes:
        cached_model: the model of the tower that was built last, None before.

    Example:
        >>> from tfqueue_compat.tfutils.tower import TowerContext
        >>> caller = KerasModelCaller(lambda x: keras.Sequential([keras.layers.Dense(2)]))
        >>> with tf.Graph().as_default(), TowerContext("", is_training=True):
        ...     caller(tf.zeros([8, 3])).shape.as_list()
        [8, 2]
    """

    def __init__(self, get_model: Callable[..., Any]) -> None:
        self.get_model = get_model
        self.cached_model: Any = None

    def __call__(self, *input_tensors: Any) -> Any:
        """Return the outputs of this tower: a tensor, or what the model returns.

        Raises:
            RuntimeError: outside of a tower.
            TypeError: ``get_model`` returned no Keras model.
        """
        context = get_current_tower_context()
        if context is None:
            raise RuntimeError(say("KerasModelCaller", expected="a TowerContext around the call",
                                   received="none", do="Call it in build_graph."))
        if self.cached_model is None or context.has_own_variables:
            number_from_one()  # so that the variables of all towers have the same names
            with variable_names():
                self.cached_model = self.get_model(*input_tensors)
        model = self.cached_model
        if not isinstance(model, keras.Model):
            raise TypeError(say("get_model", expected="a keras.Model", received=repr(model),
                                do="Return the model that the function builds."))
        return model(input_tensors[0] if len(input_tensors) == 1 else list(input_tensors))


class KerasPhaseCallback(Callback):
    """Feeds ``keras.backend.learning_phase()`` in training, where the graph uses it.

    Keras layers need it no more: they do what their tower does.

    Args:
        isTrain: the phase.
    """

    _chief_only = False

    def __init__(self, isTrain: bool) -> None:
        if not isinstance(isTrain, bool):
            raise TypeError(say("KerasPhaseCallback", expected="True or False",
                                received=repr(isTrain), do="Pass True for training."))
        self._isTrain = isTrain
        self._feed: dict[Any, bool] = {}

    def _setup_graph(self) -> None:
        phase = keras_backend.learning_phase()
        if tf.is_tensor(phase) and phase.consumers():
            self._feed = {phase: self._isTrain}

    def _before_run(self, ctx: Any) -> Any:
        if not self._feed:
            return None
        return v1.train.SessionRunArgs(fetches=[], feed_dict=self._feed)


def setup_keras_trainer(trainer: SingleCostTrainer, get_model: Callable[..., Any],
                        input_signature: Sequence[Any], target_signature: Sequence[Any],
                        input: Any, optimizer: Any, loss: Sequence[Any],
                        metrics: Sequence[Any]) -> None:
    """Build the training graph of a Keras model in a legacy trainer.

    The cost ``total_loss`` is the sum of the mean of each loss and of ``regularize_cost``: the
    losses of layers (regularizers, ``add_loss``) and the collection ``REGULARIZATION_LOSSES``,
    0 where a tower does not train. Each loss and each metric is a scalar tensor of its own name
    in each tower.

    Args:
        trainer: e.g. a SimpleTrainer.
        get_model: maps input tensors to a ``keras.Model``; called in each tower that has
            variables of its own.
        input_signature: ``tf.TensorSpec`` of the inputs.
        target_signature: of the targets, one for each output of the model.
        input: an InputSource; gives inputs, then targets.
        optimizer: a ``tf.compat.v1.train.Optimizer``.
        loss: names of Keras losses, or functions ``(y_true, y_pred)``, one for each output.
        metrics: the same of metrics, at most one for each output; may be empty.

    Raises:
        TypeError, ValueError: an argument that is something else.

    Example:
        ``setup_keras_trainer(trainer, get_model, [x_spec], [y_spec], QueueInput(df),
        tf.compat.v1.train.AdamOptimizer(1e-3), ["categorical_crossentropy"], [])``
    """
    _check(optimizer, loss, metrics, target_signature)
    caller = KerasModelCaller(get_model)
    inputs = len(input_signature)

    def get_cost(*tensors: Any) -> Any:
        outputs = keras.tree.flatten(caller(*tensors[:inputs]))
        targets = tensors[inputs:]
        if len(outputs) != len(targets):
            raise ValueError(say("get_model", expected=f"a model with {len(targets)} outputs, one "
                                 "for each target", received=f"{len(outputs)}",
                                 do="Give a target_signature for each output."))
        losses = _means(loss, keras.losses.get, targets, outputs, "keras_loss")
        regular = [regularize_cost_from_collection("regularize_collection")]
        if get_current_tower_context().is_training:
            regular += caller.cached_model.losses
        regularizer = tf.add_n(regular, name="regularize_cost")
        total = tf.add_n([*losses, regularizer], name=TOTAL_LOSS_NAME)
        measured = _means(metrics, _metric, targets, outputs, "keras_metric")
        add_moving_summary(regularizer, total, *losses, *measured)
        return total

    trainer.setup_graph([*input_signature, *target_signature], input, get_cost, lambda: optimizer)
    trainer.register_callback(KerasPhaseCallback(True))


def _check(optimizer: Any, loss: Any, metrics: Any, targets: Any) -> None:
    if not isinstance(optimizer, v1.train.Optimizer):
        raise TypeError(say("optimizer", expected="a tf.compat.v1.train.Optimizer",
                            received=repr(optimizer),
                            do="Use e.g. tf.compat.v1.train.AdamOptimizer(1e-3); a Keras "
                               "optimizer goes with model.fit(QueueInput(df))."))
    for what, given, valid in (("loss", loss, len(loss) == len(targets) > 0),
                               ("metrics", metrics, len(metrics) <= len(targets))):
        if isinstance(given, str) or not valid:
            raise ValueError(say(what, expected=f"a list with one for each of the {len(targets)} "
                                 "targets", received=repr(given), do="Give as many."))


def _name_of(what: Any) -> str:
    return str(what if isinstance(what, str) else getattr(what, "__name__", None) or what.name)


def _metric(name: Any) -> Any:
    """The function under a metric: means over epochs are taken by callbacks."""
    metric = keras.metrics.get(name)
    return getattr(metric, "_fn", metric)


def _means(names: Sequence[Any], get: Callable[[Any], Any], targets: Sequence[Any],
           outputs: Sequence[Any], scope: str) -> list[Any]:
    """The mean of each function of an output, named as the function."""
    means = []
    for name, target, output in zip(names, targets, outputs):
        with v1.name_scope(scope):
            values = get(name)(target, output)
        mean = tf.reduce_mean(values, name=_name_of(name))
        if mean.op.name.rpartition("/")[2] != _name_of(name):
            raise ValueError(say("loss and metrics", expected="names used once",
                                 received=f"{_name_of(name)!r} twice",
                                 do="Leave one out, or rename a layer that has the name."))
        means.append(mean)
    return means


class KerasModel:
    """A Keras model that a legacy trainer trains, with legacy callbacks.

    Args:
        get_model: maps input tensors to a ``keras.Model``.
        input_signature: ``tf.TensorSpec`` of the inputs.
        target_signature: of the targets, one for each output of the model.
        input: an InputSource or DataFlow of inputs, then targets.
        trainer: by default one for all GPUs there are.

    Example:
        .. code-block:: python

            model = KerasModel(get_model, [tf.TensorSpec([None, 784], tf.float32, "x")],
                               [tf.TensorSpec([None, 10], tf.float32, "y")], QueueInput(df))
            model.compile(tf.compat.v1.train.AdamOptimizer(1e-3), "categorical_crossentropy",
                          metrics="categorical_accuracy")
            model.fit(validation_data=test, steps_per_epoch=len(df), max_epoch=10)
    """

    def __init__(self, get_model: Callable[..., Any], input_signature: Any = None,
                 target_signature: Any = None, input: Any = None, trainer: Any = None) -> None:
        for what, given in (("input_signature", input_signature),
                            ("target_signature", target_signature), ("input", input)):
            if given is None:
                raise TypeError(say("KerasModel", expected=what, received="none",
                                    do="Pass get_model, input_signature, target_signature and "
                                       "input."))
        if not callable(get_model):
            raise TypeError(say("KerasModel", expected="a function that builds the model",
                                received=repr(get_model), do="Pass e.g. lambda x: my_model."))
        if trainer is None:
            gpus = get_num_gpu()
            trainer = SimpleTrainer() if gpus <= 1 else SyncMultiGPUTrainerParameterServer(gpus)
        if not isinstance(trainer, SingleCostTrainer) \
                or isinstance(trainer, DistributedTrainerBase):
            raise TypeError(say("KerasModel", expected="a trainer of one machine",
                                received=repr(trainer), do="Pass e.g. SimpleTrainer()."))
        self.get_model = get_model
        self.input_signature, self.target_signature = input_signature, target_signature
        self.trainer = trainer
        self.input = apply_default_prefetch(input, trainer)
        self._stats_to_inference: list[str] = []

    def compile(self, optimizer: Any, loss: Any, metrics: Any = None) -> None:
        """Build the training graph.

        Args:
            optimizer: a ``tf.compat.v1.train.Optimizer``.
            loss: a Keras loss, or a list with one for each output.
            metrics: None, a Keras metric, or a list with one for each output.
        """
        losses, measured = _listed(loss), _listed(metrics)
        self._stats_to_inference = [*map(_name_of, [*losses, *measured]), TOTAL_LOSS_NAME]
        with self.trainer.in_graph():
            setup_keras_trainer(self.trainer, self.get_model, self.input_signature,
                                self.target_signature, self.input, optimizer, losses, measured)

    def fit(self, validation_data: Any = None, **kwargs: Any) -> None:
        """Train.

        Args:
            validation_data: a DataFlow or InputSource; losses and metrics are measured on it after
                each epoch, before the callbacks' turn.
            **kwargs: of ``Trainer.train_with_defaults``.
        """
        callbacks = list(kwargs.pop("callbacks", None) or [])
        if validation_data is not None:
            callbacks.insert(0, InferenceRunner(validation_data,
                                                ScalarStats(self._stats_to_inference)))
        self.trainer.train_with_defaults(callbacks=callbacks, **kwargs)


def _listed(given: Any) -> list[Any]:
    if given is None:
        return []
    return list(given) if isinstance(given, (list, tuple)) else [given]
