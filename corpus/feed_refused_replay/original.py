"""Learns from a memory that the loop itself fills: no batch can be made ahead."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

np.random.seed(2)
x = tf.placeholder(tf.float32, [None, 3])
y = tf.placeholder(tf.float32, [None, 1])
weights = tf.Variable(tf.zeros([3, 1]))
value = tf.matmul(x, weights)
loss = tf.reduce_mean(tf.square(value - y))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

memory = np.zeros([100, 4])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(60):
        state = np.random.normal(size=3)
        memory[step % 100, :3] = state
        memory[step % 100, 3] = np.sum(state)
        chosen = memory[np.random.choice(min(step + 1, 100), 8)]
        _, cost = sess.run([train, loss], feed_dict={x: chosen[:, :3], y: chosen[:, 3:]})
        print(step, cost)
    print(hashlib.sha256(sess.run(weights).tobytes()).hexdigest())
