"""Trains on what a class's own next_batch gives, and now and then looks at the same batch."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


class Digits(object):
    def __init__(self, images, labels):
        self.images = images
        self.labels = labels
        self.position = 0

    def next_batch(self, size):
        if self.position + size > len(self.images):
            order = np.random.permutation(len(self.images))
            self.images = self.images[order]
            self.labels = self.labels[order]
            self.position = 0
        start = self.position
        self.position += size
        shifts = [np.random.randint(0, 3) for _ in range(size)]
        images = self.images[start : self.position].reshape((size, 8, 8))
        # Column c of a moved image is column c - shift of the image.
        columns = (np.arange(8) - np.reshape(shifts, (size, 1))) % 8
        moved = images[np.arange(size)[:, None, None], np.arange(8)[:, None], columns[:, None, :]]
        return moved.reshape((size, 64)) / 255.0, self.labels[start : self.position]


class Trainer(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, shape=[None, 64])
        self.y = tf.placeholder(tf.int64, shape=[None])
        self.weights = tf.Variable(tf.random_normal([64, 4], stddev=0.1, seed=6))
        logits = tf.matmul(self.x, self.weights)
        self.loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.y, logits=logits)
        )
        correct = tf.equal(tf.argmax(logits, 1), self.y)
        self.accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
        self.train_op = tf.train.AdamOptimizer(0.01).minimize(self.loss)

    def fit(self):
        digits = Digits(np.random.randint(0, 256, (300, 64)), np.random.randint(0, 4, 300))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for step in range(60):
                images, labels = digits.next_batch(25)
                _, loss = sess.run(
                    [self.train_op, self.loss], feed_dict={self.x: images, self.y: labels}
                )
                if step % 10 == 0:
                    accuracy = sess.run(
                        self.accuracy, feed_dict={self.x: images, self.y: labels}
                    )
                    print(step, loss, accuracy)
            print(digits.position, np.random.rand())
            print(hashlib.sha256(sess.run(self.weights).tobytes()).hexdigest())


np.random.seed(11)
Trainer().fit()
