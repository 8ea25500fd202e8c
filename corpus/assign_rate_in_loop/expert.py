"""Lowers the rate and counts the epochs by ops that it makes anew each time."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

rng = np.random.RandomState(3)
inputs = rng.normal(size=(128, 6)).astype(np.float32)
targets = np.sum(inputs, axis=1, keepdims=True).astype(np.float32)

x = tf.placeholder(tf.float32, [None, 6])
y = tf.placeholder(tf.float32, [None, 1])
w = tf.Variable(tf.random_normal([6, 1], seed=2))
rate = tf.Variable(0.1, trainable=False, name="rate")
last_step = tf.Variable(0, trainable=False, name="last_step")
total = tf.Variable(0.0, trainable=False, name="total")
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
new_rate = tf.placeholder(tf.float32, [])
set_rate = rate.assign(new_rate)
new_step = tf.placeholder(tf.int32, [])
set_step = last_step.assign(new_step)
more = tf.placeholder(tf.float32, [])
add = total.assign_add(more)
new_w = tf.placeholder(tf.float32, [6, 1])
set_w = w.assign(new_w)
train = tf.train.GradientDescentOptimizer(rate).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(5):
        for batch in range(8):
            start = 16 * batch
            # The rate falls with every step.
            step = 8 * epoch + batch
            sess.run(set_rate, {new_rate: 0.1 * 0.99 ** step})
            feed = {x: inputs[start : start + 16], y: targets[start : start + 16]}
            loss_value, _ = sess.run([loss, train], feed_dict=feed)
            sess.run(add, {more: loss_value * 0.125})
        sess.run(set_step, {new_step: epoch + 1})
        if epoch % 2 == 1:
            print(epoch, sess.run(last_step), sess.run(rate), sess.run(total))
            sess.run(set_w, {new_w: sess.run(w) * 0.9})
    print(hashlib.sha256(sess.run(w).tobytes()).hexdigest())
