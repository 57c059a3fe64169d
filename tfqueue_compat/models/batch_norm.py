# SPDX-License-Identifier: Apache-2.0
"""Batch normalization as trainers of several towers need it."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from ..compat.tfv1 import layers as tf_layers
from ..tfutils.collection import freeze_collection
from ..tfutils.tower import get_current_tower_context
from ..utils import logger  # noqa: F401 - scripts take it from here
from ..utils.argtools import get_data_format, log_once
from ..utils.errors import say
from .batch_norm_parts import (get_bn_variables, get_sync_bn_mean_var, internal_update_bn_ema,
                               normalize, virtual_batches)
from .registry import layer_register
from .tflayer import convert_to_tflayer_args, rename_get_variable
from .utils import VariableHolder

__all__ = ["BatchNorm", "BatchRenorm", "get_bn_variables", "get_sync_bn_mean_var",
           "internal_update_bn_ema"]

v1 = tf.compat.v1
_UPDATES = ("default", "collection", "internal", "skip")
_RENAMED = {"moving_mean": "mean/EMA", "moving_variance": "variance/EMA"}


@layer_register()
@convert_to_tflayer_args(
    args_names=[],
    name_mapping={"use_bias": "center", "use_scale": "scale", "gamma_init": "gamma_initializer",
                  "decay": "momentum", "use_local_stat": "training"})
def BatchNorm(inputs: Any, axis: int | None = None, *, training: bool | None = None,
              momentum: float = 0.9, epsilon: float = 1e-5, center: bool = True,
              scale: bool = True, beta_initializer: Any = v1.zeros_initializer(),
              gamma_initializer: Any = v1.ones_initializer(),
              virtual_batch_size: int | None = None, data_format: str = "channels_last",
              ema_update: str = "default", sync_statistics: str | None = None,
              internal_update: bool | None = None) -> Any:
    """Normalize by the batch's statistics, or by their moving averages.

    Called as ``BatchNorm('name', inputs, ...)``. Ioffe & Szegedy 2015 (arXiv:1502.03167). Only the
    first tower that trains moves the averages, of its own batch.

    Args:
        inputs: (batch, channel), or with axes between; 4 axes use the fused kernel.
        axis: of the channels; by default from ``data_format``.
        training: whether to use the batch's statistics; by default what the tower does. False
            in training freezes the averages: fine-tuning.
        momentum: share of the old average kept at each step.
        epsilon: added to the variance.
        center: whether to add ``beta``.
        scale: whether to multiply by ``gamma``.
        virtual_batch_size: normalize groups of so many samples apart ("ghost" batch
            normalization, Hoffer et al. 2017, arXiv:1705.08741); the averages follow the first.
        ema_update: ``collection`` puts the updates of the averages into ``UPDATE_OPS``, which
            trainers run after the step; ``internal`` makes the output depend on them;
            ``skip`` leaves the averages alone; ``default`` is ``collection``, or ``internal``
            with ``virtual_batch_size`` or ``sync_statistics``.
        sync_statistics: ``nccl`` takes the statistics over all towers of this process,
            ``horovod`` over all processes.
        internal_update: old word for ``ema_update='internal'``.

    Returns:
        A tensor named ``name/output``. Variables: ``beta``, ``gamma``, ``mean/EMA``,
        ``variance/EMA``.

    Example:
        >>> from tfqueue_compat.tfutils import TowerContext
        >>> with tf.Graph().as_default(), TowerContext("", is_training=True):
        ...     y = BatchNorm("bn", tf.zeros([2, 4, 4, 3]))
        ...     len(v1.get_collection(v1.GraphKeys.UPDATE_OPS))
        2
    """
    if internal_update is not None:
        ema_update = "internal" if internal_update else "collection"
    if ema_update not in _UPDATES:
        raise ValueError(say("BatchNorm", expected=f"ema_update of {_UPDATES}",
                             received=repr(ema_update), do="Pass one of these."))
    rank, axis = _axis_of(inputs, axis, data_format)
    context = get_current_tower_context()
    training = _training(training, context)
    # In a tower that predicts but normalizes by its batch, the user decides.
    moves = training and ema_update != "skip" and (
        context is None or not context.is_training or context.is_main_training_tower)
    if training and (virtual_batch_size is not None or sync_statistics is not None):
        return _own(inputs, rank, axis, momentum, epsilon,
                    (center, scale, beta_initializer, gamma_initializer),
                    virtual_batch_size, sync_statistics, ema_update if moves else "skip")
    layer, outputs, updates = _layer(
        inputs, training, axis=axis, momentum=momentum, epsilon=epsilon, center=center,
        scale=scale, beta_initializer=beta_initializer, gamma_initializer=gamma_initializer)
    if moves and ema_update == "internal":
        with tf.control_dependencies(updates):
            outputs = tf.identity(outputs, name="output")
    else:
        outputs = tf.identity(outputs, name="output")
        if moves:
            for op in updates:
                v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, op)
    return _with_variables(outputs, layer.gamma, layer.beta, layer.moving_mean,
                           layer.moving_variance)


def _axis_of(inputs: Any, axis: int | None, data_format: str) -> tuple[int, int]:
    rank = inputs.shape.rank
    if rank is None or rank < 2:
        raise ValueError(say("BatchNorm", expected="an input of 2 or more axes",
                             received=f"shape {inputs.shape}", do="Reshape the input."))
    if axis is None:
        first = get_data_format(data_format) == "channels_first" and rank > 2
        return rank, 1 if first else rank - 1
    return rank, axis % rank


def _training(training: bool | None, context: Any) -> bool:
    if training is None:
        if context is None:
            raise RuntimeError(say("BatchNorm", expected="training=, or a TowerContext around it",
                                   received="neither", do="Pass training=True or False."))
        return bool(context.is_training)
    if not training and context is not None and context.is_training:
        log_once("Some BatchNorm layers use moving averages in training.", "warning")
    return bool(training)


def _layer(inputs: Any, training: bool, **kwargs: Any) -> tuple[Any, Any, list[Any]]:
    with rename_get_variable(_RENAMED), freeze_collection([v1.GraphKeys.UPDATE_OPS]):
        layer = tf_layers.BatchNormalization(_reuse=v1.get_variable_scope().reuse, **kwargs)
        outputs = layer(inputs, training=training, scope=v1.get_variable_scope())
    return layer, outputs, list(layer.updates)


def _own(inputs: Any, rank: int, axis: int, momentum: float, epsilon: float,
         weights: tuple[bool, bool, Any, Any], virtual_batch_size: int | None,
         sync_statistics: str | None, ema_update: str) -> Any:
    """Normalize by statistics that TensorFlow's layer has no words for."""
    if virtual_batch_size is not None and sync_statistics is not None:
        raise ValueError(say("BatchNorm", expected="virtual_batch_size or sync_statistics",
                             received="both", do="Leave one out."))
    channels = inputs.shape.as_list()[axis]
    if channels is None:
        raise ValueError(say("BatchNorm", expected=f"a known size in axis {axis}",
                             received=f"shape {inputs.shape}", do="Use set_shape before it."))
    center, scale, beta_initializer, gamma_initializer = weights
    beta, gamma, moving_mean, moving_var = get_bn_variables(
        channels, scale, center, beta_initializer, gamma_initializer)
    over = [i for i in range(rank) if i != axis]
    x = tf.cast(inputs, tf.float32) if inputs.dtype in (tf.float16, tf.bfloat16) else inputs
    if virtual_batch_size is not None:
        outputs, mean, var = virtual_batches(x, virtual_batch_size, axis, gamma, beta, epsilon)
    else:
        mean, var = get_sync_bn_mean_var(x, over, str(sync_statistics))
        outputs = normalize(x, mean, var, beta, gamma, epsilon, axis)
    outputs = tf.cast(outputs, inputs.dtype)
    if ema_update in ("default", "internal"):
        outputs = internal_update_bn_ema(outputs, mean, var, moving_mean, moving_var, momentum)
    elif ema_update == "collection":
        for variable, value in ((moving_mean, mean), (moving_var, var)):
            moved = v1.assign_sub(variable, (variable - value) * (1 - momentum))
            v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, moved.op)
    return _with_variables(tf.identity(outputs, name="output"), gamma if scale else None,
                           beta if center else None, moving_mean, moving_var)


def _with_variables(outputs: Any, gamma: Any, beta: Any, mean: Any, variance: Any) -> Any:
    outputs.variables = VariableHolder(moving_mean=mean, mean=mean, moving_variance=variance,
                                       variance=variance)
    if gamma is not None:
        outputs.variables.gamma = gamma
    if beta is not None:
        outputs.variables.beta = beta
    context = get_current_tower_context()
    if context is not None and context.is_main_training_tower:
        add_model_variables([mean, variance])
    return outputs


def add_model_variables(variables: list[Any]) -> None:
    """Make variables part of the saved model, though nobody trains them."""
    known = {id(v) for v in v1.get_collection(v1.GraphKeys.MODEL_VARIABLES)}
    for variable in variables:
        if isinstance(variable, tf.Variable) and id(variable) not in known:
            v1.add_to_collection(v1.GraphKeys.MODEL_VARIABLES, variable)


@layer_register()
@convert_to_tflayer_args(
    args_names=["rmax", "dmax"],
    name_mapping={"use_bias": "center", "use_scale": "scale", "gamma_init": "gamma_initializer",
                  "decay": "momentum"})
def BatchRenorm(x: Any, rmax: Any, dmax: Any, *, momentum: float = 0.9, epsilon: float = 1e-5,
                center: bool = True, scale: bool = True, gamma_initializer: Any = None,
                data_format: str = "channels_last") -> Any:
    """Batch renormalization: training normalizes as inference will (arXiv:1702.03275).

    Args:
        x: (batch, channel), or 4 axes.
        rmax: largest correction of the scale, a number or a scalar tensor; the smallest is
            its inverse.
        dmax: largest correction of the offset.

    Returns:
        A tensor named ``name/output``. Variables: those of ``BatchNorm``, and
        ``moving_stddev``, ``renorm_mean``, ``renorm_stddev``.
    """
    _, axis = _axis_of(x, None, data_format)
    context = get_current_tower_context()
    training = _training(None, context)
    layer, outputs, updates = _layer(
        x, training, axis=axis, momentum=momentum, epsilon=epsilon, center=center, scale=scale,
        renorm=True, renorm_clipping={"rmin": 1.0 / rmax, "rmax": rmax, "dmax": dmax},
        renorm_momentum=0.99,
        gamma_initializer=(v1.ones_initializer() if gamma_initializer is None
                           else gamma_initializer))
    if training and context.is_main_training_tower:
        for op in updates:
            v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, op)
        add_model_variables(layer.non_trainable_variables)
    return _with_variables(tf.identity(outputs, name="output"), layer.gamma, layer.beta,
                           layer.moving_mean, layer.moving_variance)
