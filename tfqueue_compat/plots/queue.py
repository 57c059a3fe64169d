# SPDX-License-Identifier: Apache-2.0
"""A picture of a queue: how full it was over time, and who waited for whom."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .picture import Picture

if TYPE_CHECKING:
    from ..engine.meter import Meter

__all__ = ["draw_queue", "plot_queue"]


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
    return draw_queue(meter, title).save(path)


def draw_queue(meter: Meter, title: str = "QueueInput") -> Picture:
    """Draw queue occupancy over time; in a notebook, the last value of a cell shows itself.

    Args:
        meter: a QueueInput's ``meter``, read now.
        title: as for :func:`plot_queue`.

    Returns:
        The picture; ``save(path)`` writes it.

    Raises:
        ImportError: where matplotlib is not installed.
    """
    picture = Picture("draw_queue")
    axes, = picture.axes
    history = meter.history()
    seconds, waiting = [s for s, _ in history], [n for _, n in history]
    axes.fill_between(seconds, waiting, step="post", alpha=0.3)
    axes.step(seconds, waiting, where="post", linewidth=1)
    axes.axhline(meter.capacity, linestyle="--", linewidth=1, color="grey",
                 label=f"capacity {meter.capacity}")
    axes.set_xlabel("seconds")
    axes.set_ylabel("datapoints in the queue")
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    axes.legend(loc="lower right")
    picture.title(title, meter.verdict())
    return picture
