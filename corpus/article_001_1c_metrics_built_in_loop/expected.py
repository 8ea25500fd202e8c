"""Trains a small classifier, and builds its metrics anew in each epoch."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

rng = np.random.RandomState(3)
inputs = rng.normal(size=(512, 8)).astype(np.float32)
targets = np.argmax(inputs.dot(rng.normal(size=(8, 4))), axis=1)

tf.set_random_seed(11)
x = tf.placeholder(tf.float32, [None, 8])
y = tf.placeholder(tf.int64, [None])
keep_prob = tf.placeholder(tf.float32)
rate = tf.Variable(0.5, trainable=False)
first = tf.Variable(tf.random_normal([8, 16], stddev=0.3))
second = tf.Variable(tf.random_normal([16, 4], stddev=0.3))
hidden = tf.nn.relu(tf.matmul(x, first))
logits = tf.matmul(tf.nn.dropout(hidden, rate=1 - keep_prob), second)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
train = tf.train.GradientDescentOptimizer(rate).minimize(loss)
tf.summary.scalar("loss", loss)


def confidence(scores, temperature=1.0):
    """How sure the network is of its choice."""
    spread = tf.nn.softmax(scores / temperature)
    return tf.reduce_max(spread, axis=1)


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    # Built anew in each epoch, as it is found in many tutorials.
    correct = tf.equal(tf.argmax(logits, 1), y)
    accuracy = tf.reduce_mean(
        tf.cast(correct, tf.float32)
    )
    summary_op = tf.summary.merge_all()
    confidence_op = confidence(logits)
    argmax_op = tf.argmax(logits, 1)
    strided_slice_op = logits[:, 0]
    assign_op = tf.assign(rate, rate * 0.8)
    for epoch in range(9):
        for start in range(0, 512, 128):
            batch = {x: inputs[start : start + 128], y: targets[start : start + 128], keep_prob: 0.9}
            sess.run(train, feed_dict=batch)
        held_out = {x: inputs[:64], y: targets[:64], keep_prob: 1.0}
        summary = sess.run(summary_op, feed_dict=held_out)
        print(epoch, accuracy.eval(held_out), len(summary))
        if epoch % 3 == 0:
            sure, chosen = sess.run([confidence_op, argmax_op], feed_dict=held_out)
            noisy = sess.run(strided_slice_op, feed_dict={x: inputs[:4], keep_prob: 0.5})
            print(epoch, sure.mean(), chosen.sum(), noisy)
            sess.run(assign_op)
    values = sess.run(tf.trainable_variables())
    print(hashlib.sha256(b"".join(value.tobytes() for value in values)).hexdigest())
