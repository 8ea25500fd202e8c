"""Trains on slices of arrays in an order of its own for each epoch, and evaluates in between."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

rng = np.random.RandomState(5)
inputs = rng.normal(size=(250, 8))
targets = np.sum(inputs, axis=1, keepdims=True)
held_inputs = rng.normal(size=(40, 8))
held_targets = np.sum(held_inputs, axis=1, keepdims=True)
batch_size = 32

batch_iterator = tf.data.Iterator.from_structure((tf.float32, tf.float32))
next_x, next_y = batch_iterator.get_next()
x = tf.placeholder_with_default(next_x, None, name="x")
x.set_shape([None, 8])
y = tf.placeholder_with_default(next_y, None, name="y")
y.set_shape([None, 1])
rate = tf.placeholder(tf.float32, [])
weights = tf.Variable(tf.random_normal([8, 1], seed=3))
loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) - y))
train = tf.train.GradientDescentOptimizer(rate).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    # The last batch is a smaller one.
    def batches():
        for i in range((len(inputs) + batch_size - 1) // batch_size):
            start = i * batch_size
            chosen = order[start : start + batch_size]
            batch_x = inputs[chosen]
            batch_y = targets[chosen]
            yield batch_x, batch_y
    start_batches = batch_iterator.make_initializer(
        tf.data.Dataset.from_generator(
            batches, (x.dtype, y.dtype), (x.shape, y.shape)
        ).prefetch(1)
    )
    for epoch in range(4):
        order = rng.permutation(len(inputs))
        total = 0.0
        sess.run(start_batches)
        for i in range((len(inputs) + batch_size - 1) // batch_size):
            start = i * batch_size
            feed_dict = {rate: 0.1 / (epoch + 1)}
            _, batch_loss = sess.run([train, loss], feed_dict=feed_dict)
            total += batch_loss
            if i % 4 == 0:
                held = sess.run(loss, feed_dict={"x:0": held_inputs, y: held_targets})
                print(epoch, start, batch_loss, held)
        print(epoch, total)
    print(hashlib.sha256(sess.run(weights).tobytes()).hexdigest())
