#!/usr/bin/env python
# -*- coding: utf-8 -*-
# QueueInput alone in a tf.Session, on files in MNIST's format; everything by star import.
import tensorflow as tf
from tensorpack import *
from tensorpack.dataflow import dataset

BATCH = 16


def get_data(name):
    is_train = name == 'train'
    ds = dataset.Mnist(name, shuffle=is_train)
    ds = MapData(ds, lambda dp: [dp[0] * 2 - 1, np.int(dp[1])])   # np: the star import leaves it
    return BatchData(ds, BATCH, remainder=not is_train)


def main():
    train, test = get_data('train'), get_data('test')
    logger.info('{} and {} batches'.format(train.size(), test.size()))
    queue = QueueInput(train, size=20)
    image, label = queue.dequeue()
    assert image.get_shape().as_list()[1:] == [28, 28], image
    mean = tf.reduce_mean(image)
    one_hot = tf.one_hot(label, 10)
    with tf.Session() as sess:
        seen = np.zeros(10)
        for _ in range(3 * train.size()):           # three epochs of one endless stream
            low, hot = sess.run([mean, one_hot])
            assert -1 <= low <= 1
            seen += hot.sum(axis=0)
        assert seen.sum() == 3 * train.size() * BATCH
    total = sum(len(dp[1]) for dp in test.get_data())
    print('OK', int(seen.sum()), total, os.path.basename(__file__))


if __name__ == '__main__':
    main()
