# SPDX-License-Identifier: Apache-2.0
"""The parts of batch normalization: variables, statistics over towers, moving averages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from ..tfutils.tower import get_current_tower_context
from ..utils import logger
from ..utils.errors import NotSupported, near, require, say

__all__ = ["get_bn_variables", "get_sync_bn_mean_var", "internal_update_bn_ema", "normalize",
           "virtual_batches"]

v1 = tf.compat.v1
_SYNC = ("nccl", "horovod")


def get_bn_variables(n_out: int, use_scale: bool, use_bias: bool, beta_init: Any,
                     gamma_init: Any) -> tuple[Any, Any, Any, Any]:
    """Return beta, gamma, ``mean/EMA``, ``variance/EMA`` for ``n_out`` channels.

    Args:
        use_scale: where False, gamma is a constant 1.
        use_bias: where False, beta is a constant 0.
    """
    beta = v1.get_variable("beta", [n_out], initializer=beta_init) if use_bias \
        else tf.zeros([n_out], name="beta")
    gamma = v1.get_variable("gamma", [n_out], initializer=gamma_init) if use_scale \
        else tf.ones([n_out], name="gamma")
    mean = v1.get_variable("mean/EMA", [n_out], initializer=v1.zeros_initializer(),
                           trainable=False)
    variance = v1.get_variable("variance/EMA", [n_out], initializer=v1.ones_initializer(),
                               trainable=False)
    return beta, gamma, mean, variance


def internal_update_bn_ema(xn: Any, batch_mean: Any, batch_var: Any, moving_mean: Any,
                           moving_var: Any, decay: float) -> Any:
    """Return ``xn``, whose evaluation moves the averages.

    Args:
        decay: share of the old averages kept.
    """
    moved = [v1.assign_sub(average, (average - value) * (1 - decay)).op
             for average, value in ((moving_mean, batch_mean), (moving_var, batch_var))]
    with tf.control_dependencies(moved):
        return tf.identity(xn)


def normalize(x: Any, mean: Any, var: Any, beta: Any, gamma: Any, epsilon: float,
              axis: int) -> Any:
    """Return ``(x - mean) / sqrt(var + epsilon) * gamma + beta`` along the channels' axis."""
    shape = [1] * x.shape.rank
    shape[axis] = x.shape.as_list()[axis]
    return tf.nn.batch_normalization(
        x, *(tf.reshape(v, shape) for v in (mean, var, beta, gamma)), epsilon)


def virtual_batches(x: Any, size: int, axis: int, gamma: Any, beta: Any,
                    epsilon: float) -> tuple[Any, Any, Any]:
    """Normalize each group of ``size`` samples apart.

    Returns:
        The normalized samples, and the mean and variance of the first group.
    """
    batch = x.shape.as_list()[0]
    if batch is not None and batch % size:
        raise ValueError(say("BatchNorm",
                             expected=f"a batch divisible by virtual_batch_size={size}",
                             received=f"a batch of {batch}", do="Change one of the two."))
    shape = tf.shape(x)
    groups = tf.reshape(x, tf.concat([[-1, size], shape[1:]], 0))
    groups.set_shape([None if batch is None else batch // size, size, *x.shape.as_list()[1:]])
    rank = groups.shape.rank
    over = [i for i in range(1, rank) if i != axis + 1]
    mean, var = tf.nn.moments(groups, over, keepdims=True)
    wide = [1] * rank
    wide[axis + 1] = x.shape.as_list()[axis]
    y = tf.nn.batch_normalization(groups, mean, var, tf.reshape(beta, wide),
                                  tf.reshape(gamma, wide), epsilon)
    y = tf.reshape(y, shape)
    y.set_shape(x.shape)
    return y, tf.reshape(mean[0], [-1]), tf.reshape(var[0], [-1])


def get_sync_bn_mean_var(inputs: Any, red_axis: Sequence[int],
                         sync_statistics: str) -> tuple[Any, Any]:
    """Return mean and variance of the channels over all towers or processes.

    Args:
        inputs: of this tower.
        red_axis: the axes to average over.
        sync_statistics: ``nccl`` (towers of this process) or ``horovod`` (processes).

    Raises:
        NotSupported: for ``nccl`` with several towers where no GPU is visible.
        ImportError: for ``horovod`` where it is not installed.
    """
    if sync_statistics not in _SYNC:
        raise ValueError(say("BatchNorm", expected=f"sync_statistics of {_SYNC} or None",
                             received=repr(sync_statistics),
                             do=f"Pass one of these.{near(sync_statistics, _SYNC)}"))
    mean = tf.reduce_mean(inputs, axis=list(red_axis))
    square = tf.reduce_mean(tf.square(inputs), axis=list(red_axis))
    if sync_statistics == "nccl":
        mean, square = _over_towers(mean, square)
    else:
        hvd: Any = require("horovod.tensorflow", "horovod", "BatchNorm's sync_statistics='horovod'")
        if hvd.size() > 1:
            mean, square = hvd.allreduce(mean, average=True), hvd.allreduce(square, average=True)
        else:
            logger.warning("BatchNorm(sync_statistics='horovod') is used with one process!")
    return mean, tf.subtract(square, tf.square(mean))


def _over_towers(mean: Any, square: Any) -> tuple[Any, Any]:
    context = get_current_tower_context()
    total = getattr(context, "total", 1)
    if total == 1:
        logger.warning("BatchNorm(sync_statistics='nccl') is used with only one tower!")
        return mean, square
    if not tf.config.list_physical_devices("GPU"):
        raise NotSupported(say(
            "BatchNorm's sync_statistics='nccl'", expected="a GPU for each of the towers",
            received=f"{total} towers and no GPU: NCCL has no kernel for CPUs",
            do="Leave sync_statistics out, or train one tower on the whole batch."))
    # NCCL sums what all towers hand in under one name.
    name = v1.get_variable_scope().name
    return (all_reduced(mean, total, name + "/sync_mean") / total,
            all_reduced(square, total, name + "/sync_square") / total)


def all_reduced(value: Any, total: int, name: str) -> Any:
    """Return the sum over towers of ``value``; its gradient is the sum of theirs."""
    @tf.custom_gradient
    def reduced(x: Any) -> Any:
        y = tf.raw_ops.NcclAllReduce(input=x, reduction="sum", num_devices=total,
                                     shared_name=name)

        def grad(dy: Any) -> Any:
            return tf.raw_ops.NcclAllReduce(input=dy, reduction="sum", num_devices=total,
                                            shared_name=name + "_grad")
        return y, grad
    return reduced(value)
