# SPDX-License-Identifier: Apache-2.0
"""Trainers against gradient descent by hand; several towers against one on the larger batch."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat.callbacks import Callback
from tfqueue_compat.dataflow import DataFromList
from tfqueue_compat.input_source import FeedInput, QueueInput
from tfqueue_compat.train import (
    AsyncMultiGPUTrainer, BytePSTrainer, DistributedTrainerParameterServer,
    DistributedTrainerReplicated, NoOpTrainer, QueueInputTrainer, SimpleTrainer, StopTraining,
    SyncMultiGPUTrainer, SyncMultiGPUTrainerParameterServer, SyncMultiGPUTrainerReplicated,
    TrainConfig, launch_train_with_config)
from tfqueue_compat.utils.errors import NotSupported

v1 = tf.compat.v1


class Watch(Callback):
    """Notes each step's cost, and the variables at the end."""

    _chief_only = False

    def __init__(self) -> None:
        self.costs: list[float] = []
        self.values: dict[str, np.ndarray] = {}
        self.seen: list[tuple[int, int, int]] = []

    def _setup_graph(self) -> None:
        self.variables = v1.global_variables() + v1.local_variables()

    def _before_run(self, ctx: Any) -> list[str]:
        return ["cost:0"]

    def _after_run(self, ctx: Any, values: Any) -> None:
        self.costs.append(float(values.results[0]))
        self.seen.append((self.epoch_num, self.local_step, self.global_step))

    def _after_train(self) -> None:
        sess = v1.get_default_session()
        self.values = {v.op.name: sess.run(v) for v in self.variables}


def train(model: Any, data: Any, trainer: Any, steps: int, *callbacks: Any,
          epochs: int = 1) -> Watch:
    watch = Watch()
    config = v1.ConfigProto(device_count={"CPU": 4}, allow_soft_placement=True)
    launch_train_with_config(TrainConfig(
        model=model, data=data, callbacks=[watch, *callbacks], extra_callbacks=[], monitors=[],
        session_config=config, steps_per_epoch=steps, max_epoch=epochs), trainer)
    return watch


@pytest.mark.parametrize("trainer", [SimpleTrainer, QueueInputTrainer])
@pytest.mark.parametrize("source", [QueueInput, FeedInput])
def test_one_tower_is_gradient_descent(trainer: Any, source: Any, model: Any, flow: Any,
                                       batches: Any, by_hand: Any) -> None:
    watch = train(model(), source(flow), trainer(), 6, epochs=2)
    weights, costs = by_hand(batches)
    np.testing.assert_allclose(watch.costs, costs, rtol=1e-5)
    np.testing.assert_allclose(watch.values["w"], weights, rtol=1e-5)
    assert watch.values["global_step"] == 12
    assert watch.seen[0] == (1, 0, 1) and watch.seen[-1] == (2, 5, 12)
    assert tf.executing_eagerly()


def joined(batches: Any, n: int) -> Any:
    """Batches of n-fold size."""
    groups = [batches[i:i + n] for i in range(0, len(batches), n)]
    return DataFromList([[np.concatenate(c) for c in zip(*g)] for g in groups], shuffle=False)


OPTIMIZERS = {
    "sgd": lambda: v1.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: v1.train.MomentumOptimizer(0.05, 0.9),
    "adam": lambda: v1.train.AdamOptimizer(0.05)}
SYNCHRONOUS = {
    "ps gpu": lambda n: SyncMultiGPUTrainerParameterServer(n, ps_device="gpu"),
    "ps cpu": lambda n: SyncMultiGPUTrainerParameterServer(list(range(n)), ps_device="cpu"),
    **{mode: (lambda n, mode=mode: SyncMultiGPUTrainerReplicated(n, mode=mode))
       for mode in ("cpu", "gpu", "nccl", "collective", "hierarchical")},
    "any": lambda n: SyncMultiGPUTrainer(n)}


@pytest.mark.parametrize("optimizer", sorted(OPTIMIZERS))
@pytest.mark.parametrize("kind", sorted(SYNCHRONOUS))
def test_towers_equal_one_on_the_larger_batch(kind: str, optimizer: str, model: Any, flow: Any,
                                              batches: Any) -> None:
    n = 3
    many = train(model(OPTIMIZERS[optimizer]), QueueInput(flow), SYNCHRONOUS[kind](n), 4)
    one = train(model(OPTIMIZERS[optimizer]), QueueInput(joined(batches, n)), SimpleTrainer(), 4)
    np.testing.assert_allclose(many.values["w"], one.values["w"], atol=1e-6)
    for name, value in many.values.items():
        if name.endswith("/w"):
            np.testing.assert_allclose(value, one.values["w"], atol=1e-6, err_msg=name)


def test_hierarchical_sums_eight_towers(model: Any, batches: Any) -> None:
    data = [b for b in batches for _ in range(2)][:16]
    many = train(model(), QueueInput(DataFromList(data, shuffle=False)),
                 SyncMultiGPUTrainerReplicated(8, mode="hierarchical"), 2)
    one = train(model(), QueueInput(joined(data, 8)), SimpleTrainer(), 2)
    np.testing.assert_allclose(many.values["w"], one.values["w"], atol=1e-6)


def test_a_sum_instead_of_the_average(model: Any, flow: Any, batches: Any) -> None:
    many = train(model(), QueueInput(flow), SyncMultiGPUTrainerReplicated(2, average=False), 3)
    one = train(model(lambda: v1.train.GradientDescentOptimizer(0.2)),
                QueueInput(joined(batches, 2)), SimpleTrainer(), 3)
    np.testing.assert_allclose(many.values["w"], one.values["w"], atol=1e-6)


def test_towers_that_do_not_wait_train(model: Any, flow: Any, batches: Any) -> None:
    watch = train(model(), QueueInput(flow), AsyncMultiGPUTrainer(2), 40)
    x, y = (np.concatenate(c) for c in zip(*batches))
    best = np.linalg.lstsq(x, y, rcond=None)[0]
    assert np.linalg.norm(watch.values["w"] - best) < 0.3 * np.linalg.norm(
        np.array([0.5, -0.25, 0.75]) - best)


def test_no_step_moves_nothing(model: Any, flow: Any) -> None:
    class Count(Callback):
        steps = 0

        def _trigger_step(self) -> None:
            self.steps += 1

    count = Count()
    launch_train_with_config(TrainConfig(
        model=model(), data=QueueInput(flow), callbacks=[count], extra_callbacks=[], monitors=[],
        steps_per_epoch=5, max_epoch=2), NoOpTrainer())
    assert count.steps == 10


def test_only_the_first_towers_variables_are_saved(model: Any, flow: Any) -> None:
    class Names(Callback):
        def _setup_graph(self) -> None:
            self.saved = {v.op.name for v in v1.global_variables()}
            self.local = {v.op.name for v in v1.local_variables()}

    names = Names()
    train(model(OPTIMIZERS["adam"]), QueueInput(flow), SyncMultiGPUTrainerReplicated(2), 1, names)
    state = {"w", "w/Adam", "w/Adam_1", "beta1_power", "beta2_power"}
    assert names.saved == {*state, "global_step"}
    assert names.local == {f"tower1/{name}" for name in state}


class Stop(Callback):
    def __init__(self, error: BaseException) -> None:
        self.error = error

    def _trigger_step(self) -> None:
        if self.global_step == 3:
            raise self.error


def test_stop_training_ends_it(model: Any, flow: Any) -> None:
    watch = train(model(), QueueInput(flow), SimpleTrainer(), 100, Stop(StopTraining()))
    assert len(watch.costs) == 3 and "w" in watch.values


def test_an_error_of_a_callback_comes_out(model: Any, flow: Any) -> None:
    with pytest.raises(ZeroDivisionError, match="mine"):
        train(model(), QueueInput(flow), SimpleTrainer(), 100, Stop(ZeroDivisionError("mine")))


def test_a_dataflows_error_comes_out(model: Any, batches: Any) -> None:
    def broken() -> Any:
        yield from batches[:5]
        raise LookupError("datapoint five is broken")

    with pytest.raises(LookupError, match="five is broken"):
        train(model(), QueueInput(broken), SimpleTrainer(), 100)
    with pytest.raises(LookupError, match="five is broken"):
        train(model(), QueueInput(broken), SyncMultiGPUTrainerReplicated(2), 100)


def test_a_cost_that_is_no_number_is_named(model: Any, batches: Any) -> None:
    batches[2][1][1] = np.nan
    flow = DataFromList(batches, shuffle=False)
    with pytest.raises(tf.errors.InvalidArgumentError, match="the cost 'cost'"):
        train(model(), QueueInput(flow), SimpleTrainer(), 12)


def test_graph_session_and_threads_are_gone(model: Any, flow: Any) -> None:
    before = set(threading.enumerate())
    trainer = SimpleTrainer()
    train(model(), QueueInput(flow), trainer, 3)
    graph, sess = weakref.ref(trainer._graph), weakref.ref(trainer.sess)
    del trainer
    gc.collect()
    assert graph() is None and sess() is None
    left = {t for t in threading.enumerate() if t not in before and t.name.startswith("QueueInput")}
    for thread in left:
        thread.join(10)
    assert not any(t.is_alive() for t in left)


@pytest.mark.parametrize("make", [
    BytePSTrainer, lambda: DistributedTrainerReplicated([0], None),
    lambda: DistributedTrainerParameterServer([0], None)])
def test_what_cannot_be_had_says_what_to_use(make: Any) -> None:
    with pytest.raises(NotSupported, match="HorovodTrainer"):
        make()


def test_wrong_gpus_and_modes() -> None:
    with pytest.raises(ValueError, match="each once"):
        SyncMultiGPUTrainerReplicated([0, 0])
    with pytest.raises(ValueError, match="Did you mean 'nccl'"):
        SyncMultiGPUTrainerReplicated([0, 1], mode="ncl")
