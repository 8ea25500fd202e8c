"""Trains on what a generator reads from files and puts together, epoch by epoch."""

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
for number in range(46):
    path = os.path.join(folder, "%d.npy" % number)
    np.save(path, rng.normal(size=(256, 256)).astype(np.float32))
    paths.append(path)


def read(place):
    image = np.load(paths[place])
    return image / (1.0 + np.abs(image)), np.mean(image)


order_of_epoch = tf.placeholder(tf.int64, [None])
data = (
    tf.data.Dataset.from_tensor_slices(order_of_epoch)
    .map(
        lambda place: tf.numpy_function(read, [place], (tf.float32, tf.float32)),
        num_parallel_calls=2,
    )
    .batch(4)
    .prefetch(2)
)
batches = tf.data.make_initializable_iterator(data)
x, y = batches.get_next()
keep = tf.placeholder_with_default(1.0, [])
kernel = tf.Variable(tf.random_normal([256, 64], stddev=0.05, seed=2))
features = tf.tanh(tf.matmul(tf.reshape(x, [-1, 256]), kernel))
features = tf.nn.dropout(tf.reshape(features, [-1, 256 * 64]), keep_prob=keep, seed=4)
loss = tf.reduce_mean(tf.square(tf.reduce_mean(features, axis=1) - y))
train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(3):
        order = rng.permutation(len(paths))
        sess.run(batches.initializer, feed_dict={order_of_epoch: order})
        for step in range(12):
            fetches = [train, loss, x, y]
            _, value, images, means = sess.run(fetches, feed_dict={keep: 0.5})
            if step % 4 == 0:
                print(epoch, step, len(images), value)
                print(sess.run(loss, feed_dict={x: images, y: means}))
    print(hashlib.sha256(sess.run(kernel).tobytes()).hexdigest())
