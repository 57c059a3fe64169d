import tensorflow as tf
import tensorflow.contrib.layers as layers
from tensorflow.contrib.framework import arg_scope


def logits_of(x, is_training):
    with tf.variable_scope('net', reuse=tf.AUTO_REUSE), \
            arg_scope([layers.fully_connected],
                      weights_regularizer=layers.l2_regularizer(1e-3)):
        x = layers.fully_connected(x, x.get_shape()[1].value * 4, scope='fc0')
        x = tf.layers.batch_normalization(x, training=is_training)
        return layers.fully_connected(x, 2, activation_fn=None, scope='fc1')
