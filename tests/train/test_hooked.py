# SPDX-License-Identifier: Apache-2.0
"""The training session beside what TF 1's MonitoredSession did for scripts."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import tensorflow as tf

from tfqueue_compat.callbacks import Callback
from tfqueue_compat.compat import tfv1
from tfqueue_compat.input_source import TensorInput
from tfqueue_compat.train import SimpleTrainer, TrainConfig, launch_train_with_config

v1 = tf.compat.v1


class Seen(Callback):
    """Notes the input's first number of each step."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def _before_run(self, ctx: Any) -> list[str]:
        return ["seen:0"]

    def _after_run(self, ctx: Any, values: Any) -> None:
        self.values.append(float(values.results[0]))


def train_on(make: Any, model: type) -> Seen:
    class Watched(model):  # type: ignore[misc]
        def build_graph(self, x: Any, y: Any) -> Any:
            tf.identity(x[0, 0], name="seen")
            return super().build_graph(x, y)

    seen = Seen()
    launch_train_with_config(TrainConfig(
        model=Watched(), data=TensorInput(make, 5), callbacks=[seen], extra_callbacks=[],
        monitors=[], max_epoch=1), SimpleTrainer())
    return seen


def test_a_step_that_fails_names_the_users_line(model: Any) -> None:
    class Failing(model):  # type: ignore[misc]
        def build_graph(self, x: Any, y: Any) -> Any:
            x = tf.ensure_shape(tf.reshape(x, [4, 7], name="seven")[:, :3], [4, 3])
            return super().build_graph(x, y)

    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        train_on(lambda: [v1.placeholder_with_default(tf.zeros([4, 3]), [None, None]),
                          tf.zeros([4])], Failing)
    told = caught.value.message
    assert "'seven' (Reshape) was defined at " + __file__ in told
    assert "in build_graph: x = tf.ensure_shape(tf.reshape(x, [4, 7]" in told


def numbered() -> list[Any]:
    """Rows of 0, 1, 2, 0, ... by a queue runner, as PennTreebank's reader makes them."""
    row = tf.cast(tfv1.train.range_input_producer(3, shuffle=False).dequeue(), tf.float32)
    return [tf.fill([4, 3], row), tf.zeros([4])]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_queue_runners_run_while_training_does(model: Any) -> None:
    before = threading.active_count()
    assert train_on(numbered, model).values == [0, 1, 2, 0, 1]
    assert threading.active_count() <= before


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_makes_a_queue_runner_fail_comes_out(model: Any) -> None:
    def failing() -> list[Any]:
        x, y = numbered()
        x = tfv1.train.batch([tf.debugging.check_numerics(x / 0, "the third of my queues")], 1)
        return [x[0], y]

    with pytest.raises(tf.errors.InvalidArgumentError, match="the third of my queues"):
        train_on(failing, model)
