# SPDX-License-Identifier: Apache-2.0
"""Summaries and averages that reach the monitors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat.callbacks import (Callback, MergeAllSummaries, MovingAverageSummary,
                                      SimpleMovingAverage)

v1 = tf.compat.v1


@pytest.mark.parametrize("kwargs, steps", [
    (dict(), [4, 8]), (dict(period=3), [3, 4, 7, 8]), (dict(period=2), [2, 4, 6, 8]),
    (dict(run_alone=True), [4, 8]), (dict(run_alone=True, period=3), [3, 4, 7, 8]),
    (dict(key="NOTHING"), [])])
def test_all_summaries_are_reported(kwargs: Any, steps: list[int], machine: Any,
                                    catch: Any) -> None:
    machine.train([MergeAllSummaries(**kwargs)], steps=4, epochs=2, monitors=[catch])
    assert [step for step, _ in catch.of("w")] == steps  # the tag is "w-summary"
    assert sorted(catch.tags) == sorted(["w", "weights"] * len(steps))
    alone = kwargs.get("run_alone")
    for step, value in catch.of("w"):  # with the step: w before or after it, as it comes
        assert value == step if alone else value in (step - 1, step)


def test_moving_averages_are_kept_with_each_step(machine: Any) -> None:
    assert run_ema(machine, MovingAverageSummary()) == 6


def test_moving_averages_are_kept_with_an_operation(machine: Any) -> None:
    assert run_ema(machine, MovingAverageSummary(train_op="train_op")) == 6


def test_moving_averages_of_another_collection(machine: Any) -> None:
    assert run_ema(machine, MovingAverageSummary("OTHERS")) == 0
    with pytest.raises(TypeError, match="train_op"):
        run_ema(type(machine)(), MovingAverageSummary(train_op=3))


def run_ema(machine: Any, callback: Callback) -> int:
    class Update(Callback):
        def _setup_graph(self) -> None:
            self.count = tf.Variable(0)
            v1.add_to_collection("MOVING_SUMMARY_OPS", v1.assign_add(self.count, 1))

        def _trigger(self) -> None:
            self.value = machine.sess.run(self.count)

    update = Update()
    machine.train([update, callback], steps=3, epochs=2)
    return int(update.value)


def test_simple_moving_average_against_numpy(machine: Any, catch: Any) -> None:
    machine.train([SimpleMovingAverage(["cost:0"], 3)], steps=7, epochs=1, monitors=[catch])
    costs = np.arange(7) + 1.5
    assert catch.of("cost/SMA") == [(3, costs[:3].mean()), (6, costs[3:6].mean())]


def test_simple_moving_average_needs_scalars(machine: Any) -> None:
    with pytest.raises(ValueError, match="scalar tensors"):
        machine.train([SimpleMovingAverage("wrong", 3)])


@pytest.mark.parametrize("make", [lambda: MergeAllSummaries(-1),
                                  lambda: SimpleMovingAverage("cost", 0)])
def test_numbers_of_steps(make: Any) -> None:
    with pytest.raises(ValueError, match="whole number"):
        make()
