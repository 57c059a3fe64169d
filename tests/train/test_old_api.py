# SPDX-License-Identifier: Apache-2.0
"""Models, configs and trainers as they were written before 0.9, and custom trainers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat.callbacks import Callback, Callbacks, ModelSaver
from tfqueue_compat.graph_builder.model_desc import InputDesc
from tfqueue_compat.input_source import QueueInput
from tfqueue_compat.tfutils.tower import TowerContext, TowerFuncWrapper
from tfqueue_compat.train import (
    AutoResumeTrainConfig, ModelDesc, ModelDescBase, QueueInputTrainer, SimpleTrainer,
    SyncMultiGPUTrainer, SyncMultiGPUTrainerParameterServer, TowerTrainer, TrainConfig,
    launch_train_with_config)

v1 = tf.compat.v1


class OldLine(ModelDesc):
    """The model of conftest, as of 2017."""

    def _get_inputs(self) -> list[InputDesc]:
        return [InputDesc(tf.float32, (None, 3), "x"), InputDesc(tf.float32, (None,), "y")]

    def _build_graph(self, inputs: Any) -> None:
        x, y = inputs
        w = v1.get_variable("w", initializer=tf.constant([0.5, -0.25, 0.75]))
        error = tf.linalg.matvec(x, w) - y
        self.cost = tf.reduce_mean(tf.square(error), name="cost")

    def _get_optimizer(self) -> Any:
        return v1.train.GradientDescentOptimizer(0.1)


class Weights(Callback):
    def _setup_graph(self) -> None:
        self.w = v1.trainable_variables()[0]

    def _after_train(self) -> None:
        self.value = v1.get_default_session().run(self.w)


@pytest.mark.parametrize("old", ["dataset", "dataflow"])
@pytest.mark.parametrize("group", [list, Callbacks])
@pytest.mark.parametrize("make", [QueueInputTrainer, SimpleTrainer, SyncMultiGPUTrainer])
def test_a_trainer_of_a_config(make: Any, group: Any, old: str, flow: Any, batches: Any,
                               by_hand: Any) -> None:
    weights = Weights()
    config = TrainConfig(model=OldLine(), callbacks=group([weights]), extra_callbacks=[],
                         monitors=[], step_per_epoch=6, max_epoch=2, **{old: flow})
    make(config).train()
    np.testing.assert_allclose(weights.value, by_hand(batches)[0], rtol=1e-5)


def test_towers_of_a_config(flow: Any, batches: Any) -> None:
    config = TrainConfig(model=OldLine(), dataflow=flow, nr_tower=2, extra_callbacks=[],
                         monitors=[], steps_per_epoch=2, max_epoch=1)
    trainer = SyncMultiGPUTrainerParameterServer(config)
    assert trainer.devices == [0, 1]
    trainer.train()
    config.nr_tower = 3
    assert config.tower == [0, 1, 2]
    with pytest.raises(TypeError, match="Did you mean 'nr_tower'"):
        TrainConfig(model=OldLine(), dataflow=flow, nr_towers=2)


def test_the_optimizer_of_a_config(flow: Any, batches: Any, by_hand: Any) -> None:
    class Without(OldLine):
        def _get_optimizer(self) -> Any:
            raise AssertionError("not asked")

    weights = Weights()
    QueueInputTrainer(TrainConfig(
        model=Without(), dataflow=flow, callbacks=[weights], extra_callbacks=[], monitors=[],
        steps_per_epoch=12, max_epoch=1,
        optimizer=lambda: v1.train.GradientDescentOptimizer(0.1))).train()
    np.testing.assert_allclose(weights.value, by_hand(batches)[0], rtol=1e-5)


def test_setup_and_train(model: Any, flow: Any, batches: Any, by_hand: Any,
                         log_dir: Path) -> None:
    class Costs(Callback):
        latest: list[float] = []

        def _trigger_epoch(self) -> None:
            Costs.latest.append(self.trainer.monitors.get_latest("QueueInput/queue_size"))

    weights = Weights()
    trainer = SimpleTrainer()
    trainer.setup(QueueInput(flow, size=9), model(), input_names=["x", "y"])
    trainer.train(callbacks=[ModelSaver(), Costs(), weights], max_epoch=1)
    np.testing.assert_allclose(weights.value, by_hand(batches)[0], rtol=1e-5)
    assert len(Costs.latest) == 1
    assert json.loads((log_dir / "stats.json").read_text())[-1]["global_step"] == 12
    assert (log_dir / "model-12.index").exists()


def test_components_in_another_order(model: Any, batches: Any, by_hand: Any) -> None:
    weights = Weights()
    trainer = SimpleTrainer()
    trainer.setup(QueueInput(lambda: ([y, x] for x, y in batches)), model(),
                  input_names=["y", "x"])
    trainer.train([weights], [], steps_per_epoch=12, max_epoch=1)
    np.testing.assert_allclose(weights.value, by_hand(batches)[0], rtol=1e-5)


def test_resuming_goes_on(model: Any, flow: Any, log_dir: Path) -> None:
    def train(last: int) -> tuple[Any, int]:
        weights = Weights()
        config = AutoResumeTrainConfig(
            model=model(lambda: v1.train.MomentumOptimizer(0.01, 0.9)), data=QueueInput(flow),
            callbacks=[ModelSaver(), weights], steps_per_epoch=12, max_epoch=last)
        launch_train_with_config(config, SimpleTrainer())
        return weights.value, config.starting_epoch

    train(1)
    halves, epoch = train(2)
    assert epoch == 2
    for file in log_dir.iterdir():
        file.unlink()
    whole, epoch = train(2)
    assert epoch == 1
    np.testing.assert_allclose(halves, whole, rtol=1e-5)


class Two(ModelDescBase):
    """Two costs, as GANs have."""

    def inputs(self) -> list[tf.TensorSpec]:
        return [tf.TensorSpec([None], tf.float32, "z")]

    def build_graph(self, z: Any) -> None:
        with v1.variable_scope("gen"):
            g = v1.get_variable("g", initializer=1.0)
        with v1.variable_scope("discrim"):
            d = v1.get_variable("d", initializer=1.0)
        tf.multiply(g, z, name="fake")
        self.g_loss = tf.reduce_mean(tf.square(g * z), name="g_loss")
        self.d_loss = tf.square(d - 3.0, name="d_loss")

    def optimizer(self) -> Any:
        return v1.train.GradientDescentOptimizer(0.1)

    def get_optimizer(self) -> Any:
        return self.optimizer()


class TwoTrainer(TowerTrainer):
    """As the GAN examples write theirs."""

    def __init__(self, input: Any, model: Any) -> None:
        super().__init__()
        callbacks = input.setup(model.get_input_signature())
        self.tower_func = TowerFuncWrapper(model.build_graph, model.get_input_signature())
        with TowerContext("", is_training=True):
            self.tower_func(*input.get_input_tensors())
        optimizer = model.get_optimizer()
        with tf.name_scope("optimize"):
            by_name = {v.op.name: v for v in v1.trainable_variables()}
            step = optimizer.minimize(model.d_loss, var_list=[by_name["discrim/d"]])
            with tf.control_dependencies([step]):
                self.train_op = optimizer.minimize(model.g_loss, var_list=[by_name["gen/g"]])
        assert self.register_callback(callbacks)


def test_a_trainer_that_builds_in_its_constructor_and_predicts() -> None:
    class Predict(Callback):
        seen: list[float] = []

        def _setup_graph(self) -> None:
            self.predict = self.trainer.get_predictor(["z"], ["fake"])

        def _trigger_epoch(self) -> None:
            Predict.seen.append(float(self.predict([2.0])[0][0]))

    source = QueueInput(lambda: ([np.ones(1, "float32")] for _ in range(100)))
    TwoTrainer(source, Two()).train_with_defaults(
        callbacks=[Predict()], monitors=[], extra_callbacks=[], steps_per_epoch=1, max_epoch=3)
    np.testing.assert_allclose(Predict.seen, [1.6, 1.28, 1.024], rtol=1e-6)  # g *= 0.8


def test_training_can_be_assigned() -> None:
    model = OldLine()
    model.training = False
    assert model.training is False
    with pytest.raises(RuntimeError, match="tower"):
        OldLine().training
