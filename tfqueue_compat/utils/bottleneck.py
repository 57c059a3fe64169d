# SPDX-License-Identifier: Apache-2.0
"""Is the data or the model the bottleneck? The one wording of it."""

from __future__ import annotations

__all__ = ["bottleneck"]

_LITTLE = 0.05  # a share of the time


def bottleneck(model_waited: float, data_waited: float, rate: float | None = None) -> str:
    """Say in one line which side waited for the other.

    Args:
        model_waited: share of the time that the model waited for data, 0 to 1.
        data_waited: share of the time that the dataflow waited for the model, 0 to 1.
        rate: datapoints a second, where it is known.

    Example:
        >>> bottleneck(0.01, 0.54, 39.4)[:62]
        'model-bound: the dataflow waited for the model 54% of the time'
    """
    speed = "" if rate is None else f" ({rate:,.1f} datapoints/s)"
    if model_waited < _LITTLE and data_waited < _LITTLE:
        return f"balanced: neither waited for the other for long{speed}"
    if model_waited >= data_waited:
        return (f"data-bound: the model waited for data {model_waited:.0%} of the time{speed}; "
                f"speed up the dataflow, e.g. QueueInput(df, workers=n)")
    return (f"model-bound: the dataflow waited for the model {data_waited:.0%} of the time{speed}; "
            f"the input is fast enough")
