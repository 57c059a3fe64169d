# SPDX-License-Identifier: Apache-2.0
"""Every predictor gives what NumPy gives."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat.dataflow import DataFromList
from tfqueue_compat.input_source import QueueInput
from tfqueue_compat.predict import (
    DataParallelOfflinePredictor, FeedfreePredictor, MultiThreadAsyncPredictor,
    MultiTowerOfflinePredictor, OfflinePredictor, OnlinePredictor, PredictConfig,
    SimpleDatasetPredictor)
from tfqueue_compat.tfutils.sessinit import DictRestore
from tfqueue_compat.train import ModelDesc

v1 = tf.compat.v1
W = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)


class Linear(ModelDesc):
    def inputs(self) -> list[tf.TensorSpec]:
        return [tf.TensorSpec([None, 3], tf.float32, "x")]

    def build_graph(self, x: Any) -> None:
        w = v1.get_variable("w", [3, 2])
        hidden = tf.matmul(x, w, name="hidden")
        tf.nn.relu(hidden, name="out")


@pytest.fixture
def x() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(7, 3)).astype("float32")


def config(**more: Any) -> PredictConfig:
    given = {"model": Linear(), "session_init": DictRestore({"w": W}), "output_names": ["out"],
             **more}
    return PredictConfig(**given)


def want(x: np.ndarray) -> np.ndarray:
    return np.maximum(x @ W, 0)


def close(got: Any, x: np.ndarray) -> None:
    np.testing.assert_allclose(got, want(x), rtol=1e-5, atol=1e-6)


def test_offline(x: np.ndarray) -> None:
    predict = OfflinePredictor(config(output_names=["out", "hidden"]))
    out, hidden = predict(x)
    close(out, x)
    np.testing.assert_allclose(hidden, x @ W, rtol=1e-5, atol=1e-6)
    close(predict(x.tolist())[0], x)
    assert tf.executing_eagerly()


def test_a_tensor_in_the_middle_is_fed(x: np.ndarray) -> None:
    predict = OfflinePredictor(config(input_names=["hidden"]))
    np.testing.assert_allclose(predict([[-1.0, 2.0]])[0], [[0, 2]])


def test_the_input_comes_back(x: np.ndarray) -> None:
    fed, out = OfflinePredictor(config(return_input=True))(x)
    assert fed[0] is x
    close(out[0], x)


def test_old_names(x: np.ndarray) -> None:
    predict = OfflinePredictor(PredictConfig(
        model=Linear(), session_init=DictRestore({"w": W}), input_var_names=["x"],
        output_var_names=["out"]))
    close(predict(x)[0], x)


def test_in_the_current_graph(x: np.ndarray) -> None:
    with tf.Graph().as_default() as graph:
        predict = OfflinePredictor(config(create_graph=False))
        assert predict.graph is graph
        close(predict(x)[0], x)


def test_online(x: np.ndarray) -> None:
    with tf.Graph().as_default():
        feed = v1.placeholder(tf.float32, [None, 3])
        predict = OnlinePredictor([feed], [feed * 2])
        with pytest.raises(RuntimeError, match="a session"):
            predict(x)
        with v1.Session().as_default():
            np.testing.assert_array_equal(predict(x)[0], x * 2)


def test_several_towers(x: np.ndarray) -> None:
    predict = MultiTowerOfflinePredictor(config(), [0, 1])
    assert len(predict.get_predictors()) == 2
    for one in (predict, *predict.get_predictors(), predict.get_predictor(3)):
        close(one(x)[0], x)


def test_data_parallel(x: np.ndarray) -> None:
    first, second = DataParallelOfflinePredictor(config(), [0, 1])(x[:3], x[3:])
    close(first, x[:3])
    close(second, x[3:])


def test_feedfree(x: np.ndarray) -> None:
    df = DataFromList([[x[:2]], [x[2:]]], shuffle=False)
    predict = FeedfreePredictor(config(), QueueInput(df))
    close(predict()[0], x[:2])
    close(predict()[0], x[2:])
    predict.sess.close()


def test_feedfree_raises_what_the_dataflow_raises(x: np.ndarray) -> None:
    def broken() -> Any:
        yield [x]
        raise LookupError("no more")

    predict = FeedfreePredictor(config(), QueueInput(broken))
    close(predict()[0], x)
    with pytest.raises(LookupError, match="no more"):
        predict()
    predict.sess.close()


def test_a_dataset(x: np.ndarray) -> None:
    df = DataFromList([[x[i:i + 1]] for i in range(7)], shuffle=False)
    results = SimpleDatasetPredictor(config(), df).get_all_result()
    close(np.concatenate([r[0] for r in results]), x)


def test_threads_make_batches(x: np.ndarray) -> None:
    predictors = MultiTowerOfflinePredictor(config(), [0, 1]).get_predictors()
    asynchronous = MultiThreadAsyncPredictor(predictors, batch_size=4)
    done = threading.Event()
    asynchronous.start()
    futures = [asynchronous.put_task([row]) for row in x]
    futures[-1].add_done_callback(lambda f: done.set())
    close(np.stack([f.result(60)[0] for f in futures]), x)
    assert done.wait(60)
    with pytest.raises(ValueError, match="input 'x'"):
        asynchronous.put_task([x]).result(60)
    asynchronous.stop()
    for thread in asynchronous.threads:
        thread.join(60)
        assert not thread.is_alive()


def test_errors_say_what_to_do(x: np.ndarray) -> None:
    predict = OfflinePredictor(config())
    with pytest.raises(TypeError, match="1 inputs"):
        predict(x, x)
    with pytest.raises(ValueError, match="batch dimension"):
        predict(x[0])
    with pytest.raises(TypeError, match="input 'x'"):
        predict("picture")
    with pytest.raises(KeyError, match="Did you mean 'hidden'"):
        OfflinePredictor(config(output_names=["hiden"]))
    with pytest.raises(ValueError, match="output_names"):
        PredictConfig(model=Linear())
    with pytest.raises(TypeError, match="instance"):
        PredictConfig(model=Linear, output_names=["out"])
