# SPDX-License-Identifier: Apache-2.0
"""What is on when: PeriodicTrigger, EnableCallbackIf and their kin, in real trainings."""

from __future__ import annotations

from typing import Any

import pytest

from tfqueue_compat.callbacks import (Callback, EnableCallbackIf, PeriodicCallback,
                                      PeriodicRunHooks, PeriodicTrigger)


class Note(Callback):
    """Notes (method, epoch, global step)."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int, int]] = []

    def _note(self, what: str) -> None:
        self.calls.append((what, self.epoch_num, self.global_step))

    def _before_train(self) -> None:
        self._note("before_train")

    def _before_epoch(self) -> None:
        self._note("before_epoch")

    def _before_run(self, ctx: Any) -> Any:
        self._note("before_run")
        return ["w:0"]

    def _after_run(self, run_context: Any, run_values: Any) -> None:
        assert len(run_values.results) == 1
        self._note("after_run")

    def _trigger_step(self) -> None:
        self._note("trigger_step")

    def _after_epoch(self) -> None:
        self._note("after_epoch")

    def _trigger_epoch(self) -> None:
        self._note("trigger_epoch")

    def _trigger(self) -> None:
        self._note("trigger")

    def _after_train(self) -> None:
        self._note("after_train")

    def of(self, *names: str) -> list[tuple[str, int, int]]:
        return [call for call in self.calls if call[0] in names]


def test_periodic_trigger_takes_the_place_of_trigger_epoch_alone(machine: Any) -> None:
    note = Note()
    machine.train([PeriodicTrigger(note, every_k_epochs=2)], steps=2, epochs=4)
    assert note.of("trigger", "trigger_epoch") == [("trigger", 2, 4), ("trigger", 4, 8)]
    assert len(note.of("trigger_step")) == len(note.of("after_run")) == 8
    assert len(note.of("before_epoch")) == len(note.of("after_epoch")) == 4
    assert len(note.of("before_train")) == len(note.of("after_train")) == 1


def test_periodic_trigger_by_steps_epochs_and_before(machine: Any) -> None:
    note = Note()
    machine.train([PeriodicTrigger(note, every_k_steps=3, every_k_epochs=3, before_train=True)],
                  steps=2, epochs=3)
    assert note.of("trigger") == [("trigger", 0, 0), ("trigger", 2, 3), ("trigger", 3, 6),
                                  ("trigger", 3, 6)]


def test_periodic_trigger_of_a_callback_that_hears_no_steps(machine: Any) -> None:
    class Quiet(Callback):
        at: tuple[int, ...] = ()

        def _trigger(self) -> None:
            self.at += (self.global_step,)

    quiet = Quiet()
    machine.train([PeriodicTrigger(quiet, every_k_steps=2)], steps=5, epochs=1)
    assert quiet.at == (2, 4)


def test_enable_if(machine: Any) -> None:
    note = Note()
    machine.train([EnableCallbackIf(note, lambda self: self.epoch_num == 2)], steps=1, epochs=3)
    assert note.calls == [
        ("before_train", 0, 0), ("before_epoch", 2, 1), ("before_run", 2, 1), ("after_run", 2, 2),
        ("trigger_step", 2, 2), ("after_epoch", 2, 2), ("trigger_epoch", 2, 2),
        ("after_train", 3, 3)]


def test_for_a_run_the_condition_is_asked_before_it(machine: Any) -> None:
    note = Note()
    machine.train([EnableCallbackIf(note, lambda self: self.global_step == 1)], steps=3, epochs=1)
    assert note.of("before_run", "after_run", "trigger_step") == [
        ("trigger_step", 1, 1), ("before_run", 1, 1), ("after_run", 1, 2)]


def test_periodic_callback_is_also_on_at_the_last_step(machine: Any) -> None:
    note = Note()
    machine.train([PeriodicCallback(note, every_k_epochs=2)], steps=2, epochs=3)
    assert note.of("trigger_epoch") == [("trigger_epoch", 2, 4), ("trigger_epoch", 3, 6)]
    assert note.of("trigger_step") == [("trigger_step", 2, 3), ("trigger_step", 2, 4),
                                       ("trigger_step", 3, 6)]


def test_periodic_run_hooks_touch_runs_alone(machine: Any) -> None:
    note = Note()
    machine.train([PeriodicRunHooks(note, 2)], steps=3, epochs=1)
    assert note.of("before_run") == [("before_run", 1, 0), ("before_run", 1, 2)]
    assert len(note.of("trigger_step")) == 3


@pytest.mark.parametrize("make", [
    lambda: PeriodicTrigger(Note()), lambda: PeriodicCallback(Note()),
    lambda: PeriodicTrigger(Note(), every_k_steps=0),
    lambda: PeriodicCallback(Note(), every_k_epochs=1.5),  # type: ignore[arg-type]
    lambda: PeriodicRunHooks(Note(), -1)])
def test_a_period_is_a_whole_number(make: Any) -> None:
    with pytest.raises(ValueError, match="Expected"):
        make()


def test_a_condition_is_a_function() -> None:
    with pytest.raises(TypeError, match="pred: a function"):
        EnableCallbackIf(Note(), True)  # type: ignore[arg-type]
