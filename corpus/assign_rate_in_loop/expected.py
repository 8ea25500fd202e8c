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
train = tf.train.GradientDescentOptimizer(rate).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    rate_value = tf.placeholder(rate.dtype.base_dtype, rate.get_shape(), name="rate_value")
    assign_rate = tf.assign(rate, rate_value)
    total_increase = tf.placeholder(total.dtype.base_dtype, total.get_shape(), name="total_increase")
    add_to_total = total.assign_add(total_increase)
    last_step_value = tf.placeholder(last_step.dtype.base_dtype, last_step.get_shape(), name="last_step_value")
    assign_last_step = last_step.assign(last_step_value)
    w_value = tf.placeholder(w.dtype.base_dtype, w.get_shape(), name="w_value")
    assign_w = w.assign(w_value)
    for epoch in range(5):
        for batch in range(8):
            start = 16 * batch
            # The rate falls with every step.
            step = 8 * epoch + batch
            sess.run(assign_rate, feed_dict={rate_value: 0.1 * 0.99 ** step})
            feed = {x: inputs[start : start + 16], y: targets[start : start + 16]}
            loss_value, _ = sess.run([loss, train], feed_dict=feed)
            sess.run(add_to_total, feed_dict={total_increase: loss_value * 0.125})
        sess.run(assign_last_step, feed_dict={last_step_value: epoch + 1})
        if epoch % 2 == 1:
            print(epoch, sess.run(last_step), sess.run(rate), sess.run(total))
            sess.run(assign_w, feed_dict={w_value: sess.run(w) * 0.9})
    print(hashlib.sha256(sess.run(w).tobytes()).hexdigest())
