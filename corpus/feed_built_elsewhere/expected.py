"""Trains a regression that a function builds, then a model that is an object."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

rng = np.random.RandomState(5)
images = rng.normal(size=(240, 16)).astype(np.float32)
targets = images[:, :1] * 2.0 + 0.3 * np.square(images[:, 1:2])


def _inputs(width):
    batch_iterator = tf.data.Iterator.from_structure((tf.float32, tf.float32))
    next_x, next_y = batch_iterator.get_next()
    x = tf.placeholder_with_default(next_x, None, name="x")
    x.set_shape([None, width])
    y = tf.placeholder_with_default(next_y, None, name="y")
    y.set_shape([None, 1])
    return x, y, batch_iterator


def _build(width, rate):
    with tf.variable_scope("regression"):
        x, y, batch_iterator = _inputs(width)
        weights = tf.get_variable("weights", [width, 1], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) - y))
        train = tf.train.GradientDescentOptimizer(rate).minimize(loss)
    return x, y, weights, loss, train, batch_iterator


class Network(object):
    def __init__(self, width):
        self.width = width

    def _create_placeholders(self):
        self.batch_iterator_2 = tf.data.Iterator.from_structure((tf.float32, tf.float32))
        next_x_2, next_y_2 = self.batch_iterator_2.get_next()
        self.x = tf.placeholder_with_default(next_x_2, None)
        self.x.set_shape([None, self.width])
        self.y = tf.placeholder_with_default(next_y_2, None)
        self.y.set_shape([None, 1])

    def _create_loss(self):
        start = tf.random_normal([self.width, 1], stddev=0.1, seed=4)
        self.weights = tf.Variable(start)
        self.loss = tf.reduce_mean(tf.abs(tf.matmul(self.x, self.weights) - self.y))
        self.train = tf.train.AdamOptimizer(0.01).minimize(self.loss)

    def build(self):
        self._create_placeholders()
        self._create_loss()


def spoilt(rows):
    return rows + np.where(np.abs(rows) > 2.0, np.sign(rows), 0.0)


def main():
    x, y, weights, loss, train, batch_iterator = _build(16, 0.05)
    network = Network(16)
    network.build()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        def batches():
            for i in range(24):
                part = slice(i * 10, i * 10 + 10)
                yield images[part], targets[part]
        start_batches = batch_iterator.make_initializer(
            tf.data.Dataset.from_generator(
                batches, (x.dtype, y.dtype), (x.shape, y.shape)
            ).prefetch(1)
        )
        sess.run(start_batches)
        for i in range(24):
            _, value = sess.run([train, loss])
            print(i, value)
        def batches_2():
            for i in range(24):
                rows = spoilt(images[i * 10 : i * 10 + 10])
                yield rows, targets[i * 10 : i * 10 + 10]
        start_batches_2 = network.batch_iterator_2.make_initializer(
            tf.data.Dataset.from_generator(
                batches_2, (network.x.dtype, network.y.dtype), (network.x.shape, network.y.shape)
            ).prefetch(1)
        )
        sess.run(start_batches_2)
        for i in range(24):
            _, value = sess.run([network.train, network.loss])
            print(i, value)
        final = sess.run([weights, network.weights])
        print(hashlib.sha256(b"".join(one.tobytes() for one in final)).hexdigest())


if __name__ == "__main__":
    main()
