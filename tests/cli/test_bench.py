# SPDX-License-Identifier: Apache-2.0
"""The table says what was measured; the cells measure what they say."""

from __future__ import annotations

import argparse
import itertools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tfqueue_compat.cli import bench
from tfqueue_compat.cli.bench_cell.producers import KINDS, make_dataflow
from tfqueue_compat.cli.bench_cell.throughput import check, warm_up
from tfqueue_compat.cli.bench_table import (
    OURS, PEER, PLAIN, ROWS, Cell, Figure, Row, figure_table, ratio, speed_table)

ROW = Row("tiny", "fresh", "session", over_peer=3.2, over_plain=3.)


def _rates(*values: float | None) -> list[dict[str, Any] | None]:
    return [None if v is None else {"rate": v, "cpu": 1 / v} for v in values]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    bench.register(parser.add_subparsers())
    return parser


def test_ratio_is_the_median_of_the_rounds_own_ratios() -> None:
    # the machine slows down fourfold: medians of rates alone would say 200 / 100 = 2
    results = {ROW.cell(OURS): _rates(400, 200, 100), ROW.cell(PEER): _rates(100, 100, 25)}
    assert ratio(results, ROW.cell(OURS), ROW.cell(PEER)) == 4
    assert ratio(results, ROW.cell(PEER), ROW.cell(OURS)) == 0.25


def test_a_round_that_lacks_one_side_is_left_out() -> None:
    results = {ROW.cell(OURS): _rates(400, None, 100), ROW.cell(PEER): _rates(None, 100, 50)}
    assert ratio(results, ROW.cell(OURS), ROW.cell(PEER)) == 2
    assert ratio(results, ROW.cell(OURS), ROW.cell(PLAIN)) is None
    assert ratio(results, ROW.cell(OURS), None) is None


def test_table_marks_what_was_reached() -> None:
    results = {ROW.cell(OURS): _rates(400), ROW.cell(PEER): _rates(100),
               ROW.cell(PLAIN): _rates(200)}
    line = speed_table(results, [ROW]).splitlines()[-1]
    cells = [c.strip() for c in line.strip("|").split("|")]
    assert cells == ["tiny", "fresh", "session", "100", "-", "200", "400", "4 (>= 3.2 yes)", "-",
                     "2 (>= 3 NO)", "10,000, 5,000, 2,500"]


def test_table_without_tensorpack_shows_dashes() -> None:
    results = {ROW.cell(OURS): _rates(400), ROW.cell(PLAIN): _rates(100)}
    cells = [c.strip() for c in speed_table(results, [ROW]).splitlines()[-1].split("|")]
    assert cells[4] == "-" and cells[8] == "-" and cells[10] == "4 (>= 3 yes)"


def test_figures_are_held_against_their_limit() -> None:
    figure = Figure("import", "import", "import_s", limit=.3)
    for took, mark in ((.2, "< 0.3 yes"), (.4, "< 0.3 NO")):
        results = {Cell(OURS, "small", "fresh", "session", "import"): [{"import_s": took}]}
        assert figure_table(results, [figure]).splitlines()[-1].split("|")[6].strip() == mark


def test_rows_hold_the_targets() -> None:
    rows = {(r.kind, r.arrays, r.way): r for r in ROWS}
    assert len(rows) == len(ROWS) == 33
    assert rows["small", "fresh", "session"].over_peer == 2.7
    assert rows["u8", "fresh", "step"].cell(PEER).way == "step"  # each beside its like
    assert rows["u8", "fresh", "loop"].cell(PEER).way == "session"
    assert rows["tiny", "again", "batchqueue"].over_batch == 150
    assert rows["f32", "fresh", "eager"].over_peer == 2.7
    assert all(r.over_peer > 1 and r.over_plain > 1 for r in ROWS if r.arrays != "kept")


def test_unknown_names_are_refused_with_the_known_ones(capsys: Any) -> None:
    with pytest.raises(SystemExit):
        _parser().parse_args(["bench", "--ways", "session,loops"])
    assert "session,step,loop,function" in capsys.readouterr().err
    assert _parser().parse_args(["bench", "--only", "u8, f32"]).only == ("u8", "f32")


@pytest.mark.parametrize("kind", KINDS)
def test_fresh_datapoints_share_nothing_and_count_up(kind: str) -> None:
    size = KINDS[kind]
    df = make_dataflow("tf.data", size)
    points = list(itertools.islice(iter(df), 3))
    for i, (data, label) in enumerate(points):
        expected, _ = size.value(i)
        np.testing.assert_array_equal(data, expected)
        np.testing.assert_array_equal(label, np.full(size.labels, i))
        assert np.shape(data) == size.shape
    if size.shape:
        assert not np.shares_memory(points[0][0], points[1][0])
        assert size.nbytes == points[0][0].nbytes + 4 * int(np.prod(size.labels))


def test_kept_holds_its_datapoint_until_the_next() -> None:
    for arrays, held in (("fresh", False), ("kept", True)):
        iterator = iter(make_dataflow("tf.data", KINDS["small"], arrays))
        data = next(iterator)[0]
        mine = sys.getrefcount(data)
        next(iterator)
        assert (sys.getrefcount(data) < mine) is held


def test_again_yields_the_very_same_arrays() -> None:
    first, second = itertools.islice(iter(make_dataflow("tf.data", KINDS["small"], "again")), 2)
    assert first[0] is second[0]


def test_wrong_values_are_not_timed() -> None:
    good = KINDS["small"].value(5)
    check(lambda n: (n, *good), "small", "fresh")
    with pytest.raises(ValueError, match="beside label 6"):
        check(lambda n: (n, good[0], 6), "small", "fresh")


def test_warm_up_empties_the_queue_three_times() -> None:
    taken: list[int] = []

    def take(n: int) -> tuple[int, Any, Any]:
        taken.append(n)
        return n, 0, 0

    assert warm_up(take, 0.) >= 1
    assert sum(taken) >= 150


@pytest.mark.slow
def test_the_command_measures_ours_beside_plain(tmp_path: Path) -> None:
    out = tmp_path / "report.md"
    env = {k: v for k, v in os.environ.items() if not k.startswith("TFQ_")}
    done = subprocess.run(
        [sys.executable, "-m", "tfqueue_compat", "bench", "--rounds", "1", "--only", "small",
         "--ways", "eager,import", "--seconds", "0.2", "--warm", "0.1", "--out", str(out)],
        env=env, text=True, capture_output=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert out.read_text(encoding="utf-8").endswith(done.stdout.rstrip("\n") + "\n")
    eager = next(x for x in done.stdout.splitlines() if "| eager" in x).split("|")
    assert float(eager[7].replace(",", "")) > 0  # ours, datapoints a second
    assert eager[4].strip() == "-"  # no tensorpack here


@pytest.mark.parity
@pytest.mark.slow
def test_the_same_cell_runs_on_tensorpack() -> None:
    python = os.environ.get("TFQ_PEER_PYTHON")
    if not python:
        pytest.skip("TFQ_PEER_PYTHON is not set")
    result = bench.measure_cell(Cell(PEER, "small", "fresh", "session"), seconds=.2, warm=.1,
                                peer_python=python, peer_path=os.environ.get("TFQ_PEER_PATH", ""))
    assert result["rate"] > 0 and result["datapoints"] > 0
