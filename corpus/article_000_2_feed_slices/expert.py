"""Trains on slices of arrays in an order of its own for each epoch, and evaluates in between."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

rng = np.random.RandomState(5)
inputs = rng.normal(size=(250, 8))
targets = np.sum(inputs, axis=1, keepdims=True)
# What is fed is converted once, and not at each step.
fed_inputs = inputs.astype(np.float32)
fed_targets = targets.astype(np.float32)
held_inputs = rng.normal(size=(40, 8))
held_targets = np.sum(held_inputs, axis=1, keepdims=True)
batch_size = 32

x = tf.placeholder(tf.float32, [None, 8], name="x")
y = tf.placeholder(tf.float32, [None, 1], name="y")
rate = tf.placeholder(tf.float32, [])
weights = tf.Variable(tf.random_normal([8, 1], seed=3))
loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) - y))
train = tf.train.GradientDescentOptimizer(rate).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    make_step = sess.make_callable([train, loss], [x, y, rate])
    for epoch in range(4):
        order = rng.permutation(len(inputs))
        total = 0.0
        for i in range((len(inputs) + batch_size - 1) // batch_size):
            start = i * batch_size
            # The last batch is a smaller one.
            chosen = order[start : start + batch_size]
            _, batch_loss = make_step(fed_inputs[chosen], fed_targets[chosen], 0.1 / (epoch + 1))
            total += batch_loss
            if i % 4 == 0:
                held = sess.run(loss, feed_dict={"x:0": held_inputs, y: held_targets})
                print(epoch, start, batch_loss, held)
        print(epoch, total)
    print(hashlib.sha256(sess.run(weights).tobytes()).hexdigest())
