# SPDX-License-Identifier: Apache-2.0
"""Training under Keras is tensorpack's training, bit for bit, and on two devices to rounding."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent


def found_by(script: str) -> Any:
    env = {**os.environ, "PYTHONPATH": str(HERE.parents[1]), "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run([sys.executable, script], cwd=HERE, env=env, text=True,
                          capture_output=True, timeout=600)
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.rpartition("FOUND ")[2])


@pytest.mark.slow
def test_a_hundred_steps_equal_the_graph_machines_and_a_sessions() -> None:
    found = found_by("train_both.py")
    assert len(found) == 10 and len(found["momentum"]) == 2
    for name, comparisons in found.items():
        for comparison in comparisons:
            assert comparison == {"names": [], "values": [], "losses": 0,
                                  "still": ["learning_rate"]}, name


@pytest.mark.slow
def test_two_devices_equal_one_on_the_joint_batch() -> None:
    found = found_by("train_mirrored.py")
    assert found["replicas"] == 2
    for name in ("sgd", "momentum", "adam"):
        assert found[name]["largest_difference"] < 1e-6, name
        assert found[name]["replicas_differ"] == [] and found[name]["step"] == 20
        assert abs(found[name]["losses"][0] - found[name]["losses"][1]) < 1e-5
    assert found["rates"] == [pytest.approx(1e-4)] * 2
    assert found["saved"]["global_step"] == 8 and found["saved"]["as_the_model"]
    assert found["evaluated"][0] == pytest.approx(found["evaluated"][1], rel=1e-5)
    assert "AccumGradOptimizer: Expected" in found["gathered"]
    assert "ProcessTensors under Keras fit: Expected one device" in found["fetches"]
    assert "build_graph under a tf.distribute.Strategy: Expected" in found["assigns"]
