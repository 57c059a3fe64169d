# SPDX-License-Identifier: Apache-2.0
"""PyTorch reads a DataFlow, in a process and an environment without TensorFlow.

``TFQ_TORCH_PYTHON`` is a Python that has torch; the test skips without it. (PyTorch and TensorFlow
in one process can crash.)
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tfqueue_compat

SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
sys.modules["tensorflow"] = None  # not to be had
import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset
from tfqueue_compat.dataflow import (BatchData, DataFromList, MapData,
                                     MultiProcessRunnerZMQ, RNGDataFlow)


class Draws(RNGDataFlow):
    def __iter__(self):
        for i in range(6):
            yield [i, int(self.rng.randint(1 << 31))]

    def __len__(self):
        return 6


class FromDataFlow(IterableDataset):
    def __init__(self, df):
        self.df = df

    def __iter__(self):
        return iter(self.df)

    def __len__(self):
        return len(self.df)


if __name__ == "__main__":
    rows = DataFromList([[np.full((2, 3), i, "float32"), i] for i in range(10)], shuffle=False)

    # as it is: batches of the dataflow's own
    batches = list(DataLoader(FromDataFlow(BatchData(rows, 4, remainder=True)), batch_size=None))
    assert [b[1].tolist() for b in batches] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]], batches
    assert batches[0][0].dtype == torch.float32 and batches[0][0].shape == (4, 2, 3)

    # batched by torch
    batches = list(DataLoader(FromDataFlow(MapData(rows, lambda dp: [dp[0] * 2, dp[1]])), 5))
    assert len(batches) == 2 and batches[1][0][4].max() == 18

    # torch's workers: each draws numbers of its own
    drawn = list(DataLoader(FromDataFlow(Draws()), batch_size=None, num_workers=2))
    assert sorted(i for i, _ in drawn) == sorted([*range(6)] * 2)
    assert len({r for _, r in drawn}) == 12, drawn

    # our workers, torch's loop
    runner = MultiProcessRunnerZMQ(rows, 1)
    got = [int(label) for _, label in DataLoader(FromDataFlow(runner), batch_size=None)]
    assert sorted(got) == list(range(10)), got

    # a plain iterator
    assert [int(torch.as_tensor(x).sum()) for x, _ in iter(rows)][:3] == [0, 6, 12]
    print("all of torch's ways")
"""


def test_torch_reads_a_dataflow(tmp_path: Path) -> None:
    python = os.environ.get("TFQ_TORCH_PYTHON")
    if not python:
        pytest.skip("TFQ_TORCH_PYTHON does not name a Python that has torch")
    script = tmp_path / "torch_reads.py"
    script.write_text(SCRIPT)
    home = str(Path(tfqueue_compat.__file__).parents[1])
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run([python, str(script), home], env=env, text=True, capture_output=True,
                          timeout=180)
    assert done.returncode == 0, done.stderr[-4000:] + sys.version
    assert done.stdout.strip() == "all of torch's ways"
