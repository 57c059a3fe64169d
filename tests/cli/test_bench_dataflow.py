# SPDX-License-Identifier: Apache-2.0
"""The table of DataFlow's speed, and some of its measurements for real."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tfqueue_compat
from tfqueue_compat.cli.bench_dataflow import ROWS, table

PROGRAM = Path(tfqueue_compat.__path__[0]) / "cli" / "bench_cell" / "transfer.py"


def test_the_table_holds_ratios_of_medians_against_their_targets() -> None:
    row = next(r for r in ROWS if r[0] == "map")
    text = table({row: {"tfqueue_compat": [1.0, 190.0, 500.0], "one process": [100.0],
                        "torch": [95.0], "grain": []}})
    assert "| 190 " in text and "1.9x of one process's 100 (>= 1.9 yes)" in text
    assert "2x of torch's 95" in text and "grain" not in text


@pytest.mark.slow
@pytest.mark.parametrize("what, kind", [("transfer", "small"), ("map", "small"), ("batch", "u8")])
def test_it_measures(what: str, kind: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv = sys.argv[1:]; import runpy\n"
         "import time; g = runpy.run_path(sys.argv[0]); f = g['_rate'].__globals__\n"
         "f.update(SECONDS=0.1, WARM=0.1); print(g['measure'](*sys.argv[1:])); import os\n"
         "sys.stdout.flush(); os._exit(0)",
         str(PROGRAM), "tfqueue_compat", what, kind],
        capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 and float(done.stdout) > 1, done.stderr
