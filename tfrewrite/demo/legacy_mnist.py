"""Classifies handwritten digits with a small network, in the manner of the tutorials of 2016.

The digits are made up: ten patterns under noise, the same at every run. The numbers go to
standard output, the time that a step takes to standard error.

Runs on TensorFlow 1.15 and on TensorFlow 2.
"""

from __future__ import print_function

import hashlib
import sys
import time

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)

BATCH_SIZE = 100
STEPS = 400
PIXELS = 784
HIDDEN = 128
CLASSES = 10


class DataSet(object):
    """Images and labels that are handed out batch by batch, as the tutorials' reader did it."""

    def __init__(self, patterns, size, rng):
        classes = rng.randint(0, CLASSES, size)
        noise = rng.normal(0.0, 2.0, (size, PIXELS))
        self.images = (patterns[classes] + noise).astype(np.float32)
        self.labels = np.eye(CLASSES, dtype=np.float32)[classes]
        self.position = 0

    def next_batch(self, size):
        if self.position + size > len(self.images):
            self.position = 0
        start, self.position = self.position, self.position + size
        return self.images[start:self.position], self.labels[start:self.position]


rng = np.random.RandomState(0)
patterns = rng.uniform(0.0, 1.0, (CLASSES, PIXELS))
train = DataSet(patterns, 10000, rng)
test = DataSet(patterns, 2000, rng)

x = tf.placeholder(tf.float32, [None, PIXELS])
y_ = tf.placeholder(tf.float32, [None, CLASSES])

W1 = tf.Variable(tf.truncated_normal([PIXELS, HIDDEN], stddev=0.05, seed=1))
b1 = tf.Variable(tf.zeros([HIDDEN]))
W2 = tf.Variable(tf.truncated_normal([HIDDEN, CLASSES], stddev=0.05, seed=2))
b2 = tf.Variable(tf.zeros([CLASSES]))


def network(images):
    hidden = tf.nn.relu(tf.matmul(images, W1) + b1)
    return tf.matmul(hidden, W2) + b2


logits = network(x)
loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=y_, logits=logits))
train_step = tf.train.GradientDescentOptimizer(0.05).minimize(loss)

correct = tf.equal(tf.argmax(logits, 1), tf.argmax(y_, 1))
accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
confidence = tf.reduce_mean(tf.reduce_max(tf.nn.softmax(logits), axis=1))

# Evaluation reads its images from a pipeline.
test_set = tf.data.Dataset.from_tensor_slices((test.images, test.labels))
test_set = test_set.batch(BATCH_SIZE)
test_images, test_labels = tf.data.make_one_shot_iterator(test_set).get_next()
test_hits = tf.equal(tf.argmax(network(test_images), 1), tf.argmax(test_labels, 1))
test_accuracy = tf.reduce_mean(tf.cast(test_hits, tf.float32))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())

    durations = []
    for step in range(STEPS):
        batch_xs, batch_ys = train.next_batch(BATCH_SIZE)
        start_time = time.time()

        sess.run(train_step, feed_dict={x: batch_xs, y_: batch_ys})

        # How well does the network do now?
        loss_value = sess.run(loss, feed_dict={x: batch_xs, y_: batch_ys})
        train_accuracy = sess.run(accuracy, feed_dict={x: batch_xs, y_: batch_ys})
        mean_confidence = sess.run(confidence, feed_dict={x: batch_xs, y_: batch_ys})

        durations.append(time.time() - start_time)
        if step % 20 == 0:
            print('Step %d: loss = %.9g, accuracy = %.9g, confidence = %.9g'
                  % (step, loss_value, train_accuracy, mean_confidence))

    results = []
    while True:
        try:
            results.append(sess.run(test_accuracy))
        except tf.errors.OutOfRangeError:
            break
    print('Test accuracy: %.9g' % np.mean(results))

    digest = hashlib.sha256()
    for variable in tf.trainable_variables():
        digest.update(sess.run(variable).tobytes())
    print('Final weights: %s' % digest.hexdigest()[:16])

print('TensorFlow %s on Python %s' % (tf.__version__, sys.version.split()[0]), file=sys.stderr)
print('Median step: %.3f ms' % (1000 * np.median(durations)), file=sys.stderr)
