# SPDX-License-Identifier: Apache-2.0
"""contrib.layers' normalizations: batch, layer, instance and group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from ....utils.errors import NotSupported, say
from .. import layers as core
from .arg_scope_ import add_arg_scope
from .layer_scope import Collections, data_format_of, finish, layer_scope

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm"]

v1 = tf.compat.v1
Function = Callable[..., Any] | None


class _BatchNorm(core.BatchNormalization):
    """Keeps its updates to itself: ``batch_norm`` decides where they go."""

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        self._updates.append((getattr(updates, "op", updates), None))


@add_arg_scope
def batch_norm(inputs: Any, decay: float = 0.999, center: bool = True, scale: bool = False,
               epsilon: float = 0.001, activation_fn: Function = None,
               param_initializers: Mapping[str, Any] | None = None,
               param_regularizers: Mapping[str, Any] | None = None,
               updates_collections: Any = v1.GraphKeys.UPDATE_OPS, is_training: Any = True,
               reuse: Any = None, variables_collections: Collections = None,
               outputs_collections: Any = None, trainable: bool = True, batch_weights: Any = None,
               fused: bool | None = None, data_format: str = "NHWC",
               zero_debias_moving_mean: bool = False, scope: Any = None, renorm: bool = False,
               renorm_clipping: Mapping[str, Any] | None = None, renorm_decay: float = 0.99,
               adjustment: Any = None) -> Any:
    """Batch normalization, without ``gamma`` by default; scope ``BatchNorm``.

    Variables: ``beta``, ``gamma`` where ``scale``, ``moving_mean``, ``moving_variance``.

    Args:
        decay: share of the old average kept at each update.
        updates_collections: where the updates go; None makes the output depend on them.
        param_initializers: by variable name.
        is_training: a bool or a scalar tensor.

    Raises:
        NotSupported: for ``batch_weights`` and ``zero_debias_moving_mean``.
    """
    for what, given in (("batch_weights", batch_weights is not None),
                        ("zero_debias_moving_mean", zero_debias_moving_mean)):
        if given:
            raise NotSupported(say("batch_norm", expected=f"no {what}", received=what,
                                   do="Leave it out, or write it with tf.nn.moments."))
    inputs = tf.convert_to_tensor(inputs)
    inits, regs = dict(param_initializers or {}), dict(param_regularizers or {})
    ones, zeros = v1.ones_initializer(), v1.zeros_initializer()
    # contrib sends (batch, channel) through the fused kernel too, whose variance is unbiased.
    flat = inputs.shape.rank == 2 and fused is not False and not renorm and adjustment is None
    form = data_format_of(data_format)
    with layer_scope(scope, "BatchNorm", inputs, reuse, None, variables_collections) as opened:
        layer = _BatchNorm(
            3 if flat else 1 if form == "channels_first" else -1, decay, epsilon, center, scale,
            inits.get("beta", zeros), inits.get("gamma", ones), inits.get("moving_mean", zeros),
            inits.get("moving_variance", ones), regs.get("beta"), regs.get("gamma"),
            renorm=renorm, renorm_clipping=renorm_clipping, renorm_momentum=renorm_decay,
            fused=None if flat else fused, adjustment=adjustment, trainable=trainable,
            name=opened.name, _scope=opened, _reuse=reuse)
        wide = inputs[:, tf.newaxis, tf.newaxis, :] if flat else inputs
        outputs = layer(wide, training=is_training)
        if flat:
            outputs = tf.squeeze(outputs, [1, 2])
        if updates_collections is None:
            with tf.control_dependencies(layer.updates):
                outputs = tf.identity(outputs)
        else:
            for update in layer.updates:
                v1.add_to_collections(updates_collections, update)
        return finish(outputs, opened, None, None, activation_fn, outputs_collections)


def _scale_offset(shape: Sequence[int], dtype: Any, center: bool, scale: bool, trainable: bool,
                  initializers: Mapping[str, Any] | None = None) -> tuple[Any, Any]:
    inits = dict(initializers or {})
    beta = v1.get_variable("beta", shape, dtype, inits.get("beta", v1.zeros_initializer()),
                           trainable=trainable) if center else None
    gamma = v1.get_variable("gamma", shape, dtype, inits.get("gamma", v1.ones_initializer()),
                            trainable=trainable) if scale else None
    return gamma, beta


@add_arg_scope
def layer_norm(inputs: Any, center: bool = True, scale: bool = True,
               activation_fn: Function = None, reuse: Any = None,
               variables_collections: Collections = None, outputs_collections: Any = None,
               trainable: bool = True, begin_norm_axis: int = 1, begin_params_axis: int = -1,
               scope: Any = None) -> Any:
    """Normalize each example over the axes from ``begin_norm_axis`` on; scope ``LayerNorm``.

    ``beta`` and ``gamma`` have the shape of the axes from ``begin_params_axis`` on. The variance
    gets 1e-12 added (1e-3 for float16).
    """
    inputs = tf.convert_to_tensor(inputs)
    rank = inputs.shape.rank
    with layer_scope(scope, "LayerNorm", inputs, reuse, None, variables_collections) as opened:
        shape = inputs.shape.as_list()[begin_params_axis:]
        gamma, beta = _scale_offset(shape, inputs.dtype.base_dtype, center, scale, trainable)
        mean, variance = tf.nn.moments(inputs, list(range(begin_norm_axis % rank, rank)),
                                       keepdims=True)
        epsilon = 1e-3 if inputs.dtype == tf.float16 else 1e-12
        outputs = tf.nn.batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
        outputs.set_shape(inputs.shape)
        return finish(outputs, opened, None, None, activation_fn, outputs_collections)


@add_arg_scope
def instance_norm(inputs: Any, center: bool = True, scale: bool = True, epsilon: float = 1e-6,
                  activation_fn: Function = None,
                  param_initializers: Mapping[str, Any] | None = None, reuse: Any = None,
                  variables_collections: Collections = None, outputs_collections: Any = None,
                  trainable: bool = True, data_format: str = "NHWC", scope: Any = None) -> Any:
    """Normalize each channel of each example over its spatial axes; scope ``InstanceNorm``."""
    inputs = tf.convert_to_tensor(inputs)
    rank = inputs.shape.rank
    axis = 1 if data_format_of(data_format) == "channels_first" else rank - 1
    with layer_scope(scope, "InstanceNorm", inputs, reuse, None,
                     variables_collections) as opened:
        size = inputs.shape.as_list()[axis]
        gamma, beta = _scale_offset([size], inputs.dtype.base_dtype, center, scale, trainable,
                                    param_initializers)
        wide = [size if i == axis else 1 for i in range(rank)]
        gamma, beta = (None if v is None else tf.reshape(v, wide) for v in (gamma, beta))
        mean, variance = tf.nn.moments(inputs, [i for i in range(1, rank) if i != axis],
                                       keepdims=True)
        outputs = tf.nn.batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
        return finish(outputs, opened, None, None, activation_fn, outputs_collections)


@add_arg_scope
def group_norm(inputs: Any, groups: int = 32, channels_axis: int = -1,
               reduction_axes: Sequence[int] = (-3, -2), center: bool = True, scale: bool = True,
               epsilon: float = 1e-6, activation_fn: Function = None,
               param_initializers: Mapping[str, Any] | None = None, reuse: Any = None,
               variables_collections: Collections = None, outputs_collections: Any = None,
               trainable: bool = True, scope: Any = None,
               mean_close_to_zero: bool = False) -> Any:
    """Normalize groups of channels (Wu & He 2018, arXiv:1803.08494); scope ``GroupNorm``.

    Raises:
        ValueError: where the channels are no multiple of ``groups``.
    """
    inputs = tf.convert_to_tensor(inputs)
    rank = inputs.shape.rank
    axis = channels_axis % rank
    size = inputs.shape.as_list()[axis]
    if size is None or size % groups:
        raise ValueError(say("group_norm", expected=f"channels in multiples of {groups}",
                             received=str(size), do="Pass another groups=."))
    with layer_scope(scope, "GroupNorm", inputs, reuse, None, variables_collections) as opened:
        gamma, beta = _scale_offset([size], inputs.dtype.base_dtype, center, scale, trainable,
                                    param_initializers)
        sizes = [tf.shape(inputs)[i] if n is None else n
                 for i, n in enumerate(inputs.shape.as_list())]
        split = [*sizes[:axis], groups, size // groups, *sizes[axis + 1:]]
        over = [a % rank for a in reduction_axes]
        over = sorted({a if a < axis else a + 1 for a in over} | {axis + 1})
        mean, variance = tf.nn.moments(tf.reshape(inputs, split), over, keepdims=True)
        wide = [*(1,) * axis, groups, size // groups, *(1,) * (rank - axis - 1)]
        gamma, beta = (None if v is None else tf.reshape(v, wide) for v in (gamma, beta))
        outputs = tf.nn.batch_normalization(tf.reshape(inputs, split), mean, variance, beta, gamma,
                                            epsilon)
        outputs = tf.reshape(outputs, sizes)
        outputs.set_shape(inputs.shape)
        return finish(outputs, opened, None, None, activation_fn, outputs_collections)
