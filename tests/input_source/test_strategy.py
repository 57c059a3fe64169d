# SPDX-License-Identifier: Apache-2.0
"""QueueInput under tf.distribute, on two logical CPU devices (in a process that has them)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tfqueue_compat

SCRIPT = """
import json, warnings
warnings.simplefilter("error")
warnings.filterwarnings("ignore", category=DeprecationWarning)
warnings.filterwarnings("ignore", ".shuffle=True. was passed")
import keras, numpy as np, tensorflow as tf
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2)
from tfqueue_compat.input_source import QueueInput

starts = []


def flow(n, fail_at=None):
    def generate():
        starts.append(n)
        for i in range(n):
            if i == fail_at:
                raise KeyError("the user's own")
            yield [np.arange(4 * i, 4 * i + 4, dtype="float32")[:, None],
                   np.full((4, 1), i, "float32")]
    return generate


seen = []


def loss(label, prediction):
    zero = tf.numpy_function(lambda y: (seen.extend(y[:, 0].tolist()), np.float32(0))[1],
                             [label], tf.float32)
    zero.set_shape(())
    return tf.square(prediction[:, 0]) + zero


def model(strategy):
    with strategy.scope():
        made = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False,
                                 kernel_initializer="ones")])
        made.compile(keras.optimizers.SGD(0.0), loss, jit_compile=False)
    return made


out = {}
strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
out["replicas"] = strategy.num_replicas_in_sync
fitted = model(strategy)
fitted.fit(QueueInput(flow(100_000)), steps_per_epoch=3, epochs=2, verbose=0)
out["stream"], out["starts"] = sorted(seen), len(starts)
seen.clear()
fitted.fit(QueueInput(flow(5)), epochs=2, verbose=0)
out["passes"] = sorted(seen)
seen.clear()
fitted.evaluate(QueueInput(flow(4)), verbose=0)
out["evaluated"] = sorted(seen)
out["predicted"] = fitted.predict(QueueInput(flow(4)), verbose=0)[:, 0].tolist()
try:
    fitted.fit(QueueInput(flow(9, 3)), verbose=0)
except KeyError as e:
    out["error"] = str(e)

total = []
for x, _ in strategy.experimental_distribute_dataset(QueueInput(flow(4))):
    total.append([v.numpy()[:, 0].tolist() for v in strategy.experimental_local_results(x)])
out["distributed"] = total
queue = QueueInput(flow(6))
own = iter(strategy.distribute_datasets_from_function(lambda context: queue))
out["each its own"] = sorted(
    v.numpy()[0, 0].item() for _ in range(3)
    for v in strategy.experimental_local_results(next(own)[1]))

rounds = QueueInput(flow(6), device=["/cpu:0", "/cpu:1"])
out["devices"] = [[(y.numpy()[0, 0].item(), y.device[-5:]) for _, y in pair]
                  for pair in rounds]
print(json.dumps(out))
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """What the script found; it runs once for all tests."""
    env = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3",
           "PYTHONPATH": str(Path(tfqueue_compat.__file__).parents[1])}
    file = tmp_path_factory.mktemp("strategy") / "script.py"  # autograph reads its source
    file.write_text(SCRIPT)
    done = subprocess.run([sys.executable, str(file)], env=env, text=True, timeout=300,
                          capture_output=True)
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


def rows(*labels):
    return [float(i) for i in labels for _ in range(4)]


def test_fit_is_one_stream(results):
    assert results["replicas"] == 2
    assert results["stream"] == rows(0, 1, 2, 3, 4, 5)
    # Keras reads the shapes off a throw-away iterator first
    assert results["starts"] <= 2


def test_fit_passes(results):
    assert results["passes"] == sorted(rows(0, 1, 2, 3, 4) * 2)


def test_evaluate_and_predict(results):
    assert results["evaluated"] == rows(0, 1, 2, 3)
    assert results["predicted"] == [float(i) for i in range(16)]


def test_error_has_its_own_type(results):
    assert "the user's own" in results["error"]


def test_distributed_dataset_splits_batches(results):
    assert results["distributed"] == [[[4 * i, 4 * i + 1], [4 * i + 2, 4 * i + 3]]
                                      for i in range(4)]


def test_a_batch_for_each_replica(results):
    assert results["each its own"] == [0, 1, 2, 3, 4, 5]


def test_one_stream_for_each_device(results):
    assert results["devices"] == [[[2 * i, "CPU:0"], [2 * i + 1, "CPU:1"]] for i in range(3)]
