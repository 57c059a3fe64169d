# SPDX-License-Identifier: Apache-2.0
"""Trains on two logical CPUs and on one; prints how they differ, as JSON."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

sys.path.insert(0, str(Path(__file__).parent))
import legacy_models  # noqa: E402

from tfqueue_compat.callbacks import ModelSaver, ProcessTensors  # noqa: E402
from tfqueue_compat.callbacks import ScheduledHyperParamSetter  # noqa: E402
from tfqueue_compat.dataflow import BatchData, dataset  # noqa: E402
from tfqueue_compat.input_source import QueueInput  # noqa: E402
from tfqueue_compat.keras_bridge import ModelDescModel  # noqa: E402
from tfqueue_compat.tfutils.varmanip import load_chkpt_vars  # noqa: E402


def digits(split: str = "train", size: int = 64) -> Any:
    return BatchData(dataset.Digits(split, shuffle=False), size, remainder=split == "test")


def made(name: str, **kwargs: Any) -> ModelDescModel:
    return ModelDescModel(legacy_models.Digits(legacy_models.OPTIMIZERS[name], **kwargs))


class Assigns(legacy_models.Digits):
    def build_graph(self, image: Any, label: Any) -> Any:
        cost = super().build_graph(image, label)
        tf.compat.v1.train.ExponentialMovingAverage(0.9).apply(
            tf.compat.v1.trainable_variables())
        return cost


def error_of(call: Any) -> str:
    try:
        call()
    except NotImplementedError as e:
        return str(e)
    return ""


def main() -> None:
    tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2)
    two = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    out: dict[str, Any] = {"replicas": two.num_replicas_in_sync}
    for name in ("sgd", "momentum", "adam"):
        one = made(name, batch_norm=False)
        with two.scope():
            both = made(name, batch_norm=False)
        both.load_weights({v.path: v.numpy() for v in one.weights})
        losses = [m.fit(QueueInput(digits()), steps_per_epoch=20, verbose=0).history["loss"][0]
                  for m in (one, both)]
        pairs = list(zip(one.weights, both.weights))
        out[name] = {
            "largest_difference": max(float(np.abs(a.numpy() - b.numpy()).max())
                                      for a, b in pairs),
            "replicas_differ": [b.path for _, b in pairs if b.trainable and not np.array_equal(
                *(part.numpy() for part in b.value.values))],
            "step": int(both._store.global_step()), "losses": losses}
    test = list(digits("test"))
    out["evaluated"] = [m.evaluate(QueueInput(digits("test")), verbose=0) for m in (one, both)]
    out["evaluated"] = [e[0] for e in out["evaluated"]]
    assert len(test) == 8

    with two.scope():
        model = made("adam")
    with tempfile.TemporaryDirectory() as folder:
        model.fit(QueueInput(digits()), epochs=2, steps_per_epoch=4, verbose=0, callbacks=[
            ScheduledHyperParamSetter("learning_rate", [(1, 1e-3), (2, 1e-4)]),
            ModelSaver(checkpoint_dir=folder)])
        saved = load_chkpt_vars(f"{folder}/checkpoint")
    out["rates"] = [float(v) for v in model._store.variables["learning_rate"].values]
    values = {v.path: v.numpy() for v in model.weights}
    out["saved"] = {"global_step": int(saved["global_step"]),
                    "as_the_model": set(saved) == set(values) and all(
                        np.array_equal(saved[n], values[n]) for n in values
                        if n != "learning_rate")}
    out["fetches"] = error_of(lambda: model.fit(
        QueueInput(digits()), steps_per_epoch=2, verbose=0,
        callbacks=[ProcessTensors(["cost:0"], print)]))
    with two.scope():
        out["gathered"] = error_of(lambda: made("gathered"))
        out["assigns"] = error_of(lambda: ModelDescModel(Assigns()).fit(
            QueueInput(digits()), steps_per_epoch=2, verbose=0))
    print("FOUND " + json.dumps(out))


if __name__ == "__main__":
    main()
