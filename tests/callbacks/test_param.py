# SPDX-License-Identifier: Apache-2.0
"""Hyperparameters that change in training; the values are read from the graph after each step."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tfqueue_compat.callbacks import (Callback, GraphVarParam, HumanHyperParamSetter,
                                      HyperParamSetter, HyperParamSetterWithFunc, ObjAttrParam,
                                      ScheduledHyperParamSetter, StatMonitorParamSetter)


class Rates(Callback):
    """The learning rate in each step."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    def _before_run(self, ctx: Any) -> Any:
        return "learning_rate/Read/ReadVariableOp:0"

    def _after_run(self, run_context: Any, run_values: Any) -> None:
        self.seen.append(round(float(run_values.results), 4))


def rates(machine: Any, *callbacks: Callback, **kwargs: Any) -> list[float]:
    seen = Rates()
    machine.train([seen, *callbacks], **kwargs)
    return seen.seen


LR = "learning_rate"  # it begins with 0.5


@pytest.mark.parametrize("schedule, kwargs, expected", [
    ([(1, 0.1), (3, 0.2)], {}, [0.5, 0.1, 0.1, 0.2]),
    ([(0, 0.1), (2, 0.2)], {}, [0.1, 0.1, 0.2, 0.2]),
    ([(0, 0.0), (4, 0.4)], {"interp": "linear"}, [0.0, 0.1, 0.2, 0.3]),
    ([(1, 0.1), (2, 0.2)], {"interp": "linear"}, [0.5, 0.1, 0.2, 0.2]),  # no extrapolation
])
def test_a_schedule_of_epochs(schedule: Any, kwargs: Any, expected: Any, machine: Any) -> None:
    assert rates(machine, ScheduledHyperParamSetter(LR, schedule, **kwargs),
                 steps=1, epochs=4) == expected


def test_a_schedule_of_steps(machine: Any) -> None:
    setter = ScheduledHyperParamSetter(LR, [(0, 0.02), (10, 0.03)], interp="linear",
                                       step_based=True)
    assert rates(machine, setter, steps=2, epochs=2) == [0.02, 0.021, 0.022, 0.023]


@pytest.mark.parametrize("at_beginning, first", [(True, 0.2), (False, 0.5)])
def test_training_that_begins_in_the_middle(at_beginning: bool, first: float, machine: Any,
                                            capsys: pytest.CaptureFixture[str]) -> None:
    setter = ScheduledHyperParamSetter(LR, [(0, 0.1), (1, 0.2), (4, 0.3)],
                                       set_at_beginning=at_beginning)
    assert rates(machine, setter, steps=1, first=3, epochs=5) == [first, first, 0.3]
    assert ("is set to it" in capsys.readouterr().out) is at_beginning


def test_a_person_sets_it_in_a_file(machine: Any, log_dir: Path) -> None:
    class Edit(Callback):
        def _trigger(self) -> None:
            if self.epoch_num == 2:
                (log_dir / "hyper.txt").write_text("other:1\nlearning_rate: 1e-2\n")

    assert rates(machine, Edit(), HumanHyperParamSetter(LR), steps=1, epochs=4) == [
        0.5, 0.5, 0.01, 0.01]


@pytest.mark.parametrize("text, said", [("learning_rate:fast", "Expected lines 'name:value'"),
                                        ("learning_rat:1", "Did you mean 'learning_rat'")])
def test_a_line_that_can_not_be_read_changes_nothing(
        text: str, said: str, machine: Any, log_dir: Path,
        capsys: pytest.CaptureFixture[str]) -> None:
    (log_dir / "hyper.txt").write_text(text)
    assert rates(machine, HumanHyperParamSetter(LR), steps=1, epochs=2) == [0.5, 0.5]
    assert said in capsys.readouterr().out


def test_a_function_sets_it(machine: Any) -> None:
    calls: list[Any] = []

    def halve(epoch: int, value: float) -> float | None:
        calls.append((epoch, float(value)))
        return value / 2 if epoch else None

    assert rates(machine, HyperParamSetterWithFunc(LR, halve), steps=1, epochs=3) == [
        0.5, 0.25, 0.125]
    assert calls == [(0, 0.5), (1, 0.5), (2, 0.25), (3, 0.125)]


@pytest.mark.parametrize("values, kwargs, expected", [
    # tensorpack 0.11: a value that stands still changes it after three, and then counts anew
    ([2, 2, 2, 2, 2, 2, 2], {}, [.5, .5, .5, .25, .25, .25, .125]),
    ([7, 6, 5, 4, 3, 2, 1], {}, [.5] * 7),
    ([7, 6, 5, 4, 3, 2, 1], {"reverse": True}, [.5, .5, .5, .25, .25, .25, .125]),
    ([7, 6.9, 6.8, 1, 1, 1, 1], {"threshold": 1}, [.5, .5, .5, .25, .25, .25, .125]),
])
def test_statistics_that_get_no_better(values: Any, kwargs: Any, expected: Any,
                                       machine: Any) -> None:
    class Report(Callback):
        def _trigger(self) -> None:
            self.trainer.monitors.put_scalar("error", values[self.epoch_num - 1])

    setter = StatMonitorParamSetter(LR, "error", lambda x: x / 2,
                                    **{"threshold": 0, "last_k": 3, **kwargs})
    assert rates(machine, Report(), setter, steps=1, epochs=7) == expected


def test_an_attribute_of_an_object(machine: Any) -> None:
    thing = SimpleNamespace(rate=1.0)
    machine.train([ScheduledHyperParamSetter(ObjAttrParam(thing, "rate"), [(1, 0.5)])])
    assert thing.rate == 0.5


def test_changes_are_logged_once(machine: Any, capsys: pytest.CaptureFixture[str]) -> None:
    machine.train([HyperParamSetterWithFunc(LR, lambda e, v: 0.1 if e < 3 else 0.2)],
                  steps=1, epochs=5)
    out = capsys.readouterr().out
    assert out.count("[HyperParamSetter]") == 2
    assert "At global_step=0, learning_rate is set to 0.100000" in out
    assert "At global_step=3, learning_rate changes from 0.100000 to 0.200000" in out


def test_a_variable_that_is_not_there(machine: Any) -> None:
    with pytest.raises(ValueError, match="'learning_rat'.*Did you mean 'learning_rate'"):
        machine.train([ScheduledHyperParamSetter("learning_rat", [(1, 0.5)])])
    with pytest.raises(ValueError, match="shape"):
        type(machine)().train([HyperParamSetter(GraphVarParam(LR, (3,)))])


@pytest.mark.parametrize("make, error", [
    (lambda: ScheduledHyperParamSetter(LR, [(3, 1), (1, 2)]), ValueError),
    (lambda: ScheduledHyperParamSetter(LR, [(1, 1), (1, 2)]), ValueError),
    (lambda: ScheduledHyperParamSetter(LR, [(1, 1)], interp="cubic"), ValueError),
    (lambda: StatMonitorParamSetter(LR, "a", abs, 0, 0), ValueError),
    (lambda: HumanHyperParamSetter(LR), ValueError), (lambda: HyperParamSetter(3), TypeError)])
def test_arguments_that_can_not_be(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="Expected"):
        make()
