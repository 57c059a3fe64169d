# SPDX-License-Identifier: Apache-2.0
"""Callbacks of each step: the bar, the counter, the printer, the timeout."""

from __future__ import annotations

import time
from typing import Any

import pytest
import tensorflow as tf

from tfqueue_compat.callbacks import (ProgressBar, QueueSize, RunOp, SessionRunTimeout,
                                      TensorPrinter)
from tfqueue_compat.dataflow import DataFromList
from tfqueue_compat.engine.meter import Meter
from tfqueue_compat.input_source import BatchQueueInput, FeedInput, QueueInput, StagingInput

v1 = tf.compat.v1


def test_the_bar_counts_each_epochs_steps_and_shows_tensors(
        machine: Any, capsys: pytest.CaptureFixture[str]) -> None:
    machine.train([ProgressBar(["cost"])], steps=3, epochs=2)
    err = capsys.readouterr().err
    assert err.count("3/3[") == 2
    assert "cost=3.5]" in err and "cost=6.5]" in err  # of the last steps


def test_the_bar_shows_how_full_the_queue_is(machine: Any,
                                             capsys: pytest.CaptureFixture[str]) -> None:
    class Source:
        meter = Meter(50)

    Source.meter.produced = 40
    machine.train([QueueSize(Source()), ProgressBar()], steps=3, epochs=1)
    assert "queue=40/50]" in capsys.readouterr().err


def test_the_graphs_counter_and_the_trainers_agree(machine: Any) -> None:
    class Check(RunOp):
        def _before_train(self) -> None:
            pass

        def _trigger(self) -> None:
            self.value = v1.train.global_step(machine.sess, v1.train.get_global_step())

    check = Check(lambda: tf.no_op())
    machine.train([check], steps=3, epochs=2)
    assert check.value == machine.global_step == 6


def test_a_counter_that_was_loaded_goes_on(machine: Any,
                                           capsys: pytest.CaptureFixture[str]) -> None:
    def load(sess: Any) -> None:
        v1.train.get_global_step().load(100, sess)

    machine.train(steps=3, epochs=1, init=load)
    assert machine.global_step == 103
    assert "Start training with global_step=100" in capsys.readouterr().out


def test_the_printer(machine: Any, capsys: pytest.CaptureFixture[str]) -> None:
    machine.train([TensorPrinter("cost")], steps=2, epochs=1)
    out = capsys.readouterr().out
    assert "cost: 1.5" in out and "cost: 2.5" in out


def test_the_timeout_ends_a_step_that_hangs(machine: Any) -> None:
    slow = RunOp(lambda: v1.py_func(lambda: time.sleep(3), [], []), run_before=False,
                 run_as_trigger=False, run_step=True)
    with pytest.raises(tf.errors.DeadlineExceededError):
        machine.train([slow, SessionRunTimeout(200)])
    with pytest.raises(ValueError, match="milliseconds"):
        SessionRunTimeout(0)


@pytest.mark.parametrize("make, name", [
    (lambda df: QueueInput(df), "QueueInput"),
    (lambda df: BatchQueueInput(df, 2), "BatchQueueInput"),
    (lambda df: StagingInput(QueueInput(df)), "QueueInput")])
def test_the_queue_size_is_reported_with_each_epochs_last_step(
        make: Any, name: str, machine: Any, catch: Any) -> None:
    source = make(DataFromList([[1]]))
    size = QueueSize(source)
    size.meter.produced = 7
    machine.train([size], steps=3, epochs=2, monitors=[catch])
    assert catch.of(f"{name}/queue_size") == [(3, 7.0), (6, 7.0)]


def test_the_queue_size_is_an_average_over_the_steps(machine: Any, catch: Any) -> None:
    class Source:
        meter = Meter(50)

    produce = RunOp(lambda: v1.py_func(lambda: _more(Source.meter), [], []), run_before=False,
                    run_as_trigger=False, run_step=True)
    machine.train([produce, QueueSize(Source(), period=2)], steps=5, epochs=1, monitors=[catch])
    assert catch.of("Source/queue_size") == [(2, 15.0), (4, 35.0), (5, 50.0)]


def test_each_epoch_says_who_waited_in_it(machine: Any, catch: Any,
                                          capsys: pytest.CaptureFixture[str]) -> None:
    class Source:
        meter = Meter(50)

    def wait() -> None:  # as a model would in the first epoch, and the data in the second
        meter, first = Source.meter, machine.epoch_num == 1
        meter.start()
        meter.took(10)
        time.sleep(0.1)
        meter.consumer_wait += 0.09 * first
        meter.producer_wait += 0.05 * (not first)

    step = RunOp(lambda: v1.py_func(wait, [], []), run_before=False, run_as_trigger=False,
                 run_step=True)
    machine.train([step, QueueSize(Source())], steps=2, epochs=2, monitors=[catch])
    model = [share for _, share in catch.of("Source/model_waited")]
    data = [share for _, share in catch.of("Source/data_waited")]
    assert 0.2 < model[0] <= 0.9 and data[0] == 0.0
    assert 0.1 < data[1] <= 0.5 and model[1] == 0.0
    lines = [s for s in capsys.readouterr().out.splitlines() if "Source: " in s]
    assert "data-bound" in lines[0] and "model-bound" in lines[1] and len(lines) == 2


def _more(meter: Meter) -> None:
    meter.produced += 10


def test_an_input_without_a_queue_reports_nothing(machine: Any, catch: Any) -> None:
    machine.train([QueueSize(FeedInput(DataFromList([[1]])))], monitors=[catch])
    assert catch.scalars == []
