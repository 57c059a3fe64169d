# SPDX-License-Identifier: Apache-2.0
"""``tf.layers`` batch normalization, with statistics kept by ops in ``UPDATE_OPS``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from ...utils.errors import NotSupported, say
from .batch_renorm import Renorm
from .layers_base import Layer
from .layers_shapes import channels_last_around, known_value, smart_cond, static_size
from .layers_spec import InputSpec

__all__ = ["BatchNormalization", "batch_normalization"]

v1 = tf.compat.v1
_ZEROS = v1.zeros_initializer()
_ONES = v1.ones_initializer()


class BatchNormalization(Layer):
    """Normalize by the batch's mean and variance, or by their moving averages.

    Ioffe & Szegedy 2015 (arXiv:1502.03167); with ``renorm`` Ioffe 2017 (arXiv:1702.03275).
    Weights: ``gamma``, ``beta``, ``moving_mean``, ``moving_variance``. The ops that move the two
    averages go to ``UPDATE_OPS``; the training op must depend on them.

    Args:
        axis: the axis (or axes) to keep: the channels'.
        momentum: share of the old average kept at each update.
        epsilon: added to the variance.
        renorm_clipping: dict with any of ``rmin``, ``rmax``, ``dmax``.
        renorm_momentum: momentum of the averages that ``renorm`` corrects by.
        fused: None chooses the fused kernel where it fits (4 axes, one channel axis).
        adjustment: maps the shape of the input to (scale, offset), applied while training.

    Raises:
        NotSupported: for ``virtual_batch_size``.
        ValueError: for ``fused=True`` where the fused kernel does not fit.
    """

    def __init__(self, axis: int | Sequence[int] = -1, momentum: float = 0.99,
                 epsilon: float = 1e-3, center: bool = True, scale: bool = True,
                 beta_initializer: Any = _ZEROS, gamma_initializer: Any = _ONES,
                 moving_mean_initializer: Any = _ZEROS, moving_variance_initializer: Any = _ONES,
                 beta_regularizer: Any = None, gamma_regularizer: Any = None,
                 beta_constraint: Any = None, gamma_constraint: Any = None,
                 renorm: bool = False, renorm_clipping: Mapping[str, Any] | None = None,
                 renorm_momentum: float = 0.99, fused: bool | None = None,
                 trainable: bool = True, virtual_batch_size: int | None = None,
                 adjustment: Callable[[Any], Any] | None = None, name: str | None = None,
                 **kwargs: Any) -> None:
        super().__init__(trainable=trainable, name=name, **kwargs)
        if virtual_batch_size is not None:
            raise NotSupported(say(
                f"BatchNormalization {self.name!r}", expected="virtual_batch_size=None",
                received=repr(virtual_batch_size),
                do="Split the batch with tf.split and normalize each part."))
        self.axis: list[int] = [axis] if isinstance(axis, int) else list(axis)
        self.momentum = momentum
        self.epsilon = epsilon
        self.center = center
        self.scale = scale
        self.beta_initializer = beta_initializer
        self.gamma_initializer = gamma_initializer
        self.moving_mean_initializer = moving_mean_initializer
        self.moving_variance_initializer = moving_variance_initializer
        self.beta_regularizer = beta_regularizer
        self.gamma_regularizer = gamma_regularizer
        self.beta_constraint = beta_constraint
        self.gamma_constraint = gamma_constraint
        self.renorm = Renorm(renorm_clipping, renorm_momentum, epsilon) if renorm else None
        self.fused = fused
        self.adjustment = adjustment
        self.gamma: Any = None
        self.beta: Any = None
        self.moving_mean: Any = None
        self.moving_variance: Any = None

    def build(self, input_shape: Any) -> None:
        rank = tf.TensorShape(input_shape).rank
        if rank is None:
            raise ValueError(say(f"BatchNormalization {self.name!r}", expected="a known rank",
                                 received=f"shape {input_shape}", do="Use set_shape before it."))
        self.axis = [a + rank if a < 0 else a for a in self.axis]
        what = f"BatchNormalization {self.name!r}"
        sizes = {a: static_size(input_shape, a, what) for a in self.axis}
        self.input_spec = InputSpec(ndim=rank, axes=sizes)
        self.fused = self._choose_fused(rank)
        # One axis: a vector of weights. Several: their sizes, with 1 for the axes between.
        shape = (list(sizes.values()) if len(sizes) == 1 else
                 [sizes.get(i, 1) for i in range(rank)])
        low = self._dtype in (None, tf.float16, tf.bfloat16)
        dtype = tf.float32 if low else self._dtype
        if self.scale:
            self.gamma = self.add_weight(
                "gamma", shape, dtype, self.gamma_initializer, self.gamma_regularizer,
                constraint=self.gamma_constraint)
        if self.center:
            self.beta = self.add_weight(
                "beta", shape, dtype, self.beta_initializer, self.beta_regularizer,
                constraint=self.beta_constraint)
        self.moving_mean = self._statistic("moving_mean", shape, dtype,
                                           self.moving_mean_initializer)
        self.moving_variance = self._statistic("moving_variance", shape, dtype,
                                               self.moving_variance_initializer)
        if self.renorm is not None:
            self.renorm.build(self._statistic, shape, dtype, self.moving_mean_initializer,
                              self.moving_variance_initializer)

    def _choose_fused(self, rank: int) -> bool:
        fits = (rank == 4 and self.axis in ([1], [3]) and self.renorm is None
                and self.adjustment is None)
        if self.fused and not fits:
            raise ValueError(say(
                f"BatchNormalization {self.name!r} with fused=True",
                expected="4 axes, axis 1 or 3, no renorm, no adjustment",
                received=f"rank {rank}, axis {self.axis}", do="Leave fused at None."))
        return fits if self.fused is None else bool(self.fused)

    def _statistic(self, name: str, shape: Any, dtype: Any, initializer: Any) -> Any:
        return self.add_weight(
            name, shape, dtype, initializer, trainable=False,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.MEAN)

    def call(self, inputs: Any, training: Any = False) -> tf.Tensor:
        if self.fused:
            outputs, mean, variance = self._fused(inputs, training)
        else:
            outputs, mean, variance = self._unfused(inputs, training)
        if mean is not None:
            self._move(self.moving_mean, mean, training, inputs)
            if self.renorm is None:
                self._move(self.moving_variance, variance, training, inputs)
            else:
                self.add_update(self.renorm.move_variance(
                    self.moving_variance, variance, training, self.momentum), inputs=inputs)
        return outputs

    def _move(self, variable: Any, value: Any, training: Any, inputs: Any) -> None:
        momentum = smart_cond(training, lambda: self.momentum, lambda: 1.0)
        with tf.name_scope("AssignMovingAvg"):
            rest = tf.cast(1.0 - momentum, variable.dtype.base_dtype)
            # What is read depends on this step's inputs, so that the order of updates is kept.
            delta = (variable - tf.cast(value, variable.dtype.base_dtype)) * rest
            self.add_update(v1.assign_sub(variable, delta), inputs=inputs)

    def _gamma_beta(self, dtype: Any) -> tuple[Any, Any]:
        shape = self.moving_mean.shape
        gamma = tf.ones(shape, dtype) if self.gamma is None else tf.cast(self.gamma, dtype)
        beta = tf.zeros(shape, dtype) if self.beta is None else tf.cast(self.beta, dtype)
        return gamma, beta

    def _fused(self, inputs: tf.Tensor, training: Any) -> tuple[Any, Any, Any]:
        data_format = "channels_first" if self.axis == [1] else "channels_last"
        gamma, beta = self._gamma_beta(self.moving_mean.dtype.base_dtype)
        moments: list[Any] = []

        def normalized(x: tf.Tensor, layout: str) -> tf.Tensor:
            def by_batch() -> Any:
                return v1.nn.fused_batch_norm(x, gamma, beta, epsilon=self.epsilon,
                                              data_format=layout)

            def by_average() -> Any:
                return v1.nn.fused_batch_norm(
                    x, gamma, beta, tf.convert_to_tensor(self.moving_mean),
                    tf.convert_to_tensor(self.moving_variance), epsilon=self.epsilon,
                    data_format=layout, is_training=False)

            outputs, mean, variance = smart_cond(training, by_batch, by_average)
            moments.extend([mean, variance])
            return outputs

        outputs = channels_last_around(inputs, data_format, normalized)
        if _never(training):
            return outputs, None, None
        return outputs, moments[0], moments[1]

    def _unfused(self, inputs: tf.Tensor, training: Any) -> tuple[Any, Any, Any]:
        rank = inputs.shape.rank
        low = inputs.dtype in (tf.float16, tf.bfloat16)
        x = tf.cast(inputs, tf.float32) if low else inputs
        over = [i for i in range(rank) if i not in self.axis]
        wide = [x.shape.as_list()[i] if i in self.axis else 1 for i in range(rank)]

        def spread(v: Any) -> Any:
            last_only = v.shape.rank == rank or self.axis == [rank - 1] and v.shape.rank == 1
            return v if last_only else tf.reshape(v, wide)

        gamma, beta = self._gamma_beta(x.dtype)
        if self.adjustment is not None:
            gamma, beta = self._adjusted(spread(gamma), spread(beta), tf.shape(x), training)
        if _never(training):
            mean, variance = self.moving_mean, self.moving_variance
            new_mean = new_variance = None
        else:
            batch = tf.nn.moments(x, over, keepdims=len(self.axis) > 1)
            mean, variance = smart_cond(
                training, lambda: batch,
                lambda: (tf.identity(self.moving_mean), tf.identity(self.moving_variance)))
            new_mean, new_variance = mean, variance
            if self.renorm is not None:
                r, d, new_mean, new_variance = self.renorm.correct(
                    batch[0], batch[1], training)
                gamma, beta = gamma * spread(r), spread(d) * gamma + beta
        outputs = tf.nn.batch_normalization(x, spread(tf.cast(mean, x.dtype)),
                                            spread(tf.cast(variance, x.dtype)), spread(beta),
                                            spread(gamma), self.epsilon)
        outputs.set_shape(inputs.shape)
        return tf.cast(outputs, inputs.dtype), new_mean, new_variance

    def _adjusted(self, gamma: Any, beta: Any, shape: Any, training: Any) -> tuple[Any, Any]:
        scale, offset = self.adjustment(shape)  # type: ignore[misc]
        scale = smart_cond(training, lambda: scale, lambda: tf.ones_like(scale))
        offset = smart_cond(training, lambda: offset, lambda: tf.zeros_like(offset))
        return scale * gamma, offset * gamma + beta


def _never(training: Any) -> bool:
    known = known_value(training)
    return known is not None and not known


def batch_normalization(
        inputs: Any, axis: int | Sequence[int] = -1, momentum: float = 0.99,
        epsilon: float = 1e-3, center: bool = True, scale: bool = True,
        beta_initializer: Any = _ZEROS, gamma_initializer: Any = _ONES,
        moving_mean_initializer: Any = _ZEROS, moving_variance_initializer: Any = _ONES,
        beta_regularizer: Any = None, gamma_regularizer: Any = None,
        beta_constraint: Any = None, gamma_constraint: Any = None, training: Any = False,
        trainable: bool = True, name: str | None = None, reuse: Any = None,
        renorm: bool = False, renorm_clipping: Mapping[str, Any] | None = None,
        renorm_momentum: float = 0.99, fused: bool | None = None,
        virtual_batch_size: int | None = None,
        adjustment: Callable[[Any], Any] | None = None) -> tf.Tensor:
    """Apply ``BatchNormalization`` once; ``training`` is a bool or a scalar tensor.

    Example:
        >>> with tf.Graph().as_default():
        ...     y = batch_normalization(tf.zeros([2, 4, 4, 3]), training=True)
        ...     len(tf.compat.v1.get_collection("update_ops"))
        2
    """
    layer = BatchNormalization(
        axis, momentum, epsilon, center, scale, beta_initializer, gamma_initializer,
        moving_mean_initializer, moving_variance_initializer, beta_regularizer,
        gamma_regularizer, beta_constraint, gamma_constraint, renorm, renorm_clipping,
        renorm_momentum, fused, trainable, virtual_batch_size, adjustment, name,
        _reuse=reuse, _scope=name)
    return layer(inputs, training=training)
