"""Dropout draws anew in every run: the loss that is printed belongs to another mask."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.set_random_seed(1)

rng = np.random.RandomState(2)
inputs = rng.normal(size=(300, 10)).astype(np.float32)
targets = np.sign(inputs[:, :1]).astype(np.float32)

x = tf.placeholder(tf.float32, [None, 10])
y = tf.placeholder(tf.float32, [None, 1])
w1 = tf.Variable(tf.random_normal([10, 16], stddev=0.3))
w2 = tf.Variable(tf.random_normal([16, 1], stddev=0.3))
hidden = tf.nn.dropout(tf.nn.relu(tf.matmul(x, w1)), rate=0.5)
loss = tf.reduce_mean(tf.square(tf.matmul(hidden, w2) - y))
train = tf.train.GradientDescentOptimizer(0.05).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(30):
        feed = {x: inputs[step * 10:step * 10 + 10], y: targets[step * 10:step * 10 + 10]}
        value = sess.run(loss, feed_dict=feed)
        sess.run(train, feed_dict=feed)
        print(step, repr(value))
    print(hashlib.sha256(sess.run(w1).tobytes() + sess.run(w2).tobytes()).hexdigest())
