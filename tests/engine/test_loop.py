# SPDX-License-Identifier: Apache-2.0
"""The loop: who is called when, what the clock says then, and what an error does."""

from __future__ import annotations

import time
from typing import Any

import pytest
import tensorflow as tf

from tfqueue_compat.engine.group import Callbacks
from tfqueue_compat.engine.hooks import Callback
from tfqueue_compat.engine.loop import StopTraining, TrainLoop


class Machine:
    """The smallest trainer: a step counts itself."""

    def __init__(self, *callbacks: Callback) -> None:
        self.loop = TrainLoop()
        self.callbacks = Callbacks(callbacks)
        self.callbacks.setup_graph(self)

    def __getattr__(self, name: str) -> Any:
        if name in ("epoch_num", "local_step", "global_step"):
            return getattr(self.loop, name)
        raise AttributeError(name)

    def run_step(self) -> None:
        self.loop.count_step()

    def train(self, steps: int = 2, first: int = 1, last: int = 2, **kwargs: Any) -> None:
        self.loop.config(steps, first, last)
        self.loop.run(self.run_step, self.callbacks, **kwargs)


class Record(Callback):
    """Writes down what is called, and the clock: epoch, local step, global step."""

    def __init__(self, log: list[Any], fail: str = "", error: type[BaseException] = OSError
                 ) -> None:
        self.log, self.fail, self.error = log, fail, error

    def _note(self, what: str) -> None:
        self.log.append((what, self.epoch_num, self.local_step, self.global_step))
        if what == self.fail:
            raise self.error(f"in {what}")

    def _before_train(self) -> None:
        self._note("before_train")

    def _before_epoch(self) -> None:
        self._note("before_epoch")

    def _trigger_step(self) -> None:
        self._note("trigger_step")

    def _after_epoch(self) -> None:
        self._note("after_epoch")

    def _trigger_epoch(self) -> None:
        self._note("trigger_epoch")

    def _after_train(self) -> None:
        self._note("after_train")


#: What real tensorpack 0.11 calls in two epochs of two steps, and its clock then.
REAL = [("before_train", 0, -1, 0),
        ("before_epoch", 1, -1, 0), ("trigger_step", 1, 0, 1), ("trigger_step", 1, 1, 2),
        ("after_epoch", 1, 1, 2), ("trigger_epoch", 1, 1, 2),
        ("before_epoch", 2, 1, 2), ("trigger_step", 2, 0, 3), ("trigger_step", 2, 1, 4),
        ("after_epoch", 2, 1, 4), ("trigger_epoch", 2, 1, 4),
        ("after_train", 2, 1, 4)]


def test_calls_and_clock_are_those_of_tensorpack() -> None:
    log: list[Any] = []
    Machine(Record(log)).train()
    assert log[1:] == [*REAL[1:]] and log[0] == REAL[0]


def test_a_training_goes_on_where_another_ended() -> None:
    log: list[Any] = []
    machine = Machine(Record(log))
    machine.loop.update_global_step(8)
    machine.train(steps=2, first=5, last=5)
    assert log[0] == ("before_train", 4, -1, 8)
    assert log[-1] == ("after_train", 5, 1, 10)


def test_nothing_to_do_still_begins_and_ends() -> None:
    log: list[Any] = []
    Machine(Record(log)).train(first=3, last=2)
    assert [call[0] for call in log] == ["before_train", "after_train"]


@pytest.mark.parametrize("where", ["before_train", "before_epoch", "trigger_step", "after_epoch",
                                   "trigger_epoch"])
def test_an_error_in_a_callback_ends_training_after_everybodys_after_train(where: str) -> None:
    logs: list[list[Any]] = [[], [], []]
    machine = Machine(Record(logs[0]), Record(logs[1], fail=where), Record(logs[2]))
    with pytest.raises(OSError, match=f"in {where}"):
        machine.train()
    last = [log[-1][0] if log else "" for log in logs]
    begun = where != "before_train"  # the third never began
    assert last == ["after_train", "after_train", "after_train" if begun else ""]
    assert [call[0] for call in logs[0]].count("after_train") == 1


def test_an_error_in_after_train_is_raised_after_the_others() -> None:
    logs: list[list[Any]] = [[], [], []]
    with pytest.raises(OSError):
        Machine(Record(logs[0]), Record(logs[1], fail="after_train"),
                Record(logs[2], fail="after_train", error=ValueError)).train()
    assert [log[-1][0] for log in logs] == ["after_train"] * 3


def test_an_error_is_not_lost_to_one_of_after_train(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyError):
        Machine(Record([], fail="trigger_step", error=KeyError),
                Record([], fail="after_train")).train()
    assert "after_train failed, too: OSError('in after_train')" in capsys.readouterr().out


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_an_error_in_the_step_comes_out_as_itself(error: type[BaseException]) -> None:
    log: list[Any] = []
    machine = Machine(Record(log))

    def run_step() -> None:
        if machine.loop.local_step == 1:
            raise error("step")
        machine.loop.count_step()

    machine.run_step = run_step  # type: ignore[method-assign]
    with pytest.raises(error, match="step"):
        machine.train()
    assert log[-1] == ("after_train", 1, 1, 1)


@pytest.mark.parametrize("error", [StopTraining("enough"),
                                   tf.errors.OutOfRangeError(None, None, "no more data")])
def test_training_can_be_stopped(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    class Stop(Callback):
        def _trigger_step(self) -> None:
            if self.global_step == 3:
                raise error

    log: list[Any] = []
    Machine(Record(log), Stop()).train(last=100)
    assert log[-1] == ("after_train", 2, 0, 3)
    out = capsys.readouterr().out
    assert f"Training was stopped: {type(error).__name__}" in out
    assert "finished!" not in out


def test_should_stop_is_asked_before_each_step() -> None:
    log: list[Any] = []
    machine = Machine(Record(log))
    machine.train(last=100, should_stop=lambda: machine.loop.global_step >= 5)
    assert log[-1] == ("after_train", 3, 1, 5)


@pytest.mark.parametrize("given, name", [((0, 1, 1), "steps_per_epoch"),
                                         ((None, 1, 1), "steps_per_epoch"),
                                         ((2.5, 1, 1), "steps_per_epoch"),
                                         ((2, 0, 1), "starting_epoch"), ((2, 1, -1), "max_epoch")])
def test_what_is_no_number_of_steps_is_named(given: Any, name: str) -> None:
    with pytest.raises(ValueError, match=f"Expected {name}"):
        TrainLoop().config(*given)


def test_a_number_of_steps_may_be_a_float_that_is_whole() -> None:
    loop = TrainLoop()
    loop.config(2.0, 1, 1)  # type: ignore[arg-type]
    assert loop.steps_per_epoch == 2 and type(loop.steps_per_epoch) is int


def test_the_graphs_counter_is_read_in_the_default_session() -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        step = v1.train.get_or_create_global_step()
        sess.run(v1.assign(step, 42))
        loop = TrainLoop()
        loop.update_global_step()
    assert loop.global_step == 42


def test_long_callbacks_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    class Slow(Callback):
        def _trigger(self) -> None:
            time.sleep(1.05)

    Machine(Slow(), Record([])).train(last=1)
    assert "Callbacks took 1." in (out := capsys.readouterr().out)
    assert "Slow: 1." in out and "Record:" not in out
