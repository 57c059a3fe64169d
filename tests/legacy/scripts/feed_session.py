#!/usr/bin/env python
# A dataflow-only user of 2017: placeholders, feed_dict, tf.contrib, a Saver; a package of its own.
import argparse
import tempfile

import numpy as np
import tensorflow as tf
import tensorpack.dataflow as df
from lib.data import Blobs
from lib import model


def train(steps):
    x = tf.placeholder(tf.float32, [None, 4], 'x')
    y = tf.placeholder(tf.int64, [None], 'y')
    is_training = tf.placeholder_with_default(False, [])
    logits = model.logits_of(x, is_training)
    cost = tf.losses.sparse_softmax_cross_entropy(y, logits)
    cost += tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
    accuracy = tf.reduce_mean(tf.to_float(tf.equal(tf.argmax(logits, 1), y)))
    step = tf.train.get_or_create_global_step()
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = tf.train.MomentumOptimizer(0.1, 0.9).minimize(cost, step)

    ds = df.RepeatedData(df.BatchData(Blobs(64, True), 16), -1)
    ds.reset_state()
    data = ds.get_data()
    test = df.BatchData(Blobs(200, False), 200)
    test.reset_state()
    saver = tf.train.Saver()
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(steps):
            dp = next(data)
            sess.run(train_op, feed_dict={x: dp[0], y: dp[1], is_training: True})
        points, labels = next(test.get_data())
        before = sess.run(accuracy, {x: points, y: labels})
        path = saver.save(sess, tempfile.mkdtemp() + '/model', global_step=step)
        assert sess.run(step) == steps and path.endswith('-%d' % steps)

    tf.reset_default_graph()
    x = tf.placeholder(tf.float32, [None, 4], 'x')
    answer = tf.argmax(model.logits_of(x, tf.constant(False)), 1)
    with tf.Session() as sess:
        tf.train.Saver().restore(sess, path)
        after = np.mean(sess.run(answer, {x: points}) == labels)
    assert after == np.float(before) or abs(after - before) < 1e-6
    assert after > 0.9, after
    return after


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--steps', type=int, default=10)
    args = parser.parse_args()
    train(args.steps)
    print('OK', args.steps)
