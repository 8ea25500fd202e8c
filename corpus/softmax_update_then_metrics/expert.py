"""A two-layer classifier that takes a step and then asks for three figures, each by itself."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


def make_data(size, seed):
    rng = np.random.RandomState(seed)
    points = rng.uniform(-1.0, 1.0, (size, 2)).astype(np.float32)
    inside = (np.sum(points ** 2, axis=1) < 0.5).astype(np.int64)
    return points, inside


class Classifier(object):
    def __init__(self):
        self.points = tf.placeholder(tf.float32, [None, 2], name="points")
        self.inside = tf.placeholder(tf.int64, [None], name="inside")
        with tf.variable_scope("hidden"):
            kernel = tf.get_variable("kernel", [2, 32], initializer=tf.random_normal_initializer(seed=1))
            bias = tf.get_variable("bias", [32], initializer=tf.zeros_initializer())
            hidden = tf.tanh(tf.matmul(self.points, kernel) + bias)
        with tf.variable_scope("output"):
            kernel = tf.get_variable("kernel", [32, 2], initializer=tf.random_normal_initializer(seed=2))
            logits = tf.matmul(hidden, kernel)
        self.loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.inside, logits=logits))
        hits = tf.equal(tf.argmax(logits, 1), self.inside)
        self.accuracy = tf.reduce_mean(tf.cast(hits, tf.float32))
        self.share = tf.reduce_mean(tf.cast(tf.argmax(logits, 1), tf.float32))
        self.train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(self.loss)


def main():
    points, inside = make_data(500, seed=11)
    model = Classifier()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for epoch in range(6):
            for start in range(0, len(points), 50):
                batch = points[start:start + 50]
                labels = inside[start:start + 50]
                feed = {model.points: batch, model.inside: labels}
                sess.run(model.train, feed)
                # How well it does after the step, and how many points it takes for inside ones.
                loss, accuracy, share = sess.run([model.loss, model.accuracy, model.share], feed)
                print("epoch {} start {}: {!r} {!r} {!r}".format(epoch, start, loss, accuracy, share))
        digest = hashlib.sha256()
        for variable in tf.trainable_variables():
            digest.update(sess.run(variable).tobytes())
        print(digest.hexdigest())


if __name__ == "__main__":
    main()
