# SPDX-License-Identifier: Apache-2.0
"""One script, run by real tensorpack as it is and by ours through ``run``: the same output."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tfqueue_compat

pytestmark = pytest.mark.parity

SCRIPT = Path(__file__).parents[1] / "legacy" / "scripts" / "dataflow_only.py"

RUN = """
import contextlib, io, runpy
said = io.StringIO()
with contextlib.redirect_stdout(said):
    runpy.run_path(inputs["path"], run_name="__main__")
outputs["said"] = said.getvalue()
"""


def test_dataflow_only(peer: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    theirs = peer(RUN, path=str(SCRIPT))["said"]
    ours = subprocess.run(
        [sys.executable, "-m", "tfqueue_compat", "run", str(SCRIPT)], cwd=tmp_path, text=True,
        capture_output=True, timeout=120, stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(Path(tfqueue_compat.__file__).parents[1])})
    assert ours.returncode == 0, ours.stderr
    assert ours.stdout == theirs
