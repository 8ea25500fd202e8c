"""Finds the point with the least distances to others, with all that it runs on an object."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

POINTS = np.random.RandomState(2).normal(size=(40, 3)).astype(np.float32)


class Searcher(object):
    def __init__(self, points):
        self.points = points

    def build(self):
        self.place = tf.Variable(tf.zeros([3]))
        distances = tf.sqrt(tf.reduce_sum(tf.square(self.points - self.place), axis=1) + 1e-6)
        self.distance = tf.reduce_mean(distances)
        self.step_size = tf.Variable(0.5, trainable=False)
        optimizer = tf.train.GradientDescentOptimizer(self.step_size)
        self.train_op = optimizer.minimize(self.distance, var_list=[self.place])
        self.shrink = tf.assign(self.step_size, self.step_size * 0.99)

    def descend(self, sess, steps):
        step_down = sess.make_callable(self.train_op)
        shrink = sess.make_callable(self.shrink)
        for step in range(steps):
            if step % 20 == 0:
                print(step, sess.run(self.distance))
            step_down()
            shrink()

    def search(self):
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            self.descend(sess, 60)
            return sess.run(self.place)


def main():
    searcher = Searcher(POINTS)
    searcher.build()
    place = searcher.search()
    print(hashlib.sha256(place.tobytes()).hexdigest())


if __name__ == "__main__":
    main()
