# SPDX-License-Identifier: Apache-2.0
"""Boxes in an image, by their corners; tensorpack had them until 0.9.1."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from .errors import say

__all__ = ["BoxBase", "FloatBox", "IntBox"]


@dataclasses.dataclass
class BoxBase:
    """A box from (x1, y1) to (x2, y2), in pixels; x counts columns, y rows."""

    x1: Any
    y1: Any
    x2: Any
    y2: Any

    _kinds: ClassVar[tuple[Any, str]] = (numbers.Real, "numbers")

    def __post_init__(self) -> None:
        kind, expected = self._kinds
        for corner in self.to_list():
            if not isinstance(corner, kind):
                raise TypeError(say(type(self).__name__, expected=f"corners that are {expected}",
                                    received=f"{corner!r} ({type(corner).__name__})",
                                    do="Convert them."))

    @property
    def w(self) -> Any:
        """Width in pixels."""
        return self.x2 - self.x1

    @property
    def h(self) -> Any:
        """Height in pixels."""
        return self.y2 - self.y1

    def area(self) -> Any:
        """Return the pixels inside."""
        return self.w * self.h

    def is_box(self) -> bool:
        """Return whether there is anything inside."""
        return bool(self.w > 0 and self.h > 0)

    def copy(self) -> BoxBase:
        """Return another one like it."""
        return dataclasses.replace(self)

    def to_list(self) -> list[Any]:
        """Return [x1, y1, x2, y2]."""
        return [self.x1, self.y1, self.x2, self.y2]

    def _clip(self, width: Any, height: Any) -> None:
        self.x1, self.x2 = (np.clip(x, 0, width) for x in (self.x1, self.x2))
        self.y1, self.y2 = (np.clip(y, 0, height) for y in (self.y1, self.y2))


class IntBox(BoxBase):
    """A box of whole pixels, the last of which, (x2, y2), belongs to it.

    Example:
        >>> box = IntBox(0, 0, 1, 2)
        >>> box.w, box.h
        (2, 3)
    """

    _kinds = (numbers.Integral, "ints")

    @property
    def w(self) -> Any:
        """Width in pixels."""
        return self.x2 - self.x1 + 1

    @property
    def h(self) -> Any:
        """Height in pixels."""
        return self.y2 - self.y1 + 1

    def is_valid_box(self, shape: Sequence[int]) -> bool:
        """Return whether it has pixels, all inside an image of this (height, width)."""
        inside = (self.x1 >= 0 and self.y1 >= 0
                  and self.x2 < shape[1] and self.y2 < shape[0])
        return bool(inside and self.is_box())

    def clip_by_shape(self, shape: Sequence[int]) -> None:
        """Move its corners into an image of this (height, width)."""
        self._clip(shape[1] - 1, shape[0] - 1)

    def roi(self, img: np.ndarray) -> np.ndarray:
        """Return the part of an image, ``(h, w, ...)``, that it covers: a view.

        Raises:
            ValueError: where it is not inside.
        """
        if not self.is_valid_box(img.shape[:2]):
            raise ValueError(say("IntBox.roi", expected=f"a box inside {img.shape[:2]}",
                                 received=str(self), do="Call clip_by_shape(img.shape) before."))
        return img[self.y1:self.y2 + 1, self.x1:self.x2 + 1]


class FloatBox(BoxBase):
    """A box whose corners lie between pixels: its width is ``x2 - x1``."""

    _kinds = ((float, np.floating), "floats")

    @staticmethod
    def from_intbox(intbox: IntBox) -> FloatBox:
        """Return the box around the same pixels."""
        x1, y1, x2, y2 = map(float, intbox.to_list())
        return FloatBox(x1, y1, x2 + 1, y2 + 1)

    def clip_by_shape(self, shape: Sequence[int]) -> None:
        """Move its corners into an image of this (height, width)."""
        self._clip(float(shape[1]), float(shape[0]))
