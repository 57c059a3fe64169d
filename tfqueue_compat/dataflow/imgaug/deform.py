# SPDX-License-Identifier: Apache-2.0
"""Smooth deformation: pixels near some anchors are displaced at random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...utils import logger
from ...utils.errors import say
from ._help import image_hw
from .base import ImageAugmentor, _From
from .transform import TransformFactory

__all__ = ["GaussianDeform", "GaussianMap", "np_sample"]


class GaussianMap:
    """Weights that fall off around a point as exp(-distance^2 / sigma).

    Args:
        image_shape: (h, w).
        sigma: how far they reach; distances are measured in parts of the image's size.
    """

    def __init__(self, image_shape: Sequence[int], sigma: float = 0.5) -> None:
        if len(image_shape) != 2:
            raise ValueError(say("GaussianMap(image_shape=)", expected="(h, w)",
                                 received=repr(image_shape), do="Pass two numbers."))
        self.shape = tuple(image_shape)
        self.sigma = sigma

    def get_gaussian_weight(self, anchor: Sequence[float]) -> np.ndarray:
        """Return weights of shape (h, w), float32, that are 1 at the anchor.

        Args:
            anchor: (y, x) of the centre, each in [0, 1].
        """
        y, x = (((np.arange(size, dtype="float32") / size) - at) ** 2
                for size, at in zip(self.shape, anchor))
        return np.exp(-(y[:, np.newaxis] + x) / self.sigma).astype("float32")


def np_sample(img: np.ndarray, coords: np.ndarray) -> np.ndarray:
    """Return ``img`` at fractional places, bilinearly; places outside count as the border.

    Args:
        img: (h, w, c) or (h, w).
        coords: (..., 2), rows (y, x).

    Returns:
        float64, (..., c) or (...).
    """
    if img.ndim == 2:
        return np_sample(img[:, :, np.newaxis], coords)[..., 0]
    h, w = img.shape[:2]
    coords = np.clip(coords, 0, np.array([h - 1, w - 1], dtype=coords.dtype))
    low = np.floor(coords).astype("int32")
    high = np.minimum(low + 1, [h - 1, w - 1])
    part = (coords - low).astype("float64")[..., np.newaxis]
    fy, fx = part[..., 0, :], part[..., 1, :]
    (y0, x0), (y1, x1) = np.moveaxis(low, -1, 0), np.moveaxis(high, -1, 0)
    return (img[y0, x0] * (1 - fy) * (1 - fx) + img[y1, x1] * fy * fx
            + img[y1, x0] * fy * (1 - fx) + img[y0, x1] * (1 - fy) * fx)


class GaussianDeform(ImageAugmentor):
    """Displace each pixel by its anchors' random offsets, weighted by nearness. Slow.

    Args:
        anchors: (y, x) of the anchors, each in [0, 1].
        shape: (h, w) of the images.
        sigma: how far an anchor reaches: its weight is exp(-distance^2 / sigma), distances in
            parts of the image's size.
        randrange: largest offset in pixels; an eighth of the height by default.
    """

    def __init__(self, anchors: Sequence[Any], shape: Sequence[int], sigma: float = 0.5,
                 randrange: float | None = None) -> None:
        logger.warn("GaussianDeform is slow. Consider using it with 4 or more worker processes.")
        super().__init__()
        self.anchors, self.shape, self.sigma = anchors, tuple(shape), sigma
        self.K = len(anchors)
        self.randrange = self.shape[0] / 8.0 if randrange is None else randrange
        self.grid = np.moveaxis(np.mgrid[:shape[0], :shape[1]], 0, -1).astype("float32")
        weights = GaussianMap(self.shape, sigma)
        self.gws = np.stack([weights.get_gaussian_weight(a) for a in anchors], axis=-1)

    def get_transform(self, img: np.ndarray) -> TransformFactory:
        """Draw an offset (y, x) for each anchor.

        Raises:
            ValueError: the image's size is not ``shape``.
        """
        if image_hw(img, self) != self.shape:
            raise ValueError(say(repr(self), expected=f"an image of {self.shape} (h, w)",
                                 received=f"shape {img.shape}", do="Resize it first."))
        offsets = self.rng.rand(self.K, 2) * self.randrange * 2 - self.randrange
        return TransformFactory(name=_From("", self),
                                apply_image=lambda img: self._augment(img, offsets))

    def _augment(self, img: np.ndarray, params: np.ndarray) -> np.ndarray:
        return np_sample(img, self.grid + (self.gws @ params).astype("float32"))
