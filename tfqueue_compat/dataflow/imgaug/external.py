# SPDX-License-Identifier: Apache-2.0
"""Augmentors of other libraries: imgaug (the package) and albumentations."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...utils.errors import require
from .base import ImageAugmentor
from .transform import Transform

__all__ = ["IAAugmentor", "Albumentations"]

_SEEDS = 2 ** 31 - 1


class IAATransform(Transform):
    """A deterministic augmenter of the package imgaug.

    Args:
        aug: what ``Augmenter.to_deterministic()`` gave.
        img_shape: shape of the image that the coordinates belong to.
    """

    def __init__(self, aug: Any, img_shape: tuple[int, ...]) -> None:
        self._init(locals())

    def apply_image(self, img: np.ndarray) -> np.ndarray:
        """Return the augmented image."""
        return self.aug.augment_image(img)

    def apply_coords(self, coords: np.ndarray) -> np.ndarray:
        """Return the coordinates, moved as keypoints."""
        points = require("imgaug", "imgaug", "imgaug.IAAugmentor")
        before = points.KeypointsOnImage(
            [points.Keypoint(x=float(x), y=float(y)) for x, y in coords], shape=self.img_shape)
        after = self.aug.augment_keypoints([before])[0].keypoints
        return np.array([(p.x, p.y) for p in after], dtype=np.float64).reshape(-1, 2)


class IAAugmentor(ImageAugmentor):
    """Use an augmenter of the package imgaug, for images and coordinates.

    Args:
        augmentor: an ``imgaug.augmenters.Augmenter``.
    """

    def __init__(self, augmentor: Any) -> None:
        super().__init__()
        self._init(locals())

    def get_transform(self, img: np.ndarray) -> IAATransform:
        """Fix the augmenter's random state, drawn from ours."""
        fixed = self.augmentor.to_deterministic()
        seed = self.rng.randint(_SEEDS)
        if hasattr(fixed, "seed_"):  # imgaug >= 0.4
            fixed.seed_(entropy=seed, deterministic_too=True)
        return IAATransform(fixed, img.shape)


class AlbumentationsTransform(Transform):
    """An albumentations transform with a fixed random state.

    Args:
        aug: the transform, or a composition of them.
        param: the seed it is called with.
    """

    def __init__(self, aug: Any, param: int) -> None:
        self._init(locals())

    def apply_image(self, img: np.ndarray) -> np.ndarray:
        """Return the augmented image, the same whenever it is called."""
        with _seeded(self.aug, self.param):
            return self.aug(image=img)["image"]


class Albumentations(ImageAugmentor):
    """Use a transform of albumentations, for images; it has no coordinates here.

    Args:
        augmentor: an ``albumentations.BasicTransform`` or ``Compose``; its ``p`` is honoured.
    """

    def __init__(self, augmentor: Any) -> None:
        super().__init__()
        self._init(locals())

    def get_transform(self, img: np.ndarray) -> AlbumentationsTransform:
        """Draw a seed."""
        return AlbumentationsTransform(self.augmentor, int(self.rng.randint(_SEEDS)))


@contextmanager
def _seeded(aug: Any, seed: int) -> Iterator[None]:
    if hasattr(aug, "set_random_seed"):  # albumentations >= 1.4.22: a generator of its own
        aug.set_random_seed(seed)
        yield
        return
    # older ones draw from the process' generators: lend them a state, then put theirs back
    python, numpy = random.getstate(), np.random.get_state()
    try:
        random.seed(seed)
        np.random.seed(seed)
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)
