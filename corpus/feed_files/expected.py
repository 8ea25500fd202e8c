"""Trains on batches of which each is read from files."""

from __future__ import print_function

import hashlib
import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

folder = tempfile.mkdtemp()
rng = np.random.RandomState(8)
paths = []
for number in range(48):
    path = os.path.join(folder, "%d.npy" % number)
    np.save(path, rng.normal(size=(256, 256)).astype(np.float32))
    paths.append(path)


def read(names):
    images = []
    for name in names:
        image = np.load(name)
        images.append(image / (1.0 + np.abs(image)))
    return np.stack(images)


batch_iterator = tf.data.Iterator.from_structure(tf.float32)
next_x = batch_iterator.get_next()
x = tf.placeholder_with_default(next_x, None)
x.set_shape([None, 256, 256])
kernel = tf.Variable(tf.random_normal([256, 64], stddev=0.05, seed=2))
features = tf.tanh(tf.matmul(tf.reshape(x, [-1, 256]), kernel))
loss = tf.reduce_mean(tf.square(features - 0.5))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    def batches_2():
        for i in range(0, len(paths), 4):
            images = read(paths[i : i + 4])
            yield images
    start_batches = batch_iterator.make_initializer(
        tf.data.Dataset.from_generator(
            batches_2, x.dtype, x.shape
        ).prefetch(1)
    )
    for epoch in range(3):
        sess.run(start_batches)
        for i in range(0, len(paths), 4):
            _, value = sess.run([train, loss])
            print(epoch, i, value)
    print(hashlib.sha256(sess.run(kernel).tobytes()).hexdigest())
