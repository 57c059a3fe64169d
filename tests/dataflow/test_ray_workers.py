# SPDX-License-Identifier: Apache-2.0
"""Dataflows in actors of a local Ray with two CPUs."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat.dataflow import DataFlow, DataFromList
from tfqueue_compat.dataflow.workers import WorkerDied
from tfqueue_compat.input_source import QueueInput
from tfqueue_compat.utils.utils import get_rng

ray = pytest.importorskip("ray")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # Ray's own


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Any:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


def numbers(first: int, last: int) -> DataFlow:
    return DataFromList([[k, np.full((3,), k, "float32")] for k in range(first, last)],
                        shuffle=False)


class Noise(DataFlow):
    """Its process and a random number, slowly."""

    def __len__(self) -> int:
        return 40

    def reset_state(self) -> None:
        super().reset_state()
        self.rng = get_rng(self)

    def __iter__(self) -> Any:
        for _ in range(40):
            time.sleep(0.005)
            yield [os.getpid(), float(self.rng.uniform())]


class Mixed(DataFlow):
    """Ragged, text and an error at the end."""

    def __iter__(self) -> Any:
        for k in range(5):
            yield [np.arange(k + 1), f"number {k}"]
        raise KeyError("the user's own")


def test_own_dataflows_are_read_to_their_ends() -> None:
    queue = QueueInput([numbers(0, 1000), numbers(1000, 1500)], on="ray")
    for _ in range(2):
        got = [(int(k), x.numpy().tolist()) for k, x in queue]
        assert sorted(k for k, _ in got) == list(range(1500))
        assert all(x == [k] * 3 for k, x in got)
    queue.stop()


def test_one_dataflow_is_mixed_and_draws_other_numbers() -> None:
    queue = QueueInput(Noise(), workers=2, on="ray")
    assert len(list(queue)) == 40
    drawn: dict[int, list[float]] = {}
    stream = iter(queue.repeat())
    while len(drawn) < 2:  # an actor may start later than the other
        pid, x = next(stream)
        drawn.setdefault(int(pid), []).append(float(x))
    assert os.getpid() not in drawn
    numbers = sum(drawn.values(), [])
    assert len(set(numbers)) == len(numbers)
    queue.stop()


def test_an_error_keeps_its_type_and_what_came_before_it() -> None:
    iterator = iter(QueueInput(Mixed(), workers=1, on="ray", signature=(
        tf.TensorSpec([None], tf.int64), tf.TensorSpec([], tf.string))))
    for k in range(5):
        array, text = next(iterator)
        assert array.numpy().tolist() == list(range(k + 1))
        assert text.numpy() == f"number {k}".encode()
    with pytest.raises(KeyError, match="the user's own") as caught:
        next(iterator)
    assert "in __iter__" in str(caught.value.__cause__)


def test_a_killed_actor_is_replaced() -> None:
    queue = QueueInput(Noise(), workers=2, on="ray")
    stream, seen = iter(queue.repeat()), Counter[int]()
    while len(seen) < 2:
        seen[int(next(stream)[0])] += 1
    killed = min(seen)
    os.kill(killed, signal.SIGKILL)
    while len(seen) < 3:
        seen[int(next(stream)[0])] += 1
    queue.stop()


def test_a_killed_actor_with_a_share_of_its_own_is_named() -> None:
    queue = QueueInput([Noise(), Noise()], on="ray")
    stream = iter(queue.repeat())
    pid = int(next(stream)[0])
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(WorkerDied, match=rf"QueueInput, worker \d \(pid {pid} on .*Ray actor"):
        while True:
            next(stream)


def test_it_feeds_fit() -> None:
    data = DataFromList([[np.full((4, 1), k, "float32"), np.full((4, 1), 2 * k, "float32")]
                         for k in range(8)], shuffle=False)
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False)])
    model.compile(keras.optimizers.SGD(0.01), "mse")
    model.fit(QueueInput(data, workers=2, on="ray"), steps_per_epoch=100, verbose=0)
    np.testing.assert_allclose(model.get_weights()[0], [[2.0]], rtol=1e-4)
