"""Evaluates with tf.metrics, whose counts are variables that each run adds to."""

from __future__ import print_function

import numpy as np
import tensorflow as tf

NUM_CLASSES = 4
BATCH_SIZE = 30

rng = np.random.RandomState(17)
features = rng.normal(size=(600, 12)).astype(np.float32)
classes = np.argmax(features.dot(rng.normal(size=(12, NUM_CLASSES))), axis=1)
train_set = features[:420], classes[:420]
eval_set = features[420:], classes[420:]

tf.set_random_seed(17)
inputs = tf.placeholder(tf.float32, [None, 12], name="inputs")
labels = tf.placeholder(tf.int64, [None], name="labels")
w = tf.get_variable("w", [12, NUM_CLASSES])
logits = tf.matmul(inputs, w)
predictions = tf.argmax(logits, 1)
loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
train_op = tf.train.AdagradOptimizer(0.5).minimize(loss)

with tf.name_scope("metrics"):
    accuracy, accuracy_update = tf.metrics.accuracy(labels, predictions)
    mean_loss, mean_loss_update = tf.metrics.mean(loss)
metric_vars = tf.get_collection(tf.GraphKeys.LOCAL_VARIABLES, scope="metrics")
reset_metrics = tf.variables_initializer(metric_vars)


def batches(data):
    for start in range(0, len(data[1]), BATCH_SIZE):
        yield {
            inputs: data[0][start : start + BATCH_SIZE],
            labels: data[1][start : start + BATCH_SIZE],
        }


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(5):
        sess.run(reset_metrics)
        for feed in batches(train_set):
            sess.run(train_op, feed_dict=feed)
            sess.run(accuracy_update, feed_dict=feed)
            sess.run(mean_loss_update, feed_dict=feed)
        print("epoch %d: %.5f %.5f" % (epoch, sess.run(accuracy), sess.run(mean_loss)))

    sess.run(reset_metrics)
    for feed in batches(eval_set):
        sess.run(accuracy_update, feed_dict=feed)
        sess.run(mean_loss_update, feed_dict=feed)
    print("evaluation: %.5f %.5f" % (sess.run(accuracy), sess.run(mean_loss)))
    print("weights: %.6f" % np.abs(sess.run(w)).sum())
