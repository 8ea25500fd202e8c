"""A graph that reads its batches from an initialisable iterator, epoch by epoch."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

rng = np.random.RandomState(9)
inputs = rng.normal(size=(240, 6)).astype(np.float32)
targets = np.sum(inputs, axis=1, keepdims=True).astype(np.float32)

w = tf.Variable(np.zeros((6, 1), np.float32))

dataset = tf.data.Dataset.from_tensor_slices((inputs, targets))
dataset = dataset.map(lambda x, y: (x * 2.0, y), num_parallel_calls=tf.data.experimental.AUTOTUNE)
dataset = dataset.batch(32).prefetch(tf.data.experimental.AUTOTUNE)
iterator = tf.data.make_initializable_iterator(dataset)
batch_x, batch_y = iterator.get_next()

loss = tf.reduce_mean(tf.square(tf.matmul(batch_x, w) - batch_y))
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(5):
        sess.run(iterator.initializer)
        while True:
            try:
                sess.run(train)
            except tf.errors.OutOfRangeError:
                break
        print(epoch, [float(value) for value in sess.run(w).ravel()])
    print(hashlib.sha256(sess.run(w).tobytes()).hexdigest())
