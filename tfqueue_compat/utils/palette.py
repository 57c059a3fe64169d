# SPDX-License-Identifier: Apache-2.0
"""79 colours that can be told apart."""

from __future__ import annotations

from itertools import product

import numpy as np

__all__ = ["PALETTE_RGB"]

_PLOT_LINES = [(0, 0.447, 0.741), (0.85, 0.325, 0.098), (0.929, 0.694, 0.125),
               (0.494, 0.184, 0.556), (0.466, 0.674, 0.188), (0.301, 0.745, 0.933),
               (0.635, 0.078, 0.184)]
_PLAIN = [(0.3, 0.3, 0.3), (0.6, 0.6, 0.6), (1, 0, 0), (1, 0.5, 0), (0.749, 0.749, 0), (0, 1, 0),
          (0, 0, 1), (0.667, 0, 1)]
_STEPS = (0, 0.333, 0.667, 1)


def _colours() -> list[tuple[float, ...]]:
    """Seven of line plots, eight plain, a grid of red and green at three blues, then ramps."""
    pairs = list(product(_STEPS, _STEPS))
    grid: list[tuple[float, ...]] = [(r, g, 0) for r, g in pairs if r and g]
    grid += [(r, g, 0.5) for r, g in pairs if r or g]
    grid += [(r, g, 1) for r, g in pairs if (r, g) not in ((0, 0), (1, 1))]
    ramp = (0.167, 0.333, 0.5, 0.667, 0.833, 1)
    single = [tuple(v if i == axis else 0 for i in range(3)) for axis in range(3) for v in ramp]
    grey = [(v, v, v) for v in (0, 0.143, 0.286, 0.429, 0.571, 0.714, 0.857, 1)]
    return [*_PLOT_LINES, *_PLAIN, *grid, *single, *grey]


PALETTE_RGB = np.array(_colours(), dtype=np.float32) * 255  # (79, 3), in [0, 255]
