# SPDX-License-Identifier: Apache-2.0
"""The plot of a queue, read back as SVG."""

from __future__ import annotations

import re
import time
from pathlib import Path

from tfqueue_compat.engine import Meter
from tfqueue_compat.plots import plot_queue


def a_meter() -> Meter:
    meter = Meter(capacity=40)
    meter.start()
    for _ in range(10):
        meter.produced += 3
        time.sleep(0.03)
        meter.took(1)
    return meter


def test_the_plot_says_what_the_meter_says(tmp_path: Path) -> None:
    meter = a_meter()
    path = tmp_path / "new" / "folder" / "queue.svg"
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none"}):
        assert plot_queue(meter, path, title="Training input") == str(path)
    text = path.read_text()
    for word in ("Training input", "seconds", "datapoints in the queue", "capacity 40",
                 meter.verdict().split("(")[0].strip()[:40]):
        assert word in text, word


def test_a_meter_that_saw_nothing_still_gives_a_plot(tmp_path: Path) -> None:
    path = plot_queue(Meter(capacity=5), tmp_path / "empty.png")
    assert re.match(rb"\x89PNG", Path(path).read_bytes())
