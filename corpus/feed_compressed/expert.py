"""The same, by hand: tf.data unpacks the next files while a step runs."""

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
for number in range(20):
    path = os.path.join(folder, "%d.npz" % number)
    images = rng.randint(0, 16, size=(256, 28 * 28)).astype(np.uint8)
    np.savez_compressed(path, images=images)
    paths.append(path)


def read(path):
    images = np.load(path.decode())["images"]
    return images.astype(np.float32) / 16.0


data = (
    tf.data.Dataset.from_tensor_slices(np.array(paths))
    .repeat(10)
    .map(lambda path: tf.numpy_function(read, [path], tf.float32), num_parallel_calls=2)
    .prefetch(2)
)
x = tf.data.make_one_shot_iterator(data).get_next()
x.set_shape([None, 784])
encoder = tf.Variable(tf.random_normal([784, 128], stddev=0.05, seed=2))
decoder = tf.Variable(tf.random_normal([128, 784], stddev=0.05, seed=3))
loss = tf.reduce_mean(tf.square(tf.matmul(tf.tanh(tf.matmul(x, encoder)), decoder) - x))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(2):
        for i in range(100):
            _, value = sess.run([train, loss])
        print(epoch, value)
    print(hashlib.sha256(sess.run(encoder).tobytes()).hexdigest())
