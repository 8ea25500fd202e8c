"""A training script in the manner of 2016; the guides in docs/guides/ work on it."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

STEPS = 300

tf.set_random_seed(1)
points = np.random.RandomState(0).rand(2000, 20).astype(np.float32)
labels = (points.sum(axis=1) > 10).astype(np.int64)

x = tf.placeholder(tf.float32, [None, 20])
y = tf.placeholder(tf.int64, [None])
hidden = tf.nn.relu(tf.matmul(x, tf.Variable(tf.random_normal([20, 64], stddev=0.1))))
logits = tf.matmul(hidden, tf.Variable(tf.random_normal([64, 2], stddev=0.1)))
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(STEPS):
        start = step * 50 % len(points)
        feed = {x: points[start:start + 50], y: labels[start:start + 50]}
        sess.run(train, feed_dict=feed)
        loss_value = sess.run(loss, feed_dict=feed)
        hits = tf.equal(tf.argmax(logits, 1), y)
        accuracy = sess.run(tf.reduce_mean(tf.cast(hits, tf.float32)), feed_dict=feed)
        if step % 100 == 0:
            print(step, loss_value, accuracy)
