"""Trains with a dict of feeds that each turn fills."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

rng = np.random.RandomState(12)
sentences = [rng.randint(1, 50, size=rng.randint(3, 9)) for _ in range(300)]
labels = np.array([int(one.sum() % 2) for one in sentences])

words = tf.placeholder(tf.int32, [None, None])
lengths = tf.placeholder(tf.int32, [None])
classes = tf.placeholder(tf.int32, [None])
rate = tf.placeholder(tf.float32, [])
keep_prob = tf.placeholder_with_default(1.0, [])

embedding = tf.Variable(tf.random_normal([50, 8], stddev=0.3, seed=3))
mask = tf.expand_dims(tf.sequence_mask(lengths, dtype=tf.float32), 2)
vectors = tf.nn.embedding_lookup(embedding, words) * mask
means = tf.reduce_sum(vectors, 1) / tf.expand_dims(tf.cast(lengths, tf.float32), 1)
weights = tf.Variable(tf.zeros([8, 2]))
logits = tf.matmul(tf.nn.dropout(means, keep_prob, seed=9), weights)
losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=classes, logits=logits)
loss = tf.reduce_mean(losses)
train = tf.train.GradientDescentOptimizer(rate).minimize(loss)


def padded(part):
    longest = max(len(one) for one in part)
    return np.array([list(one) + [0] * (longest - len(one)) for one in part])


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    batches = []
    for i in range(15):
        part = sentences[i * 20 : i * 20 + 20]
        sizes = np.array([len(one) for one in part])
        batches.append((padded(part), sizes, labels[i * 20 : i * 20 + 20]))
    for epoch in range(4):
        for i, (batch, sizes, wanted) in enumerate(batches):
            feed = {words: batch, lengths: sizes, classes: wanted}
            feed.update({rate: 0.5 / (1 + epoch), keep_prob: 0.9})
            _, value = sess.run([train, loss], feed_dict=feed)
            print(epoch, i, value)
    print(hashlib.sha256(sess.run(embedding).tobytes()).hexdigest())
