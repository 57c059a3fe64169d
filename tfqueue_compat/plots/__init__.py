# SPDX-License-Identifier: Apache-2.0
"""Pictures of what the engine and the monitors recorded. They load no TensorFlow."""

from .history import draw_history, draw_queue_history, load_stats
from .picture import Picture
from .queue import draw_queue, plot_queue
from .throughput import draw_throughput

__all__ = ["Picture", "draw_history", "draw_queue", "draw_queue_history", "draw_throughput",
           "load_stats", "plot_queue"]
