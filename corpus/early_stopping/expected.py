"""Logistic regression that stops early: when it is sure of its batches, and with the rate it needs.

The accuracy of each batch is read after the update and decides how it goes on, so that reading it
before the update would be another training.
"""

from __future__ import print_function

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("max_steps", 120, "How many updates there are at most")
flags.DEFINE_float("enough", 0.97, "The accuracy, over the last batches, that is enough")
FLAGS = flags.FLAGS

BATCH = 25


def make_data(rng):
    """Points on two sides of a plane, a few of them on the wrong one."""
    points = rng.normal(size=(500, 6)).astype(np.float32)
    sides = (points.dot(rng.normal(size=6)) > 0).astype(np.float32)
    wrong = rng.rand(500) < 0.02
    sides[wrong] = 1 - sides[wrong]
    return points, sides[:, None]


def main(_):
    points, sides = make_data(np.random.RandomState(12))
    tf.set_random_seed(12)
    x = tf.placeholder(tf.float32, [None, 6])
    y = tf.placeholder(tf.float32, [None, 1])
    rate = tf.placeholder(tf.float32, [])
    w = tf.Variable(tf.random_normal([6, 1], stddev=0.5))
    b = tf.Variable(tf.zeros([1]))
    logits = tf.matmul(x, w) + b
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.cast(logits > 0, tf.float32), y), tf.float32))
    train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss)

    learning_rate = 1.0
    recent = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(FLAGS.max_steps):
            start = step * BATCH % len(points)
            feed = {x: points[start : start + BATCH], y: sides[start : start + BATCH]}
            feed[rate] = learning_rate
            sess.run(train_op, feed_dict=feed)
            batch_accuracy = sess.run(accuracy, feed_dict=feed)
            recent = (recent + [batch_accuracy])[-8:]
            if batch_accuracy < 0.8:
                learning_rate *= 0.9
            if len(recent) == 8 and np.mean(recent) >= FLAGS.enough:
                print("enough after %d steps" % (step + 1))
                break
            if step % 20 == 0:
                print("step %d: accuracy %.3f, rate %.4f" % (step, batch_accuracy, learning_rate))
        print("weights", sess.run(w).ravel(), sess.run(b))


if __name__ == "__main__":
    tf.app.run()
