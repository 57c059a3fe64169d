# SPDX-License-Identifier: Apache-2.0
"""Small functions of tensors, those of old tensorpack among them."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

__all__ = ["accuracy", "get_scalar_var", "prediction_incorrect", "print_stat", "psnr", "rms"]

v1 = tf.compat.v1


def print_stat(x: Any, message: str | None = None) -> tf.Tensor:
    """Return ``x``, whose evaluation prints its shape, mean, root mean square and first values.

    Args:
        x: a float tensor.
        message: printed in front; by default the tensor's name.
    """
    label = f"{x.op.name}: " if message is None else message
    printed = tf.print(label, tf.shape(x), tf.reduce_mean(x), rms(x), x, summarize=20)
    with tf.control_dependencies([printed] if printed is not None else []):
        return tf.identity(x, name="print_" + x.op.name.replace("/", "_"))


def rms(x: Any, name: str | None = None) -> tf.Tensor:
    """Return the root mean square of ``x``, a scalar.

    Args:
        x: a float tensor.
        name: of the result; by default ``<name of x>/rms``, outside of the current scope.
    """
    if name is not None:
        return tf.sqrt(tf.reduce_mean(tf.square(x)), name=name)
    with tf.name_scope(""):
        return tf.sqrt(tf.reduce_mean(tf.square(x)), name=x.op.name + "/rms")


def psnr(prediction: Any, ground_truth: Any, maxp: float | None = None,
         name: str = "psnr") -> tf.Tensor:
    """Return the peak signal-to-noise ratio, in dB: ``20 log10(maxp) - 10 log10(mse)``.

    Args:
        prediction: a float tensor.
        ground_truth: another, of its shape.
        maxp: the largest value that a pixel can have, e.g. 255; 1 where None.
        name: of the result.

    Example:
        >>> round(float(psnr(tf.constant([1.]), tf.constant([0.9]))), 2)
        20.0
    """
    mse = tf.reduce_mean(tf.square(prediction - ground_truth))
    peak = 20 * float(np.log10(1.0 if maxp is None else maxp))
    return tf.add(tf.math.log(mse) * (-10 / float(np.log(10.0))), peak, name=name)


def prediction_incorrect(logits: Any, label: Any, topk: int = 1,
                         name: str = "incorrect_vector") -> tf.Tensor:
    """Return 1. where the label is not among the ``topk`` largest logits, else 0.

    Args:
        logits: (batch, class).
        label: int, (batch,).
        topk: how many guesses count.
        name: of the result.
    """
    right = tf.math.in_top_k(targets=label, predictions=logits, k=topk)
    return tf.cast(tf.logical_not(right), tf.float32, name=name)


def accuracy(logits: Any, label: Any, topk: int = 1, name: str = "accuracy") -> tf.Tensor:
    """Return the share of labels among the ``topk`` largest logits, a scalar."""
    right = tf.math.in_top_k(targets=label, predictions=logits, k=topk)
    return tf.reduce_mean(tf.cast(right, tf.float32), name=name)


def get_scalar_var(name: str, init_value: float, summary: bool = False,
                   trainable: bool = False) -> Any:
    """Return a float32 scalar variable, e.g. a learning rate for ``HyperParamSetter``.

    Args:
        name: of the variable.
        init_value: its initial value.
        summary: whether to add a scalar summary, ``<name>-summary``.
        trainable: whether to train it.
    """
    variable = v1.get_variable(name, initializer=tf.constant(float(init_value)),
                               trainable=trainable)
    if summary:
        v1.summary.scalar(name + "-summary", variable)
    return variable
