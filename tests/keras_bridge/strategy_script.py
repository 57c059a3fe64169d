# SPDX-License-Identifier: Apache-2.0
"""Trains on two towers in a process of its own: ``python strategy_script.py WHAT``.

WHAT is "mirrored": two logical devices; "worker": one of TF_CONFIG's workers; "endless": such a
worker that never ends. Results are the last line, JSON, those of a ModelDesc among them.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tfqueue_compat.dataflow import DataFromList
from tfqueue_compat.graph_builder import ModelDesc
from tfqueue_compat.input_source import QueueInput
from tfqueue_compat.keras_bridge import ModelDescModel, across_workers, batch_per_tower

v1 = tf.compat.v1
BATCHES = 21


class Line(ModelDesc):
    """Least squares, by hand easily."""

    def inputs(self) -> Any:
        return [tf.TensorSpec([None, 3], tf.float32, "x"),
                tf.TensorSpec([None, 1], tf.float32, "y")]

    def build_graph(self, x: Any, y: Any) -> Any:
        w = v1.get_variable("w", [3, 1], initializer=v1.ones_initializer())
        out = tf.matmul(x, w, name="out")
        return tf.reduce_mean(tf.square(out - y), name="cost")

    def optimizer(self) -> Any:
        return v1.train.MomentumOptimizer(0.05, 0.9)


def batches() -> list[list[np.ndarray]]:
    """Return 21 batches of 4: one is left over on two towers."""
    rng = np.random.default_rng(7)
    return [[rng.normal(size=(4, 3)).astype("float32"), rng.normal(size=(4, 1)).astype("float32")]
            for _ in range(BATCHES)]


def model() -> Any:
    """Return a model that starts from the same weights each time."""
    made = keras.Sequential([
        keras.Input((3,)),
        keras.layers.Dense(8, "tanh", kernel_initializer=keras.initializers.GlorotUniform(1)),
        keras.layers.Dense(1, kernel_initializer=keras.initializers.GlorotUniform(2))])
    made.compile(keras.optimizers.SGD(0.05, momentum=0.9), "mse", metrics=["mae"])
    return made


def weights(of: Any) -> list[Any]:
    """Return a model's weights as lists."""
    return [w.tolist() for w in of.get_weights()]


def main(what: str) -> None:
    """Train, and print what came out."""
    if what == "mirrored":
        tf.config.set_logical_device_configuration(
            tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2)
        strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    else:
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
    flow = DataFromList(batches(), shuffle=False)
    with strategy.scope():
        trained = across_workers(model())
        line = ModelDescModel(Line(), output_names="out")
    if what == "endless":
        began = keras.callbacks.LambdaCallback(
            on_epoch_end=lambda epoch, logs: print("epoch", epoch, flush=True))
        trained.fit(batch_per_tower(QueueInput(flow), strategy), steps_per_epoch=10,
                    epochs=10**6, verbose=0, callbacks=[began])
    data = batch_per_tower(QueueInput(flow), strategy)
    history = trained.fit(data, epochs=2, verbose=0).history
    out = {"length": len(data), "passes": weights(trained), "history": history,
           "steps": int(trained.optimizer.iterations.numpy())}
    out["evaluated"] = trained.evaluate(QueueInput(flow), verbose=0)
    out["predicted"] = trained.predict(QueueInput(flow), verbose=0).ravel().tolist()
    data = QueueInput(flow) if what == "worker" else data
    trained.fit(data, steps_per_epoch=8, epochs=2, verbose=0)
    out["stream"] = weights(trained)
    line.fit(batch_per_tower(QueueInput(flow), strategy), epochs=2, verbose=0, shuffle=False)
    out["line"] = weights(line)[0]
    out["line evaluated"] = line.evaluate(QueueInput(flow), verbose=0)
    out["line predicted"] = line.predict(QueueInput(flow), verbose=0).ravel().tolist()
    print(json.dumps(out))


if __name__ == "__main__":
    main(sys.argv[1])
