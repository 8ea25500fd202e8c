"""Trains a classifier, saves it, and restores it anew for each batch that it classifies."""

from __future__ import print_function

import hashlib
import os

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

rng = np.random.RandomState(1)
inputs = rng.normal(size=(256, 10)).astype(np.float32)
labels = np.argmax(inputs[:, :3], axis=1)

tf.set_random_seed(11)
x = tf.placeholder(tf.float32, [None, 10])
y = tf.placeholder(tf.int64, [None])
w = tf.Variable(tf.random_normal([10, 3], stddev=0.1))
b = tf.Variable(tf.zeros([3]))
logits = tf.matmul(x, w) + b
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
train_op = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
predictions = tf.argmax(logits, axis=1)
saver = tf.train.Saver()
checkpoint = os.path.join(".", "model.ckpt")

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(20):
        sess.run(train_op, feed_dict={x: inputs, y: labels})
    saver.save(sess, checkpoint)
    weights = sess.run(w)

right = 0
with tf.Session() as sess:
    # The weights as they were saved.
    saver.restore(sess, checkpoint)
    for start in range(0, 256, 16):
        found = sess.run(predictions, feed_dict={x: inputs[start : start + 16]})
        right += np.sum(found == labels[start : start + 16])
        print(start, right)

print(hashlib.sha256(weights.tobytes()).hexdigest())
