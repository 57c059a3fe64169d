# SPDX-License-Identifier: Apache-2.0
"""MultiProcessDatasetPredictor, in a process that has not used TensorFlow before."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import tfqueue_compat

SCRIPT = """
import numpy as np
import tensorflow as tf
import tfqueue_compat as tp
config = tp.PredictConfig(
    tower_func=lambda x: tf.identity(2 * x, name="twice"),
    input_signature=[tf.TensorSpec([], tf.float32, "x")], output_names=["twice"])
df = tp.DataFromList([[float(i)] for i in range(20)], shuffle=False)
predict = tp.MultiProcessDatasetPredictor(config, df, 2, use_gpu=False)
print([float(r[0]) for r in predict.get_all_result()] == [2.0 * i for i in range(20)])
predict = tp.MultiProcessDatasetPredictor(config, df, 2, use_gpu=False, ordered=False)
print(sorted(float(r[0]) for r in predict.get_all_result()) == [2.0 * i for i in range(20)])
bad = tp.DataFromList([["a"]], shuffle=False)
try:
    tp.MultiProcessDatasetPredictor(config, bad, 1, use_gpu=False).get_all_result()
except RuntimeError as e:
    print("input 'x'" in str(e))
"""


def test_results_order_and_errors(tmp_path: Path) -> None:
    env = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "",
           "PYTHONPATH": str(Path(tfqueue_compat.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=env, cwd=tmp_path, text=True,
                          capture_output=True, timeout=240)
    verdicts = [line for line in done.stdout.splitlines() if line in ("True", "False")]
    assert verdicts == ["True"] * 3, done.stdout + done.stderr[-3000:]
