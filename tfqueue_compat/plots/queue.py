# SPDX-License-Identifier: Apache-2.0
"""A picture of a queue: how full it was over time, and who waited for whom."""

from __future__ import annotations

import os
import textwrap
from typing import TYPE_CHECKING

from ..utils.errors import require

if TYPE_CHECKING:
    from ..engine.meter import Meter

__all__ = ["plot_queue"]


def plot_queue(meter: Meter, path: str | os.PathLike[str], title: str = "QueueInput") -> str:
    """Save a plot of queue occupancy over time.

    A queue that stays full says that the model is the bottleneck; one that stays empty, the data.

    Args:
        meter: a QueueInput's ``meter``, read now.
        path: file to write; its suffix says the format (``.png``, ``.svg``, ``.pdf``). Missing
            folders are made.
        title: the first line above the plot; the meter's verdict is the second.

    Returns:
        The path written.

    Raises:
        ImportError: where matplotlib is not installed.

    Example:
        >>> import tempfile
        >>> from tfqueue_compat.engine import Meter
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     os.path.basename(plot_queue(Meter(capacity=50), folder + "/queue.svg"))
        'queue.svg'
    """
    require("matplotlib", "matplotlib", "plot_queue")
    from matplotlib.figure import Figure  # without pyplot: no window system, no global state

    history = meter.history()
    figure = Figure(figsize=(8, 3.5), layout="constrained")
    axes = figure.add_subplot()
    axes.fill_between([s for s, _ in history], [n for _, n in history], step="post", alpha=0.3)
    axes.step([s for s, _ in history], [n for _, n in history], where="post", linewidth=1)
    axes.axhline(meter.capacity, linestyle="--", linewidth=1, color="grey",
                 label=f"capacity {meter.capacity}")
    axes.set_xlabel("seconds")
    axes.set_ylabel("datapoints in the queue")
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    axes.legend(loc="lower right")
    axes.set_title("\n".join([title, *textwrap.wrap(meter.verdict(), 100)]), fontsize="medium")
    path = os.fspath(path)
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    figure.savefig(path)
    return path
