# SPDX-License-Identifier: Apache-2.0
"""``plot`` on the log directory of a real training, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TRAINING = """
import numpy as np
import tfqueue_compat as tensorpack
import tfqueue_compat.compat.tfv1 as tf
from tensorpack import *

class Model(ModelDesc):
    def inputs(self):
        return [tf.TensorSpec((None, 2), tf.float32, "x")]

    def build_graph(self, x):
        cost = tf.reduce_mean(tf.square(x - tf.get_variable("w", [2])), name="cost")
        tensorpack.summary.add_moving_summary(cost)
        return cost

    def optimizer(self):
        return tf.train.GradientDescentOptimizer(0.1)

logger.set_logger_dir(LOGDIR)
data = DataFromList([[np.ones((4, 2), "float32")]] * 5, shuffle=False)
launch_train_with_config(
    TrainConfig(model=Model(), data=QueueInput(data), steps_per_epoch=5, max_epoch=2),
    SimpleTrainer())
"""


def test_a_training_s_curves_and_queue(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(TRAINING.replace("from tensorpack", "from tfqueue_compat").replace(
        "LOGDIR", repr(str(tmp_path / "log"))))
    subprocess.run([sys.executable, str(script)], check=True, capture_output=True, timeout=200)
    command = [sys.executable, "-m", "tfqueue_compat", "plot"]
    done = subprocess.run([*command, str(tmp_path / "log"), "--out", str(tmp_path / "pictures")],
                          check=True, capture_output=True, text=True, timeout=100)
    history, queue, verdict = done.stdout.splitlines()
    for path in (history, queue):
        assert Path(path).read_bytes()[:4] == b"\x89PNG" and "pictures" in path
    assert verdict.split(":")[0] in ("data-bound", "model-bound", "balanced")
    missing = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, timeout=100,
                             check=False)
    assert missing.returncode == 1 and "Expected the stats.json of a training" in missing.stderr
