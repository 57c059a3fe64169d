# SPDX-License-Identifier: Apache-2.0
"""Whole legacy scripts of our own, run unchanged as their users would run them."""

from __future__ import annotations

import gzip
import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tfqueue_compat

ROOT = Path(tfqueue_compat.__file__).parents[1]
SCRIPTS = Path(__file__).parent / "scripts"


def launch(script: str, *args: str, cwd: Path, **env: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "tfqueue_compat", "run", str(SCRIPTS / script), *args],
        cwd=cwd, text=True, capture_output=True, timeout=240, stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3", **env})
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


def write_idx(path: Path, array: np.ndarray) -> None:
    """Write the IDX format of MNIST's files: magic, shape, bytes; gzipped."""
    head = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
    path.write_bytes(gzip.compress(head + array.astype(np.uint8).tobytes()))


@pytest.fixture
def mnist(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "mnist_data"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for name, count in (("train", 60000), ("t10k", 10000)):
        write_idx(folder / f"{name}-images-idx3-ubyte.gz",
                  np.broadcast_to(rng.integers(0, 256, (count, 1, 1)), (count, 28, 28)))
        write_idx(folder / f"{name}-labels-idx1-ubyte.gz", rng.integers(0, 10, count))
    return folder.parent


def test_dequeue_mnist(mnist: Path, tmp_path: Path) -> None:
    said = launch("dequeue_mnist.py", cwd=tmp_path, TENSORPACK_DATASET=str(mnist))
    assert said[-1] == "OK 180000 10000 dequeue_mnist.py"


def test_feed_session(tmp_path: Path) -> None:
    assert launch("feed_session.py", "--steps", "40", cwd=tmp_path) == ["OK 40"]


def test_dataflow_only(tmp_path: Path) -> None:
    said = launch("dataflow_only.py", cwd=tmp_path)
    kept = [k for k in range(40) if k % 10 != 3]
    groups = [kept[i:i + 7] for i in range(0, len(kept), 7)]
    assert said[:6] == [f"({len(g)}, 8, 8, 3) float32 int32 {g}" for g in groups]
    assert said[6] == f"12 {[k * k + 1 for k in range(12)]}"
    assert said[7:] == ["[[1, 'a'], [2, 'b']] 6 True", "[[1], ['a'], ['b']]"]
