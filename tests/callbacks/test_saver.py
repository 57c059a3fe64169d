# SPDX-License-Identifier: Apache-2.0
"""Checkpoints, read back by TensorFlow's own reader."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

from tfqueue_compat.callbacks import Callback, MaxSaver, MinSaver, ModelSaver

v1 = tf.compat.v1


class Report(Callback):
    """Reports one value after each epoch."""

    def __init__(self, *values: float) -> None:
        self.values = values

    def _trigger_epoch(self) -> None:
        self.trainer.monitors.put_scalar("val/error", self.values[self.epoch_num - 1])


def w_of(path: Path) -> float:
    return float(tf.train.load_variable(str(path), "w"))


def test_checkpoints_of_the_last_epochs(machine: Any, log_dir: Path) -> None:
    machine.train([ModelSaver(max_to_keep=2)], steps=2, epochs=3)
    assert sorted(p.name for p in log_dir.glob("*.index")) == ["model-4.index", "model-6.index"]
    assert tf.train.latest_checkpoint(str(log_dir)) == str(log_dir / "model-6")
    reader = tf.train.load_checkpoint(str(log_dir / "model-6"))
    assert reader.get_variable_to_shape_map() == {"w": [], "learning_rate": [], "global_step": []}
    assert reader.get_tensor("w") == 6 and reader.get_tensor("global_step") == 6
    assert len(list(log_dir.glob("graph-*.meta"))) == 1


def test_the_directory_may_move(machine: Any, log_dir: Path, tmp_path: Path) -> None:
    machine.train([ModelSaver()], epochs=1)
    moved = tmp_path / "moved"
    os.rename(log_dir, moved)
    assert tf.train.latest_checkpoint(str(moved)) == str(moved / "model-2")


def test_some_collections_to_another_directory(machine: Any, tmp_path: Path) -> None:
    machine.train([ModelSaver(checkpoint_dir=str(tmp_path / "other"),
                              var_collections=v1.GraphKeys.TRAINABLE_VARIABLES)], epochs=1)
    reader = tf.train.load_checkpoint(str(tmp_path / "other" / "model-2"))
    assert list(reader.get_variable_to_shape_map()) == ["w"]


def test_the_best_checkpoints_are_kept(machine: Any, log_dir: Path) -> None:
    machine.train([ModelSaver(max_to_keep=1), Report(3, 1, 2), MinSaver("val/error"),
                   MaxSaver("val/error"), MinSaver("val/error", reverse=True, filename="top")],
                  steps=2, epochs=3)
    assert w_of(log_dir / "min-val-error") == 4
    assert w_of(log_dir / "max-val-error") == 2
    assert w_of(log_dir / "top") == 2


def test_a_value_that_nobody_reports(machine: Any, log_dir: Path,
                                     capsys: pytest.CaptureFixture[str]) -> None:
    machine.train([ModelSaver(), MinSaver("nothing")], epochs=1)
    assert "Nothing reports 'nothing' yet" in capsys.readouterr().out


def test_without_a_model_saver_there_is_nothing_to_copy(machine: Any, log_dir: Path) -> None:
    with pytest.raises(RuntimeError, match=r"Put a ModelSaver\(\) before it"):
        machine.train([Report(1, 1), MinSaver("val/error")])


def test_what_can_not_be_saved(machine: Any, log_dir: Path) -> None:
    with pytest.raises(ValueError, match="NO_SUCH"):
        machine.train([ModelSaver(var_collections=["NO_SUCH"])])


def test_a_directory_is_needed() -> None:
    for make in (ModelSaver, lambda: MinSaver("a"), lambda: MaxSaver("a")):
        with pytest.raises(ValueError, match="set_logger_dir"):
            make()
