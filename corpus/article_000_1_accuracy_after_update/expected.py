"""Softmax classifier: the update with its loss, then the accuracy on the same batch."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()

STEPS = 60

rng = np.random.RandomState(2)
points = rng.normal(size=(600, 8)).astype(np.float32)
kinds = (points[:, 0] + points[:, 1] > 0).astype(np.int64) + (points[:, 2] > 1)

tf.set_random_seed(2)
x = tf.placeholder(tf.float32, [None, 8])
y = tf.placeholder(tf.int64, [None])
hidden = tf.nn.relu(tf.matmul(x, tf.get_variable("w1", [8, 16])) + tf.get_variable("b1", [16]))
logits = tf.matmul(hidden, tf.get_variable("w2", [16, 3])) + tf.get_variable("b2", [3])
loss_op = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
accuracy_op = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))
train_op = tf.train.GradientDescentOptimizer(0.2).minimize(loss_op)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(STEPS):
        start = step * 10
        feed = {x: points[start : start + 10], y: kinds[start : start + 10]}
        _, loss, accuracy = sess.run([train_op, loss_op, accuracy_op], feed_dict=feed)
        print(step, round(float(loss), 5), round(float(accuracy), 3))
    weights = np.concatenate([v.ravel() for v in sess.run(tf.trainable_variables())])
    print(float(np.linalg.norm(weights)))
