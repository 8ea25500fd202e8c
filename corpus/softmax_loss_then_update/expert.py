"""A softmax classifier that looks at its loss, then takes a step."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

STEPS = 60
rng = np.random.RandomState(7)
inputs = rng.normal(size=(600, 20)).astype(np.float32)
targets = np.eye(3, dtype=np.float32)[np.argmax(inputs[:, :3] * 2.0 + inputs[:, 3:6], axis=1)]

tf.set_random_seed(3)
x = tf.placeholder(tf.float32, [None, 20])
y = tf.placeholder(tf.float32, [None, 3])
weights = tf.Variable(tf.random_normal([20, 3], stddev=0.1))
bias = tf.Variable(tf.zeros([3]))
logits = tf.matmul(x, weights) + bias
loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=logits))
train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(STEPS):
        start = step * 50 % len(inputs)
        feed = {x: inputs[start:start + 50], y: targets[start:start + 50]}
        # The loss before the step.
        _, value = sess.run([train, loss], feed_dict=feed)
        print(step, repr(value))
    final = sess.run([weights, bias])

print(hashlib.sha256(b''.join(array.tobytes() for array in final)).hexdigest())
