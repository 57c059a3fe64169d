# SPDX-License-Identifier: Apache-2.0
"""Throughput before and after, by hand and from a real input's meter."""

from __future__ import annotations

import pytest

from tfqueue_compat import QueueInput
from tfqueue_compat.plots import draw_throughput


def test_bars_are_compared_with_the_first() -> None:
    axes, = draw_throughput({"before": 100, "after": 250.0, "worse": 50.0}).axes
    assert [t.get_text() for t in axes.texts] == ["100", "250 (2.5x)", "50 (0.5x)"]
    assert [bar.get_width() for bar in axes.patches] == [100, 250, 50]


def test_a_meter_gives_its_mean_rate() -> None:
    queue = QueueInput([[i] for i in range(500)])
    assert sum(1 for _ in queue) == 500
    most = 500 / queue.meter.seconds
    axes, = draw_throughput({"queue": queue.meter}).axes
    assert most >= axes.patches[0].get_width() >= 500 / queue.meter.seconds
    queue.stop()


def test_nothing_to_compare_is_refused() -> None:
    with pytest.raises(ValueError, match="Expected at least one rate"):
        draw_throughput({})
    with pytest.raises(ValueError, match="'idle'.*above 0"):
        draw_throughput({"idle": 0.0})
