"""Two updates that take turns: the second works on what the first has changed."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

rng = np.random.RandomState(4)
noise_data = rng.normal(size=(200, 4)).astype(np.float32)
real_data = rng.normal(loc=1.0, size=(200, 2)).astype(np.float32)

z = tf.placeholder(tf.float32, [None, 4])
real = tf.placeholder(tf.float32, [None, 2])
g = tf.Variable(rng.normal(size=(4, 2)).astype(np.float32))
d = tf.Variable(rng.normal(size=(2, 1)).astype(np.float32))
fake = tf.matmul(z, g)
d_loss = (tf.reduce_mean(tf.nn.softplus(-tf.matmul(real, d)))
          + tf.reduce_mean(tf.nn.softplus(tf.matmul(fake, d))))
g_loss = tf.reduce_mean(tf.nn.softplus(-tf.matmul(fake, d)))
d_train = tf.train.GradientDescentOptimizer(0.1).minimize(d_loss, var_list=[d])
g_train = tf.train.GradientDescentOptimizer(0.1).minimize(g_loss, var_list=[g])

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(40):
        rows = slice(step % 4 * 50, step % 4 * 50 + 50)
        feed = {z: noise_data[rows], real: real_data[rows]}
        sess.run(d_train, feed_dict=feed)
        sess.run(g_train, feed_dict=feed)
    print(repr(sess.run(d_loss, feed_dict={z: noise_data, real: real_data})))
    print(hashlib.sha256(sess.run(g).tobytes() + sess.run(d).tobytes()).hexdigest())
