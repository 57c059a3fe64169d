# SPDX-License-Identifier: Apache-2.0
"""A model small enough to work out by hand, and data for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat.dataflow import DataFromList
from tfqueue_compat.train import ModelDesc
from tfqueue_compat.utils import logger

v1 = tf.compat.v1
START = np.array([0.5, -0.25, 0.75], np.float32)
RATE = 0.1


class Line(ModelDesc):
    """Least squares: the mean over the batch of (x w - y)**2."""

    def __init__(self, optimizer: Any = None) -> None:
        self.make = optimizer or (lambda: v1.train.GradientDescentOptimizer(RATE))

    def inputs(self) -> list[tf.TensorSpec]:
        return [tf.TensorSpec([None, 3], tf.float32, "x"), tf.TensorSpec([None], tf.float32, "y")]

    def build_graph(self, x: Any, y: Any) -> Any:
        w = v1.get_variable("w", initializer=tf.constant(START))
        out = tf.linalg.matvec(x, w, name="out")
        return tf.reduce_mean(tf.square(out - y), name="cost")

    def optimizer(self) -> Any:
        return self.make()


@pytest.fixture
def model() -> Callable[..., Line]:
    """Return ``Line(make_optimizer=None)``."""
    return Line


@pytest.fixture
def batches() -> list[list[np.ndarray]]:
    """Return twelve batches of four."""
    rng = np.random.default_rng(3)
    return [[rng.normal(size=(4, 3)).astype("float32"), rng.normal(size=4).astype("float32")]
            for _ in range(12)]


@pytest.fixture
def flow(batches: list[list[np.ndarray]]) -> DataFromList:
    """Return the batches as a DataFlow, in order."""
    return DataFromList(batches, shuffle=False)


@pytest.fixture
def by_hand() -> Callable[..., tuple[np.ndarray, list[float]]]:
    """Return ``descend(batches)``: the weights after plain gradient descent, and each cost."""
    def descend(batches: Any) -> tuple[np.ndarray, list[float]]:
        w = START.astype("float64")
        costs = []
        for x, y in batches:
            error = x.astype("float64") @ w - y
            costs.append(float(np.mean(error ** 2)))
            w = w - RATE * 2 * (x.T.astype("float64") @ error) / len(y)
        return w, costs
    return descend


@pytest.fixture
def log_dir(tmp_path: Path) -> Path:
    """Set a log directory, and return it."""
    logger.set_logger_dir(str(tmp_path / "log"), action="k")
    return tmp_path / "log"
