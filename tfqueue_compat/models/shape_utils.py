# SPDX-License-Identifier: Apache-2.0
"""Shapes that are known while the graph is built as far as they can be, and computed elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

__all__ = ["DynamicLazyAxis", "StaticDynamicAxis", "StaticDynamicShape", "StaticLazyAxis"]


class StaticDynamicAxis:
    """One axis' size.

    Args:
        static: an int, or None where it is not known.
        dynamic: a scalar tensor, or an int.
    """

    def __init__(self, static: int | None, dynamic: Any) -> None:
        self.static = static
        self.dynamic = dynamic

    def apply(self, f: Callable[[Any], Any]) -> StaticDynamicAxis:
        """Return the axis of size ``f(size)``.

        Example:
            >>> StaticDynamicAxis(3, 3).apply(lambda n: n * 2).static
            6
        """
        if self.static is None:
            return StaticDynamicAxis(None, f(self.dynamic))
        size = f(self.static)
        return StaticDynamicAxis(size, size)

    def __str__(self) -> str:
        return f"S={self.static}, D={self.dynamic}"


def DynamicLazyAxis(shape: Any, idx: int) -> Callable[[], Any]:
    """Return a function that takes ``shape[idx]`` when it is called: no op is made before."""
    return lambda: shape[idx]


def StaticLazyAxis(dim: Any) -> Callable[[], Any]:
    """Return a function that returns ``dim``."""
    return lambda: dim


class StaticDynamicShape:
    """The shape of a tensor, some of its axes changed.

    Args:
        tensor: of a known rank.
    """

    def __init__(self, tensor: Any) -> None:
        self.static: list[int | None] = tensor.shape.as_list()
        shape = tf.shape(tensor)
        self.dynamic = [DynamicLazyAxis(shape, i) for i in range(len(self.static))]

    @property
    def ndims(self) -> int:
        """Number of axes."""
        return len(self.static)

    def apply(self, axis: int, f: Callable[[Any], Any]) -> None:
        """Let the size of an axis be ``f(size)``."""
        size = self.static[axis]
        if size is None:
            before = self.dynamic[axis]
            self.dynamic[axis] = lambda: f(before())
        else:
            self.static[axis] = f(size)
            self.dynamic[axis] = StaticLazyAxis(self.static[axis])

    def get_static(self) -> list[int | None]:
        """Return the sizes that are known, None for the others."""
        return self.static

    def get_dynamic(self, axis: int | None = None) -> Any:
        """Return the size of an axis, or the sizes of all: ints where known, else tensors."""
        if axis is None:
            return [self.get_dynamic(i) for i in range(self.ndims)]
        size = self.static[axis]
        return self.dynamic[axis]() if size is None else size
