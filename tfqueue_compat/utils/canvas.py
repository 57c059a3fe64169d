# SPDX-License-Identifier: Apache-2.0
"""A canvas with room for a grid of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .errors import say

__all__ = ["Canvas", "as_patches", "pad_patches"]


class Canvas:
    """A grid that images are drawn on.

    Args:
        ph: height of an image.
        pw: its width.
        nr_row: rows of the grid.
        nr_col: its columns.
        channel: 1 or 3.
        border: pixels between two images; None for a twentieth of the smaller side.
        bgcolor: background, an int or a tuple.
    """

    def __init__(self, ph: int, pw: int, nr_row: int, nr_col: int, channel: int,
                 border: int | None, bgcolor: Any) -> None:
        self.ph, self.pw = ph, pw
        self.nr_row, self.nr_col = nr_row, nr_col
        self.border = int(0.05 * min(ph, pw)) if border is None else border
        height = nr_row * (ph + self.border) - self.border
        width = nr_col * (pw + self.border) - self.border
        self.canvas = np.zeros((height, width, channel), dtype=np.uint8)
        self.canvas[:] = bgcolor

    def draw_patches(self, plist: Sequence[np.ndarray]) -> None:
        """Draw images, row after row."""
        for k, patch in enumerate(plist):
            row, col = divmod(k, self.nr_col)
            y, x = row * (self.ph + self.border), col * (self.pw + self.border)
            self.canvas[y:y + self.ph, x:x + self.pw] = patch

    def get_patchid_from_coord(self, x: int, y: int) -> int:
        """Return the number of the image at a point of the canvas."""
        col, row = x // (self.pw + self.border), y // (self.ph + self.border)
        return row * self.nr_col + col


def as_patches(images: Any) -> np.ndarray:
    """Return images as one array: (n, height, width, channel)."""
    patches = np.asarray(images)
    if patches.ndim == 3:
        patches = patches[..., None]
    if patches.ndim != 4 or patches.shape[3] not in (1, 3):
        raise ValueError(say("stack_patches", expected="images of (n, height, width) or "
                             "(n, height, width, 1 or 3)", received=f"the shape {patches.shape}",
                             do="Transpose them, or pass pad=True for different sizes."))
    return patches


def pad_patches(images: Sequence[np.ndarray], bgcolor: Any) -> np.ndarray:
    """Return images of different sizes as one array, each in the middle of its place."""
    height = max(im.shape[0] for im in images)
    width = max(im.shape[1] for im in images)
    channel = max(im.shape[2] if im.ndim == 3 else 1 for im in images)
    out = np.zeros((len(images), height, width, channel), dtype=np.uint8)
    out[:] = bgcolor
    for place, im in zip(out, images):
        y, x = (height - im.shape[0]) // 2, (width - im.shape[1]) // 2
        place[y:y + im.shape[0], x:x + im.shape[1]] = im if im.ndim == 3 else im[..., None]
    return out
