# SPDX-License-Identifier: Apache-2.0
"""README.md says what is so: its commands, its examples, and its extras."""

from __future__ import annotations

import configparser
import re
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfqueue_compat

ROOT = Path(tfqueue_compat.__file__).parents[1]
README = ROOT / "README.md"

pytestmark = pytest.mark.skipif(not README.exists(), reason="installed without README.md")


def blocks(language: str) -> list[str]:
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```$", README.read_text(encoding="utf-8"),
                       re.M | re.S)
    return [textwrap.dedent(text) for _, text in found]


def block(word: str) -> str:
    return next(text for text in blocks("python") if word in text)


@pytest.fixture
def names() -> dict[str, Any]:
    import tfqueue_compat.compat.tfv1 as tf

    found: dict[str, Any] = {"tf": tf}
    exec(block("queue = QueueInput(data)"), found)
    return found


def test_two_commands_install_run_and_test() -> None:
    demo, tests = blocks("bash")
    assert demo.strip().endswith("&& python -m tfqueue_compat demo")
    assert tests.strip().endswith("&& python -m pytest")
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    extras = dict(config["options.extras_require"])
    text = README.read_text(encoding="utf-8")
    for extra in set(extras) - {"test", "bench", "all"}:
        assert f"`{extra}`" in text, extra
    wanted = {line for extra in set(extras) - {"test", "bench", "all", "ray"}  # Ray is large
              for line in extras[extra].split("\n") if line}
    assert set(filter(None, extras["all"].split("\n"))) == wanted


def test_towers_in_a_graph(names: dict[str, Any]) -> None:
    tf = names["tf"]
    with tf.Graph().as_default(), tf.Session() as sess:
        exec(block("queue.setup("), names)
        image, label = sess.run([names["image"], names["label"]])
    assert image.shape == (64, 8, 8) and label.shape == (64,)


def test_alone_in_a_session(names: dict[str, Any]) -> None:
    with names["tf"].Graph().as_default():
        exec(block("queue.dequeue()"), names)
        assert names["image"].shape.as_list()[1:] == [8, 8]


@pytest.mark.filterwarnings("ignore:`shuffle=True` was passed")  # Keras' word to any dataset
def test_eager_function_and_keras(names: dict[str, Any]) -> None:
    import keras
    import tensorflow as tf

    queue, count = names["queue"], len(names["data"])
    assert sum(len(label) for _, label in queue) == 64 * count

    @tf.function
    def total() -> Any:
        rows = 0
        for image, _ in queue:
            rows += tf.shape(image)[0]
        return rows

    assert int(total()) == 64 * count
    model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(10)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    history = model.fit(queue, epochs=3, verbose=0).history["loss"]
    assert len(history) == 3 and np.all(np.isfinite(history))
    assert queue.meter.verdict().split(":")[0] in ("model-bound", "data-bound", "balanced")


@pytest.mark.slow
def test_a_model_desc_under_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {}
    exec(block("class Model(tp.ModelDesc)"), found)
    assert found["prob"].shape == (500, 10) and np.allclose(found["prob"].sum(1), 1, atol=1e-5)
    assert "fc0/W" in np.load("model.npz")
    exec(block("batch_per_tower(QueueInput(train), strategy)"), found)
    assert len(found["model"].history.history["loss"]) == 3
