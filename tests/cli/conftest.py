# SPDX-License-Identifier: Apache-2.0
"""Runs the command line in a process of its own, as its users do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tfqueue_compat

ROOT = Path(tfqueue_compat.__file__).parents[1]

Done = subprocess.CompletedProcess


@pytest.fixture
def python(tmp_path: Path) -> Callable[..., Done[str]]:
    """Return ``python(*args, path=(), cwd=tmp_path)``: run Python where the package is found."""

    def run(*args: str, path: tuple[Path, ...] = (), cwd: Path = tmp_path) -> Done[str]:
        env = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3",
               "PYTHONPATH": os.pathsep.join(map(str, [*path, ROOT]))}
        return subprocess.run([sys.executable, *args], cwd=cwd, env=env, text=True,
                              capture_output=True, timeout=240, stdin=subprocess.DEVNULL)

    return run


@pytest.fixture
def launch(python: Callable[..., Done[str]]) -> Callable[..., Done[str]]:
    """Return ``launch(*args)``: ``python -m tfqueue_compat run *args`` in the test's folder."""
    return lambda *args, **kwargs: python("-m", "tfqueue_compat", "run", *args, **kwargs)
