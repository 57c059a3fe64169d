# SPDX-License-Identifier: Apache-2.0
"""Callbacks that run operations or look at tensors, in real trainings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat.callbacks import (CheckNumerics, DumpParamAsImage, DumpTensors,
                                      ProcessTensors, RunOp, RunUpdateOps)

v1 = tf.compat.v1


def counting(**kwargs: Any) -> tuple[RunOp, list[int]]:
    """A RunOp, and the values that a counter in the graph took."""
    seen: list[int] = []

    def op() -> Any:
        counter = tf.Variable(0, name="counter")
        return v1.py_func(lambda n: seen.append(int(n)), [v1.assign_add(counter, 1)], [])

    return RunOp(op, **kwargs), seen


@pytest.mark.parametrize("kwargs, count", [
    (dict(), 3), (dict(run_before=False), 2), (dict(run_as_trigger=False), 1),
    (dict(run_before=False, run_as_trigger=False, run_step=True), 6), (dict(run_step=True), 9)])
def test_run_op(kwargs: Any, count: int, machine: Any) -> None:
    run, seen = counting(**kwargs)
    machine.train([run], steps=3, epochs=2)
    assert seen == list(range(1, count + 1))


def test_run_op_says_so_if_asked(machine: Any, capsys: pytest.CaptureFixture[str]) -> None:
    machine.train([RunOp(lambda: tf.no_op("quiet")),
                   RunOp(lambda: tf.no_op("loud"), verbose=True)])
    out = capsys.readouterr().out
    assert out.count("Running Op RunOp_1/loud") == 3 and "quiet" not in out


def test_run_op_needs_an_operation(machine: Any) -> None:
    with pytest.raises(TypeError, match="Return the operation"):
        machine.train([RunOp(lambda: None)])


@pytest.mark.parametrize("key", [None, "MINE"])
def test_update_ops_run_with_each_step(key: str | None, machine: Any) -> None:
    class Add(RunOp):
        def _setup_graph(self) -> None:
            self.var = tf.Variable(0)
            v1.add_to_collection(key or v1.GraphKeys.UPDATE_OPS, v1.assign_add(self.var, 1))

        def _before_train(self) -> None:
            pass

        def _trigger(self) -> None:
            self.value = machine.sess.run(self.var)

    add = Add(None)
    machine.train([add, RunUpdateOps(key), RunUpdateOps("EMPTY")], steps=3, epochs=2)
    assert add.value == 6


def test_check_numerics_names_the_variable(machine: Any) -> None:
    def spoil(sess: Any) -> None:
        w = next(v for v in v1.trainable_variables())
        w.load(float("nan"), sess)

    with pytest.raises(tf.errors.InvalidArgumentError, match="the variable 'w'.*NaN"):
        machine.train([CheckNumerics()], init=spoil)
    machine.__init__()
    machine.train([CheckNumerics(run_step=True)])


def test_process_tensors(machine: Any) -> None:
    got: list[Any] = []
    machine.train([ProcessTensors(["cost", "wrong:0"],
                                  lambda cost, wrong: got.append((float(cost), wrong.tolist())))],
                  steps=2, epochs=1)
    assert got == [(1.5, [0, 1, 2, 3]), (2.5, [0, 1, 2, 3])]


def test_dumped_tensors_are_read_by_numpy(machine: Any, log_dir: Path) -> None:
    machine.train([DumpTensors(["cost:0", "wrong"])], steps=2, epochs=1)
    files = sorted(log_dir.glob("DumpTensor-*.npz"))
    assert [f.name for f in files] == ["DumpTensor-1.npz", "DumpTensor-2.npz"]
    with np.load(files[1]) as got:
        assert {k: v.tolist() for k, v in got.items()} == {"cost:0": 2.5, "wrong": [0, 1, 2, 3]}


def test_a_tensor_as_an_image(machine: Any, log_dir: Path, catch: Any) -> None:
    ramp = np.linspace(0, 1, 12, dtype="float32").reshape(3, 4)
    machine.train([
        DumpParamAsImage("w", map_func=lambda w: ramp * w, scale=100),
        DumpParamAsImage("w:0", "many", map_func=lambda w: [ramp, ramp * 0])],
        steps=1, epochs=2, monitors=[catch])
    # w is 1 after the first epoch and 2 after the second
    got = cv2.imread(str(log_dir / "w-ep002.png"), cv2.IMREAD_UNCHANGED)
    assert (got == (ramp * 200).astype("uint8")).all()
    assert sorted(p.name for p in log_dir.glob("many*")) == [
        "many-ep001-1.png", "many-ep001.png", "many-ep002-1.png", "many-ep002.png"]
    assert [(step, name, image.shape) for step, name, image in catch.images] == [
        (1, "w", (1, 3, 4, 1)), (2, "w", (1, 3, 4, 1))]


def test_no_image_is_said_so(machine: Any, log_dir: Path) -> None:
    with pytest.raises(ValueError, match=r"DumpTensorAsImage\('w:0'\).*shape \(\)"):
        machine.train([DumpParamAsImage("w")])


def test_writing_needs_a_log_directory(machine: Any) -> None:
    with pytest.raises(ValueError, match="set_logger_dir"):
        DumpParamAsImage("w")
    with pytest.raises(ValueError, match="set_logger_dir"):
        machine.train([DumpTensors(["cost"])])
