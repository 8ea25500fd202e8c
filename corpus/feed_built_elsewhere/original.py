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
    x = tf.placeholder(tf.float32, [None, width], name="x")
    y = tf.placeholder(tf.float32, [None, 1], name="y")
    return x, y


def _build(width, rate):
    with tf.variable_scope("regression"):
        x, y = _inputs(width)
        weights = tf.get_variable("weights", [width, 1], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) - y))
        train = tf.train.GradientDescentOptimizer(rate).minimize(loss)
    return x, y, weights, loss, train


class Network(object):
    def __init__(self, width):
        self.width = width

    def _create_placeholders(self):
        self.x = tf.placeholder(tf.float32, [None, self.width])
        self.y = tf.placeholder(tf.float32, [None, 1])

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
    x, y, weights, loss, train = _build(16, 0.05)
    network = Network(16)
    network.build()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(24):
            part = slice(i * 10, i * 10 + 10)
            _, value = sess.run([train, loss], feed_dict={x: images[part], y: targets[part]})
            print(i, value)
        for i in range(24):
            rows = spoilt(images[i * 10 : i * 10 + 10])
            feed = {network.x: rows, network.y: targets[i * 10 : i * 10 + 10]}
            _, value = sess.run([network.train, network.loss], feed_dict=feed)
            print(i, value)
        final = sess.run([weights, network.weights])
        print(hashlib.sha256(b"".join(one.tobytes() for one in final)).hexdigest())


if __name__ == "__main__":
    main()
