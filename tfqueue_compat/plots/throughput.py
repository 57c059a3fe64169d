# SPDX-License-Identifier: Apache-2.0
"""A picture of throughput before and after."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..utils.errors import say
from .picture import Picture

if TYPE_CHECKING:
    from ..engine.meter import Meter

__all__ = ["draw_throughput"]


def draw_throughput(rates: Mapping[str, float | Meter], unit: str = "datapoints/s",
                    title: str = "Throughput") -> Picture:
    """Draw a bar for each alternative, with its ratio to the first.

    Args:
        rates: name -> rate, or the ``meter`` of a QueueInput whose mean rate is meant. The first
            is what the others are compared with.
        unit: of the rates.
        title: above the plot.

    Returns:
        The picture; ``save(path)`` writes it, and a notebook shows it.

    Raises:
        ValueError: for no rate, or one that is not above 0.
        ImportError: where matplotlib is not installed.

    Example:
        >>> picture = draw_throughput({"before": 120.0, "4 workers": 410.0})
        >>> [text.get_text() for text in picture.axes[0].texts]
        ['120', '410 (3.42x)']
    """
    values = {name: _rate(name, rate) for name, rate in rates.items()}
    if not values:
        raise ValueError(say("draw_throughput", expected="at least one rate", received="none",
                             do='Write draw_throughput({"before": 120.0, "after": queue.meter}).'))
    first = next(iter(values.values()))
    picture = Picture("draw_throughput", height=0.8 + 0.45 * len(values))
    axes, = picture.axes
    bars = axes.barh(list(values), list(values.values()))
    bars[0].set_color("grey")
    axes.bar_label(bars, [f"{v:,.4g}" if i == 0 else f"{v:,.4g} ({v / first:.3g}x)"
                          for i, v in enumerate(values.values())], padding=3)
    axes.invert_yaxis()
    axes.margins(x=0.2)
    axes.set_xlabel(unit)
    picture.title(title)
    return picture


def _rate(name: str, rate: float | Meter) -> float:
    value = float(rate) if isinstance(rate, numbers.Real) else _mean_rate(rate)
    if not value > 0:
        raise ValueError(say(f"draw_throughput, {name!r}", expected="a rate above 0",
                             received=value, do="Measure it for longer."))
    return value


def _mean_rate(meter: Any) -> float:
    return float(meter.read().rate)
