# SPDX-License-Identifier: Apache-2.0
"""A Keras callback in one of tensorpack's trainers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from ..callbacks.base import Callback
from ..engine.loop import StopTraining
from ..tfutils.varmanip import load_variable, save_chkpt_vars
from ..utils.errors import say
from .learning_rate import OptimizerFace

__all__ = ["KerasCallback"]

v1 = tf.compat.v1


class KerasCallback(Callback):
    """Calls a Keras callback from a trainer's loop.

    Epochs are counted from 0, as Keras does. ``logs`` at an epoch's end are the last numbers that
    were reported to the monitors, so that what reports them must come before it in the callbacks;
    at a step's end they are empty. ``model.stop_training = True`` ends training. The model that
    the callback sees has ``get_weights``, ``set_weights``, ``save_weights`` (.npz, or a checkpoint)
    and ``optimizer.learning_rate``.

    Args:
        callback: a ``keras.callbacks.Callback``.

    Raises:
        TypeError: for something else.

    Example:
        .. code-block:: python

            callbacks=[InferenceRunner(test, ClassificationError()),
                       KerasCallback(keras.callbacks.EarlyStopping("validation_error"))]
    """

    def __init__(self, callback: Any) -> None:
        if not isinstance(callback, keras.callbacks.Callback):
            raise TypeError(say("KerasCallback", expected="a keras.callbacks.Callback",
                                received=repr(callback), do="Pass one."))
        self._keras = callback

    def _setup_graph(self) -> None:
        self._model = TrainedModel(str(self), self.graph)

    def _before_train(self) -> None:
        trainer = self.trainer
        self._keras.set_params({"verbose": 1, "epochs": trainer.max_epoch,
                                "steps": trainer.steps_per_epoch})
        self._keras.set_model(self._model)
        self._call("on_train_begin", {})

    def _before_epoch(self) -> None:
        self._call("on_epoch_begin", self.epoch_num - 1, {})

    def _before_run(self, ctx: Any) -> Any:
        self._call("on_train_batch_begin", self.local_step, {})

    def _trigger_step(self) -> None:
        self._call("on_train_batch_end", self.local_step, {})
        self._stop_if_asked()

    def _trigger_epoch(self) -> None:
        self._call("on_epoch_end", self.epoch_num - 1, self.trainer.monitors.get_all_latest())
        self._stop_if_asked()

    def _after_train(self) -> None:
        self._call("on_train_end", self.trainer.monitors.get_all_latest())

    def _call(self, method: str, *args: Any) -> None:
        with tf.__internal__.eager_context.eager_mode():  # its numbers are eager tensors
            getattr(self._keras, method)(*args)

    def _stop_if_asked(self) -> None:
        if self._model.stop_training:
            raise StopTraining(f"{self} has set model.stop_training")

    def __str__(self) -> str:
        return f"KerasCallback({type(self._keras).__name__})"


class TrainedModel:
    """What a Keras callback sees of a model that one of tensorpack's trainers trains.

    Args:
        who: the callback; named in errors.
        graph: the training graph.

    Attributes:
        stop_training: set it to end the training.
        optimizer: has ``learning_rate``.
    """

    def __init__(self, who: str, graph: Any) -> None:
        self.stop_training = False
        self._who = who
        self._graph = graph
        self.optimizer = OptimizerFace(self._by_name, self._read, self._write)

    def get_weights(self) -> list[np.ndarray]:
        """Return the values of all variables."""
        return [np.asarray(x) for x in self._read(list(self._by_name().values()))]

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Set all variables to values in the order of ``get_weights``."""
        for variable, value in zip(self._by_name().values(), weights):
            self._write(variable, value)

    def save_weights(self, filepath: Any, overwrite: bool = True) -> None:
        """Save all variables by their names, to an .npz file or a checkpoint."""
        values = dict(zip(self._by_name(), self.get_weights()))
        save_chkpt_vars(values, os.fspath(filepath))

    def _by_name(self) -> dict[str, Any]:
        return {v.op.name: v for v in self._graph.get_collection(v1.GraphKeys.GLOBAL_VARIABLES)}

    def _read(self, variables: Any) -> Any:
        with self._graph.as_default():
            return v1.get_default_session().run(variables)

    def _write(self, variable: Any, value: Any) -> None:
        with self._graph.as_default():
            load_variable(variable, value, v1.get_default_session())

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(say(
            self._who, expected="a callback that uses of its model get_weights, set_weights, "
            "save_weights, optimizer.learning_rate or stop_training", received=f"model.{name}",
            do="Use tensorpack's callback for it, or train by keras_bridge.ModelDescModel."))
