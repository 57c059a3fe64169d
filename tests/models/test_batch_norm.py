# SPDX-License-Identifier: Apache-2.0
"""BatchNorm beside NumPy: statistics, their averages in one and several towers, freezing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat.models import BatchNorm, BatchRenorm
from tfqueue_compat.tfutils import TowerContext
from tfqueue_compat.tfutils.tower import PredictTowerContext, TrainTowerContext
from tfqueue_compat.utils.errors import NotSupported

v1 = tf.compat.v1
X = np.random.RandomState(0).randn(4, 5).astype("float32") * 3 + 1
MEAN, VAR = X.mean(0), X.var(0)


def moved(old: float, new: np.ndarray, momentum: float = 0.9) -> np.ndarray:
    return old * momentum + new * (1 - momentum)


def averages(sess: Any) -> list[np.ndarray]:
    return [sess.run(v) for v in v1.global_variables() if "EMA" in v.name]


@pytest.mark.parametrize("update", ["default", "collection", "internal", "skip"])
def test_averages(update: str) -> None:
    with tf.Graph().as_default(), v1.Session() as sess:
        with TowerContext("", is_training=True):
            y = BatchNorm("bn", tf.constant(X), ema_update=update)
        ops = v1.get_collection(v1.GraphKeys.UPDATE_OPS)
        sess.run(v1.global_variables_initializer())
        np.testing.assert_allclose(sess.run(y), (X - MEAN) / np.sqrt(VAR + 1e-5), atol=1e-4)
        if update in ("default", "collection"):
            np.testing.assert_array_equal(averages(sess), [np.zeros(5), np.ones(5)])
            sess.run(ops)
        wanted = ([np.zeros(5), np.ones(5)] if update == "skip" else
                  [moved(0, MEAN), moved(1, VAR)])
        np.testing.assert_allclose(averages(sess), wanted, rtol=1e-4)
        assert len(ops) == (2 if update in ("default", "collection") else 0)
        assert [v.op.name for v in v1.get_collection("model_variables")] == [
            "bn/mean/EMA", "bn/variance/EMA"]


def test_inference_uses_the_averages() -> None:
    with tf.Graph().as_default(), v1.Session() as sess:
        with TowerContext("", is_training=False):
            y = BatchNorm("bn", tf.constant(X))
        sess.run(v1.global_variables_initializer())
        values = y.variables
        for variable, value in ((values.mean, 2.0), (values.variance, 4.0),
                                (values.gamma, 3.0), (values.beta, -1.0)):
            sess.run(variable.assign(tf.fill([5], value)))
        np.testing.assert_allclose(sess.run(y), (X - 2) / np.sqrt(4 + 1e-5) * 3 - 1, rtol=1e-4)


def test_frozen_in_training() -> None:
    with tf.Graph().as_default(), v1.Session() as sess:
        with TowerContext("", is_training=True):
            y = BatchNorm("bn", tf.constant(X), training=False)
        assert not v1.get_collection(v1.GraphKeys.UPDATE_OPS)
        sess.run(v1.global_variables_initializer())
        np.testing.assert_allclose(sess.run(y), X / np.sqrt(1 + 1e-5), rtol=1e-5)
        assert v1.gradients(y, y.variables.gamma)[0] is not None


def test_only_the_first_tower_moves_the_averages() -> None:
    with tf.Graph().as_default(), v1.Session() as sess:
        for i in range(2):
            with v1.variable_scope(v1.get_variable_scope(), reuse=i > 0):
                with TrainTowerContext(f"tower{i}", index=i, total=2):
                    BatchNorm("bn", tf.constant(X * (i + 1)))
        with v1.variable_scope(v1.get_variable_scope(), reuse=True), PredictTowerContext("p"):
            y = BatchNorm("bn", tf.constant(X))
        sess.run(v1.global_variables_initializer())
        sess.run(v1.get_collection(v1.GraphKeys.UPDATE_OPS))
        np.testing.assert_allclose(averages(sess), [moved(0, MEAN), moved(1, VAR)], rtol=1e-4)
        wanted = (X - moved(0, MEAN)) / np.sqrt(moved(1, VAR) + 1e-5)
        np.testing.assert_allclose(sess.run(y), wanted, atol=1e-4)


def test_virtual_batches() -> None:
    with tf.Graph().as_default(), v1.Session() as sess:
        with TowerContext("", is_training=True):
            y = BatchNorm("bn", tf.constant(X), virtual_batch_size=2)
        sess.run(v1.global_variables_initializer())
        halves = X.reshape(2, 2, 5)
        wanted = (halves - halves.mean(1, keepdims=True)) / np.sqrt(
            halves.var(1, keepdims=True) + 1e-5)
        np.testing.assert_allclose(sess.run(y), wanted.reshape(4, 5), atol=1e-4)
        np.testing.assert_allclose(averages(sess)[0], moved(0, halves[0].mean(0)), rtol=1e-4)


def test_renorm_with_no_correction_is_plain() -> None:
    with tf.Graph().as_default(), v1.Session() as sess:
        with TowerContext("", is_training=True):
            y = BatchRenorm("bn", tf.constant(X), rmax=1.0, dmax=0.0)
        sess.run(v1.global_variables_initializer())
        np.testing.assert_allclose(sess.run(y), (X - MEAN) / np.sqrt(VAR + 1e-5), atol=1e-4)
        sess.run(v1.get_collection(v1.GraphKeys.UPDATE_OPS))
        np.testing.assert_allclose(averages(sess)[0], moved(0, MEAN), rtol=1e-4)


def test_renorm_corrects_towards_its_averages() -> None:
    with tf.Graph().as_default(), v1.Session() as sess:
        with TowerContext("", is_training=True):
            y = BatchRenorm("bn", tf.constant(X), rmax=1e9, dmax=1e9)
        sess.run(v1.global_variables_initializer())
        # r = s / 1 and d = (m - 0) / 1: the input itself, at the first step
        np.testing.assert_allclose(sess.run(y), X, atol=1e-3)


@pytest.mark.parametrize("shape", [(4, 3, 5), (4, 3, 2, 5), (4, 3, 2, 2, 5)])
def test_any_rank(shape: tuple[int, ...]) -> None:
    x = np.random.RandomState(1).randn(*shape).astype("float32")
    with tf.Graph().as_default(), v1.Session() as sess:
        with TowerContext("", is_training=True):
            y = BatchNorm("bn", tf.constant(x))
        sess.run(v1.global_variables_initializer())
        over = tuple(range(len(shape) - 1))
        np.testing.assert_allclose(sess.run(y), (x - x.mean(over)) / np.sqrt(x.var(over) + 1e-5),
                                   atol=1e-4)


def test_half_precision() -> None:
    with tf.Graph().as_default(), v1.Session() as sess:
        with TowerContext("", is_training=True):
            y = BatchNorm("bn", tf.constant(X.astype("float16")))
        assert y.dtype == tf.float16 and y.variables.gamma.dtype.base_dtype == tf.float32
        sess.run(v1.global_variables_initializer())
        np.testing.assert_allclose(sess.run(y), (X - MEAN) / np.sqrt(VAR + 1e-5), atol=1e-2)


def test_errors_help() -> None:
    with tf.Graph().as_default():
        x = tf.constant(X)
        with pytest.raises(RuntimeError, match="TowerContext"):
            BatchNorm("a", x)
        with TrainTowerContext("t", index=0, total=2):
            with pytest.raises(ValueError, match="ema_update"):
                BatchNorm("b", x, ema_update="always")
            with pytest.raises(ValueError, match="virtual_batch_size=3"):
                BatchNorm("c", x, virtual_batch_size=3)
            with pytest.raises(ValueError, match="'nccl'"):
                BatchNorm("d", x, sync_statistics="ncl")
            if not tf.config.list_physical_devices("GPU"):
                with pytest.raises(NotSupported, match="no GPU"):
                    BatchNorm("e", x, sync_statistics="nccl")
            with pytest.raises(ImportError, match="pip install horovod"):
                BatchNorm("f", x, sync_statistics="horovod")
