# SPDX-License-Identifier: Apache-2.0
"""Every size of datapoint, every way to consume it, one library, with pytest-benchmark.

    pytest tests/bench/bench_queue.py
    TFQ_BENCH_IMPORT=tf.data pytest tests/bench/bench_queue.py

    TFQ_BENCH_IMPORT=tensorpack PYTHONPATH=<repository>:<folder of tensorpack_on_tf2> \\
        <python with tensorpack> -m pytest -c /dev/null -p no:cacheprovider <this file>

The one variable swaps the import. All cells of a run share a process, which suits a comparison
of a change with its parent (``--benchmark-save``, ``--benchmark-compare``); libraries are compared
by ``python -m tfqueue_compat bench``, a process a cell. ``--benchmark-disable`` only checks values.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from tfqueue_compat.cli.bench_cell.producers import KINDS, make_dataflow
from tfqueue_compat.cli.bench_cell.throughput import check, warm_up
from tfqueue_compat.cli.bench_cell.ways import WAYS, opened

LIBRARY = os.environ.get("TFQ_BENCH_IMPORT", "tfqueue_compat")
EAGER = ("function", "eager", "batch")
CELLS = [(kind, way) for kind in KINDS for way in WAYS
         if (kind in ("tiny", "small") or not way.startswith("batch"))
         and not (LIBRARY == "tensorpack" and way in EAGER)]


@pytest.mark.parametrize("arrays", ["fresh", "again"])
@pytest.mark.parametrize(("kind", "way"), CELLS, ids=["-".join(c) for c in CELLS])
def test_rate(benchmark: Any, kind: str, way: str, arrays: str) -> None:
    size = KINDS[kind]
    with opened(LIBRARY, make_dataflow(LIBRARY, size, arrays), size, way) as take:
        check(take, kind, arrays)
        n = warm_up(take, 0.5) if benchmark.enabled else 3
        benchmark.extra_info.update(library=LIBRARY, datapoints=n)
        done, _, _ = benchmark.pedantic(take, args=(n,), rounds=10, iterations=1)
        assert done >= n
        check(take, kind, arrays)
