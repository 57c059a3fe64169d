# SPDX-License-Identifier: Apache-2.0
"""Two towers, on logical devices and in two processes, against one process on joint batches."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfqueue_compat
from tfqueue_compat.dataflow import DataFromList
from tfqueue_compat.input_source import QueueInput
from tfqueue_compat.keras_bridge.strategy import (AcrossWorkers, across_workers,
                                                  batch_per_tower)

from .strategy_script import BATCHES, batches, model

SCRIPT = Path(__file__).with_name("strategy_script.py")


def start(what: str, **env: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-W", "ignore:`shuffle=True`",
         "-W", "ignore::DeprecationWarning", str(SCRIPT), what],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1",
             "PYTHONPATH": str(Path(tfqueue_compat.__file__).parents[1]), **env})


def start_workers(what: str) -> tuple[list[subprocess.Popen[str]], list[str]]:
    """Start two workers; return them and their addresses."""
    with socket.socket() as a, socket.socket() as b:
        for s in (a, b):
            s.bind(("127.0.0.1", 0))
        addresses = [f"127.0.0.1:{s.getsockname()[1]}" for s in (a, b)]
    return [start(what, TF_CONFIG=json.dumps({
        "cluster": {"worker": addresses}, "task": {"type": "worker", "index": i}}))
        for i in range(2)], addresses


def results(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err[-4000:]
    return dict(json.loads(out.splitlines()[-1]))


@pytest.fixture(scope="module")
def joint() -> dict[str, Any]:
    """What one tower learns from the batches of two, put together."""
    data, trained = batches(), model()

    def step(first: int) -> Any:
        pair = [data[k % BATCHES] for k in (first, first + 1)]
        return trained.train_on_batch(*(np.concatenate(part) for part in zip(*pair)),
                                      return_dict=True)["loss"]

    out: dict[str, Any] = {"losses": [[step(2 * k) for k in range(10)] for _ in range(2)]}
    out["passes"] = trained.get_weights()
    x, y = (np.concatenate(part) for part in zip(*data))
    out["predicted"] = trained.predict(x, verbose=0).ravel()
    out["evaluated"] = trained.evaluate(x, y, verbose=0)
    for k in range(16):
        step(2 * k)
    out["stream"] = trained.get_weights()
    return out


def line() -> tuple[np.ndarray, np.ndarray, float]:
    """What the ModelDesc learns, predicts and costs, by hand: SGD with momentum, joint batches."""
    data, w, speed = batches(), np.ones((3, 1)), np.zeros((3, 1))
    for first in list(range(0, BATCHES - 1, 2)) * 2:
        x, y = (np.concatenate(part) for part in zip(data[first], data[first + 1]))
        speed = 0.9 * speed + 2 / len(x) * x.T @ (x @ w - y)
        w = w - 0.05 * speed
    x, y = (np.concatenate(part) for part in zip(*data))
    return w, (x @ w).ravel(), float(np.square(x @ w - y).mean())


def check(found: dict[str, Any], joint: dict[str, Any]) -> None:
    assert found["length"] == 10 and found["steps"] == 20
    for key in ("passes", "stream"):
        for ours, one in zip(found[key], joint[key], strict=True):
            np.testing.assert_allclose(ours, one, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found["history"]["loss"], np.mean(joint["losses"], 1), rtol=1e-5)
    np.testing.assert_allclose(found["evaluated"], joint["evaluated"], rtol=1e-5)
    w, predicted, cost = line()
    np.testing.assert_allclose(found["line"], w, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found["line predicted"], predicted, rtol=0, atol=1e-5)
    np.testing.assert_allclose(found["line evaluated"], cost, rtol=1e-5)


def test_two_devices_train_as_one_on_joint_batches(joint: dict[str, Any]) -> None:
    found = results(start("mirrored"))
    check(found, joint)
    np.testing.assert_allclose(found["predicted"], joint["predicted"], atol=1e-6)


@pytest.mark.slow
def test_two_workers_train_as_one_on_joint_batches(joint: dict[str, Any]) -> None:
    workers, _ = start_workers("worker")
    try:
        first, second = map(results, workers)
    finally:
        for worker in workers:
            worker.kill()
            worker.communicate()
    check(first, joint)
    for key in ("passes", "stream", "evaluated", "history", "line"):
        assert first[key] == second[key]
    for found in (first, second):
        np.testing.assert_allclose(found["predicted"], joint["predicted"], atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("lost", [0, 1])
def test_a_killed_worker_ends_the_other_and_is_named(lost: int) -> None:
    workers, addresses = start_workers("endless")
    killed, other = workers[lost], workers[1 - lost]
    try:
        for worker in workers:
            assert worker.stdout is not None
            assert worker.stdout.readline().startswith("epoch")
        killed.send_signal(signal.SIGKILL)
        _, err = other.communicate(timeout=300)
    finally:
        for worker in workers:
            worker.kill()
            worker.communicate()
    assert other.returncode == 1, err[-4000:]
    assert f"WorkerLost: worker {1 - lost}: Expected 2 workers that answer. Received no answer " \
        f"from worker {lost} ({addresses[lost]})" in err, err[-4000:]


def test_without_a_strategy_it_is_one_tower() -> None:
    flow = DataFromList(batches(), shuffle=False)
    one, other = across_workers(model()), model()
    one.fit(batch_per_tower(flow), epochs=1, verbose=0, shuffle=False)
    for x, y in batches():
        other.train_on_batch(x, y)
    for ours, theirs in zip(one.get_weights(), other.get_weights()):
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_a_model_across_workers_is_still_what_it_was(tmp_path: Path) -> None:
    made = across_workers(model())
    made.train_on_batch(*batches()[0])
    assert isinstance(made, AcrossWorkers) and isinstance(made, keras.Sequential)
    assert across_workers(made) is made
    made.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    for ours, theirs in zip(loaded.get_weights(), made.get_weights()):
        np.testing.assert_array_equal(ours, theirs)


def test_bad_data_is_named() -> None:
    def endless() -> Any:
        yield from batches()

    with pytest.raises(TypeError, match="Expected a QueueInput, a DataFlow or a tf.data.Dataset"):
        batch_per_tower([1, 2])
    with pytest.raises(TypeError, match="Expected a keras.Model"):
        across_workers(model)
    with pytest.raises(TypeError, match="Pass steps_per_epoch to fit"):
        model().fit(batch_per_tower(QueueInput(endless)), verbose=0, shuffle=False)
    model().fit(batch_per_tower(tf.data.Dataset.from_tensor_slices(
        tuple(np.stack(part) for part in zip(*batches())))), verbose=0, shuffle=False)
