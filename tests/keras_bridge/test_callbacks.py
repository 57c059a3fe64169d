# SPDX-License-Identifier: Apache-2.0
"""tensorpack's callbacks in Keras' fit: when they are called, what they see, what they change."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat.callbacks import (
    BinaryClassificationStats, Callback, ClassificationError, DataParallelInferenceRunner,
    GraphProfiler, HumanHyperParamSetter, InferenceRunner, MaxSaver, MergeAllSummaries, MinSaver,
    ModelSaver, MovingAverageSummary, PeriodicTrigger, ProcessTensors, ProgressBar, RunOp,
    RunUpdateOps, ScalarPrinter, ScalarStats, ScheduledHyperParamSetter, SessionRunTimeout,
    StatMonitorParamSetter)
from tfqueue_compat.callbacks.monitor_base import MonitorBase
from tfqueue_compat.dataflow import DataFlow
from tfqueue_compat.input_source import QueueInput
from tfqueue_compat.keras_bridge import ModelDescModel
from tfqueue_compat.tfutils.varmanip import load_chkpt_vars
from tfqueue_compat.train import SimpleTrainer, StopTraining
from tfqueue_compat.utils.errors import NotSupported

v1 = tf.compat.v1


class Clock(Callback):
    """Notes who is called when."""

    def __init__(self, stop_at: int | None = None, fail_at: int | None = None) -> None:
        self.seen: list[Any] = []
        self.stop_at, self.fail_at = stop_at, fail_at

    def _note(self, word: str) -> None:
        self.seen.append((word, self.epoch_num, self.local_step, self.global_step))

    def _setup_graph(self) -> None:
        self.seen.append("setup")

    def _before_train(self) -> None:
        self._note("before_train")

    def _before_epoch(self) -> None:
        self._note("before_epoch")

    def _trigger_step(self) -> None:
        self._note("step")
        if self.global_step == self.stop_at:
            raise StopTraining("enough")
        if self.global_step == self.fail_at:
            raise KeyError("the callback's own")

    def _after_epoch(self) -> None:
        self._note("after_epoch")

    def _trigger_epoch(self) -> None:
        self._note("epoch")

    def _after_train(self) -> None:
        self._note("after_train")


class Numbers(MonitorBase):
    """Keeps what is reported."""

    def __init__(self) -> None:
        self.got: dict[str, list[tuple[int, float]]] = {}

    def process_scalar(self, name: str, val: Any) -> None:
        self.got.setdefault(name, []).append((self.global_step, val))


def test_the_clock_is_tensorpacks(models: ModuleType, train: DataFlow) -> None:
    ours, theirs = Clock(), Clock()
    model = ModelDescModel(models.Old())
    model.fit(QueueInput(train), epochs=2, steps_per_epoch=3, verbose=0, callbacks=[ours])
    SimpleTrainer().setup(QueueInput(train), models.Old()).train(
        [theirs], [], steps_per_epoch=3, max_epoch=2)
    assert ours.seen == theirs.seen
    again = Clock()
    model.fit(QueueInput(train), epochs=4, initial_epoch=3, steps_per_epoch=2, verbose=0,
              callbacks=[again])
    assert again.seen[1] == ("before_train", 3, -1, 6)
    assert ("step", 4, 1, 8) in again.seen and again.seen[-1] == ("after_train", 4, 1, 8)


def test_the_clock_with_several_steps_in_one_execution(models: ModuleType,
                                                       train: DataFlow) -> None:
    model, clock = ModelDescModel(models.Old()), Clock()
    model.compile(steps_per_execution=2)
    model.fit(QueueInput(train), epochs=2, steps_per_epoch=4, verbose=0, callbacks=[clock])
    steps = [s[1:] for s in clock.seen if s[0] == "step"]
    assert steps == [(e, k, 4 * (e - 1) + k + 1) for e in (1, 2) for k in range(4)]


@pytest.mark.parametrize("how", ["stop", "fail"])
def test_an_end_in_the_midst(models: ModuleType, train: DataFlow, how: str) -> None:
    clock = Clock(**{f"{how}_at": 4})
    model = ModelDescModel(models.Old())

    def fit() -> Any:
        return model.fit(QueueInput(train), epochs=9, steps_per_epoch=3, verbose=0,
                         callbacks=[clock])

    if how == "stop":
        assert len(fit().epoch) == 2
    else:
        with pytest.raises(KeyError, match="the callback's own"):
            fit()
    assert [s[0] for s in clock.seen[-2:]] == ["step", "after_train"]
    assert clock.seen[-1][3] == 4


def test_the_usual_callbacks(models: ModuleType, train: DataFlow, test: DataFlow,
                             log_dir: Path, values: Callable[[Any], Any]) -> None:
    costs: list[float] = []
    model = ModelDescModel(models.Digits())
    (log_dir / "hyper.txt").write_text("learning_rate:0.002\n")

    class Predicts(Callback):
        def _setup_graph(self) -> None:
            self.predict = self.trainer.get_predictor(["image"], ["prob"])

        def _trigger_epoch(self) -> None:
            self.prob = self.predict(np.zeros((2, 8, 8)))[0]
            self.rate = self.trainer.sess.run("learning_rate:0")

    predicts = Predicts()
    history = model.fit(
        QueueInput(train), epochs=3, steps_per_epoch=4, validation_data=test, verbose=0,
        callbacks=[
            ModelSaver(), ProgressBar(["cost"]), MergeAllSummaries(), RunUpdateOps(),
            MovingAverageSummary(), ProcessTensors(["cost:0"], lambda c: costs.append(float(c))),
            InferenceRunner(QueueInput(test), [ScalarStats(["cost", "train_error"]),
                                               ClassificationError("wrong")]),
            DataParallelInferenceRunner(test, ScalarStats("cost", prefix="two"), 2, "Other"),
            MinSaver("val_loss"), MaxSaver("validation_error"), predicts,
            ScheduledHyperParamSetter("learning_rate", [(1, 1e-3)]),
            HumanHyperParamSetter("learning_rate", str(log_dir / "hyper.txt")),
            RunOp(lambda: v1.assign(v1.get_variable("half", initializer=0.0, trainable=False),
                                    0.5).op)]).history

    assert len(costs) == 12
    np.testing.assert_allclose(history["loss"], np.reshape(costs, (3, 4)).mean(1), rtol=1e-5)
    assert predicts.prob.shape == (2, 10) and predicts.rate == np.float32(0.002)
    assert values(model)["learning_rate"] == np.float32(0.002)
    assert_saved = load_chkpt_vars(str(log_dir / "model-12"))
    for name, value in values(model).items():
        if name != "learning_rate":  # set afterwards
            np.testing.assert_array_equal(assert_saved[name], value, err_msg=name)
    files = os.listdir(log_dir)
    assert {"min-val_loss.index", "max-validation_error.index", "stats.json"} <= set(files)

    stats = json.loads((log_dir / "stats.json").read_text())
    assert [(s["epoch_num"], s["global_step"]) for s in stats] == [(1, 4), (2, 8), (3, 12)]
    for epoch, record in enumerate(stats):
        assert record["loss"] == pytest.approx(history["loss"][epoch])
        assert record["val_loss"] == pytest.approx(history["val_loss"][epoch])
        assert record["validation_error"] == pytest.approx(history["val_train_error"][epoch])
        assert record["two_cost"] == pytest.approx(record["validation_cost"], rel=1e-5)
        assert "QueueInput/queue_size" in record and "rate" in record
    assert _tags(log_dir) >= {"loss", "xent", "val_loss", "rate", "logits",
                              "param-summary/fc0/W-histogram", "validation_cost"}


def _tags(folder: Path) -> set[str]:
    event_file, = folder.glob("events.out.*")
    return {value.tag for event in v1.train.summary_iterator(str(event_file))
            for value in event.summary.value}


def test_a_step_with_fetches_is_the_step_without(models: ModuleType, train: DataFlow,
                                                 values: Callable[[Any], Any]) -> None:
    plain, fetched = (ModelDescModel(models.Digits()) for _ in range(2))
    fetched.load_weights(values(plain))
    seen: list[Any] = []
    every_other = PeriodicTrigger(Clock(), every_k_steps=2)

    class Every(ProcessTensors):
        def _before_run(self, ctx: Any) -> Any:
            return super()._before_run(ctx) if self.local_step % 2 else None

        def _after_run(self, run_context: Any, run_values: Any) -> None:
            if run_values.results is not None:
                super()._after_run(run_context, run_values)

    for model, callbacks in ((plain, []), (fetched, [Every(["xent:0"], seen.append),
                                                     every_other])):
        history = model.fit(QueueInput(train), steps_per_epoch=6, verbose=0, callbacks=callbacks)
        model.loss_seen = history.history["loss"][0]
    assert len(seen) == 3
    assert plain.loss_seen == pytest.approx(fetched.loss_seen, rel=1e-5)
    for name, value in values(plain).items():
        np.testing.assert_allclose(values(fetched)[name], value, atol=1e-5, err_msg=name)


def test_monitors_and_statistics(models: ModuleType, train: DataFlow) -> None:
    numbers = Numbers()
    model = ModelDescModel(models.Digits())
    model.fit(QueueInput(train), epochs=4, steps_per_epoch=2, verbose=0, callbacks=[
        numbers, ScalarPrinter(),
        StatMonitorParamSetter("learning_rate", "loss", lambda rate: rate / 2, 1e9, 2)])
    assert set(numbers.got) >= {"loss", "xent", "train_error"}
    assert [step for step, _ in numbers.got["loss"]] == [2, 4, 6, 8]
    assert float(model.optimizer.learning_rate) == pytest.approx(5e-3 / 4)


def test_keras_callbacks_beside_them(models: ModuleType, train: DataFlow) -> None:
    clock = Clock()
    model = ModelDescModel(models.Digits())
    history = model.fit(QueueInput(train), epochs=9, steps_per_epoch=2, verbose=0, callbacks=[
        clock, keras.callbacks.EarlyStopping("loss", patience=1, min_delta=1e9)])
    assert len(history.epoch) == 2 and clock.seen[-1][0] == "after_train"


@pytest.mark.parametrize(("callback", "text"), [
    (lambda: SessionRunTimeout(1000), "SessionRunTimeout under Keras fit: .*RunOptions"),
    (lambda: GraphProfiler(), "GraphProfiler under Keras fit: .*RunOptions"),
])
def test_who_needs_a_session_is_named(models: ModuleType, train: DataFlow, log_dir: Path,
                                      callback: Any, text: str) -> None:
    with pytest.raises(NotSupported, match=text):
        ModelDescModel(models.Old()).fit(QueueInput(train), steps_per_epoch=2, verbose=0,
                                         callbacks=[callback()])


def test_other_misuse(models: ModuleType, train: DataFlow) -> None:
    model = ModelDescModel(models.Old())
    model.compile(steps_per_execution=2)
    with pytest.raises(NotSupported, match="ProcessTensors under Keras fit: Expected steps_per_e"):
        model.fit(QueueInput(train), steps_per_epoch=2, verbose=0,
                  callbacks=[ProcessTensors(["plain_cost"], print)])
    with pytest.raises(KeyError, match="tensor 'plain_costs:0'.*Did you mean 'plain_cost'"):
        model.fit(QueueInput(train), steps_per_epoch=2, verbose=0,
                  callbacks=[ProcessTensors(["plain_costs"], print)])
    with pytest.raises(ValueError, match="Expected steps_per_epoch"):
        model.fit(tf.data.Dataset.from_generator(lambda: iter(()), output_signature=tuple(
            model.model_desc.get_input_signature())), verbose=0, callbacks=[Clock()])
    with pytest.raises(RuntimeError, match="register_callback"):
        model.fit(QueueInput(train), steps_per_epoch=2, verbose=0, callbacks=[_Registers()])


class _Registers(Callback):
    def _before_train(self) -> None:
        self.trainer.register_callback(Clock())


def test_binary_statistics(models: ModuleType, train: DataFlow, test: DataFlow) -> None:
    numbers = Numbers()
    ModelDescModel(models.Digits()).fit(
        QueueInput(train), steps_per_epoch=2, verbose=0, callbacks=[
            InferenceRunner(test, BinaryClassificationStats("wrong", "wrong")), numbers])
    assert numbers.got["val_precision"] == [(2, 1.0)]
