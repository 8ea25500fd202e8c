"""Trains a linear model on a pipeline, epoch by epoch, with steps of next to no work."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

rng = np.random.RandomState(8)
inputs = rng.normal(size=(320, 5)).astype(np.float32)
targets = np.sum(inputs, axis=1, keepdims=True).astype(np.float32)

tf.set_random_seed(3)
dataset = tf.data.Dataset.from_tensor_slices((inputs, targets))
iterator = tf.data.make_initializable_iterator(dataset.shuffle(320, seed=5).batch(16).prefetch(1))
x, y = iterator.get_next()
restart = iterator.initializer

w = tf.Variable(tf.random_normal([5, 1]))
b = tf.Variable(tf.zeros([1]))
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
train_op = tf.train.GradientDescentOptimizer(0.05).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    train_step = sess.make_callable([train_op, loss])
    # Each epoch goes on until the data are at their end.
    for epoch in range(30):
        sess.run(restart)
        total = 0.0
        try:
            while True:
                _, value = train_step()
                total += value
        except tf.errors.OutOfRangeError:
            pass
        print(epoch, total)
    print(hashlib.sha256(sess.run(w).tobytes()).hexdigest())
