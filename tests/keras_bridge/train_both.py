# SPDX-License-Identifier: Apache-2.0
"""Trains the same models by both machines from the same weights; prints what differs, as JSON.

In a process of its own: kernels must add up in the same order, so on one thread, in both.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

sys.path.insert(0, str(Path(__file__).parent))
import legacy_models  # noqa: E402

from tfqueue_compat.callbacks import Callback, ProcessTensors, RunUpdateOps  # noqa: E402
from tfqueue_compat.dataflow import BatchData, DataFromList, dataset  # noqa: E402
from tfqueue_compat.graph_builder import ModelDesc  # noqa: E402
from tfqueue_compat.input_source import QueueInput  # noqa: E402
from tfqueue_compat.keras_bridge import ModelDescModel  # noqa: E402
from tfqueue_compat.tfutils import TowerContext  # noqa: E402
from tfqueue_compat.tfutils.sessinit import DictRestore  # noqa: E402
from tfqueue_compat.train import SimpleTrainer  # noqa: E402

v1 = tf.compat.v1
STEPS = 100


class Keep(Callback):
    """Keeps the variables' values when training is over."""

    def _setup_graph(self) -> None:
        self.variables = v1.global_variables()

    def _after_train(self) -> None:
        values = v1.get_default_session().run(self.variables)
        self.values = {v.op.name: x for v, x in zip(self.variables, values)}


class KeepLosses(keras.callbacks.Callback):
    """Keeps each step's own cost: Keras' log is the mean of an epoch so far."""

    def __init__(self) -> None:
        super().__init__()
        self.losses: list[float] = []

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self.model.reset_metrics()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.losses.append(float(logs["loss"]))


def batches() -> list[Any]:
    flow = BatchData(dataset.Digits("train", shuffle=False), 64)
    flow.reset_state()
    some = list(flow)
    return [some[i % len(some)] for i in range(STEPS)]


def by_keras(model: ModelDescModel, data: list[Any]) -> tuple[dict[str, Any], list[float]]:
    keep = KeepLosses()
    model.fit(QueueInput(DataFromList(data, shuffle=False)), steps_per_epoch=STEPS, verbose=0,
              callbacks=[keep])
    return {v.path: v.numpy() for v in model.weights}, keep.losses


def by_trainer(desc: ModelDesc, data: list[Any], start: dict[str, Any],
               ) -> tuple[dict[str, Any], list[float]]:
    keep, losses = Keep(), []
    trainer = SimpleTrainer().setup(QueueInput(DataFromList(data, shuffle=False)), desc)
    trainer.train([ProcessTensors(["cost:0"], losses.append), RunUpdateOps(), keep], [],
                  session_init=DictRestore(start), steps_per_epoch=STEPS, max_epoch=1)
    return keep.values, losses


def by_session(desc: ModelDesc, data: list[Any], start: dict[str, Any],
               ) -> tuple[dict[str, Any], list[float]]:
    config = v1.ConfigProto(intra_op_parallelism_threads=1)
    with tf.Graph().as_default(), v1.Session(config=config) as sess:
        feeds = [v1.placeholder(s.dtype, s.shape) for s in desc.inputs()]
        with TowerContext("", is_training=True):
            cost = desc.build_graph(*feeds)
        step = v1.train.get_or_create_global_step()
        train_op = desc.optimizer().minimize(cost, global_step=step)
        updates = v1.get_collection(v1.GraphKeys.UPDATE_OPS)
        sess.run(v1.global_variables_initializer())
        for v in v1.global_variables():
            v.load(start[v.op.name], sess)
        losses = [sess.run([cost, train_op, updates], dict(zip(feeds, batch)))[0]
                  for batch in data]
        return {v.op.name: sess.run(v) for v in v1.global_variables()}, losses


def main() -> None:
    tf.config.threading.set_intra_op_parallelism_threads(1)
    data, out = batches(), {}
    for name, make in legacy_models.OPTIMIZERS.items():
        model = ModelDescModel(legacy_models.Digits(make))
        start = {v.path: v.numpy() for v in model.weights}
        ours, losses = by_keras(model, data)
        references = [by_trainer(legacy_models.Digits(make), data, start)]
        if name == "momentum":
            references.append(by_session(legacy_models.Digits(make), data, start))
        for theirs, their_losses in references:
            found = {"names": sorted(set(ours) ^ set(theirs)),
                     "values": [n for n in theirs if not np.array_equal(ours[n], theirs[n])],
                     "losses": int(np.sum(np.float32(losses) != np.float32(their_losses))),
                     "still": [n for n in theirs if np.array_equal(theirs[n], start[n])]}
            out.setdefault(name, []).append(found)
    print("FOUND " + json.dumps(out))


if __name__ == "__main__":
    main()
