# SPDX-License-Identifier: Apache-2.0
"""Augmentors that mirror, transpose and resize."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...utils import logger
from ...utils.errors import say
from ._help import hw_pair, image_hw
from .base import ImageAugmentor
from .transform import FlipTransform, NoOpTransform, ResizeTransform, Transform, TransposeTransform

__all__ = ["Flip", "Resize", "RandomResize", "ResizeShortestEdge", "Transpose"]

_TRIES = 51
_SLACK = 1e-5  # of a ratio of whole pixels


class Flip(ImageAugmentor):
    """Mirror the image with a probability.

    Args:
        horiz: left to right.
        vert: upside down.
        prob: the probability.

    Raises:
        ValueError: none or both of ``horiz`` and ``vert``.
    """

    def __init__(self, horiz: bool = False, vert: bool = False, prob: float = 0.5) -> None:
        if bool(horiz) == bool(vert):
            raise ValueError(say("Flip", expected="one of horiz and vert to be True",
                                 received=f"horiz={horiz}, vert={vert}",
                                 do="Use two Flip for both directions."))
        super().__init__()
        self._init(locals())

    def get_transform(self, img: np.ndarray) -> Transform:
        """Draw whether to mirror."""
        h, w = image_hw(img, self)
        if self._rand_range() < self.prob:
            return FlipTransform(h, w, self.horiz)
        return NoOpTransform()


class Resize(ImageAugmentor):
    """Resize to a fixed size.

    Args:
        shape: (h, w) in pixels, or one int for a square.
        interp: OpenCV's interpolation.
    """

    def __init__(self, shape: int | Sequence[int], interp: int = 1) -> None:
        shape = hw_pair(shape, "Resize(shape=)")
        super().__init__()
        self._init(locals())

    def get_transform(self, img: np.ndarray) -> ResizeTransform:
        """Return the transform for an image of this size."""
        (h, w), (new_h, new_w) = image_hw(img, self), self.shape
        return ResizeTransform(h, w, new_h, new_w, self.interp)


class ResizeShortestEdge(ImageAugmentor):
    """Resize so that the shorter edge gets a fixed length, keeping the aspect ratio.

    Args:
        size: the shorter edge in pixels.
        interp: OpenCV's interpolation.
    """

    def __init__(self, size: int, interp: int = 1) -> None:
        size = int(size)
        super().__init__()
        self._init(locals())

    def get_transform(self, img: Any) -> ResizeTransform:
        """Return the transform for an image of this size."""
        h, w = image_hw(img, self)
        scale = self.size / min(h, w)
        new_h, new_w = ((self.size, int(scale * w + 0.5)) if h < w
                        else (int(scale * h + 0.5), self.size))
        return ResizeTransform(h, w, new_h, new_w, self.interp)


class RandomResize(ImageAugmentor):
    """Scale width and height at random.

    Args:
        xrange: (low, high) of the new width: floats are scales, ints are pixels.
        yrange: the same for the height; None takes ``xrange``, and must be None where
            ``aspect_ratio_thres`` is 0.
        minimum: smallest (width, height) in pixels.
        aspect_ratio_thres: largest relative change of the aspect ratio; others are drawn again.
            0 keeps the aspect ratio.
        interp: OpenCV's interpolation.

    Raises:
        ValueError: ranges of different kinds, or a ``yrange`` that could have no effect.
    """

    def __init__(self, xrange: tuple[float, float], yrange: tuple[float, float] | None = None,
                 minimum: tuple[int, int] = (0, 0), aspect_ratio_thres: float = 0.15,
                 interp: int = 1) -> None:
        kinds = {isinstance(x, (float, np.floating)) for x in (*xrange, *(yrange or ()))}
        if len(kinds) != 1:
            raise ValueError(say("RandomResize", expected="floats (scales) or ints (pixels) only",
                                 received=f"xrange={xrange}, yrange={yrange}",
                                 do="Write scales as floats: (1.0, 2.0)."))
        if aspect_ratio_thres == 0 and yrange is not None:
            raise ValueError(say("RandomResize", expected="no yrange with aspect_ratio_thres=0",
                                 received=f"yrange={yrange}",
                                 do="Leave yrange out: the height follows the width."))
        super().__init__()
        self._init(locals())
        self._is_scale = kinds.pop()

    def get_transform(self, img: np.ndarray) -> ResizeTransform:
        """Draw a width, then a height, until the aspect ratio is near enough.

        After 51 tries the image stays as it is, and a warning says so.
        """
        h, w = image_hw(img, self)
        for _ in range(_TRIES):
            new_w, new_h = self._draw(h, w)
            ratio, new_ratio = w / h, new_w / new_h
            if (self.aspect_ratio_thres == 0
                    or abs(new_ratio - ratio) / ratio <= self.aspect_ratio_thres + _SLACK):
                return ResizeTransform(h, w, new_h, new_w, self.interp)
        logger.warn("RandomResize failed to augment an image: %r found no size within its "
                    "aspect_ratio_thres for (h, w) = %s.", self, (h, w))
        return ResizeTransform(h, w, h, w, self.interp)

    def _draw(self, h: int, w: int) -> tuple[int, int]:
        unit_w, unit_h = (w, h) if self._is_scale else (1, 1)
        wide = float(self._rand_range(*self.xrange)) * unit_w
        if self.aspect_ratio_thres == 0:
            high = wide / w * h
        else:
            high = float(self._rand_range(*(self.yrange or self.xrange))) * unit_h
        return int(max(self.minimum[0], wide) + 0.5), int(max(self.minimum[1], high) + 0.5)


class Transpose(ImageAugmentor):
    """Swap rows and columns with a probability.

    Args:
        prob: the probability.
    """

    def __init__(self, prob: float = 0.5) -> None:
        super().__init__()
        self._init(locals())

    def get_transform(self, img: Any) -> Transform:
        """Draw whether to swap."""
        return TransposeTransform() if self.rng.rand() < self.prob else NoOpTransform()
