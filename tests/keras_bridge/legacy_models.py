# SPDX-License-Identifier: Apache-2.0
"""Models of a tensorpack user: nothing in them is about Keras."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from tfqueue_compat.compat import tfv1
from tfqueue_compat.models import (BatchNorm, Conv2D, FullyConnected, MaxPooling, l2_regularizer,
                                   regularize_cost)
from tfqueue_compat.tfutils import get_current_tower_context, get_global_step_var
from tfqueue_compat.tfutils import gradproc, optimizer, summary
from tfqueue_compat.train import ModelDesc

v1 = tf.compat.v1
T = v1.train

OPTIMIZERS = {
    "sgd": T.GradientDescentOptimizer,
    "momentum": lambda lr: T.MomentumOptimizer(lr, 0.9),
    "nesterov": lambda lr: T.MomentumOptimizer(lr, 0.9, use_nesterov=True),
    "adam": T.AdamOptimizer,
    "rmsprop": T.RMSPropOptimizer,
    "adagrad": T.AdagradOptimizer,
    "ftrl": T.FtrlOptimizer,
    "adadelta": lambda lr: T.AdadeltaOptimizer(lr * 100),
    "gathered": lambda lr: optimizer.AccumGradOptimizer(T.MomentumOptimizer(lr, 0.9), 3),
    "clipped": lambda lr: optimizer.VariableAssignmentOptimizer(
        T.AdamOptimizer(lr), lambda v: tf.clip_by_value(v, -0.3, 0.3)),
}


class Digits(ModelDesc):
    """Convolution, BatchNorm, L2, gradient processors, summaries, a learning rate in a variable."""

    def __init__(self, make: Any = T.AdamOptimizer, batch_norm: bool = True,
                 rate: float = 5e-3) -> None:
        self.make, self.batch_norm, self.rate = make, batch_norm, rate
        self.asked: list[bool] = []

    def inputs(self) -> list[tf.TensorSpec]:
        return [tf.TensorSpec((None, 8, 8), tf.float32, "image"),
                tf.TensorSpec((None,), tf.int32, "label")]

    def build_graph(self, image: Any, label: Any) -> Any:
        self.asked.append(bool(get_current_tower_context().is_training))
        x = tf.expand_dims(image, 3) * 2 - 1
        x = Conv2D("conv0", x, 8, 3, activation=tf.nn.relu)
        if self.batch_norm:
            x = BatchNorm("bn", x)
        x = MaxPooling("pool", x, 2)
        x = FullyConnected("fc0", x, 32, activation=tf.nn.relu)
        logits = FullyConnected("fc1", x, 10)
        tf.nn.softmax(logits, name="prob")
        xent = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=label)
        xent = tf.reduce_mean(xent, name="xent")
        right = v1.nn.in_top_k(logits, label, 1)
        wrong = tf.cast(tf.logical_not(right), tf.float32, name="wrong")
        summary.add_moving_summary(xent, tf.reduce_mean(wrong, name="train_error"))
        summary.add_param_summary((".*/W", ["histogram"]))
        v1.summary.histogram("logits", logits)
        names = [v.op.name for v in v1.trainable_variables()]
        assert all(not n.endswith(":0") for n in names) and "fc0/W" in names
        decay = regularize_cost("fc.*/W", l2_regularizer(1e-4), name="decay")
        return tf.add_n([xent, decay], name="cost")

    def optimizer(self) -> Any:
        rate = v1.get_variable("learning_rate", initializer=self.rate, trainable=False)
        v1.summary.scalar("rate", rate)
        return optimizer.apply_grad_processors(self.make(rate), [
            gradproc.GlobalNormClip(1.0),
            gradproc.MapGradient(lambda grad, var: grad * 2, regex="conv0/b")])


class Old(ModelDesc):
    """The forms of 2016: ``_get_inputs``, ``_build_graph``, ``self.cost``, ``_get_optimizer``."""

    def _get_inputs(self) -> list[Any]:
        return [tfv1.placeholder(tf.float32, (None, 8, 8), "image"),
                tfv1.placeholder(tf.int32, (None,), "label")]

    def _build_graph(self, inputs: Any) -> None:
        image, label = inputs
        with tfv1.variable_scope("net"):
            w = tfv1.get_variable("W", [64, 10], regularizer=l2_regularizer(1e-3))
            scale = tf.Variable(tf.random.normal([10], seed=1), name="scale")
        logits = tf.matmul(tf.reshape(image, [-1, 64]), w) * scale
        tf.argmax(logits, 1, name="guess")
        self.cost = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=label),
            name="plain_cost")

    def _get_optimizer(self) -> Any:
        rate = T.exponential_decay(0.1, get_global_step_var(), 10, 0.5, staircase=True,
                                   name="rate")
        summary.add_moving_summary(rate)
        return T.MomentumOptimizer(rate, 0.9)
