# SPDX-License-Identifier: Apache-2.0
"""The moving average behind ``add_moving_summary``: unbiased from its first value on."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["moving_average_of"]

v1 = tf.compat.v1


def moving_average_of(value: tf.Tensor, name: str, decay: float) -> tuple[Any, tf.Tensor]:
    """Return a local variable ``EMA/<name>`` and the tensor that moves it when evaluated.

    The average of n values is ``sum(decay^(n-i) x_i) (1-decay) / (1-decay^n)``, so that the
    initial zero does not count (Kingma & Ba 2014, arXiv:1412.6980, section 3).

    Args:
        value: a float tensor of a fixed shape.
        name: the variables are ``EMA/<name>``, ``.../biased``, ``.../local_step``.
        decay: share of the old average kept at each value.
    """
    def local(suffix: str) -> Any:
        return v1.get_variable(
            f"EMA/{name}{suffix}", shape=value.shape if suffix != "/local_step" else [],
            dtype=value.dtype.base_dtype, initializer=v1.zeros_initializer(), trainable=False,
            collections=[v1.GraphKeys.LOCAL_VARIABLES], use_resource=True)

    root = v1.VariableScope(reuse=v1.AUTO_REUSE, name="")
    with v1.variable_scope(root, auxiliary_name_scope=False), tf.name_scope(""):
        average, biased, count = local(""), local("/biased"), local("/local_step")
        with tf.name_scope(f"EMA/{name}_EMA_apply/"):
            kept = biased.read_value()
            new = kept - (kept - value) * tf.constant(1 - decay, value.dtype)
            number = count.read_value() + 1
            unbiased = new / (1 - tf.pow(tf.constant(decay, value.dtype), number))
            moved = [biased.assign(new, read_value=False), count.assign(number, read_value=False),
                     average.assign(unbiased, read_value=False)]
            with tf.control_dependencies(moved):
                return average, tf.identity(unbiased)
