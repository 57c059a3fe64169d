# SPDX-License-Identifier: Apache-2.0
"""Augmentors that shift, rotate, scale and shear."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...utils.errors import say
from ._help import image_hw, opencv
from .base import ImageAugmentor
from .transform import CropTransform, TransformList, WarpAffineTransform

__all__ = ["Shift", "Rotation", "RotationAndCropValid", "Affine"]


def _check_step(name: str, max_deg: float, step_deg: float | None) -> None:
    if step_deg is not None and not (max_deg == 180 and max_deg % step_deg == 0):
        raise ValueError(say(f"{name}(step_deg=)",
                             expected="max_deg=180 and a step that divides 180",
                             received=f"max_deg={max_deg}, step_deg={step_deg}",
                             do="Pass max_deg=180, or leave step_deg out."))


def _draw_deg(aug: Any) -> float:
    deg = float(aug._rand_range(-aug.max_deg, aug.max_deg))
    return deg // aug.step_deg * aug.step_deg if aug.step_deg is not None else deg


class Shift(ImageAugmentor):
    """Move the image by whole pixels.

    Args:
        horiz_frac: largest move to either side, as a part of the width, in [0, 1].
        vert_frac: the same of the height.
        border: OpenCV's border, e.g. ``cv2.BORDER_REPLICATE``.
        border_value: the value for ``cv2.BORDER_CONSTANT``.
    """

    def __init__(self, horiz_frac: float = 0, vert_frac: float = 0, border: int = 1,
                 border_value: Any = 0) -> None:
        for name, frac in (("horiz_frac", horiz_frac), ("vert_frac", vert_frac)):
            if not frac < 1:
                raise ValueError(say(f"Shift({name}=)", expected="a number below 1",
                                     received=repr(frac), do="Pass a part of the image's size."))
        super().__init__()
        self._init(locals())

    def get_transform(self, img: np.ndarray) -> WarpAffineTransform:
        """Draw the move to the right, then the one downward."""
        h, w = image_hw(img, self)
        max_dx, max_dy = self.horiz_frac * w, self.vert_frac * h
        dx = np.round(self._rand_range(-max_dx, max_dx))
        dy = np.round(self._rand_range(-max_dy, max_dy))
        mat = np.array([[1, 0, dx], [0, 1, dy]], dtype="float32")
        return WarpAffineTransform(mat, (w, h), borderMode=self.border,
                                   borderValue=self.border_value)


class Rotation(ImageAugmentor):
    """Rotate about a random centre.

    Args:
        max_deg: largest angle to either side, in degrees.
        center_range: (low, high) of the centre, as parts of width and height.
        interp: OpenCV's interpolation.
        border: OpenCV's border.
        step_deg: makes the angle a multiple of it; needs ``max_deg=180`` and must divide it.
        border_value: the value for ``cv2.BORDER_CONSTANT``.
    """

    def __init__(self, max_deg: float, center_range: tuple[float, float] = (0, 1),
                 interp: int = 1, border: int = 1, step_deg: float | None = None,
                 border_value: Any = 0) -> None:
        _check_step("Rotation", max_deg, step_deg)
        super().__init__()
        self._init(locals())

    def get_transform(self, img: np.ndarray) -> WarpAffineTransform:
        """Draw the centre (x, y), then the angle."""
        h, w = image_hw(img, self)
        low, high = self.center_range
        center = (w, h) * self._rand_range(low, high, (2,))
        deg = _draw_deg(self)
        # OpenCV counts from pixel centres, half a pixel from the corner
        x, y = (float(c) for c in center - 0.5)
        mat = opencv("Rotation").getRotationMatrix2D((x, y), deg, 1)
        return WarpAffineTransform(mat, (w, h), interp=self.interp, borderMode=self.border,
                                   borderValue=self.border_value)


class RotationAndCropValid(ImageAugmentor):
    """Rotate about the centre and keep the largest upright rectangle without border.

    The result's size depends on the angle.

    Args:
        max_deg, interp, step_deg: as in :class:`Rotation`.
    """

    def __init__(self, max_deg: float, interp: int = 1, step_deg: float | None = None) -> None:
        _check_step("RotationAndCropValid", max_deg, step_deg)
        super().__init__()
        self._init(locals())

    def _get_deg(self, img: Any) -> float:
        return _draw_deg(self)

    def get_transform(self, img: np.ndarray) -> TransformList:
        """Draw the angle."""
        h, w = image_hw(img, self)
        deg = self._get_deg(img)
        mat = opencv("RotationAndCropValid").getRotationMatrix2D(
            (w * 0.5 - 0.5, h * 0.5 - 0.5), deg, 1)
        new_w, new_h = self.largest_rotated_rect(w, h, math.radians(deg))
        new_w, new_h = min(new_w, w), min(new_h, h)
        x0, y0 = int(w * 0.5 - new_w * 0.5), int(h * 0.5 - new_h * 0.5)
        return TransformList([
            WarpAffineTransform(mat, (w, h), interp=self.interp, borderMode=0),
            CropTransform(y0, x0, new_h, new_w)])

    @staticmethod
    def largest_rotated_rect(w: float, h: float, angle: float) -> tuple[int, int]:
        """Return (width, height) of the largest upright rectangle in a rotated one.

        Where the rotated rectangle is narrow, the answer touches its long sides with two corners
        in the middle; otherwise with four (geometry: stackoverflow.com/questions/16702966).

        Args:
            w, h: size of the rectangle that is rotated.
            angle: in radians.

        Example:
            >>> RotationAndCropValid.largest_rotated_rect(10, 10, 0.0)
            (10, 10)
        """
        if w <= 0 or h <= 0:
            return 0, 0
        long, short = max(w, h), min(w, h)
        sin, cos = abs(math.sin(angle)), abs(math.cos(angle))
        if short <= 2 * sin * cos * long or abs(sin - cos) < 1e-10:
            half = 0.5 * short
            new_w, new_h = (half / sin, half / cos) if w >= h else (half / cos, half / sin)
        else:
            cos_2a = cos * cos - sin * sin
            new_w, new_h = (w * cos - h * sin) / cos_2a, (h * cos - w * sin) / cos_2a
        return int(np.round(new_w)), int(np.round(new_h))


class Affine(ImageAugmentor):
    """Scale, move, shear and rotate about the image's centre.

    Args:
        scale: (low, high) of the scale; None keeps it.
        translate_frac: largest moves (horizontal, vertical), as parts of width and height; None
            keeps the place.
        rotate_max_deg: largest angle to either side, in degrees.
        shear: largest shear to either side, in degrees, in [0, 180].
        interp: OpenCV's interpolation.
        border: OpenCV's border.
        border_value: the value for ``cv2.BORDER_CONSTANT``.
    """

    def __init__(self, scale: tuple[float, float] | None = None,
                 translate_frac: tuple[float, float] | None = None,
                 rotate_max_deg: float = 0.0, shear: float = 0.0, interp: int = 1,
                 border: int = 1, border_value: Any = 0) -> None:
        for name, pair in (("scale", scale), ("translate_frac", translate_frac)):
            if pair is not None and np.shape(pair) != (2,):
                raise ValueError(say(f"Affine({name}=)", expected="None or a pair of numbers",
                                     received=repr(pair), do="Pass e.g. (0.8, 1.2)."))
        if not 0 <= shear <= 180:
            raise ValueError(say("Affine(shear=)", expected="degrees in [0, 180]",
                                 received=repr(shear), do="Pass the largest angle."))
        super().__init__()
        self._init(locals())

    def get_transform(self, img: np.ndarray) -> WarpAffineTransform:
        """Draw scale, moves, shear and angle, in this order; the angle always."""
        h, w = image_hw(img, self)
        scale = 1.0 if self.scale is None else float(self._rand_range(*self.scale))
        dx = dy = 0.0
        if self.translate_frac is not None:
            max_dx, max_dy = self.translate_frac[0] * w, self.translate_frac[1] * h
            dx = float(np.round(self._rand_range(-max_dx, max_dx)))
            dy = float(np.round(self._rand_range(-max_dy, max_dy)))
        shear = float(self._rand_range(-self.shear, self.shear)) if self.shear > 0 else 0.0
        deg = float(self._rand_range(-self.rotate_max_deg, self.rotate_max_deg))
        mat = self._matrix((w * 0.5 - 0.5, h * 0.5 - 0.5), scale, deg, shear)
        mat[:, 2] += dx, dy
        return WarpAffineTransform(mat, (w, h), interp=self.interp, borderMode=self.border,
                                   borderValue=self.border_value)

    @staticmethod
    def _matrix(center: tuple[float, float], scale: float, deg: float,
                shear: float) -> np.ndarray:
        """Rotate and scale about ``center``; shear turns the y axis alone by a further angle."""
        mat = opencv("Affine").getRotationMatrix2D(center, deg, scale)
        if shear:
            turned = math.radians(deg + shear)
            mat[:, 1] = scale * math.sin(turned), scale * math.cos(turned)
            mat[:, 2] = center - mat[:, :2] @ center
        return mat
