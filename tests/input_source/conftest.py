# SPDX-License-Identifier: Apache-2.0
"""A dataflow whose values are known, and what watches its consumers."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfqueue_compat
from tfqueue_compat.dataflow import DataFlow

ROOT = Path(tfqueue_compat.__file__).parents[1]


class Numbers(DataFlow):
    """Batches of 4: images that hold ``i + 0.25 * row``, labels ``i``; for i below ``n``.

    Attributes:
        starts: how often a pass was begun.
        fail_at, error: raise ``error`` instead of this datapoint.
    """

    def __init__(self, n: int, fail_at: int | None = None,
                 error: Callable[[], BaseException] | None = None) -> None:
        self.n = n
        self.fail_at = fail_at
        self.error = error
        self.starts = 0

    @staticmethod
    def image(i: int) -> np.ndarray:
        return np.repeat(i + 0.25 * np.arange(4, dtype="float32")[:, None], 3, axis=1)

    @staticmethod
    def label(i: int) -> np.ndarray:
        return np.full(4, i, "int32")

    def __iter__(self) -> Iterator[list[np.ndarray]]:
        self.starts += 1
        for i in range(self.n):
            if i == self.fail_at:
                self.users_own_code()
            yield [self.image(i), self.label(i)]

    def users_own_code(self) -> None:
        raise self.error()

    def __len__(self) -> int:
        return self.n


class Endless(Numbers):
    """Numbers that does not know its length."""

    __len__ = DataFlow.__len__


SPECS = [tf.TensorSpec([None, 3], tf.float32, "image"), tf.TensorSpec([None], tf.int32, "label")]


class Seen(keras.callbacks.Callback):
    """Labels that the model's loss saw, and the number of steps of each epoch."""

    def __init__(self) -> None:
        super().__init__()
        self.labels: list[int] = []
        self.weights: list[float] = []
        self.steps: list[int] = []
        self.evaluated = 0

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.steps.append(0)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.steps[-1] = batch + 1

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        self.evaluated += 1


class _Recorder:
    def __init__(self) -> None:
        self.seen = Seen()

    def loss(self, label: tf.Tensor, prediction: tf.Tensor) -> tf.Tensor:
        def note(label: np.ndarray) -> np.float32:
            self.seen.labels.append(int(label.ravel()[0]))
            return np.float32(0)
        zero = tf.numpy_function(note, [label], tf.float32)
        zero.set_shape(())
        return tf.square(prediction[:, 0]) + zero


@pytest.fixture
def numbers() -> type[Numbers]:
    return Numbers


@pytest.fixture
def unsized() -> type[Endless]:
    return Endless


@pytest.fixture
def specs() -> list[tf.TensorSpec]:
    return list(SPECS)


@pytest.fixture(scope="session")
def _recorder() -> _Recorder:
    return _Recorder()


def _model(recorder: _Recorder, **kwargs: Any) -> keras.Model:
    images = keras.Input((3,))
    kept = keras.layers.Identity()(images)  # what predict() returns: the images themselves
    scaled = keras.layers.Dense(1, use_bias=False, kernel_initializer="zeros")(kept)
    model = keras.Model(images, keras.layers.Concatenate()([scaled, kept]))
    model.compile(optimizer=keras.optimizers.SGD(0.0), loss=recorder.loss, jit_compile=False,
                  **kwargs)
    return model


@pytest.fixture(scope="session")
def _models(_recorder: _Recorder) -> dict[int, keras.Model]:
    return {1: _model(_recorder), 2: _model(_recorder, steps_per_execution=2)}


@pytest.fixture
def model(_models: dict[int, keras.Model]) -> keras.Model:
    """A compiled model whose predictions are ``(0, image)``."""
    return _models[1]


@pytest.fixture
def model_of_two_steps(_models: dict[int, keras.Model]) -> keras.Model:
    """The same with ``steps_per_execution=2``."""
    return _models[2]


@pytest.fixture
def seen(_recorder: _Recorder) -> Seen:
    """What the models see during this test; pass it as a callback too."""
    _recorder.seen = Seen()
    return _recorder.seen


@pytest.fixture
def streams() -> Callable[[], list[threading.Thread]]:
    """The producer threads that are alive now."""
    return lambda: [t for t in threading.enumerate() if t.name.startswith("QueueInput ")]


@pytest.fixture
def python(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """``python(script, *args)`` starts it in a process of its own, with pipes."""
    started: list[subprocess.Popen[str]] = []

    def start(script: str, *args: str) -> subprocess.Popen[str]:
        file = tmp_path / "script.py"
        file.write_text(script)
        env = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(
            [sys.executable, "-u", str(file), *args], cwd=tmp_path, env=env, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()
