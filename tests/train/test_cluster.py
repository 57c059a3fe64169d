# SPDX-License-Identifier: Apache-2.0
"""Two processes on this machine, connected by TF_CONFIG, against one on the larger batch."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tfqueue_compat
from tfqueue_compat.train import HorovodTrainer
from tfqueue_compat.utils.errors import NotSupported

SCRIPT = """
import json, sys
import numpy as np
import tensorflow as tf
import tfqueue_compat as tp
v1 = tf.compat.v1
index = json.loads(__import__("os").environ["TF_CONFIG"])["task"]["index"]


class Line(tp.ModelDesc):
    def inputs(self):
        return [tf.TensorSpec([None, 3], tf.float32, "x"), tf.TensorSpec([None], tf.float32, "y")]

    def build_graph(self, x, y):
        w = v1.get_variable("w", initializer=tf.fill([3], 0.5 - index))
        return tf.reduce_mean(tf.square(tf.linalg.matvec(x, w) - y), name="cost")

    def optimizer(self):
        return v1.train.GradientDescentOptimizer(0.1)


class Keep(tp.Callback):
    _chief_only = False

    def _setup_graph(self):
        self.w = v1.trainable_variables()[0]

    def _after_train(self):
        print("W", json.dumps(v1.get_default_session().run(self.w).tolist()), flush=True)


rng = np.random.default_rng(3)
data = [[rng.normal(size=(4, 3)).astype("float32"), rng.normal(size=4).astype("float32")]
        for _ in range(10)]
tp.HorovodTrainer().setup(
    tp.QueueInput(tp.DataFromList(data[index::2], shuffle=False)), Line()).train(
    [Keep()], [], steps_per_epoch=5, max_epoch=1)
"""


def free_ports() -> list[str]:
    with socket.socket() as a, socket.socket() as b:
        a.bind(("127.0.0.1", 0))
        b.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{s.getsockname()[1]}" for s in (a, b)]


def test_two_processes_equal_one_on_the_larger_batch(tmp_path: Path) -> None:
    workers = free_ports()
    processes = []
    for index in (0, 1):
        env = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "",
               "PYTHONPATH": str(Path(tfqueue_compat.__file__).parents[1]),
               "TF_CONFIG": json.dumps({"cluster": {"worker": workers},
                                        "task": {"type": "worker", "index": index}})}
        processes.append(subprocess.Popen([sys.executable, "-c", SCRIPT], env=env, cwd=tmp_path,
                                          text=True, stdout=subprocess.PIPE,
                                          stderr=subprocess.PIPE))
    try:
        outputs = [p.communicate(timeout=240) for p in processes]
    finally:
        for p in processes:
            p.kill()
    found = []
    for p, (out, err) in zip(processes, outputs):
        assert p.returncode == 0, err[-3000:]
        found.append(json.loads(next(ln for ln in out.splitlines() if ln.startswith("W "))[2:]))
    rng = np.random.default_rng(3)
    data = [(rng.normal(size=(4, 3)).astype("float32"), rng.normal(size=4).astype("float32"))
            for _ in range(10)]
    w = np.full(3, 0.5)  # process 0's: it is broadcast
    for pair in zip(data[::2], data[1::2]):
        x, y = (np.concatenate(c) for c in zip(*pair))
        w = w - 0.1 * 2 * x.T @ (x @ w - y) / len(y)
    assert found[0] == found[1]
    np.testing.assert_allclose(found[0], w, atol=1e-6)


def test_without_a_cluster_it_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    with pytest.raises(NotSupported, match="TF_CONFIG"):
        HorovodTrainer()
    monkeypatch.setenv("TF_CONFIG", "{}")
    with pytest.raises(ValueError, match="a cluster of workers"):
        HorovodTrainer()
