# SPDX-License-Identifier: Apache-2.0
"""Model files: tensorpack's, TensorFlow's and Keras', read and written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat.callbacks import ModelSaver
from tfqueue_compat.dataflow import DataFlow
from tfqueue_compat.input_source import QueueInput
from tfqueue_compat.keras_bridge import ModelDescModel
from tfqueue_compat.predict import OfflinePredictor, PredictConfig
from tfqueue_compat.tfutils import get_model_loader
from tfqueue_compat.tfutils.sessinit import SaverRestore
from tfqueue_compat.tfutils.varmanip import load_chkpt_vars
from tfqueue_compat.train import SimpleTrainer
from tfqueue_compat.utils.errors import NotSupported

Values = Callable[[Any], "dict[str, np.ndarray]"]


@pytest.fixture
def trained(models: ModuleType, train: DataFlow) -> ModelDescModel:
    """Return a model after three steps."""
    model = ModelDescModel(models.Digits())
    model.fit(QueueInput(train), steps_per_epoch=3, verbose=0)
    return model


def assert_equal(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert set(found) == set(wanted)
    for name, value in wanted.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


@pytest.mark.parametrize("name", ["all.weights.h5", "model-3"])
def test_all_weights_there_and_back(trained: ModelDescModel, models: ModuleType, values: Values,
                                    tmp_path: Path, name: str) -> None:
    trained.save_weights(str(tmp_path / name))
    other = ModelDescModel(models.Digits())
    assert not np.array_equal(values(other)["fc0/W"], values(trained)["fc0/W"])
    other.load_weights(str(tmp_path / name))
    assert_equal(values(other), values(trained))
    assert values(other)["global_step"] == 3


def test_object_based_checkpoints(trained: ModelDescModel, models: ModuleType, values: Values,
                                  tmp_path: Path) -> None:
    path = tf.train.Checkpoint(model=trained).save(str(tmp_path / "ckpt"))
    other = ModelDescModel(models.Digits())
    tf.train.Checkpoint(model=other).restore(path).assert_existing_objects_matched()
    assert_equal(values(other), values(trained))


def test_npz_has_the_model_without_its_training(trained: ModelDescModel, models: ModuleType,
                                                images: np.ndarray, values: Values,
                                                tmp_path: Path) -> None:
    path = str(tmp_path / "model.npz")
    trained.save_weights(path)
    assert set(load_chkpt_vars(path)) == {
        f"{layer}/{v}" for layer in ("conv0", "fc0", "fc1") for v in "Wb"} | {
        f"bn/{v}" for v in ("beta", "gamma", "mean/EMA", "variance/EMA")}
    prob, = OfflinePredictor(PredictConfig(
        model=models.Digits(), session_init=get_model_loader(path), input_names=["image"],
        output_names=["prob"]))(images)
    np.testing.assert_allclose(trained.predict(images, output_names="prob", verbose=0), prob,
                               rtol=1e-6)
    other = ModelDescModel(models.Digits())
    other.load_weights(get_model_loader(path))
    assert values(other)["global_step"] == 0
    np.testing.assert_array_equal(values(other)["bn/mean/EMA"], values(trained)["bn/mean/EMA"])


def test_checkpoints_of_the_graph_machine_and_back(models: ModuleType, train: DataFlow,
                                                   values: Values, tmp_path: Path) -> None:
    def go_on(first: str | None, folder: Path) -> dict[str, Any]:
        saver = ModelSaver(checkpoint_dir=str(folder))
        SimpleTrainer().setup(QueueInput(train), models.Digits()).train(
            [saver], [], steps_per_epoch=2, max_epoch=1, session_init=get_model_loader(first))
        return load_chkpt_vars(str(folder / "checkpoint"))

    there = go_on(None, tmp_path / "a")
    model = ModelDescModel(models.Digits())
    model.load_weights(SaverRestore(str(tmp_path / "a" / "checkpoint")))
    assert_equal(values(model), there)
    model.fit(QueueInput(train), steps_per_epoch=2, verbose=0,
              callbacks=[ModelSaver(checkpoint_dir=str(tmp_path / "b"))])
    assert_equal(load_chkpt_vars(str(tmp_path / "b" / "model-4")), values(model))
    assert go_on(str(tmp_path / "b" / "checkpoint"), tmp_path / "c")["global_step"] == 6


def test_what_does_not_fit_is_refused(models: ModuleType, values: Values) -> None:
    model = ModelDescModel(models.Digits())
    before = values(model)
    wrong = {"fc1/b": np.zeros(7, "float32"), "fc0/b": np.ones(32, "float32")}
    with pytest.raises(ValueError, match=r"fc1/b .*\[10\] +\[7\]"):
        model.load_weights(wrong)
    assert_equal(values(model), before)
    model.load_weights(wrong, skip_mismatch=True)
    assert values(model)["fc0/b"].sum() == 32 and not values(model)["fc1/b"].any()
    with pytest.raises(FileNotFoundError, match="not there"):
        model.load_weights("no/such/model-3")


def test_whole_models_are_refused(trained: ModelDescModel, tmp_path: Path) -> None:
    for save in (trained.save, trained.export):
        with pytest.raises(NotSupported, match="Do: Call save_weights"):
            save(str(tmp_path / "model.keras"))
