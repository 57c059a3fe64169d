# SPDX-License-Identifier: Apache-2.0
"""Batch renormalization (Ioffe 2017, arXiv:1702.03275): train with what inference will use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from ...utils.errors import near, say
from .layers_shapes import smart_cond

__all__ = ["Renorm"]

v1 = tf.compat.v1
_BOUNDS = ("rmin", "rmax", "dmax")


class Renorm:
    """The correction r, d of batch statistics towards their own moving averages.

    Args:
        clipping: bounds ``rmin``, ``rmax`` of r and ``dmax`` of abs(d); absent ones don't clip.
        momentum: share of the old average kept at each update.
        epsilon: added to the variance.

    Raises:
        ValueError: for another key in ``clipping``.
    """

    def __init__(self, clipping: Mapping[str, Any] | None, momentum: float,
                 epsilon: float) -> None:
        unknown = sorted(set(clipping or {}) - set(_BOUNDS))
        if unknown:
            raise ValueError(say("renorm_clipping", expected=f"keys of {_BOUNDS}",
                                 received=repr(unknown[0]),
                                 do=f"Rename it.{near(unknown[0], _BOUNDS)}"))
        self.clipping = dict(clipping or {})
        self.momentum = momentum
        self.epsilon = epsilon

    def build(self, statistic: Callable[..., Any], shape: Any, dtype: Any, mean: Any,
              variance: Any) -> None:
        """Create ``moving_stddev``, ``renorm_mean``, ``renorm_stddev``."""
        def root(size: Any, dtype: Any = None, partition_info: Any = None) -> Any:
            return tf.sqrt(variance(size, dtype=dtype))

        self.moving_stddev = statistic("moving_stddev", shape, dtype, root)
        self.mean = statistic("renorm_mean", shape, dtype, mean)
        self.stddev = statistic("renorm_stddev", shape, dtype, root)

    def correct(self, mean: Any, variance: Any, training: Any) -> tuple[Any, Any, Any, Any]:
        """Return r, d and the batch's mean and variance, which move the correction's averages.

        Args:
            mean: of the batch.
            variance: of the batch.
            training: outside of it r is 1, d is 0 and nothing moves.
        """
        stddev = tf.sqrt(variance + self.epsilon)
        average, spread = tf.identity(self.mean), tf.identity(self.stddev)
        spread = tf.maximum(spread, tf.sqrt(tf.constant(self.epsilon, spread.dtype)))
        r = stddev / spread
        d = (mean - average) / spread
        if self.clipping.get("rmin") is not None:
            r = tf.maximum(r, self.clipping["rmin"])
        if self.clipping.get("rmax") is not None:
            r = tf.minimum(r, self.clipping["rmax"])
        if self.clipping.get("dmax") is not None:
            d = tf.clip_by_value(d, -self.clipping["dmax"], self.clipping["dmax"])
        r = smart_cond(training, lambda: r, lambda: tf.ones_like(r))
        d = smart_cond(training, lambda: d, lambda: tf.zeros_like(d))
        # The correction must have read the averages before they move.
        with tf.control_dependencies([r, d]):
            moved = [self._moved(self.mean, tf.identity(mean), training),
                     self._moved(self.stddev, tf.identity(stddev), training)]
        with tf.control_dependencies(moved):
            mean, stddev = tf.identity(mean), tf.identity(stddev)
        return tf.stop_gradient(r), tf.stop_gradient(d), mean, tf.square(stddev) - self.epsilon

    def _moved(self, variable: Any, value: Any, training: Any) -> Any:
        def move() -> Any:
            return tf.identity(v1.assign_sub(variable, (variable - value) * (1 - self.momentum)))

        return smart_cond(training, move, lambda: tf.identity(variable))

    def move_variance(self, moving_variance: Any, variance: Any, training: Any,
                      momentum: float) -> Any:
        """Move the stddev's average towards ``variance`` and set the variance's from it."""
        def move() -> Any:
            stddev = tf.sqrt(variance + self.epsilon)
            new = v1.assign_sub(self.moving_stddev,
                                (self.moving_stddev - stddev) * (1 - momentum))
            return v1.assign(moving_variance, tf.nn.relu(tf.square(new) - self.epsilon))

        return smart_cond(training, move, lambda: tf.identity(moving_variance))
