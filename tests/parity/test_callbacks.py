# SPDX-License-Identifier: Apache-2.0
"""One training script under real tensorpack and under ours: stats.json, summaries, calls, files."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.parity

SCRIPT = """
import glob, json, os, random, tempfile
import numpy as np
import tensorflow as tf
v1 = tf.compat.v1
{imports}

class Model(ModelDesc):
    def inputs(self):
        return [tf.TensorSpec((None, 3), tf.float32, "image"),
                tf.TensorSpec((None,), tf.int32, "label")]

    def build_graph(self, image, label):
        w = v1.get_variable("w", [3, 1], initializer=v1.zeros_initializer())
        pred = tf.squeeze(tf.matmul(image, w), 1, name="pred")
        v1.summary.scalar("sum-summary", tf.reduce_sum(pred))  # read before the update
        v1.summary.histogram("hist", w)
        cost = tf.reduce_mean(tf.square(pred - tf.cast(label, tf.float32)), name="cost")
        tf.cast(tf.greater(pred, 0.5), tf.float32, name="wrong")
        add_moving_summary(cost)
        return cost

    def optimizer(self):
        lr = v1.get_variable("learning_rate", initializer=0.01, trainable=False)
        v1.summary.scalar("lr-summary", lr)
        return v1.train.GradientDescentOptimizer(lr)

calls = []
class Record(Callback):
    def note(self, what):
        calls.append((what, self.epoch_num, self.local_step, self.global_step))
    def _before_train(self): self.note("before_train")
    def _before_epoch(self): self.note("before_epoch")
    def _before_run(self, ctx): self.note("before_run")
    def _after_run(self, ctx, values): self.note("after_run")
    def _trigger_step(self): self.note("trigger_step")
    def _after_epoch(self): self.note("after_epoch")
    def _trigger_epoch(self):
        self.note("trigger_epoch")
        self.trainer.monitors.put_scalar("mine", self.epoch_num)
    def _after_train(self): self.note("after_train")

folder = tempfile.mkdtemp()
logger.set_logger_dir(folder, action="d")
rng = np.random.RandomState(0)
data = [[rng.rand(4, 3).astype("float32"), rng.randint(2, size=4).astype("int32")]
        for _ in range(8)]
train = DataFromList(data, shuffle=False)
test = DataFromList(data[:3], shuffle=False)
launch_train_with_config(TrainConfig(
    model=Model(), data=QueueInput(train), steps_per_epoch=4, max_epoch=3,
    callbacks=[
        Record(), ModelSaver(max_to_keep=2),
        InferenceRunner(test, [ScalarStats(["cost"]), ScalarStats("cost", ""),
                               ClassificationError("wrong", "val/err"),
                               BinaryClassificationStats("label", "label")]),
        MinSaver("validation_cost"), MaxSaver("validation_cost", filename="largest"),
        ScheduledHyperParamSetter("learning_rate", [(1, 0.02), (2, 0.03)]),
        StatMonitorParamSetter("learning_rate", "lr", lambda x: x / 2, 0, 2),
        SimpleMovingAverage(["cost"], 2), ThroughputTracker(), ThroughputTracker(4),
        PeriodicTrigger(ProcessTensors(["cost"], lambda c: None), every_k_steps=2),
        DumpTensors(["cost:0"]), EstimatedTimeLeft()]), SimpleTrainer())

with open(os.path.join(folder, "stats.json")) as f:
    outputs["stats"] = json.load(f)
outputs["calls"] = calls
outputs["files"] = sorted(
    name for name in os.listdir(folder)
    if not name.startswith(("events.", "graph-")) and name != "log.log")
outputs["tags"] = [
    (e.step, v.tag, v.WhichOneof("value"))
    for path in glob.glob(os.path.join(folder, "events.*"))
    for record in tf.data.TFRecordDataset(path).as_numpy_iterator()
    for e in [v1.Event.FromString(record)] for v in e.summary.value] if tf.executing_eagerly() \\
    else [(e.step, v.tag, v.WhichOneof("value"))
          for path in glob.glob(os.path.join(folder, "events.*"))
          for e in v1.train.summary_iterator(path) for v in e.summary.value]
outputs["dump"] = [float(np.load(os.path.join(folder, "DumpTensor-%d.npz" % k))["cost:0"])
                   for k in range(1, 13)]
"""

REAL = """
from tensorpack import *
from tensorpack.tfutils.summary import add_moving_summary
"""
OURS = """
from tfqueue_compat.train import *
from tfqueue_compat.callbacks import *
from tfqueue_compat.dataflow import *
from tfqueue_compat.input_source import *
from tfqueue_compat.utils import logger
from tfqueue_compat.tfutils.summary import add_moving_summary
"""


@pytest.fixture(scope="module")
def both(peer: Callable[..., dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
         ) -> tuple[dict[str, Any], dict[str, Any]]:
    folder: Path = tmp_path_factory.mktemp("ours")
    text = ("import pickle\noutputs = {}\n" + SCRIPT.replace("{imports}", OURS)
            + "\nwith open('out.pkl', 'wb') as f:\n    pickle.dump(outputs, f)\n")
    (folder / "script.py").write_text(text)
    root = str(Path(__file__).parents[2])
    done = subprocess.run([sys.executable, "script.py"], cwd=folder, text=True,
                          capture_output=True, timeout=300,
                          env={**os.environ, "PYTHONPATH": root})
    assert done.returncode == 0, done.stderr[-4000:]
    ours = pickle.loads((folder / "out.pkl").read_bytes())
    return peer(SCRIPT.replace("{imports}", REAL)), ours


Both = tuple[dict[str, Any], dict[str, Any]]


def test_the_calls_and_the_clock(both: Both) -> None:
    real, ours = both
    assert ours["calls"] == real["calls"]


def test_stats_json(both: Both) -> None:
    real, ours = both
    more = {"QueueInput/model_waited", "QueueInput/data_waited"}  # ours alone
    assert [set(r) - more for r in ours["stats"]] == [set(r) for r in real["stats"]]
    assert more <= set(ours["stats"][-1])
    by_time = {"QueueInput/queue_size", "Throughput (steps/sec)", "Throughput (samples/sec)"}
    for mine, theirs in zip(ours["stats"], real["stats"]):
        for key in set(theirs) - by_time:
            assert mine[key] == pytest.approx(theirs[key], rel=1e-5), key


def test_summary_tags(both: Both) -> None:
    real, ours = both
    more = ("QueueInput/model_waited", "QueueInput/data_waited")
    assert sorted(t for t in ours["tags"] if t[1] not in more) == sorted(real["tags"])


def test_files(both: Both) -> None:
    real, ours = both
    assert ours["files"] == real["files"]


def test_costs_of_each_step(both: Both) -> None:
    real, ours = both
    assert ours["dump"] == pytest.approx(real["dump"], rel=1e-5)
