"""A script that TFR107 makes faster, and TFR102 slower.

Its epochs have two steps each, and a pipeline out of a Python generator begins anew in each epoch.
That takes several times as long as such a step does, which also a busy machine shows.
"""

from __future__ import annotations

SCRIPT = '''"""Trains on batches that are cheap to make, and fetches something that nobody reads."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(3)
inputs = rng.normal(size=(32, 8)).astype(np.float32)
targets = inputs.sum(axis=1, keepdims=True)

x = tf.placeholder(tf.float32, [None, 8])
y = tf.placeholder(tf.float32, [None, 1])
rate = tf.constant(0.05)
weights = tf.Variable(tf.random_normal([8, 1], seed=9))
large = tf.Variable(tf.random_normal([300, 300], seed=4), trainable=False)
loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) - y))
score = tf.reduce_sum(tf.matmul(large, large))
train = tf.train.GradientDescentOptimizer(rate).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(200):
        for start in range(0, 32, 16):
            batch_x = inputs[start : start + 16]
            batch_y = targets[start : start + 16]
            _, batch_loss = sess.run([train, loss], feed_dict={x: batch_x, y: batch_y})
            whole_loss, _score = sess.run([loss, score], feed_dict={x: inputs, y: targets})
        if epoch % 100 == 0:
            print(epoch, batch_loss, whole_loss)
'''
UNREAD = "whole_loss, _score = sess.run([loss, score], "
READ = "whole_loss = sess.run(loss, "
