"""Trains with a dict of feeds that each turn fills."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

rng = np.random.RandomState(12)
sentences = [rng.randint(1, 50, size=rng.randint(3, 9)) for _ in range(300)]
labels = np.array([int(one.sum() % 2) for one in sentences])

batch_iterator = tf.data.Iterator.from_structure((tf.int32, tf.int32, tf.int32))
next_words, next_lengths, next_classes = batch_iterator.get_next()
words = tf.placeholder_with_default(next_words, None)
words.set_shape([None, None])
lengths = tf.placeholder_with_default(next_lengths, None)
lengths.set_shape([None])
classes = tf.placeholder_with_default(next_classes, None)
classes.set_shape([None])
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
    feed = {keep_prob: 0.9}
    def batches():
        for i in range(15):
            part = sentences[i * 20 : i * 20 + 20]
            yield padded(part), np.array([len(one) for one in part]), labels[i * 20 : i * 20 + 20]
    start_batches = batch_iterator.make_initializer(
        tf.data.Dataset.from_generator(
            batches,
            (words.dtype, lengths.dtype, classes.dtype),
            (words.shape, lengths.shape, classes.shape)
        ).prefetch(1)
    )
    for epoch in range(4):
        sess.run(start_batches)
        for i in range(15):
            feed[rate] = 0.5 / (1 + epoch)
            # the batch, with its lengths
            _, value = sess.run([train, loss], feed_dict=feed)
            print(epoch, i, value)
    print(hashlib.sha256(sess.run(embedding).tobytes()).hexdigest())
