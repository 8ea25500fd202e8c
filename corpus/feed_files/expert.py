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
        image = np.load(name.decode())
        images.append(image / (1.0 + np.abs(image)))
    return np.stack(images)


data = (
    tf.data.Dataset.from_tensor_slices(np.array(paths))
    .batch(4)
    .map(lambda names: tf.numpy_function(read, [names], tf.float32), num_parallel_calls=2)
    .repeat(3)
    .prefetch(2)
)
x = tf.data.make_one_shot_iterator(data).get_next()
x.set_shape([None, 256, 256])
kernel = tf.Variable(tf.random_normal([256, 64], stddev=0.05, seed=2))
features = tf.tanh(tf.matmul(tf.reshape(x, [-1, 256]), kernel))
loss = tf.reduce_mean(tf.square(features - 0.5))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(3):
        for i in range(0, len(paths), 4):
            _, value = sess.run([train, loss])
            print(epoch, i, value)
    print(hashlib.sha256(sess.run(kernel).tobytes()).hexdigest())
