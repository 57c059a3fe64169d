# SPDX-License-Identifier: Apache-2.0
"""Uses of tf.layers as TF 1 scripts have them; ``tf`` is the namespace under test."""

import numpy as np


def x(*shape):
    return (np.random.RandomState(sum(shape)).randn(*shape)).astype("float32")


def naming(tf):
    a = tf.layers.dense(x(2, 3), 4)
    b = tf.layers.dense(a, 4, name="fc")
    with tf.variable_scope("outer"):
        c = tf.layers.dense(b, 2)
        c = tf.layers.dense(c, 2)
        with tf.variable_scope("inner"):
            c = tf.layers.conv2d(c[:, None, None, :], 2, 1)
    with tf.variable_scope("outer", reuse=True):
        d = tf.layers.dense(b, 2)
    e = tf.layers.dense(a, 4, name="fc", reuse=True)
    f = tf.layers.dense(a, 4, name="fc", reuse=tf.AUTO_REUSE)
    layer = tf.layers.Dense(3, name="twice")
    g = layer(a) + layer.apply(b)
    h = tf.layers.Dense(3)(a)
    return c, d, e, f, g, h


def scopes(tf):
    with tf.variable_scope("s", initializer=tf.constant_initializer(0.5),
                           regularizer=lambda w: 0.1 * tf.reduce_sum(tf.abs(w))):
        a = tf.layers.dense(x(2, 3), 4, kernel_regularizer=tf.nn.l2_loss)

    def renamed(getter, name, *args, **kwargs):
        return getter(name.replace("kernel", "W"), *args, **kwargs)

    with tf.variable_scope("t", custom_getter=renamed):
        layer = tf.layers.Dense(2, _reuse=False)
        b = layer.apply(a, scope=tf.get_variable_scope())
    return a, b


def regularized(tf):
    y = tf.layers.conv2d(x(2, 5, 5, 3), 4, 2, kernel_regularizer=tf.nn.l2_loss, name="c",
                         bias_regularizer=lambda b: tf.reduce_sum(tf.abs(b)),
                         activity_regularizer=lambda t: 0.1 * tf.reduce_sum(tf.square(t)))
    # Reused weights are not counted again.
    z = tf.layers.conv2d(x(2, 5, 5, 3), 4, 2, kernel_regularizer=tf.nn.l2_loss, name="c",
                         bias_regularizer=lambda b: tf.reduce_sum(tf.abs(b)), reuse=True)
    return y, z


def frozen(tf):
    return tf.layers.conv2d(x(1, 4, 4, 2), 3, 2, trainable=False), tf.layers.dense(x(1, 2), 2)


def unknown_batch(tf):
    p = tf.placeholder_with_default(x(3, 6, 7, 2), [None, 6, 7, 2])
    y = tf.layers.conv2d_transpose(p, 3, 3, strides=2, padding="same")
    z = tf.layers.flatten(p)
    q = tf.placeholder_with_default(x(3, 6, 7, 2), [None, None, None, 2])
    w = tf.layers.conv2d_transpose(q, 3, (3, 2), strides=(1, 3))
    return y, z, w, tf.layers.conv2d(q, 2, 3)


def batch_norm(**kwargs):
    shape = kwargs.pop("shape", (4, 3, 3, 2))
    training = kwargs.pop("training", True)

    def case(tf):
        value = training
        if isinstance(training, str):
            value = tf.placeholder_with_default(training == "yes", [])
        return tf.layers.batch_normalization(x(*shape), training=value, **kwargs)

    return case


def layer(kind, shape, *args, **kwargs):
    def case(tf):
        given = {k: getattr(tf.nn, v) if k == "activation" else v for k, v in kwargs.items()}
        return getattr(tf.layers, kind)(x(*shape), *args, **given)

    return case


CLIP = {"rmin": 0.5, "rmax": 2.0, "dmax": 1.0}
CASES = {
    "naming": naming, "scopes": scopes, "regularized": regularized, "frozen": frozen,
    "unknown batch": unknown_batch,
    "dense": layer("dense", (3, 5), 4, activation="relu"),
    "dense rank 3": layer("dense", (2, 3, 5), 4, use_bias=False),
    "dense rank 4": layer("dense", (2, 3, 2, 5), 4),
    "conv1d": layer("conv1d", (2, 8, 3), 4, 3, strides=2, padding="same"),
    "conv1d dilated": layer("conv1d", (2, 9, 3), 4, 3, dilation_rate=2, activation="tanh"),
    "conv2d": layer("conv2d", (2, 7, 8, 3), 4, (3, 2), strides=(2, 1), padding="SAME"),
    "conv2d dilated": layer("conv2d", (2, 9, 9, 3), 4, 3, dilation_rate=(2, 1), use_bias=False),
    "conv3d": layer("conv3d", (1, 4, 5, 4, 2), 3, 2, strides=(1, 2, 1)),
    "conv2d_transpose": layer("conv2d_transpose", (2, 4, 5, 3), 2, 3, strides=(2, 3)),
    "conv2d_transpose same": layer("conv2d_transpose", (2, 4, 5, 3), 2, 3, strides=2,
                                   padding="same", activation="relu"),
    "conv2d_transpose first": layer("conv2d_transpose", (2, 3, 4, 5), 2, (3, 1), strides=2,
                                    data_format="channels_first"),
    "conv3d_transpose": layer("conv3d_transpose", (1, 3, 3, 2, 2), 3, 2, strides=2),
    "separable_conv1d": layer("separable_conv1d", (2, 8, 3), 4, 3, depth_multiplier=2, strides=2),
    "separable_conv2d": layer("separable_conv2d", (2, 7, 7, 3), 4, 3, padding="same",
                              depth_multiplier=2, activation="relu"),
    "separable_conv2d dilated": layer("separable_conv2d", (2, 7, 7, 3), 4, 3, dilation_rate=2),
    "max_pooling1d": layer("max_pooling1d", (2, 8, 3), 3, 2, padding="same"),
    "max_pooling2d": layer("max_pooling2d", (2, 7, 8, 3), (3, 2), 2),
    "max_pooling3d": layer("max_pooling3d", (1, 4, 4, 4, 2), 2, (2, 1, 2)),
    "average_pooling1d": layer("average_pooling1d", (2, 8, 3), 3, 2, padding="same"),
    "average_pooling2d": layer("average_pooling2d", (2, 7, 8, 3), 3, 2, padding="same"),
    "average_pooling3d": layer("average_pooling3d", (1, 4, 4, 4, 2), 2, 2),
    "flatten": layer("flatten", (2, 3, 4, 2)),
    "flatten first": layer("flatten", (2, 3, 4, 2), data_format="channels_first"),
    "dropout, not training": layer("dropout", (2, 3), training=False),
    "bn": batch_norm(), "bn inference": batch_norm(training=False),
    "bn tensor yes": batch_norm(training="yes"), "bn tensor no": batch_norm(training="no"),
    "bn momentum": batch_norm(momentum=0.5, epsilon=0.1, center=False, scale=False),
    "bn first": batch_norm(axis=1), "bn unfused": batch_norm(fused=False),
    "bn unfused axis 1": batch_norm(fused=False, axis=1, training="yes"),
    "bn rank 2": batch_norm(shape=(6, 3)), "bn rank 3": batch_norm(shape=(6, 3, 2), axis=-1),
    "bn rank 2 tensor": batch_norm(shape=(6, 3), training="no"),
    "bn two axes": batch_norm(axis=[1, 3], fused=False),
    "bn frozen": batch_norm(trainable=False),
    "bn renorm": batch_norm(shape=(6, 3), renorm=True, renorm_clipping=CLIP, momentum=0.8,
                            renorm_momentum=0.7),
    "bn renorm inference": batch_norm(renorm=True, training=False),
    "bn renorm tensor": batch_norm(renorm=True, training="yes", renorm_clipping=CLIP),
    "bn renorm tensor no": batch_norm(renorm=True, training="no"),
    "bn regularized": batch_norm(gamma_regularizer=lambda g: 0.5 * (g ** 2)[0]),
}
