# SPDX-License-Identifier: Apache-2.0
"""Layers called with the words of either library; run in real tensorpack's process and in ours.

``run(models, tfutils, v1, weights)`` returns, for each case, variables and results.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf


def cases(m: Any) -> dict[str, Any]:
    """Name -> (shape of the input, function of it)."""
    nhwc, vector = (4, 9, 8, 6), (4, 10)
    relu = tf.nn.relu
    found: dict[str, Any] = {
        "conv": lambda x: m.Conv2D("l", x, 8, 3),
        "conv stride": lambda x: m.Conv2D("l", x, 8, (5, 3), strides=2, activation=relu),
        "conv valid": lambda x: m.Conv2D("l", x, 8, 3, padding="VALID", use_bias=False),
        "conv old": lambda x: m.Conv2D("l", x, out_channel=8, kernel_shape=3, stride=2, nl=relu),
        "conv bnrelu": lambda x: m.Conv2D("l", x, 8, 3, activation=m.BNReLU),
        "conv penalty": lambda x: m.Conv2D("l", x, 8, 3,
                                           kernel_regularizer=m.l2_regularizer(0.1)),
        "deconv": lambda x: m.Conv2DTranspose("l", x, 8, 3, strides=2),
        "deconv valid": lambda x: m.Conv2DTranspose("l", x, 8, 4, strides=3, padding="valid"),
        "deconv old": lambda x: m.Deconv2D("l", x, 8, 3, 2, nl=relu),
        "fc": lambda x: m.FullyConnected("l", x, 7),
        "fc old": lambda x: m.FullyConnected("l", x, out_dim=7, nl=relu, use_bias=False),
        "bn": lambda x: m.BatchNorm("l", x),
        "bn frozen": lambda x: m.BatchNorm("l", x, training=False),
        "bn old": lambda x: m.BatchNorm("l", x, decay=0.5, epsilon=1e-3, use_scale=False),
        "bn bare": lambda x: m.BatchNorm("l", x, center=False, scale=False),
        "bn internal": lambda x: m.BatchNorm("l", x, ema_update="internal"),
        "bn skip": lambda x: m.BatchNorm("l", x, ema_update="skip"),
        "bn virtual": lambda x: m.BatchNorm("l", x, virtual_batch_size=2),
        "bn sync": lambda x: m.BatchNorm("l", x, sync_statistics="nccl"),
        "bn axis": lambda x: m.BatchNorm("l", x, axis=1),
        "bnrelu": lambda x: m.BNReLU(x),
        "layer norm": lambda x: m.LayerNorm("l", x),
        "layer norm old": lambda x: m.LayerNorm("l", x, use_scale=False),
        "instance norm": lambda x: m.InstanceNorm("l", x, center=False),
        "max": lambda x: m.MaxPooling("l", x, 2),
        "max same": lambda x: m.MaxPooling("l", x, 3, 2, padding="SAME"),
        "max old": lambda x: m.MaxPooling("l", x, shape=3, stride=2, padding="VALID"),
        "avg": lambda x: m.AvgPooling("l", x, (2, 3), strides=2, padding="same"),
        "global": lambda x: m.GlobalAvgPooling("l", x),
        "unpool": lambda x: m.FixedUnPooling("l", x, 2),
        "unpool mat": lambda x: m.FixedUnPooling(
            "l", x, (2, 3), np.arange(6).reshape(2, 3).astype("float32")),
        "unpool first": lambda x: m.FixedUnPooling(
            "l", x, 3, np.arange(9).reshape(3, 3).astype("float32"), data_format="NCHW"),
        "instance norm first": lambda x: m.InstanceNorm("l", x, data_format="NCHW"),
        "layer norm first": lambda x: m.LayerNorm("l", x, data_format="channels_first"),
        "prelu": lambda x: m.PReLU("l", x, init=0.2),
        "concat": lambda x: m.ConcatWith(x, [x, 2 * x], 3),
        "linear": lambda x: (m.LinearWrap(x).Conv2D("a", 4, 3).tf.nn.relu().BatchNorm("b")
                             .MaxPooling("p", 2).apply(tf.square).FullyConnected("f", 3)()),
    }
    made = {name: (nhwc, f) for name, f in found.items()}
    made |= {"fc vector": (vector, lambda x: m.FullyConnected("l", x, 3)),
             "bn vector": (vector, lambda x: m.BatchNorm("l", x)),
             "layer norm vector": (vector, lambda x: m.LayerNorm("l", x))}
    return made


def run(m: Any, tfutils: Any, v1: Any) -> dict[str, Any]:
    """Build and run every case in training, those with BatchNorm in inference too."""
    results: dict[str, Any] = {}
    for name, (shape, function) in cases(m).items():
        for training in (True, False) if "bn" in name or name == "linear" else (True,):
            with tf.Graph().as_default():
                results[f"{name} {training}"] = _one(shape, function, training, tfutils, v1)
    return results


def _value(name: str, shape: tuple[int, ...]) -> np.ndarray:
    rng = np.random.RandomState(sum(map(ord, name)))
    return np.asarray(rng.rand(*shape) + 0.5, "float32")  # variances are positive


def _one(shape: tuple[int, ...], function: Any, training: bool, tfutils: Any, v1: Any) -> Any:
    data = np.random.RandomState(0).randn(*shape).astype("float32")
    x = v1.placeholder(tf.float32, (None, *shape[1:]))
    with tfutils.TowerContext("", is_training=training):
        y = function(x)
    keys = v1.GraphKeys
    variables = v1.global_variables()
    updates = v1.get_collection(keys.UPDATE_OPS)
    gradients = v1.gradients(tf.reduce_sum(tf.square(y)), [x, *v1.trainable_variables()])
    losses = v1.get_collection(keys.REGULARIZATION_LOSSES)
    with v1.Session() as sess:
        for v in variables:
            sess.run(v.initializer, {v.initializer.inputs[1]: _value(v.op.name, v.shape)})
        # one after the other: updates inside the output must not race with what is read here
        out = sess.run(y, {x: data})
        grads = sess.run(gradients, {x: data})
        sess.run(updates, {x: data})
        return {
            "variables": sorted((v.op.name, tuple(v.shape.as_list())) for v in variables),
            "trainable": sorted(v.op.name for v in v1.trainable_variables()),
            "name": y.op.name, "shape": y.shape.as_list(), "out": out,
            "gradients": {n: g for n, g in zip(
                ["x", *(v.op.name for v in v1.trainable_variables())], grads)},
            "updates": len(updates), "losses": sess.run(losses),
            "after": {v.op.name: sess.run(v) for v in variables}}


def initial(m: Any, tfutils: Any, v1: Any) -> dict[str, Any]:
    """Mean, std and the largest value over std of initial weights."""
    found = {}
    with tf.Graph().as_default(), tfutils.TowerContext("", is_training=True):
        x = tf.zeros([1, 8, 8, 64])
        m.Conv2D("conv", x, 128, 5)
        m.Conv2D("split", x, 128, 5, split=2)
        m.Conv2DTranspose("deconv", x, 128, 5)
        m.FullyConnected("fc", x, 64)
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            for v in v1.global_variables():
                w = sess.run(v)
                found[v.op.name] = [float(w.mean()), float(w.std()), float(np.abs(w).max())]
    return found
