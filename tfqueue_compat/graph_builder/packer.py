# SPDX-License-Identifier: Apache-2.0
"""Puts many gradients into few large tensors, so that summing them takes few transfers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from ..utils import logger
from ..utils.errors import say

__all__ = ["GradientPacker"]

v1 = tf.compat.v1


class GradientPacker:
    """Concatenates gradients and splits them into equal parts, and back.

    Args:
        num_split: number of parts.

    Example:
        >>> packer = GradientPacker(2)
        >>> grads = [tf.constant([1., 2., 3.]), tf.constant([[4.]])]
        >>> packer.compute_strategy(grads)
        True
        >>> [part.shape.as_list() for part in packer.pack(grads)]
        [[2], [2]]
        >>> [g.shape.as_list() for g in packer.unpack(packer.pack(grads))]
        [[3], [1, 1]]
    """

    def __init__(self, num_split: int = 8) -> None:
        self._num_split = num_split
        self._shapes: list[tf.TensorShape] = []
        self._sizes: list[int] = []
        self.split_sizes: list[int] = []

    def compute_strategy(self, grads: Sequence[Any]) -> bool:
        """Look at one tower's gradients; return whether they can be packed.

        They can where all have a known shape and one dtype, and are no fewer elements than parts.
        """
        for g in grads:
            if not tf.is_tensor(g) or isinstance(g, tf.IndexedSlices) \
                    or not g.shape.is_fully_defined():
                logger.info("Gradients are not packed: %r is sparse or has no fixed shape.",
                            getattr(g, "name", g))
                return False
        self._shapes = [g.shape for g in grads]
        self._sizes = [g.shape.num_elements() for g in grads]
        total = sum(self._sizes)
        dtypes = {g.dtype for g in grads}
        if len(dtypes) > 1 or total < self._num_split:
            logger.info("Gradients are not packed: %d elements of %s.", total,
                        ", ".join(sorted(d.name for d in dtypes)))
            return False
        part = total // self._num_split
        self.split_sizes = [part] * (self._num_split - 1)
        self.split_sizes.append(total - part * (self._num_split - 1))
        return True

    def pack(self, grads: Sequence[Any]) -> list[Any]:
        """Return the parts."""
        self._require_strategy()
        flat = tf.concat([tf.reshape(g, [-1]) for g in grads], axis=0)
        return list(tf.split(flat, self.split_sizes))

    def unpack(self, grad_packs: Sequence[Any]) -> list[Any]:
        """Return the gradients of the parts."""
        self._require_strategy()
        flat = tf.split(tf.concat(list(grad_packs), axis=0), self._sizes)
        return [tf.reshape(g, shape) for g, shape in zip(flat, self._shapes)]

    def pack_all(self, all_grads: Sequence[Sequence[Any]],
                 devices: Sequence[Any]) -> list[list[Any]]:
        """Return the parts of each tower.

        Args:
            all_grads: tower x gradient.
            devices: of each tower.
        """
        packed = []
        for device, grads in zip(devices, all_grads):
            with v1.device(device):
                packed.append(self.pack(grads))
        return packed

    def unpack_all(self, all_packed: Sequence[Sequence[Any]],
                   devices: Sequence[Any]) -> list[list[Any]]:
        """Return the gradients of each tower.

        Args:
            all_packed: tower x part.
            devices: of each tower.
        """
        unpacked = []
        for device, packs in zip(devices, all_packed):
            with v1.device(device):
                unpacked.append(self.unpack(packs))
        return unpacked

    def _require_strategy(self) -> None:
        if not self.split_sizes:
            raise RuntimeError(say("GradientPacker", expected="compute_strategy(grads) first",
                                   received="a call without it, or gradients that can't be packed",
                                   do="Call it, and pack only where it returns True."))
