# SPDX-License-Identifier: Apache-2.0
"""Normalization of each sample by its own statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from ..utils.argtools import get_data_format
from ..utils.develop import log_deprecated
from ..utils.errors import say
from .registry import layer_register
from .tflayer import convert_to_tflayer_args
from .utils import VariableHolder

__all__ = ["InstanceNorm", "LayerNorm"]

v1 = tf.compat.v1
_OLD = {"use_bias": "center", "use_scale": "scale", "gamma_init": "gamma_initializer"}


@layer_register()
@convert_to_tflayer_args(args_names=["epsilon"], name_mapping=_OLD)
def LayerNorm(x: Any, epsilon: float = 1e-5, *, center: bool = True, scale: bool = True,
              gamma_initializer: Any = v1.ones_initializer(),
              data_format: str = "channels_last") -> Any:
    """Normalize each sample over all its axes (Ba et al. 2016, arXiv:1607.06450).

    Args:
        x: (batch, channel), (batch, height, width, channel), or (batch, channel, height, width)
            for ``channels_first``.
        epsilon: added to the variance.

    Returns:
        A tensor of the input's shape. Variables: ``beta``, ``gamma`` (channel).
    """
    rank = x.shape.rank
    if rank not in (2, 4):
        raise ValueError(say("LayerNorm", expected="2 or 4 axes", received=f"shape {x.shape}",
                             do="Reshape the input."))
    return _normalized(x, list(range(1, rank)), epsilon, center, scale, gamma_initializer,
                       data_format)


@layer_register()
@convert_to_tflayer_args(args_names=["epsilon"], name_mapping=_OLD)
def InstanceNorm(x: Any, epsilon: float = 1e-5, *, center: bool = True, scale: bool = True,
                 gamma_initializer: Any = v1.ones_initializer(),
                 data_format: str = "channels_last", use_affine: bool | None = None) -> Any:
    """Normalize each channel of each image (Ulyanov et al. 2016, arXiv:1607.08022).

    Args:
        x: (batch, height, width, channel), or (batch, channel, height, width) for
            ``channels_first``.
        epsilon: added to the variance.
        use_affine: old word for ``center`` and ``scale`` together.

    Returns:
        A tensor of the input's shape. Variables: ``beta``, ``gamma`` (channel).
    """
    if use_affine is not None:
        log_deprecated("InstanceNorm(use_affine=)", "Use center= and scale=.")
        center = scale = use_affine
    if x.shape.rank != 4:
        raise ValueError(say("InstanceNorm", expected="4 axes", received=f"shape {x.shape}",
                             do="Reshape the input."))
    over = [1, 2] if get_data_format(data_format) == "channels_last" else [2, 3]
    return _normalized(x, over, epsilon, center, scale, gamma_initializer, data_format)


def _normalized(x: Any, over: Sequence[int], epsilon: float, center: bool, scale: bool,
                gamma_initializer: Any, data_format: str) -> Any:
    rank = x.shape.rank
    last = rank == 2 or get_data_format(data_format) == "channels_last"
    axis = rank - 1 if last else 1
    channels = x.shape.as_list()[axis]
    if channels is None:
        raise ValueError(say("normalization", expected=f"a known size in axis {axis}",
                             received=f"shape {x.shape}", do="Use set_shape before it."))
    wide = [1] * rank
    wide[axis] = channels
    mean, var = tf.nn.moments(x, list(over), keepdims=True)
    holder = VariableHolder()
    beta = gamma = None
    if center:
        beta = v1.get_variable("beta", [channels], initializer=v1.zeros_initializer())
        holder.beta = beta = tf.reshape(beta, wide)
    if scale:
        gamma = v1.get_variable("gamma", [channels], initializer=gamma_initializer)
        holder.gamma = gamma = tf.reshape(gamma, wide)
    outputs = tf.nn.batch_normalization(x, mean, var, beta, gamma, epsilon, name="output")
    outputs.variables = holder
    return outputs
