# SPDX-License-Identifier: Apache-2.0
"""Augmentors that convert colour spaces and types."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._help import opencv
from .base import PhotometricAugmentor

__all__ = ["ColorSpace", "Grayscale", "ToUint8", "ToFloat32"]

# OpenCV's numbers, stable since 2.4: known here so that OpenCV is not needed to construct
_BGR2GRAY, _RGB2GRAY = 6, 7


class ColorSpace(PhotometricAugmentor):
    """Convert to another colour space.

    Args:
        mode: OpenCV's code, e.g. ``cv2.COLOR_BGR2HSV``.
        keepdims: a result of (h, w) becomes (h, w, 1) where the image had channels.
    """

    def __init__(self, mode: int, keepdims: bool = True) -> None:
        super().__init__()
        self._init(locals())

    def _augment(self, img: np.ndarray, params: Any) -> np.ndarray:
        out = opencv(type(self).__name__).cvtColor(img, self.mode)
        if self.keepdims and out.ndim < img.ndim:
            out = out[..., np.newaxis]
        return out


class Grayscale(ColorSpace):
    """Convert a colour image to gray.

    Args:
        keepdims: return (h, w, 1) instead of (h, w).
        rgb: the image is RGB; otherwise BGR.
        keepshape: return three equal channels, (h, w, 3).
    """

    def __init__(self, keepdims: bool = True, rgb: bool = False, keepshape: bool = False) -> None:
        super().__init__(_RGB2GRAY if rgb else _BGR2GRAY, keepdims)
        self.rgb = bool(rgb)
        self.keepshape = keepshape

    def _augment(self, img: np.ndarray, params: Any) -> np.ndarray:
        out = super()._augment(img, params)
        if not self.keepshape:
            return out
        return np.repeat(out.reshape(*out.shape[:2], 1), 3, axis=2)


class ToUint8(PhotometricAugmentor):
    """Clip to [0, 255] and convert to uint8, a quarter of float32's bytes."""

    def _augment(self, img: np.ndarray, params: Any) -> np.ndarray:
        return np.clip(img, 0, 255).astype(np.uint8)


class ToFloat32(PhotometricAugmentor):
    """Convert to float32, so that augmentors after it round less."""

    def _augment(self, img: np.ndarray, params: Any) -> np.ndarray:
        return img.astype(np.float32)
