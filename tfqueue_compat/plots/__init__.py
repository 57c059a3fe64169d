# SPDX-License-Identifier: Apache-2.0
"""Pictures of what the engine recorded."""

from .queue import plot_queue

__all__ = ["plot_queue"]
