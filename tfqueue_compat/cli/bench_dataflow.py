# SPDX-License-Identifier: Apache-2.0
"""``bench-dataflow``: DataFlow's parallel parts beside tensorpack's, PyTorch's and Grain's."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

__all__ = ["ROWS", "main", "register", "table"]

_HERE = Path(__file__).resolve().parent
_PROGRAM = _HERE / "bench_cell" / "transfer.py"
TIMEOUT = 60
OURS = "tfqueue_compat"
# (what, kind, title) -> library: the ratio to reach over it (0: none was set)
ROWS: dict[tuple[str, str, str], dict[str, float]] = {
    ("transfer", "tiny", "1 worker, 2 scalars"): {"tensorpack": 50, "torch": 0, "grain": 0},
    ("transfer", "small", "1 worker, (28, 28) f32"): {"tensorpack": 30, "torch": 0, "grain": 0},
    ("transfer", "medium", "1 worker, (128, 28, 28) f32"):
        {"tensorpack": 8, "torch": 10, "grain": 10},
    ("transfer", "u8", "1 worker, (64, 224, 224, 3) u8"):
        {"tensorpack": 5, "torch": 5, "grain": 5},
    ("transfer", "f32", "1 worker, (64, 224, 224, 3) f32"):
        {"tensorpack": 8, "torch": 4, "grain": 4, "memcpy": 0.4},
    ("map", "small", "1 ms of Python, 2 workers"):
        {"one process": 1.9, "tensorpack": 0, "torch": 0, "grain": 0},
    ("batch", "small", "BatchData of (28, 28) f32 by 128"): {"tensorpack": 1.5},
    ("batch", "u8", "BatchData of (224, 224, 3) u8 by 64"): {"tensorpack": 1.0},
    ("jpeg", "u8", "JPEG and augmentation, 2 workers, images"):
        {"tensorpack": 1.2, "torch": 1.0, "grain": 0},
}


def _python_of(library: str, args: argparse.Namespace) -> str:
    other = {"tensorpack": args.peer_python, "torch": args.torch_python,
             "grain": args.grain_python}
    return str(other.get(library, sys.executable))


def _run(library: str, what: str, kind: str, args: argparse.Namespace) -> float:
    path = args.peer_path if library == "tensorpack" else str(_HERE.parents[1])
    # in a file: tensorpack's workers outlive it, and would hold a pipe open
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(
            [_python_of(library, args), str(_PROGRAM), library, what, kind],
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": path},
            stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            process.wait(TIMEOUT)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        out.seek(0)
        text = out.read()
    rates = [line.split()[1] for line in text.splitlines() if line.startswith("RATE ")]
    if not rates:
        raise RuntimeError(text.strip()[-500:])
    return float(rates[-1])


def table(rates: dict[tuple[str, str, str], dict[str, list[float]]]) -> str:
    """Return the medians and our ratios as Markdown.

    Args:
        rates: row -> library -> datapoints a second in each round.
    """
    from tabulate import tabulate
    lines = []
    for row, found in rates.items():
        medians = {name: statistics.median(v) for name, v in found.items() if v}
        cells = [row[2], f"{medians[OURS]:,.4g}" if OURS in medians else "-"]
        for other, least in ROWS[row].items():
            if other in medians and OURS in medians:
                ratio = medians[OURS] / medians[other]
                mark = f" (>= {least:g} {'yes' if ratio >= least else 'NO'})" if least else ""
                cells.append(f"{ratio:.3g}x of {other}'s {medians[other]:,.4g}{mark}")
        lines.append([cells[0], cells[1], "; ".join(cells[2:])])
    return str(tabulate(lines, ["", "ours, a second", "ratios"], tablefmt="github",
                        disable_numparse=True))


def register(subparsers: Any) -> None:
    """Add the verb ``bench-dataflow`` to the command line."""
    parser = subparsers.add_parser(
        "bench-dataflow", help="measure DataFlow's workers beside tensorpack, PyTorch, Grain",
        description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="to take medians over (default 3)")
    for name, what in (("peer", "real tensorpack"), ("torch", "PyTorch"), ("grain", "Grain")):
        parser.add_argument(f"--{name}-python", metavar="PATH", help=f"a Python that has {what}",
                            default=os.environ.get(f"TFQ_{name.upper()}_PYTHON", ""))
    parser.add_argument("--peer-path", default=os.environ.get("TFQ_PEER_PATH", ""),
                        metavar="FOLDER", help="a folder for the first one's PYTHONPATH")
    parser.add_argument("--out", type=Path, metavar="FILE", help="append the table to this file")
    parser.set_defaults(func=main)


def main(args: argparse.Namespace) -> int:
    """Measure, print and write the table; return the exit status."""
    rates: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    failed = False
    for r in range(args.rounds):
        for row, others in ROWS.items():
            libraries = [x for x in (OURS, *others) if _python_of(x, args)]
            for library in libraries[r % 2:] + libraries[:r % 2]:
                found = rates.setdefault(row, {}).setdefault(library, [])
                print(f"round {r + 1} of {args.rounds}: {row[2]}: {library}", file=sys.stderr,
                      flush=True)
                try:
                    found.append(_run(library, row[0], row[1], args))
                except (RuntimeError, subprocess.TimeoutExpired) as e:
                    failed = True
                    print(f"failed: {e}", file=sys.stderr, flush=True)
    report = table(rates)
    print(report)
    if args.out:
        with args.out.open("a", encoding="utf-8") as f:
            f.write(f"\n## DataFlow\n\nMedians of {args.rounds} rounds, each in a process of its "
                    f"own; no TensorFlow but in the last row.\n\n{report}\n")
    return 1 if failed else 0
