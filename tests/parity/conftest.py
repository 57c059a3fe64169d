# SPDX-License-Identifier: Apache-2.0
"""Runs scripts under real tensorpack, in a process and an environment of its own.

``TFQ_PEER_PYTHON`` is a Python that has tensorpack 0.11; ``TFQ_PEER_PATH`` the folder of the
module ``tensorpack_on_tf2``, which lets it run on today's TensorFlow. Tests skip without them.
"""

from __future__ import annotations

import os
import pickle
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_FRAME = """
import pickle
import tensorpack_on_tf2
with open("inputs.pkl", "rb") as f:
    inputs = pickle.load(f)
outputs = {}
with open("script.py") as f:
    exec(compile(f.read(), "script.py", "exec"))
with open("outputs.pkl", "wb") as f:
    pickle.dump(outputs, f)
"""


@pytest.fixture(scope="session")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[str, Any]]:
    """Return ``run(script, **inputs) -> outputs``.

    The script finds its inputs in the dict ``inputs`` and puts what it finds into ``outputs``.
    """
    python = os.environ.get("TFQ_PEER_PYTHON")
    path = os.environ.get("TFQ_PEER_PATH")
    if not python or not path:
        pytest.skip("TFQ_PEER_PYTHON and TFQ_PEER_PATH do not name real tensorpack")

    def run(script: str, **inputs: Any) -> dict[str, Any]:
        folder: Path = tmp_path_factory.mktemp("peer")
        (folder / "frame.py").write_text(_FRAME)
        (folder / "script.py").write_text(script)
        (folder / "inputs.pkl").write_bytes(pickle.dumps(inputs))
        env = {**os.environ, "PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "3"}
        done = subprocess.run([python, "frame.py"], cwd=folder, env=env, text=True,
                              capture_output=True, timeout=300)
        assert done.returncode == 0, done.stderr[-4000:]
        return pickle.loads((folder / "outputs.pkl").read_bytes())

    return run
