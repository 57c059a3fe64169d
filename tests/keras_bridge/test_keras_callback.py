# SPDX-License-Identifier: Apache-2.0
"""Keras' callbacks in a trainer of tensorpack's."""

from __future__ import annotations

import csv
from pathlib import Path
from types import ModuleType
from typing import Any

import keras
import numpy as np
import pytest

from tfqueue_compat.callbacks import Callback, GraphVarParam, InferenceRunner, ScalarStats
from tfqueue_compat.dataflow import DataFlow
from tfqueue_compat.input_source import QueueInput
from tfqueue_compat.keras_bridge import KerasCallback
from tfqueue_compat.tfutils.varmanip import load_chkpt_vars
from tfqueue_compat.train import SimpleTrainer


def run(model: Any, flow: DataFlow, callbacks: list[Any], epochs: int = 3) -> SimpleTrainer:
    trainer = SimpleTrainer().setup(QueueInput(flow), model)
    trainer.train(callbacks, [], steps_per_epoch=4, max_epoch=epochs)
    return trainer


def test_calls_and_numbers(models: ModuleType, train: DataFlow, test: DataFlow,
                           tmp_path: Path) -> None:
    calls: list[Any] = []
    note = keras.callbacks.LambdaCallback(
        on_train_begin=lambda logs: calls.append("begin"),
        on_epoch_begin=lambda epoch, logs: calls.append(epoch),
        on_train_batch_end=lambda batch, logs: calls.append(batch),
        on_epoch_end=lambda epoch, logs: calls.append(sorted(logs)),
        on_train_end=lambda logs: calls.append("end"))
    trainer = run(models.Digits(), train, [
        InferenceRunner(test, ScalarStats("cost")), KerasCallback(note),
        KerasCallback(keras.callbacks.CSVLogger(str(tmp_path / "log.csv")))], epochs=2)
    names = calls[6]
    assert "validation_cost" in names
    assert calls == ["begin", 0, 0, 1, 2, 3, names, 1, 0, 1, 2, 3, names, "end"]
    with open(tmp_path / "log.csv", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    reported = [value for _, value in trainer.monitors.get_history("validation_cost")]
    assert [float(row["validation_cost"]) for row in rows] == pytest.approx(reported)
    assert [row["epoch"] for row in rows] == ["0", "1"]


def test_early_stopping_and_the_best_weights(models: ModuleType, train: DataFlow,
                                             test: DataFlow) -> None:
    class Last(Callback):
        """The weights after each epoch, and at the end."""

        def _before_train(self) -> None:
            self.seen: list[np.ndarray] = []

        def _trigger_epoch(self) -> None:
            self._keep()

        def _after_train(self) -> None:
            self._keep()

        def _keep(self) -> None:
            self.seen.append(self.trainer.sess.run(self.w))

        def _setup_graph(self) -> None:
            self.w, = (v for v in self.graph.get_collection("trainable_variables")
                       if v.op.name == "fc0/W")

    stop = keras.callbacks.EarlyStopping("validation_cost", patience=1, min_delta=1e9,
                                         restore_best_weights=True, mode="min")
    last = Last()
    order = [InferenceRunner(test, ScalarStats("cost")), KerasCallback(stop), last]
    run(models.Digits(), train, order, epochs=9)
    assert stop.stopped_epoch == 1 and len(last.seen) == 2
    np.testing.assert_array_equal(last.seen[1], last.seen[0])


def test_the_learning_rate(models: ModuleType, train: DataFlow) -> None:
    rate = GraphVarParam("learning_rate")

    class Reads(Callback):
        def _setup_graph(self) -> None:
            rate.setup_graph()
            self.rates: list[float] = []

        def _before_epoch(self) -> None:
            self.rates.append(float(rate.get_value()))

    reads = Reads()
    schedule = keras.callbacks.LearningRateScheduler(lambda epoch, lr: float(lr) / (epoch + 1))
    run(models.Digits(), train, [KerasCallback(schedule), reads])
    np.testing.assert_allclose(reads.rates, [5e-3, 2.5e-3, 2.5e-3 / 3], rtol=1e-5)


def test_checkpoints(models: ModuleType, train: DataFlow, tmp_path: Path) -> None:
    class Saves(keras.callbacks.Callback):
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            self.model.save_weights(str(tmp_path / f"{epoch}.npz"))

    run(models.Digits(), train, [KerasCallback(Saves())], epochs=2)
    assert load_chkpt_vars(str(tmp_path / "1.npz"))["global_step"] == 8


def test_what_is_not_there_is_named(models: ModuleType, train: DataFlow) -> None:
    class Asks(keras.callbacks.Callback):
        def on_train_begin(self, logs: Any = None) -> None:
            self.model.predict([1])

    with pytest.raises(AttributeError, match=r"KerasCallback\(Asks\): .* Received model.predict"):
        run(models.Old(), train, [KerasCallback(Asks())])
    with pytest.raises(TypeError, match="Expected a keras.callbacks.Callback"):
        KerasCallback(Callback())
