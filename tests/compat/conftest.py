# SPDX-License-Identifier: Apache-2.0
"""Runs the same layers under tf-keras, in a process of its own, and under tfv1, in this one."""

from __future__ import annotations

import importlib.util
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def _eager_again():
    """Leave graphs that a test entered."""
    yield
    from tfqueue_compat.compat import leave_graph
    leave_graph()


@pytest.fixture(scope="session")
def both(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Any, Any]]:
    """Return ``both(file) -> (tf-keras' results, ours)``, each a dict by case.

    ``file`` defines CASES, functions of a TF 1 namespace; ``run_cases.py`` says what is recorded.
    """
    if importlib.util.find_spec("tf_keras") is None:
        pytest.skip("tf-keras, the independent reference of tf.layers, is not installed")

    def run(file: str) -> tuple[Any, Any]:
        out = tmp_path_factory.mktemp("legacy") / "out.pkl"
        env = {**os.environ, "TF_USE_LEGACY_KERAS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
        done = subprocess.run(
            [sys.executable, str(HERE / "run_cases.py"), str(HERE / file), str(out)],
            env=env, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr[-4000:]
        from tfqueue_compat.compat import tfv1
        spec = importlib.util.spec_from_file_location("run_cases", HERE / "run_cases.py")
        runner = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(runner)
        return pickle.loads(out.read_bytes()), runner.run_file(HERE / file, tfv1)

    return run
