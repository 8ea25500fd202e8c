"""A loss with weight decay, read before the update.

In one run, nothing makes the decay term read the weights before the update changes them.
"""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

rng = np.random.RandomState(6)
inputs = rng.normal(size=(320, 12)).astype(np.float32)
targets = inputs.dot(rng.normal(size=(12, 1))).astype(np.float32)

x = tf.placeholder(tf.float32, [None, 12])
y = tf.placeholder(tf.float32, [None, 1])
w = tf.Variable(np.zeros((12, 1), np.float32))
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y)) + 0.01 * tf.nn.l2_loss(w)
train = tf.train.GradientDescentOptimizer(0.05).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(40):
        rows = slice(step % 10 * 32, step % 10 * 32 + 32)
        value = sess.run(loss, feed_dict={x: inputs[rows], y: targets[rows]})
        sess.run(train, feed_dict={x: inputs[rows], y: targets[rows]})
        print(step, repr(value))
    print(hashlib.sha256(sess.run(w).tobytes()).hexdigest())
