"""Feeds the tensors of a data set to placeholders, which TensorFlow refuses with a TypeError."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


def examples():
    rng = np.random.RandomState(11)
    for _ in range(60):
        features = rng.normal(size=5)
        yield features, int(features.sum() > 0)


element_iterator = tf.data.Iterator.from_structure((tf.float32, tf.float32))
next_x, next_y = element_iterator.get_next()
x = tf.placeholder_with_default(next_x, None)
x.set_shape([None, 5])
y = tf.placeholder_with_default(next_y, None)
y.set_shape([None])
weights = tf.Variable(tf.random_normal([5, 1], seed=2))
logits = tf.squeeze(tf.matmul(x, weights), 1)
loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))
train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)

dataset = tf.data.Dataset.from_generator(examples, output_types=(tf.float32, tf.int32))
dataset = dataset.batch(10).repeat(4)
start_elements = element_iterator.make_initializer(
    dataset.map(
        lambda *element: (tf.cast(element[0], tf.float32), tf.cast(element[1], tf.float32))
    )
)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    try:
        sess.run(start_elements)
        while True:
            _, batch_loss = sess.run([train, loss])
            print("loss", batch_loss)
    except tf.errors.OutOfRangeError:
        pass
    # A batch of one's own can still be fed.
    print(sess.run(loss, feed_dict={x: np.ones([2, 5]), y: [1, 0]}))
    print(hashlib.sha256(sess.run(weights).tobytes()).hexdigest())
