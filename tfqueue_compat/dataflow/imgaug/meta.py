# SPDX-License-Identifier: Apache-2.0
"""Augmentors made of augmentors or of plain functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...utils.errors import say
from .base import ImageAugmentor, check_augmentors
from .transform import NoOpTransform, TransformFactory, TransformList

__all__ = ["RandomChooseAug", "MapImage", "Identity", "RandomApplyAug", "RandomOrderAug"]


class Identity(ImageAugmentor):
    """Do nothing."""

    def get_transform(self, img: Any) -> NoOpTransform:
        """Return a transform that does nothing."""
        return NoOpTransform()


class RandomApplyAug(ImageAugmentor):
    """Apply an augmentor with a probability.

    Args:
        aug: the augmentor.
        prob: the probability.
    """

    def __init__(self, aug: ImageAugmentor, prob: float) -> None:
        check_augmentors([aug], "RandomApplyAug")
        self._init(locals())
        super().__init__()

    def get_transform(self, img: np.ndarray) -> Any:
        """Draw whether to apply it."""
        return self.aug.get_transform(img) if self.rng.rand() < self.prob else NoOpTransform()

    def reset_state(self) -> None:
        """Give this and the augmentor a new random generator."""
        super().reset_state()
        self.aug.reset_state()


class RandomChooseAug(ImageAugmentor):
    """Apply one of several augmentors.

    Args:
        aug_lists: augmentors, equally likely, or pairs (augmentor, probability).

    Raises:
        ValueError: the probabilities do not sum to 1.
    """

    def __init__(self, aug_lists: Sequence[Any]) -> None:
        if aug_lists and isinstance(aug_lists[0], (tuple, list)):
            prob = [float(p) for _, p in aug_lists]
            aug_lists = [aug for aug, _ in aug_lists]
        else:
            prob = [1.0 / max(len(aug_lists), 1)] * len(aug_lists)
        if abs(sum(prob) - 1) > 1e-8:
            raise ValueError(say("RandomChooseAug", expected="probabilities that sum to 1",
                                 received=f"{prob}", do="Scale them, or pass augmentors alone."))
        check_augmentors(aug_lists, "RandomChooseAug")
        self._init(locals())
        super().__init__()

    def reset_state(self) -> None:
        """Give this and each augmentor a new random generator."""
        super().reset_state()
        for a in self.aug_lists:
            a.reset_state()

    def get_transform(self, img: np.ndarray) -> Any:
        """Draw the augmentor."""
        chosen = self.rng.choice(len(self.aug_lists), p=self.prob)
        return self.aug_lists[chosen].get_transform(img)


class RandomOrderAug(ImageAugmentor):
    """Apply augmentors in random order.

    All of them choose their transform, in the order given, by the image as it came; so none may
    change its size.

    Args:
        aug_lists: a list of augmentors.
    """

    def __init__(self, aug_lists: Sequence[ImageAugmentor]) -> None:
        check_augmentors(aug_lists, "RandomOrderAug")
        self._init(locals())
        super().__init__()

    def reset_state(self) -> None:
        """Give this and each augmentor a new random generator."""
        super().reset_state()
        for a in self.aug_lists:
            a.reset_state()

    def get_transform(self, img: np.ndarray) -> TransformList:
        """Draw the order, then the transforms."""
        order = self.rng.permutation(len(self.aug_lists))
        tfms = [a.get_transform(img) for a in self.aug_lists]
        return TransformList([tfms[k] for k in order])


class MapImage(ImageAugmentor):
    """Apply a function.

    Args:
        func: takes an image, returns one.
        coord_func: takes coordinates (n, 2), rows (x, y), returns such; without it, coordinates
            are refused.

    Example:
        >>> MapImage(lambda img: img + 1).augment(np.zeros((1, 1)))
        array([[1.]])
    """

    def __init__(self, func: Callable[[np.ndarray], np.ndarray],
                 coord_func: Callable[[np.ndarray], np.ndarray] | None = None) -> None:
        super().__init__()
        self._init(locals())

    def get_transform(self, img: Any) -> TransformFactory:
        """Return a transform made of the functions."""
        funcs = {"apply_image": self.func, "apply_coords": self.coord_func}
        return TransformFactory("MapImage", **{k: f for k, f in funcs.items() if f is not None})
