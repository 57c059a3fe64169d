# SPDX-License-Identifier: Apache-2.0
"""Augmentors that cut a rectangle out of the image, or blank one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...utils.errors import say
from ._help import hw_pair, image_hw
from .base import ImageAugmentor, ImagePlaceholder
from .misc import ResizeShortestEdge
from .transform import (
    CropTransform, PhotometricTransform, ResizeTransform, TransformList)

__all__ = ["RandomCrop", "CenterCrop", "RandomCropRandomShape", "GoogleNetRandomCropAndResize",
           "RandomCutout"]


def _fit(augmentor: Any, img: Any, h: int, w: int) -> tuple[int, int]:
    """Return the image's (height, width), at least (h, w).

    Raises:
        ValueError: the image is smaller.
    """
    have_h, have_w = image_hw(img, augmentor)
    if have_h < h or have_w < w:
        raise ValueError(say(repr(augmentor), expected=f"an image of at least {h} x {w} (h x w)",
                             received=f"shape {tuple(img.shape)}",
                             do="Crop less, or enlarge first, e.g. with ResizeShortestEdge."))
    return have_h, have_w


class RandomCrop(ImageAugmentor):
    """Cut a rectangle of fixed size at a random place.

    Args:
        crop_shape: (h, w) in pixels, or one int for a square.
    """

    def __init__(self, crop_shape: int | Sequence[int]) -> None:
        crop_shape = hw_pair(crop_shape, "RandomCrop(crop_shape=)")
        super().__init__()
        self._init(locals())

    def get_transform(self, img: np.ndarray) -> CropTransform:
        """Draw y0, then x0.

        Raises:
            ValueError: the image is smaller than ``crop_shape``.
        """
        h, w = self.crop_shape
        have_h, have_w = _fit(self, img, h, w)
        y0 = self.rng.randint(have_h - h + 1)
        x0 = self.rng.randint(have_w - w + 1)
        return CropTransform(y0, x0, h, w)


class CenterCrop(ImageAugmentor):
    """Cut a rectangle of fixed size out of the middle.

    Args:
        crop_shape: (h, w) in pixels, or one int for a square.
    """

    def __init__(self, crop_shape: int | Sequence[int]) -> None:
        crop_shape = hw_pair(crop_shape, "CenterCrop(crop_shape=)")
        super().__init__()
        self._init(locals())

    def get_transform(self, img: Any) -> CropTransform:
        """Place the rectangle; odd rests go below and to the right.

        Raises:
            ValueError: the image is smaller than ``crop_shape``.
        """
        h, w = self.crop_shape
        have_h, have_w = _fit(self, img, h, w)
        return CropTransform((have_h - h) // 2, (have_w - w) // 2, h, w)


class RandomCropRandomShape(ImageAugmentor):
    """Cut a rectangle of random size at a random place.

    Args:
        wmin, hmin, wmax, hmax: smallest and largest size in pixels, both possible; without a
            largest one, the image's own.
        max_aspect_ratio: without effect, as in tensorpack.
    """

    def __init__(self, wmin: int, hmin: int, wmax: int | None = None, hmax: int | None = None,
                 max_aspect_ratio: float | None = None) -> None:
        super().__init__()
        self._init(locals())

    def get_transform(self, img: np.ndarray) -> CropTransform:
        """Draw h, w, then y0, x0 (those that are not forced).

        Raises:
            ValueError: the image is smaller than the rectangle may become.
        """
        have_h, have_w = image_hw(img, self)
        hmax = have_h if self.hmax is None else self.hmax
        wmax = have_w if self.wmax is None else self.wmax
        _fit(self, img, max(self.hmin, hmax), max(self.wmin, wmax))
        h = self.rng.randint(self.hmin, hmax + 1)
        w = self.rng.randint(self.wmin, wmax + 1)
        y0 = 0 if h == have_h else self.rng.randint(have_h - h)
        x0 = 0 if w == have_w else self.rng.randint(have_w - w)
        return CropTransform(y0, x0, h, w)


class GoogleNetRandomCropAndResize(ImageAugmentor):
    """Cut a rectangle of random area and aspect ratio, and resize it to a square.

    Section 6 of "Going Deeper with Convolutions" (Szegedy et al., 2014), with the numbers of
    fb.resnet.torch: ten tries, then the shortest edge resized and the centre cut.

    Args:
        crop_area_fraction: (low, high) of the rectangle's area over the image's.
        aspect_ratio_range: (low, high) of width over height; swapped with probability 1/2.
        target_shape: edge of the result in pixels.
        interp: OpenCV's interpolation.
    """

    def __init__(self, crop_area_fraction: tuple[float, float] = (0.08, 1.),
                 aspect_ratio_range: tuple[float, float] = (0.75, 1.333),
                 target_shape: int = 224, interp: int = 1) -> None:
        if np.ndim(target_shape) != 0:
            raise ValueError(say("GoogleNetRandomCropAndResize(target_shape=)",
                                 expected="one int: the result is square",
                                 received=repr(target_shape), do="Pass e.g. 224."))
        super().__init__()
        self._init(locals())

    def get_transform(self, img: np.ndarray) -> TransformList:
        """Draw area, aspect ratio, swap and place, until the rectangle fits."""
        h, w = image_hw(img, self)
        target = self.target_shape
        for _ in range(10):
            area = self.rng.uniform(*self.crop_area_fraction) * (h * w)
            aspect = self.rng.uniform(*self.aspect_ratio_range)
            ww = int(np.sqrt(area * aspect) + 0.5)
            hh = int(np.sqrt(area / aspect) + 0.5)
            if self.rng.uniform() < 0.5:
                ww, hh = hh, ww
            if 0 < hh <= h and 0 < ww <= w:
                x0 = self.rng.randint(w - ww + 1)
                y0 = self.rng.randint(h - hh + 1)
                return TransformList([CropTransform(y0, x0, hh, ww),
                                      ResizeTransform(hh, ww, target, target, self.interp)])
        resize = ResizeShortestEdge(target, interp=self.interp).get_transform(img)
        crop = CenterCrop(target).get_transform(ImagePlaceholder((resize.new_h, resize.new_w)))
        return TransformList([resize, crop])


class RandomCutout(ImageAugmentor):
    """Fill a random rectangle with one value ("Cutout", DeVries and Taylor, 2017).

    Args:
        h_range: height in pixels, or (low, high) to draw it from, high excluded.
        w_range: the same for the width.
        fill: the value.
    """

    def __init__(self, h_range: int | tuple[int, int], w_range: int | tuple[int, int],
                 fill: float = 0.) -> None:
        super().__init__()
        self._init(locals())

    def _get_cutout_shape(self) -> tuple[int, int]:
        h, w = (x if np.ndim(x) == 0 else self.rng.randint(*x)
                for x in (self.h_range, self.w_range))
        return int(h), int(w)

    def get_transform(self, img: np.ndarray) -> PhotometricTransform:
        """Draw the size, then x0, then y0.

        Raises:
            ValueError: the image is smaller than the rectangle.
        """
        h, w = self._get_cutout_shape()
        have_h, have_w = _fit(self, img, h, w)
        x0 = self.rng.randint(0, have_w + 1 - w)
        y0 = self.rng.randint(0, have_h + 1 - h)
        return PhotometricTransform(
            lambda img: self._cutout(img, y0, x0, h, w, self.fill), "cutout")

    @staticmethod
    def _cutout(img: np.ndarray, y0: int, x0: int, h: int, w: int, fill: float) -> np.ndarray:
        out = img.copy()
        out[y0:y0 + h, x0:x0 + w] = fill
        return out
