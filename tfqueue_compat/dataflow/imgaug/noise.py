# SPDX-License-Identifier: Apache-2.0
"""Augmentors that add noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...utils.errors import say
from ._help import opencv
from .base import PhotometricAugmentor

__all__ = ["JpegNoise", "GaussianNoise", "SaltPepperNoise"]


class JpegNoise(PhotometricAugmentor):
    """Compress as JPEG and decompress.

    A gray image comes back with three equal channels, as in tensorpack.

    Args:
        quality_range: JPEG's quality is drawn from [low, high).
    """

    def __init__(self, quality_range: tuple[int, int] = (40, 100)) -> None:
        super().__init__()
        self._init(locals())

    def _get_augment_params(self, img: Any) -> int:
        return self.rng.randint(*self.quality_range)

    def _augment(self, img: np.ndarray, params: Any) -> np.ndarray:
        cv2 = opencv("JpegNoise")
        _, code = cv2.imencode(".jpg", img, [cv2.IMWRITE_JPEG_QUALITY, int(params)])
        return cv2.imdecode(code, cv2.IMREAD_COLOR).astype(img.dtype, copy=False)


class GaussianNoise(PhotometricAugmentor):
    """Add to each value a number from N(0, sigma^2).

    Args:
        sigma: the deviation.
        clip: clip to [0, 255] (always done for uint8).
    """

    def __init__(self, sigma: float = 1, clip: bool = True) -> None:
        super().__init__()
        self._init(locals())

    def _get_augment_params(self, img: np.ndarray) -> np.ndarray:
        return self.rng.randn(*img.shape)

    def _augment(self, img: np.ndarray, params: Any) -> np.ndarray:
        out = img + params * self.sigma
        if self.clip or img.dtype == np.uint8:
            out = np.clip(out, 0, 255)
        return out.astype(img.dtype)


class SaltPepperNoise(PhotometricAugmentor):
    """Set random values to 255 or 0, each channel by itself.

    Args:
        white_prob, black_prob: the probabilities of 255 and of 0.

    Raises:
        ValueError: they add up to more than 1.
    """

    def __init__(self, white_prob: float = 0.05, black_prob: float = 0.05) -> None:
        if white_prob + black_prob > 1:
            raise ValueError(say("SaltPepperNoise", expected="probabilities that sum to at most 1",
                                 received=f"{white_prob} + {black_prob}", do="Lower one."))
        super().__init__()
        self._init(locals())

    def _get_augment_params(self, img: np.ndarray) -> np.ndarray:
        return self.rng.uniform(low=0, high=1, size=img.shape)

    def _augment(self, img: np.ndarray, params: Any) -> np.ndarray:
        out = img.copy()
        out[params > 1 - self.white_prob] = 255
        out[params < self.black_prob] = 0
        return out
