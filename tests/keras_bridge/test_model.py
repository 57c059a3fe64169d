# SPDX-License-Identifier: Apache-2.0
"""A ModelDesc under fit, evaluate and predict; and what goes wrong with one."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import ModuleType
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat.callbacks import Callback, RunUpdateOps
from tfqueue_compat.compat import enter_graph, leave_graph, tfv1
from tfqueue_compat.dataflow import BatchData, DataFlow, DataFromGenerator, dataset
from tfqueue_compat.input_source import QueueInput
from tfqueue_compat.keras_bridge import ModelDescModel
from tfqueue_compat.models import FullyConnected
from tfqueue_compat.predict import OfflinePredictor, PredictConfig
from tfqueue_compat.tfutils import get_current_tower_context
from tfqueue_compat.tfutils.sessinit import DictRestore
from tfqueue_compat.train import ModelDesc, SimpleTrainer
from tfqueue_compat.utils.errors import NotSupported

v1 = tf.compat.v1


def forward(values: dict[str, np.ndarray], images: np.ndarray) -> np.ndarray:
    """Logits of ``Old`` by hand."""
    return images.reshape(-1, 64) @ values["net/W"] * values["net/scale"]


def test_fit_evaluate_predict(models: ModuleType, train: DataFlow, test: DataFlow,
                              images: np.ndarray) -> None:
    model = ModelDescModel(models.Digits(), output_names=["prob"])
    history = model.fit(QueueInput(train), epochs=3, steps_per_epoch=20, validation_data=test,
                        verbose=0).history
    assert set(history) == {"loss", "xent", "train_error", "val_loss", "val_xent",
                            "val_train_error"}
    assert history["train_error"][2] < 0.1 and history["loss"][2] > history["xent"][2]

    config = PredictConfig(model=models.Digits(), input_names=["image"],
                           output_names=["prob", "fc1/output"],
                           session_init=_loader({v.path: v.numpy() for v in model.weights}))
    prob, logits = OfflinePredictor(config)(images)
    np.testing.assert_allclose(model.predict(images, verbose=0)[0], prob, rtol=1e-6)
    np.testing.assert_allclose(model.predict(images, batch_size=3, verbose=0,
                                             output_names="fc1/output"), logits, rtol=1e-5)
    np.testing.assert_allclose(model(images)[0], prob, rtol=1e-6)
    model.summary(print_fn=lambda text: None)

    # evaluation weighs samples alike, though the last batch is smaller
    wrong = np.concatenate([OfflinePredictor(PredictConfig(
        model=models.Digits(), session_init=config.session_init, output_names=["wrong"]))(*b)[0]
        for b in _listed(test)])
    found = model.evaluate(QueueInput(test), verbose=0, return_dict=True)
    assert wrong.shape == (500,) and found["train_error"] == pytest.approx(wrong.mean(), rel=1e-5)


def _loader(values: dict[str, np.ndarray]) -> Any:
    from tfqueue_compat.tfutils import get_model_loader
    return get_model_loader(values)


def _listed(flow: DataFlow) -> list[Any]:
    flow.reset_state()
    return list(flow)


def test_the_old_forms(models: ModuleType, train: DataFlow, images: np.ndarray) -> None:
    model = ModelDescModel(models.Old(), output_names="guess")
    start = {v.path: v.numpy() for v in model.weights}
    assert set(start) == {"net/W", "net/scale", "global_step", "net/W/Momentum",
                          "net/scale/Momentum"}
    history = model.fit(QueueInput(train), epochs=2, steps_per_epoch=10, verbose=0).history
    # the rate of the 1st to the 10th step is 0.1, of those to the 20th 0.05
    np.testing.assert_allclose(history["rate"], [0.1, 0.05], rtol=1e-6)
    values = {v.path: v.numpy() for v in model.weights}
    assert values["global_step"] == 20
    guess = model.predict(images, verbose=0)
    np.testing.assert_array_equal(guess, forward(values, images).argmax(1))

    # the cost is that of the model and of get_variable's regularizers, by hand
    image, label = _listed(train)[0]
    logits = forward(values, image).astype("float64")
    xent = np.log(np.exp(logits).sum(1)) - logits[np.arange(64), label]
    decay = 1e-3 * np.square(values["net/W"]).sum() / 2
    loss = model.evaluate(image, label, batch_size=64, verbose=0, return_dict=True)["loss"]
    trained = model.fit(image, label, batch_size=64, verbose=0).history["loss"][0]
    assert loss == pytest.approx(xent.mean() + decay, rel=1e-5)
    assert trained == pytest.approx(xent.mean() + decay, rel=1e-5)


def test_evaluation_changes_nothing(models: ModuleType, test: DataFlow,
                                    values: Callable[[Any], Any]) -> None:
    class Adapts(models.Digits):  # type: ignore[name-defined,misc]
        def build_graph(self, image: Any, label: Any) -> Any:
            cost = super().build_graph(image, label)
            for v in v1.global_variables():
                if v.op.name == "bn/mean/EMA":
                    v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, v1.assign_add(v, v + 1).op)
            return cost

    model = ModelDescModel(Adapts())
    before = values(model)
    model.evaluate(test, verbose=0)
    model.predict(test, output_names=["prob", "cost"], verbose=0)
    for name, value in values(model).items():
        np.testing.assert_array_equal(value, before[name], err_msg=name)
    first, *others = model.model_desc.asked
    assert first and others and not any(others)


def test_steps_in_one_execution_equal_steps_one_by_one(
        models: ModuleType, train: DataFlow, values: Callable[[Any], Any]) -> None:
    single, several = (ModelDescModel(models.Old()) for _ in range(2))
    several.load_weights(values(single))
    several.compile(steps_per_execution=5)
    for model in (single, several):
        model.fit(QueueInput(train), steps_per_epoch=20, verbose=0)
    for name, value in values(single).items():
        np.testing.assert_allclose(values(several)[name], value, rtol=1e-5, err_msg=name)


def test_fit_goes_on_where_it_was(models: ModuleType, train: DataFlow,
                                  values: Callable[[Any], Any]) -> None:
    once, twice = (ModelDescModel(models.Old()) for _ in range(2))
    twice.load_weights(values(once))
    data = _listed(train)[:6]
    once.fit(QueueInput(data), verbose=0)
    twice.fit(QueueInput(data[:3]), verbose=0)
    twice.fit(QueueInput(data[3:]), verbose=0)
    for name, value in values(once).items():
        np.testing.assert_array_equal(values(twice)[name], value, err_msg=name)


def test_a_legacy_training_before_and_between(models: ModuleType, train: DataFlow,
                                              images: np.ndarray) -> None:
    SimpleTrainer().setup(QueueInput(train), models.Digits()).train(
        [], [], steps_per_epoch=2, max_epoch=1)
    first = ModelDescModel(models.Digits(), output_names="prob")
    second = ModelDescModel(models.Digits(), output_names="prob")
    assert not np.array_equal(first.predict(images, verbose=0), second.predict(images, verbose=0))
    kept = second.predict(images, verbose=0)
    first.fit(QueueInput(train), steps_per_epoch=2, verbose=0)
    with tf.Graph().as_default():
        SimpleTrainer().setup(QueueInput(train), models.Digits()).train(
            [], [], steps_per_epoch=2, max_epoch=1)
    first.fit(QueueInput(train), steps_per_epoch=2, verbose=0)
    np.testing.assert_array_equal(second.predict(images, verbose=0), kept)
    assert int(_step(first).numpy()) == 4
    assert not v1.global_variables()


def _step(model: Any) -> Any:
    return next(v for v in model.weights if v.path == "global_step")


def test_in_an_entered_graph(models: ModuleType, train: DataFlow, images: np.ndarray) -> None:
    graph = enter_graph()
    v1.get_variable("of_the_script", [1])
    model = ModelDescModel(models.Old(), output_names="guess")
    model.fit(QueueInput(train), steps_per_epoch=2, verbose=0, callbacks=[RunUpdateOps()])
    assert model.predict(images, verbose=0).shape == (10,)
    assert model.evaluate(train, steps=1, verbose=0) and len(model.get_weights()) == 5
    assert v1.get_default_graph() is graph
    assert [v.op.name for v in v1.global_variables()] == ["of_the_script"]
    leave_graph()


def test_keras_changes_the_learning_rate(models: ModuleType, train: DataFlow) -> None:
    model = ModelDescModel(models.Digits())
    rates = []
    model.fit(QueueInput(train), epochs=3, steps_per_epoch=2, verbose=0, callbacks=[
        keras.callbacks.LearningRateScheduler(lambda epoch, rate: rates.append(rate) or rate / 2)])
    np.testing.assert_allclose(rates, [5e-3, 2.5e-3, 1.25e-3], rtol=1e-5)
    with pytest.raises(AttributeError, match="Expected a variable 'learning_rate'"):
        ModelDescModel(models.Old()).optimizer.learning_rate


def test_xla_compiles_steps(models: ModuleType, train: DataFlow,
                            values: Callable[[Any], Any]) -> None:
    plain, compiled = (ModelDescModel(models.Digits(models.OPTIMIZERS["sgd"], False))
                       for _ in range(2))
    compiled.load_weights(values(plain))
    compiled.compile(jit_compile=True)
    for model in (plain, compiled):
        model.fit(QueueInput(train), steps_per_epoch=5, verbose=0)
    for name, value in values(plain).items():
        np.testing.assert_allclose(values(compiled)[name], value, atol=1e-5, err_msg=name)


# ---- parts of TF 1 that make variables in ways of their own

def _embedding(ids: Any) -> Any:
    table = v1.get_variable("table", [50, 4], partitioner=v1.fixed_size_partitioner(2))
    return tf.reshape(tf.nn.embedding_lookup(table, ids), [-1, 20])


def _recurrent(ids: Any) -> Any:
    cell = tfv1.nn.rnn_cell.BasicLSTMCell(6)
    return tfv1.nn.dynamic_rnn(cell, tf.one_hot(ids, 50), dtype=tf.float32)[1][1]


def _branches(ids: Any) -> Any:
    x = tf.cast(ids, tf.float32) / 50

    def layer() -> Any:
        assert get_current_tower_context() is not None
        return FullyConnected("inside", x, 4)
    return v1.cond(tf.reduce_sum(ids) % 2 > 0, layer, lambda: x[:, :4])


def _unnamed(ids: Any) -> Any:
    x = tfv1.layers.dense(tf.cast(ids, tf.float32) / 50, 7)
    steps = v1.get_variable("steps", initializer=0, trainable=False)
    v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, v1.assign_add(steps, 1).op)
    return tfv1.layers.dense(x, 7) * tf.Variable(tf.ones([7]) * 2) + tf.Variable(0.5)


@pytest.mark.parametrize("part", [_embedding, _recurrent, _branches, _unnamed])
def test_parts_train_as_in_a_graph(part: Any, values: Callable[[Any], Any]) -> None:
    class Classifier(ModelDesc):
        def inputs(self) -> list[tf.TensorSpec]:
            return [tf.TensorSpec((None, 5), tf.int32, "ids"),
                    tf.TensorSpec((None,), tf.int32, "label")]

        def build_graph(self, ids: Any, label: Any) -> Any:
            logits = FullyConnected("last", part(ids), 3)
            return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
                logits=logits, labels=label), name="cost")

        def optimizer(self) -> Any:
            return v1.train.MomentumOptimizer(0.1, 0.9)

    rng = np.random.default_rng(5)
    data = [[rng.integers(0, 50, (8, 5), "int32"), rng.integers(0, 3, 8, "int32")]
            for _ in range(6)]
    model, keep = ModelDescModel(Classifier()), _Keep()
    start = values(model)
    model.fit(QueueInput(data), verbose=0)
    SimpleTrainer().setup(QueueInput(data), Classifier()).train(
        [RunUpdateOps(), keep], [], session_init=DictRestore(start), steps_per_epoch=6,
        max_epoch=1)
    assert set(keep.values) == set(start)
    for name, value in keep.values.items():
        np.testing.assert_allclose(values(model)[name], value, atol=1e-5, err_msg=name)


class _Keep(Callback):
    def _setup_graph(self) -> None:
        self.variables = v1.global_variables()

    def _after_train(self) -> None:
        found = v1.get_default_session().run(self.variables)
        self.values = {v.op.name: x for v, x in zip(self.variables, found)}


# ---- what goes wrong

class Bad(ModelDesc):
    """Lacks what a subclass does not give it."""

    def inputs(self) -> list[tf.TensorSpec]:
        return [tf.TensorSpec((None, 2), tf.float32, "x"), tf.TensorSpec((None,), tf.int32, "y")]

    def build_graph(self, x: Any, y: Any) -> Any:
        w = v1.get_variable("w", [2])
        tf.identity(w, name="again")
        return None


DATA = [np.zeros((4, 2), "float32"), np.zeros(4, "int32")]


class NoCost(Bad):
    def optimizer(self) -> Any:
        return v1.train.GradientDescentOptimizer(0.1)


class NoOptimizer(Bad):
    def build_graph(self, x: Any, y: Any) -> Any:
        super().build_graph(x, y)
        return tf.reduce_sum(x, name="cost")


class KerasOptimizer(NoOptimizer):
    def optimizer(self) -> Any:
        return keras.optimizers.SGD(0.1)


class NotANumber(NoCost):
    def build_graph(self, x: Any, y: Any) -> Any:
        return tf.reduce_sum(tf.math.log(v1.get_variable("w", initializer=[-1.0, 2.0]) + 0 * x[0]))


@pytest.mark.parametrize(("desc", "error", "text"), [
    (NoCost, ValueError, "Expected the cost to be returned, or kept in self.cost"),
    (NoOptimizer, NotImplementedError, r"Expected a method optimizer\(self\)"),
    (NotANumber, tf.errors.InvalidArgumentError, "Expected a finite number"),
])
def test_a_model_that_cannot_train(desc: Any, error: type, text: str) -> None:
    with pytest.raises(error, match=text):
        ModelDescModel(desc()).fit(QueueInput([DATA]), verbose=0)


def test_a_model_that_cannot_train_may_predict() -> None:
    model = ModelDescModel(NoOptimizer(), output_names=["again"])
    assert model.predict(QueueInput([DATA]), verbose=0)[0].shape == (2,)
    assert model.evaluate(QueueInput([DATA]), verbose=0) == 0


def test_what_is_no_model_desc(models: ModuleType) -> None:
    with pytest.raises(TypeError, match="Expected a ModelDesc. Received the class Digits"):
        ModelDescModel(models.Digits)
    with pytest.raises(TypeError, match="Expected a tf.compat.v1.train.Optimizer"):
        ModelDescModel(KerasOptimizer())
    with tf.Graph().as_default(), pytest.raises(RuntimeError, match="Expected eager mode"):
        ModelDescModel(models.Digits())
    keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        with pytest.raises(NotSupported, match="Expected the dtype policy 'float32'"):
            ModelDescModel(models.Digits())
    finally:
        keras.mixed_precision.set_global_policy("float32")


def test_another_strategy(models: ModuleType, train: DataFlow) -> None:
    model = ModelDescModel(models.Old())
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    with strategy.scope():
        with pytest.raises(ValueError, match="Expected the strategy under which the model was"):
            model.fit(QueueInput(train), steps_per_epoch=1, verbose=0)
        own = ModelDescModel(models.Old())
        own.fit(QueueInput(train), steps_per_epoch=2, verbose=0)
    own.fit(QueueInput(train), steps_per_epoch=1, verbose=0)
    assert int(_step(own).numpy()) == 3


def test_what_compile_does_not_take(models: ModuleType) -> None:
    model = ModelDescModel(models.Old())
    with pytest.raises(NotSupported, match="Received optimizer="):
        model.compile("adam")
    with pytest.raises(NotSupported, match="Received run_eagerly="):
        model.compile(run_eagerly=True)


@pytest.mark.parametrize(("data", "text"), [
    ([[np.zeros((4, 2), "float32")]], r"Expected 2 components, \['x', 'y'\]. Received 1"),
    ([[*DATA, np.zeros(4)]], "Expected 2 components.* Received 3"),
    ([[DATA[1], DATA[0]]], "'x'|component 0"),
    ([{"x": DATA[0], "z": DATA[1]}], "Received 'z'"),
])
def test_data_that_does_not_fit(data: Any, text: str) -> None:
    class Fine(NoCost):
        def build_graph(self, x: Any, y: Any) -> Any:
            return tf.reduce_sum(v1.get_variable("w", [2]) * x)

    with pytest.raises(Exception, match=text) as caught:
        ModelDescModel(Fine()).fit(QueueInput(data), verbose=0)
    assert isinstance(caught.value, (ValueError, TypeError))


def test_components_by_name(models: ModuleType, train: DataFlow,
                            values: Callable[[Any], Any]) -> None:
    batch = _listed(train)[0]
    ordered, named = (ModelDescModel(models.Old()) for _ in range(2))
    named.load_weights(values(ordered))
    ordered.fit(QueueInput([batch]), verbose=0)
    named.fit(QueueInput([{"label": batch[1], "image": batch[0]}]), verbose=0)
    for name, value in values(ordered).items():
        np.testing.assert_array_equal(values(named)[name], value, err_msg=name)


def test_outputs_that_are_not_there(models: ModuleType, images: np.ndarray) -> None:
    model = ModelDescModel(models.Digits())
    with pytest.raises(ValueError, match="Expected output_names. Received none"):
        model.predict(images, verbose=0)
    with pytest.raises(KeyError, match="Did you mean 'prob'"):
        model.predict(images, output_names=["probb"], verbose=0)
    with pytest.raises(ValueError, match="input 'label': Expected a component of the data"):
        model.predict(images, output_names=["cost"], verbose=0)


def test_an_error_in_the_dataflow_comes_out_itself(models: ModuleType, train: DataFlow) -> None:
    batch = _listed(train)[0]

    class MyOwn(Exception):
        pass

    def generate() -> Any:
        yield batch
        yield batch
        raise MyOwn("the user's")

    model = ModelDescModel(models.Old())
    with pytest.raises(MyOwn, match="the user's"):
        model.fit(QueueInput(DataFromGenerator(generate)), steps_per_epoch=5, verbose=0)
    assert int(_step(model).numpy()) == 2
    model.fit(QueueInput(train), steps_per_epoch=2, verbose=0)


def test_ctrl_c_ends_fit_and_the_model_can_go_on(models: ModuleType, train: DataFlow) -> None:
    class Interrupts(keras.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if batch == 2:
                signal.raise_signal(signal.SIGINT)

    model = ModelDescModel(models.Old())
    with pytest.raises(KeyboardInterrupt):
        model.fit(QueueInput(train), steps_per_epoch=100, verbose=0, callbacks=[Interrupts()])
    done = int(_step(model).numpy())
    assert done in (3, 4)
    model.fit(QueueInput(train), steps_per_epoch=2, verbose=0)
    assert int(_step(model).numpy()) == done + 2


def test_batches_of_single_datapoints(models: ModuleType, values: Callable[[Any], Any]) -> None:
    batched, single = (ModelDescModel(models.Old()) for _ in range(2))
    single.load_weights(values(batched))
    flow = dataset.Digits("train", shuffle=False)
    batched.fit(QueueInput(BatchData(flow, 50)), steps_per_epoch=4, verbose=0)
    single.fit(QueueInput(flow).batch(50), steps_per_epoch=4, verbose=0)
    for name, value in values(batched).items():
        np.testing.assert_array_equal(values(single)[name], value, err_msg=name)
