# SPDX-License-Identifier: Apache-2.0
"""``bench``: tensorpack, plain tf.data and tfqueue_compat side by side on this machine.

Each measurement is a process of its own, since one alternative's memory and threads slow the
next; the alternatives take turns, round by round, so that a busy machine is busy for all.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import bench_table
from .bench_table import Cell, Figure, Results, Row

__all__ = ["main", "measure_cell", "register", "run_rounds"]

KINDS = ("tiny", "small", "medium", "u8", "f32")
WAYS = ("session", "step", "loop", "function", "eager", "batch", "batchqueue")
PROBES = ("latency", "held", "step", "import", "memory")
MEMORY_COUNT = 100_000  # datapoints over which memory may not grow
TIMEOUT = 300  # seconds for one cell; only a hang takes so long
# the other Python has no tfqueue_compat: it gets the one folder that needs nothing of it
PROGRAM = ("import os, sys; sys.path.insert(0, sys.argv.pop(1)); import bench_cell.__main__ as m; "
           "del sys.path[0]; s = m.main(); sys.stdout.flush(); os._exit(s)")


def _names(allowed: tuple[str, ...]) -> Any:
    """Return an argparse type: a comma-separated choice out of ``allowed``."""
    def parse(text: str) -> tuple[str, ...]:
        names = tuple(n.strip() for n in text.split(",") if n.strip())
        wrong = [n for n in names if n not in allowed]
        if wrong or not names:
            raise argparse.ArgumentTypeError(
                f"Expected some of {','.join(allowed)}. Received {text!r}. "
                "Do: name them with commas between.")
        return names
    return parse


def register(subparsers: Any) -> None:
    """Add the verb ``bench`` to the command line.

    Args:
        subparsers: what ``ArgumentParser.add_subparsers()`` returned.
    """
    p = subparsers.add_parser(
        "bench", help="measure QueueInput beside tensorpack's and plain tf.data",
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=3, help="rounds to take medians over (default 3)")
    p.add_argument("--seconds", type=float, default=1.5, help="a measurement's time, after warm-up")
    p.add_argument("--warm", type=float, default=1., help="a measurement's warm-up, in seconds")
    p.add_argument("--only", type=_names(KINDS), default=KINDS, metavar="KIND,...",
                   help="datapoints: " + ",".join(KINDS))
    p.add_argument("--ways", type=_names(WAYS + PROBES), default=WAYS + PROBES, metavar="WAY,...",
                   help="ways and probes: " + ",".join(WAYS + PROBES))
    p.add_argument("--peer-python", default=os.environ.get("TFQ_PEER_PYTHON", ""), metavar="PATH",
                   help="a Python that has tensorpack 0.11 (default: $TFQ_PEER_PYTHON); "
                        "without one its columns stay empty")
    p.add_argument("--peer-path", default=os.environ.get("TFQ_PEER_PATH", ""), metavar="FOLDER",
                   help="folder of tensorpack_on_tf2.py (default: $TFQ_PEER_PATH)")
    p.add_argument("--out", type=Path, metavar="FILE", help="also write the report here (Markdown)")
    p.set_defaults(func=main)


def measure_cell(cell: Cell, seconds: float = 1.5, warm: float = 1., peer_python: str = "",
                 peer_path: str = "") -> dict[str, Any]:
    """Measure one cell in a process of its own.

    Args:
        cell: what to measure.
        seconds: time to measure.
        warm: time to warm up before.
        peer_python: the Python that has tensorpack.
        peer_path: a folder for that Python's PYTHONPATH.

    Returns:
        What the cell printed: for a rate see :func:`bench_cell.throughput.measure`.

    Raises:
        RuntimeError: where it failed; the text is the end of what it wrote.
        subprocess.TimeoutExpired: where it hung.
    """
    here = Path(__file__).resolve().parent
    peer = cell.library == "tensorpack"
    path = peer_path if peer else str(here.parent.parent)
    command = [peer_python if peer else sys.executable, "-c", PROGRAM, str(here),
               "--import", cell.library, "--kind", cell.kind, "--way", cell.way,
               "--arrays", cell.arrays,
               "--seconds", str(seconds), "--warm", str(warm)]
    if cell.probe == "memory":
        command += ["--count", str(MEMORY_COUNT)]
    elif cell.probe:
        command += ["--probe", cell.probe]
    env = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": path}
    done = subprocess.run(command, env=env, text=True, timeout=TIMEOUT, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lines = [x for x in done.stdout.splitlines() if x.startswith("{")]
    if done.returncode or not lines:
        raise RuntimeError((done.stderr or done.stdout).strip()[-500:])
    # another thread may have printed between the line and its end
    result: dict[str, Any] = json.JSONDecoder().raw_decode(lines[-1])[0]
    return result


def run_rounds(cells: Iterable[Cell], rounds: int,
               **options: Any) -> tuple[Results, dict[Cell, str]]:
    """Measure the cells round by round; each round begins one cell later.

    Args:
        cells: the cells; those to be compared stand side by side.
        rounds: how often each is measured.
        **options: for :func:`measure_cell`.

    Returns:
        Cell -> its result in each round (None where it failed), and cell -> last error.
    """
    order = list(dict.fromkeys(cells))
    results: dict[Cell, list[dict[str, Any] | None]] = {c: [] for c in order}
    errors: dict[Cell, str] = {}
    for r in range(rounds):
        print(f"round {r + 1} of {rounds}: {len(order)} measurements", file=sys.stderr, flush=True)
        for cell in order[r:] + order[:r]:
            try:
                results[cell].append(measure_cell(cell, **options))
            except (RuntimeError, subprocess.TimeoutExpired) as e:
                results[cell].append(None)
                errors[cell] = str(e)
                print(f"failed: {cell}\n{e}", file=sys.stderr, flush=True)
    return results, errors


def _load() -> str:
    return ", ".join(f"{x:.1f}" for x in os.getloadavg()) if hasattr(os, "getloadavg") else "?"


def _head(args: argparse.Namespace, results: Results, before: str) -> str:
    """Return the lines that say what was measured where."""
    from importlib import metadata
    rates = [r for rs in results.values() for r in rs if r and "share" in r]
    share = sorted(r["share"] for r in rates)[len(rates) // 2] if rates else float("nan")
    versions = ", ".join(f"{n} {metadata.version(n)}" for n in ("tensorflow", "numpy"))
    return (f"Python {platform.python_version()}, {versions}; {os.cpu_count()} cores "
            f"({platform.machine()}); load {before} before and {_load()} after; a busy thread got "
            f"{share:.2f} of a core. Medians of {args.rounds} rounds of {args.seconds:g} s after "
            f"{args.warm:g} s of warm-up, each in a process of its own. dp: datapoints. "
            "tensorpack: 0.11's QueueInput, one sess.run a datapoint. plain: "
            "from_generator().prefetch(50), used the way ours is.")


def main(args: argparse.Namespace) -> int:
    """Measure what was asked for, print the tables, write the report.

    Returns:
        0, or 1 where a measurement failed; a speed that misses its target is no failure.
    """
    rows = [r for r in bench_table.ROWS if r.kind in args.only and r.way in args.ways]
    figures = [replace(f, kinds=tuple(k for k in f.kinds if k in args.only))
               for f in bench_table.FIGURES if f.probe in args.ways]
    wanted: list[Row | Figure] = [*rows, *figures]
    cells = [c for x in wanted for c in x.cells()
             if args.peer_python or c.library != bench_table.PEER]
    before = _load()
    results, errors = run_rounds(cells, args.rounds, seconds=args.seconds, warm=args.warm,
                                 peer_python=args.peer_python, peer_path=args.peer_path)
    parts = [_head(args, results, before)]
    parts += [bench_table.speed_table(results, rows)] if rows else []
    parts += [bench_table.figure_table(results, figures)] if figures else []
    parts += [f"failed: {c}: {e.splitlines()[-1]}" for c, e in errors.items()]
    report = "\n\n".join(parts) + "\n"
    print(report)
    if args.out:
        args.out.write_text("# Benchmark\n\n" + report, encoding="utf-8")
    return 1 if errors else 0
