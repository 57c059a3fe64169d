# SPDX-License-Identifier: Apache-2.0
"""Every test starts eager, in a fresh default graph, without a log directory or a fixed seed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

# Who starts the tests in the background may have them, and the processes that they start, ignore
# Ctrl-C. Tests of Ctrl-C need the usual way.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def fresh_state() -> Iterator[None]:
    """Undo what a test leaves in the process; nothing is imported for it."""
    _fresh()
    yield
    _fresh()


def _fresh() -> None:
    modes = sys.modules.get("tfqueue_compat.compat.graph_mode_")
    if modes is not None:
        modes.leave_graph()
    tf = sys.modules.get("tensorflow")
    if tf is not None and hasattr(tf, "compat"):
        tf.compat.v1.reset_default_graph()
    numbers = sys.modules.get("tfqueue_compat.utils.utils")
    if numbers is not None:
        numbers._RNG_SEED = None
    logger = sys.modules.get("tfqueue_compat.utils.logger")
    if logger is not None:
        logger._close_file()
        logger.LOG_DIR = None


@pytest.fixture
def fresh_process() -> Callable[..., str]:
    """Return ``fresh_process(text, **environment)``: runs Python code, returns what it prints."""
    def run(text: str, **environment: str) -> str:
        root = str(Path(__file__).parents[1])
        env = {**os.environ, "PYTHONPATH": root, "TF_CPP_MIN_LOG_LEVEL": "3",
               "CUDA_VISIBLE_DEVICES": "", **environment}
        done = subprocess.run([sys.executable, "-c", text], env=env, text=True,
                              capture_output=True, timeout=300, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stdout.strip()
    return run
