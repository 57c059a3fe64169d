# SPDX-License-Identifier: Apache-2.0
"""The table of ways to feed ``fit``, and one of them measured for real."""

from __future__ import annotations

import pytest

from tfqueue_compat.cli import bench_fit
from tfqueue_compat.cli.bench_fit import ALTERNATIVES, RATIOS, measure, table


def test_the_table_holds_medians_and_ratios_against_their_targets() -> None:
    text = table({"memory": [90.0, 100.0, 500.0], "QueueInput": [80.0, 96.0, 97.0],
                  "generator": [90.0], "PyDataset, 2 workers": []})
    row = next(line for line in text.splitlines() if line.startswith("| QueueInput"))
    assert "| 96 " in row
    assert "0.96x of memory (>= 0.95 yes); 1.07x of generator (>= 1.2 NO)" in row
    assert "PyDataset" not in text


def test_all_that_is_compared_is_measured() -> None:
    assert {name for name, others in RATIOS.items() for name in (name, *dict(others))} \
        <= set(ALTERNATIVES)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["QueueInput", "ModelDesc, fit", "ModelDesc, graph machine"])
def test_an_alternative_trains(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_fit, "STEPS", 20)
    monkeypatch.setattr(bench_fit, "EPOCHS", 1)
    assert measure(name) > 0
