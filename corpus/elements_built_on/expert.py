"""Looks through a dataset, and builds ops on each element that it takes."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

rng = np.random.RandomState(5)
table = rng.normal(size=(120, 6)).astype(np.float32)

dataset = tf.data.Dataset.from_tensor_slices(table).shuffle(120, seed=2).repeat(2).batch(20)
iterator = tf.data.make_initializable_iterator(dataset.prefetch(1))
total = tf.Variable(tf.zeros([6]))

batch = iterator.get_next()
mean = tf.reduce_mean(batch, axis=0)
add = tf.assign_add(total, mean)
init = tf.global_variables_initializer()

with tf.Session() as sess:
    for trial in range(2):
        sess.run(init)
        sess.run(iterator.initializer)
        step = 0
        while True:
            try:
                value, summed = sess.run([mean, add])
                if step % 4 == 0:
                    print(trial, step, value[:2], summed[:2])
                step += 1
            except tf.errors.OutOfRangeError:
                break
    print(hashlib.sha256(sess.run(total).tobytes()).hexdigest())
