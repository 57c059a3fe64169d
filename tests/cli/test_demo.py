# SPDX-License-Identifier: Apache-2.0
"""The demo: the main job on data that comes with the package."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

Python = Callable[..., subprocess.CompletedProcess[str]]


def test_demo_trains_tells_and_draws(python: Python, tmp_path: Path) -> None:
    done = python("-m", "tfqueue_compat", "demo", "--epochs", "2", "--out", "here")
    assert done.returncode == 0, done.stderr
    found = re.search(r"test accuracy: (0\.\d+) of 500 digits", done.stdout)
    assert found and float(found[1]) > 0.9, done.stdout
    assert re.search(r"^queue: .*(-bound|balanced)", done.stdout, re.M), done.stdout
    log = (tmp_path / "here" / "train_log" / "log.log").read_text()
    assert "Epoch 2 (global_step 200) finished" in log and "validation_accuracy" in log
    plot = tmp_path / "here" / "queue.png"
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert str(Path("here", "queue.png")) in done.stdout


def test_the_demo_is_a_legacy_script(python: Python) -> None:
    text = python("-m", "tfqueue_compat", "demo", "--show").stdout
    lines = text.splitlines()
    assert "import tensorflow as tf" in lines and "from tensorpack import *" in lines
    assert [line.strip() for line in lines if "import" in line and "tfqueue" in line] == [
        "from tfqueue_compat.plots import plot_queue"]


KERAS = """
    import keras
    layers = [keras.layers.Flatten(), keras.layers.Dense(64, 'relu'), keras.layers.Dense(10)]
    model = keras.Sequential(layers)
    model.compile(keras.optimizers.Adam(0.005), metrics=['accuracy'],
                  loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(QueueInput(get_data(True)), epochs=5, verbose=0)
    print('keras: {:.3f}'.format(model.evaluate(QueueInput(get_data(False)), verbose=0)[1]))
"""


def test_its_imports_changed_by_hand_and_keras_after_it(python: Python, tmp_path: Path) -> None:
    text = python("-m", "tfqueue_compat", "demo", "--show").stdout
    text = text.replace("from tensorpack", "from tfqueue_compat").replace(
        "import tensorflow as tf", "import tfqueue_compat.compat.tfv1 as tf")
    (tmp_path / "by_hand.py").write_text(text + KERAS)
    done = python("by_hand.py", "--epochs", "1")
    assert done.returncode == 0, done.stderr
    legacy = re.search(r"test accuracy: (0\.\d+)", done.stdout)
    keras = re.search(r"keras: (0\.\d+)", done.stdout)
    assert legacy and float(legacy[1]) > 0.85 and keras and float(keras[1]) > 0.7, done.stdout
