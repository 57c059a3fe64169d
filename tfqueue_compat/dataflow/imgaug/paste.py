# SPDX-License-Identifier: Apache-2.0
"""Augmentors that lay the image on a larger background."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...utils.errors import say
from ._help import hw_pair, image_hw
from .base import ImageAugmentor, _From
from .transform import TransformFactory

__all__ = ["CenterPaste", "BackgroundFiller", "ConstantBackgroundFiller", "RandomPaste"]


class BackgroundFiller:
    """Base of what makes backgrounds: a subclass defines ``_fill(background_shape, img)``."""

    def fill(self, background_shape: Sequence[int], img: np.ndarray) -> np.ndarray:
        """Return a background of ``background_shape`` (h, w) for ``img``, with its channels."""
        return self._fill(tuple(background_shape), img)

    def _fill(self, background_shape: tuple[int, ...], img: np.ndarray) -> np.ndarray:
        raise NotImplementedError(say(
            type(self).__name__, expected="a subclass with _fill(background_shape, img)",
            received="one without", do="Define it and return an image of that shape."))


class ConstantBackgroundFiller(BackgroundFiller):
    """Fill with one value, in the image's type.

    Args:
        value: a number, or one for each channel.
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    def _fill(self, background_shape: tuple[int, ...], img: np.ndarray) -> np.ndarray:
        shape = background_shape + tuple(img.shape[2:])
        return np.full(shape, self.value, dtype=img.dtype)

    def __repr__(self) -> str:
        return f"imgaug.ConstantBackgroundFiller({self.value!r})"


class CenterPaste(ImageAugmentor):
    """Paste the image onto the middle of a background.

    Args:
        background_shape: (h, w) of the background, or one int for a square; at least the
            image's.
        background_filler: makes the background; black by default.
    """

    def __init__(self, background_shape: int | Sequence[int],
                 background_filler: BackgroundFiller | None = None) -> None:
        background_shape = hw_pair(background_shape, f"{type(self).__name__}(background_shape=)")
        if background_filler is None:
            background_filler = ConstantBackgroundFiller(0)
        super().__init__()
        self._init(locals())

    def get_transform(self, img: np.ndarray) -> TransformFactory:
        """Place the image; odd rests go below and to the right.

        Raises:
            ValueError: the image is larger than the background.
        """
        rest_h, rest_w = self._room(img)
        return self._paste_at(rest_h // 2, rest_w // 2)

    def _room(self, img: np.ndarray) -> tuple[int, int]:
        h, w = image_hw(img, self)
        rest_h, rest_w = self.background_shape[0] - h, self.background_shape[1] - w
        if min(rest_h, rest_w) < 0:
            raise ValueError(say(repr(self),
                                 expected=f"an image of at most {self.background_shape} (h, w)",
                                 received=f"shape {tuple(img.shape)}",
                                 do="Shrink or crop it first, or enlarge the background."))
        return rest_h, rest_w

    def _paste_at(self, y0: int, x0: int) -> TransformFactory:
        def paste(img: np.ndarray) -> np.ndarray:
            h, w = image_hw(img, self)
            background = self.background_filler.fill(self.background_shape, img)
            background[y0:y0 + h, x0:x0 + w] = img
            return background

        def move(coords: np.ndarray) -> np.ndarray:
            return coords + np.array([x0, y0], dtype=coords.dtype)

        return TransformFactory(name=_From("", self), apply_image=paste, apply_coords=move)


class RandomPaste(CenterPaste):
    """Paste the image onto a random place of a background; arguments as in CenterPaste."""

    def get_transform(self, img: np.ndarray) -> TransformFactory:
        """Draw y0, then x0.

        Raises:
            ValueError: the image is larger than the background.
        """
        rest_h, rest_w = self._room(img)
        y0 = int(self._rand_range(rest_h))
        x0 = int(self._rand_range(rest_w))
        return self._paste_at(y0, x0)
