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


def batches_of(names, order, size):
    images, means = [], []
    for place in order:
        image = np.load(names[place])
        images.append(image / (1.0 + np.abs(image)))
        means.append(np.mean(image))
        if len(images) == size:
            yield np.stack(images), means
            images, means = [], []
    if images:
        yield np.stack(images), means


x = tf.placeholder(tf.float32, [None, 256, 256])
y = tf.placeholder(tf.float32, [None])
keep = tf.placeholder_with_default(1.0, [])
kernel = tf.Variable(tf.random_normal([256, 64], stddev=0.05, seed=2))
features = tf.tanh(tf.matmul(tf.reshape(x, [-1, 256]), kernel))
features = tf.nn.dropout(tf.reshape(features, [-1, 256 * 64]), keep_prob=keep, seed=4)
loss = tf.reduce_mean(tf.square(tf.reduce_mean(features, axis=1) - y))
train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    def batches():
        for step, (images, means) in enumerate(batches_of(paths, order, 4)):
            yield images, means
    batch_iterator = tf.data.Dataset.from_generator(
        batches, (x.dtype, y.dtype)
    ).prefetch(1).make_initializable_iterator()
    next_batch = batch_iterator.get_next()
    def batches_ahead():
        sess.run(batch_iterator.initializer)
        while True:
            try:
                batch = sess.run(next_batch)
            except tf.errors.OutOfRangeError:
                return
            yield batch
    for epoch in range(3):
        order = rng.permutation(len(paths))
        for step, (images, means) in enumerate(batches_ahead()):
            _, value = sess.run([train, loss], feed_dict={x: images, y: means, keep: 0.5})
            if step % 4 == 0:
                print(epoch, step, len(images), value)
                print(sess.run(loss, feed_dict={x: images, y: means}))
    print(hashlib.sha256(sess.run(kernel).tobytes()).hexdigest())
