"""A linear regression whose error and residual are asked for after each step."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

rng = np.random.RandomState(5)
features = rng.normal(size=(400, 8)).astype(np.float32)
prices = (features.dot(np.arange(8.0)) + rng.normal(scale=0.1, size=400)).astype(np.float32)

X = tf.placeholder(tf.float32, shape=(None, 8))
Y = tf.placeholder(tf.float32, shape=(None,))
w = tf.Variable(np.zeros((8, 1), np.float32))
b = tf.Variable(0.0)
prediction = tf.squeeze(tf.matmul(X, w), axis=1) + b
mse = tf.reduce_mean(tf.square(prediction - Y))
rmse = tf.sqrt(mse)
train_op = tf.train.AdamOptimizer(0.1).minimize(mse)

sess = tf.Session()
sess.run(tf.global_variables_initializer())
for i in range(80):
    rows = slice(i % 10 * 40, i % 10 * 40 + 40)
    feed = {X: features[rows], Y: prices[rows]}
    sess.run(train_op, feed)
    error, typical = sess.run([mse, rmse], feed)
    print('%3d  mse %.9g  rmse %.9g' % (i, error, typical))

print(hashlib.sha256(sess.run(w).tobytes() + sess.run(b).tobytes()).hexdigest())
sess.close()
