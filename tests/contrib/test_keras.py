# SPDX-License-Identifier: Apache-2.0
"""Keras models in legacy trainers, against Keras ``fit`` and against statistics by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat.callbacks import Callback
from tfqueue_compat.compat.tfv1 import keras as keras_v1
from tfqueue_compat.contrib.keras import KerasModel, KerasPhaseCallback, setup_keras_trainer
from tfqueue_compat.dataflow import DataFromList
from tfqueue_compat.input_source import QueueInput
from tfqueue_compat.tfutils.tower import TowerContext, get_current_tower_context
from tfqueue_compat.train import (ModelDesc, SimpleTrainer, SyncMultiGPUTrainerParameterServer,
                                  SyncMultiGPUTrainerReplicated, TrainConfig,
                                  launch_train_with_config)

v1 = tf.compat.v1
keras = tf.keras
X, Y = tf.TensorSpec([None, 4], tf.float32, "x"), tf.TensorSpec([None, 3], tf.float32, "y")


class Watch(Callback):
    """Notes tensors at each step, and the variables before and after training."""

    _chief_only = False

    def __init__(self, *names: str) -> None:
        self.names, self.seen = list(names), []  # type: ignore[var-annotated]
        self.variables: list[Any] = []

    def _setup_graph(self) -> None:
        self.variables = v1.global_variables()

    def _read(self) -> dict[str, Any]:
        values = v1.get_default_session().run(self.variables)
        return {v.op.name: value for v, value in zip(self.variables, values)}

    def _before_train(self) -> None:
        self.before = self._read()

    def _before_run(self, ctx: Any) -> Any:
        return self.names

    def _after_run(self, ctx: Any, values: Any) -> None:
        self.seen.append(values.results)

    def _after_train(self) -> None:
        self.after = self._read()


@pytest.fixture(scope="module")
def batches() -> list[list[np.ndarray]]:
    rng = np.random.default_rng(5)
    return [[rng.normal(1, 2, (8, 4)).astype("float32"),
             np.eye(3, dtype="float32")[rng.integers(0, 3, 8)]] for _ in range(6)]


def build(x: Any) -> Any:
    """BatchNormalization, L2 and a loss of activations; the same start each time."""
    init = keras.initializers.GlorotUniform
    return keras.Sequential([
        keras_v1.layers.InputLayer(input_tensor=x),
        keras.layers.Dense(5, kernel_initializer=init(1), kernel_regularizer="l2"),
        keras.layers.BatchNormalization(momentum=0.9),
        keras.layers.Activation("relu", activity_regularizer="l1"),
        keras.layers.Dense(3, activation="softmax", kernel_initializer=init(2))])


def test_training_and_validation_equal_keras_fit(batches: Any) -> None:
    flow = DataFromList(batches, shuffle=False)
    watch = Watch("total_loss:0", "categorical_accuracy:0")
    keras.utils.clear_session()
    reference = build(tf.zeros([1, 4]))
    model = KerasModel(build, [X], [Y], QueueInput(flow))
    model.compile(v1.train.GradientDescentOptimizer(0.1), "categorical_crossentropy",
                  metrics="categorical_accuracy")
    assert model._stats_to_inference == ["categorical_crossentropy", "categorical_accuracy",
                                         "total_loss"]
    watched: list[Any] = []

    class Validated(Callback):
        def _trigger_epoch(self) -> None:
            watched.append([self.trainer.monitors.get_latest(f"validation_{name}")
                            for name in model._stats_to_inference])

    model.fit(validation_data=flow, steps_per_epoch=6, max_epoch=2,
              callbacks=[watch, Validated()], extra_callbacks=None, monitors=[])

    reference.compile(keras.optimizers.SGD(0.1), "categorical_crossentropy",
                      metrics=["categorical_accuracy"])
    losses, measured = [], []
    data, target = (np.concatenate(part) for part in zip(*batches))
    for _ in range(2):
        for x, y in batches:
            losses.append(reference.train_on_batch(x, y, return_dict=True))
        predicted = reference.predict(data, verbose=0)
        loss = -np.log((predicted * target).sum(1)).mean()
        measured.append([loss, (predicted.argmax(1) == target.argmax(1)).mean(), loss])
    np.testing.assert_allclose([float(r[0]) for r in watch.seen],
                               [logs["loss"] for logs in losses], rtol=1e-5)
    np.testing.assert_allclose([float(r[1]) for r in watch.seen],
                               [logs["categorical_accuracy"] for logs in losses], rtol=1e-6)
    np.testing.assert_allclose(watched, measured, rtol=1e-5)
    for variable in reference.weights:
        name = variable.path.replace(reference.name, "sequential")
        np.testing.assert_allclose(watch.after[name], variable.numpy(), rtol=1e-5, atol=1e-7)


class Plain(ModelDesc):
    """A model called as users of ``tf.keras`` call it, layer by layer."""

    def __init__(self) -> None:
        self.layers: Any = None

    def inputs(self) -> Any:
        return [X, Y]

    def build_graph(self, x: Any, y: Any) -> Any:
        if self.layers is None:
            self.layers = [keras.layers.BatchNormalization(momentum=0.9, name="normal"),
                           keras.layers.Dropout(0.5), keras.layers.Dense(3)]
        normal, drop, dense = self.layers
        index = getattr(get_current_tower_context(), "index", "")
        z = tf.identity(drop(tf.ones([64, 4])), name=f"mask{index}")
        return tf.reduce_mean(tf.square(dense(normal(x)) - y)) + 0 * tf.reduce_mean(z)

    def optimizer(self) -> Any:
        return v1.train.GradientDescentOptimizer(0.0)


def train(model: Any, trainer: Any, batches: Any, *names: str) -> Watch:
    watch = Watch(*names)
    config = v1.ConfigProto(device_count={"CPU": 2}, allow_soft_placement=True)
    launch_train_with_config(TrainConfig(
        model=model, data=QueueInput(DataFromList(batches, shuffle=False)), monitors=[],
        callbacks=[KerasPhaseCallback(True), watch], steps_per_epoch=6, max_epoch=1,
        session_config=config), trainer)
    return watch


def test_layers_in_a_modeldesc_move_statistics_and_renew_masks(batches: Any) -> None:
    watch = train(Plain(), SimpleTrainer(), batches, "mask0:0")
    mean, variance = np.zeros(4), np.ones(4)
    for x, _ in batches:
        mean = 0.9 * mean + 0.1 * x.mean(0)
        variance = 0.9 * variance + 0.1 * x.var(0)
    np.testing.assert_allclose(watch.after["normal/moving_mean"], mean, rtol=1e-5)
    np.testing.assert_allclose(watch.after["normal/moving_variance"], variance,
                               rtol=1e-5)
    masks = [r[0] for r in watch.seen]
    assert len({m.tobytes() for m in masks}) == len(masks)
    assert all(set(np.unique(m)) == {0.0, 2.0} for m in masks)
    assert 0.4 < np.mean(masks) / 2 < 0.6


def test_towers_share_variables_and_draw_other_masks(batches: Any) -> None:
    watch = train(Plain(), SyncMultiGPUTrainerParameterServer([0, 1], ps_device="cpu"), batches,
                  "tower0/mask0:0", "tower1/mask1:0")
    assert sum(name.endswith("/kernel") for name in watch.after) == 1
    masks = [m.tobytes() for r in watch.seen for m in r]
    assert len(set(masks)) == 12
    mean = np.zeros(4)
    for x, _ in [batches[k % 6] for k in range(0, 12, 2)]:  # the first tower's
        mean = 0.9 * mean + 0.1 * x.mean(0)
    np.testing.assert_allclose(watch.after["normal/moving_mean"], mean, rtol=1e-5)


def test_replicated_towers_have_models_of_their_own(batches: Any) -> None:
    trainer = SyncMultiGPUTrainerReplicated([0, 1], mode="cpu")
    model = KerasModel(build, [X], [Y], QueueInput(DataFromList(batches, shuffle=False)), trainer)
    model.compile(v1.train.GradientDescentOptimizer(0.1), ["categorical_crossentropy"])
    watch = Watch()
    model.fit(steps_per_epoch=3, max_epoch=1, callbacks=[watch], monitors=[], extra_callbacks=[])
    own = {n for n in watch.after if n.startswith("sequential/dense")}
    assert len(own) == 4 and {f"tower1/{n}" for n in own} <= set(watch.after)
    for name in own:
        np.testing.assert_allclose(watch.after[name], watch.after[f"tower1/{name}"], rtol=1e-5)
        assert not np.array_equal(watch.after[name], watch.before[name])


def test_a_layer_called_twice_goes_on_from_its_first_call() -> None:
    with tf.Graph().as_default(), TowerContext("", is_training=True):
        layer = keras.layers.BatchNormalization(momentum=0.5)
        layer(tf.constant([[2.0], [4.0]]))
        layer(tf.constant([[7.0], [9.0]]))
        drop = keras.layers.Dropout(0.5)
        masks = [drop(tf.ones([64])), drop(tf.ones([64]))]
        updates = v1.get_collection(v1.GraphKeys.UPDATE_OPS)
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            drawn = [m.tobytes() for _ in range(2) for m in sess.run([masks, updates])[0]]
            sess.run(updates)
            mean = sess.run(layer.moving_mean.value)
    assert len(set(drawn)) == 4
    expected = 0.0
    for batch_mean in (3.0, 8.0) * 3:
        expected = (expected + batch_mean) / 2
    np.testing.assert_allclose(mean, [expected])


def test_frozen_layers_do_not_train_and_prediction_changes_nothing() -> None:
    with tf.Graph().as_default():
        x = tf.constant([[2.0], [4.0]])
        frozen, drop = keras.layers.Dense(1), keras.layers.Dropout(0.5)
        frozen.trainable = False
        with TowerContext("", is_training=True):
            frozen(x)
        assert not v1.trainable_variables()
        with TowerContext("predict", is_training=False):
            normal = keras.layers.BatchNormalization()
            y = drop(normal(x))
        assert not v1.get_collection(v1.GraphKeys.UPDATE_OPS)
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            np.testing.assert_allclose(sess.run(y), [[2.0], [4.0]], rtol=1e-3)


def test_the_learning_phase_of_old_is_fed() -> None:
    class Phase(Plain):
        def build_graph(self, x: Any, y: Any) -> Any:
            tf.identity(keras_v1.backend.learning_phase(), name="phase")
            return super().build_graph(x, y)

    batch = [np.ones((2, 4), "float32"), np.ones((2, 3), "float32")]
    watch = train(Phase(), SimpleTrainer(), [batch] * 6, "phase:0")
    assert [bool(r[0]) for r in watch.seen] == [True] * 6


@pytest.mark.parametrize("change, error", [
    ({"optimizer": "adam"}, "Expected a tf.compat.v1.train.Optimizer"),
    ({"loss": []}, "a list with one for each of the 1 targets"),
    ({"loss": "mse"}, "a list with one for each"),
    ({"metrics": ["mse"], "loss": ["mse"]}, "names used once"),
    ({"target_signature": [Y, Y], "loss": ["mse", "mae"]}, "a model with 2 outputs"),
    ({"get_model": lambda x: 3}, "Expected a keras.Model")])
def test_bad_arguments_are_named(change: Any, error: str) -> None:
    arguments: dict[str, Any] = {
        "get_model": build, "input_signature": [X], "target_signature": [Y], "metrics": [],
        "optimizer": v1.train.GradientDescentOptimizer(0.1), "loss": ["mse"], **change}
    pair = [np.zeros((2, 4), "float32")] + [
        np.zeros((2, 3), "float32")] * len(arguments["target_signature"])
    with pytest.raises((TypeError, ValueError), match=error):
        setup_keras_trainer(SimpleTrainer(), input=QueueInput(DataFromList([pair])), **arguments)
