# SPDX-License-Identifier: Apache-2.0
"""A small trainer over the engine's loop: a real graph, a real session, real hooks."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat.callbacks.group import Callbacks
from tfqueue_compat.callbacks.hooks import HookToCallback
from tfqueue_compat.callbacks.monitor import MonitorBase, Monitors
from tfqueue_compat.callbacks.steps import MaintainStepCounter
from tfqueue_compat.dataflow import DataFromList
from tfqueue_compat.engine.loop import TrainLoop
from tfqueue_compat.tfutils.common import get_default_sess_config
from tfqueue_compat.tfutils.tower import TowerContext, TowerFunc
from tfqueue_compat.utils import logger

v1 = tf.compat.v1

#: The labels of a training batch and of the eval set; the model's ``w`` grows by one a step.
BATCH = [np.arange(4, dtype="int32")]
EVAL = [[np.array([1, 1, 0], "int32")], [np.array([0, 1, 1], "int32")], [np.array([1], "int32")]]


def model(label: Any) -> Any:
    """``w``: the steps done. ``cost``: w + mean of the label. ``wrong``: the label."""
    w = v1.get_variable("w", [], initializer=v1.zeros_initializer())
    v1.get_variable("learning_rate", [], initializer=v1.constant_initializer(0.5),
                    trainable=False)
    tf.cast(label, tf.float32, name="wrong")
    tf.identity(label, name="pred")
    v1.summary.scalar("w-summary", w)
    v1.summary.histogram("weights", w)
    return tf.add(w, tf.reduce_mean(tf.cast(label, tf.float32)), name="cost")


class Machine:
    """Builds the model in one tower, and trains it with callbacks."""

    def __init__(self) -> None:
        self.loop = TrainLoop()
        self.tower_func = TowerFunc(model, [tf.TensorSpec([None], tf.int32, "label")])
        self.monitors: Any = None
        self.sess: Any = None

    @property
    def towers(self) -> Any:
        return self.tower_func.towers

    def __getattr__(self, name: str) -> Any:
        if name in ("epoch_num", "local_step", "global_step", "steps_per_epoch", "max_epoch",
                    "starting_epoch"):
            return getattr(self.loop, name)
        raise AttributeError(name)

    def train(self, callbacks: Sequence[Any] = (), steps: int = 2, epochs: int = 2,
              first: int = 1, monitors: Sequence[MonitorBase] = (),
              init: Callable[[Any], Any] | None = None) -> Machine:
        with tf.Graph().as_default():
            with TowerContext("", is_training=True):
                cost = self.tower_func(tf.constant(BATCH[0]))
            w = next(v for v in v1.trainable_variables())
            with tf.control_dependencies([cost]):
                self.train_op = tf.group(v1.assign_add(w, 1.0), name="train_op")
            self.monitors = Monitors(monitors)
            everything = [HookToCallback(c) if isinstance(c, v1.train.SessionRunHook) else c
                          for c in callbacks]
            group = Callbacks([MaintainStepCounter(), *everything, *monitors, self.monitors])
            group.setup_graph(weakref.proxy(self))
            with v1.Session(config=get_default_sess_config()) as self.sess, \
                    self.sess.as_default():
                self.sess.run(v1.global_variables_initializer())
                if init is not None:
                    init(self.sess)
                self.sess.graph.finalize()
                self.loop.config(steps, first, epochs)
                self._run(group)
        return self

    def _run(self, group: Callbacks) -> None:
        hooks = group.get_hooks()

        def step() -> None:
            context = v1.train.SessionRunContext(
                v1.train.SessionRunArgs(self.train_op), self.sess)
            asked = [hook.before_run(context) for hook in hooks]
            options, metadata = v1.RunOptions(), v1.RunMetadata()
            for args in asked:
                if args is not None and args.options is not None:
                    options.MergeFrom(args.options)
            fetches = {str(k): a.fetches for k, a in enumerate(asked) if a is not None}
            feeds = {k: v for a in asked if a is not None
                     for k, v in (a.feed_dict or {}).items()}
            got = self.sess.run({"op": self.train_op, **fetches}, feeds, options, metadata)
            for k, hook in enumerate(hooks):
                hook.after_run(context, v1.train.SessionRunValues(
                    got.get(str(k)), options, metadata))

        self.loop.run(step, group)


class Catch(MonitorBase):
    """Keeps all that is reported: (global step, name, value)."""

    def __init__(self) -> None:
        self.scalars: list[tuple[int, str, Any]] = []
        self.images: list[tuple[int, str, Any]] = []
        self.tags: list[str] = []
        self.events: list[Any] = []

    def process_scalar(self, name: str, val: Any) -> None:
        self.scalars.append((self.global_step, name, val))

    def process_image(self, name: str, val: Any) -> None:
        self.images.append((self.global_step, name, val))

    def process_summary(self, summary: Any) -> None:
        self.tags += [value.tag for value in summary.value]

    def process_event(self, evt: Any) -> None:
        self.events.append(evt)

    def of(self, name: str) -> list[Any]:
        return [(step, value) for step, key, value in self.scalars if key == name]


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def catch() -> Catch:
    return Catch()


@pytest.fixture
def log_dir(tmp_path: Path) -> Path:
    logger.set_logger_dir(tmp_path / "log")
    return tmp_path / "log"


@pytest.fixture
def eval_data() -> DataFromList:
    return DataFromList(EVAL, shuffle=False)
