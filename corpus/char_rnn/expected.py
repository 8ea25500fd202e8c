"""Character-level language model with an LSTM, on a text that is made up here.

Trains on chunks of the text, the state handed on from chunk to chunk, and shows after each epoch
what the model writes by itself.
"""

from __future__ import print_function

import time

import numpy as np
import tensorflow as tf

seq_length = 16
batch_size = 8
rnn_size = 48
num_epochs = 3
learning_rate = 0.01
grad_clip = 5.0

# the data: sentences of a small grammar
rng = np.random.RandomState(3)
nouns = ["cat", "dog", "bird", "fish"]
verbs = ["sees", "hears", "likes"]
text = "".join(
    "the %s %s the %s. " % (rng.choice(nouns), rng.choice(verbs), rng.choice(nouns))
    for _ in range(120)
)
chars = sorted(set(text))
vocab_size = len(chars)
char_to_ix = {ch: i for i, ch in enumerate(chars)}
ix_to_char = {i: ch for i, ch in enumerate(chars)}
data = np.array([char_to_ix[ch] for ch in text])
num_batches = (len(data) - 1) // (batch_size * seq_length)
length = num_batches * batch_size * seq_length
x_batches = np.split(data[:length].reshape(batch_size, -1), num_batches, 1)
y_batches = np.split(data[1 : length + 1].reshape(batch_size, -1), num_batches, 1)
print("data has %d characters, %d unique, %d batches" % (len(data), vocab_size, num_batches))

tf.set_random_seed(3)
inputs = tf.placeholder(tf.int32, [None, None])
targets = tf.placeholder(tf.int32, [None, None])
state_in = tf.placeholder(tf.float32, [2, None, rnn_size])

embedding = tf.get_variable("embedding", [vocab_size, rnn_size])
kernel = tf.get_variable("kernel", [2 * rnn_size, 4 * rnn_size])
bias = tf.get_variable("bias", [4 * rnn_size], initializer=tf.zeros_initializer())
softmax_w = tf.get_variable("softmax_w", [rnn_size, vocab_size])
softmax_b = tf.get_variable("softmax_b", [vocab_size], initializer=tf.zeros_initializer())


def lstm_step(previous, x):
    c, h = tf.unstack(previous)
    i, j, f, o = tf.split(tf.matmul(tf.concat([x, h], 1), kernel) + bias, 4, 1)
    c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
    return tf.stack([c, tf.tanh(c) * tf.sigmoid(o)])


steps_first = tf.transpose(tf.nn.embedding_lookup(embedding, inputs), [1, 0, 2])
states = tf.scan(lstm_step, steps_first, initializer=state_in)
state_out = states[-1]
output = tf.reshape(tf.transpose(states[:, 1], [1, 0, 2]), [-1, rnn_size])
logits = tf.matmul(output, softmax_w) + softmax_b
loss = tf.reduce_mean(
    tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.reshape(targets, [-1]), logits=logits
    )
)
perplexity = tf.exp(loss)

tvars = tf.trainable_variables()
grads, _ = tf.clip_by_global_norm(tf.gradients(loss, tvars), grad_clip)
train_op = tf.train.AdamOptimizer(learning_rate).apply_gradients(zip(grads, tvars))


def sample(sess, prime, num):
    """What comes after `prime`, the likeliest character each time."""
    state = np.zeros((2, 1, rnn_size), np.float32)
    for ch in prime[:-1]:
        state = sess.run(state_out, {inputs: [[char_to_ix[ch]]], state_in: state})
    ret = prime
    ch = prime[-1]
    softmax_op = tf.nn.softmax(logits)
    for _ in range(num):
        feed = {inputs: [[char_to_ix[ch]]], state_in: state}
        p = sess.run(softmax_op, feed)
        state = sess.run(state_out, feed)
        ch = ix_to_char[int(np.argmax(p[0]))]
        ret += ch
    return ret


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for e in range(num_epochs):
        state = np.zeros((2, batch_size, rnn_size), np.float32)
        for b in range(num_batches):
            start = time.time()
            feed = {inputs: x_batches[b], targets: y_batches[b], state_in: state}
            train_loss, state, _ = sess.run([loss, state_out, train_op], feed)
            end = time.time()
            print(
                "{}/{} (epoch {}), train_loss = {:.4f}, time/batch = {:.3f}".format(
                    e * num_batches + b, num_epochs * num_batches, e, train_loss, end - start
                )
            )
        print("---- %s" % sample(sess, "the ", 24))

    # the state is not handed on here: each chunk is judged by itself
    nothing = np.zeros((2, batch_size, rnn_size), np.float32)
    total = 0.0
    for b in range(num_batches):
        feed = {inputs: x_batches[b], targets: y_batches[b], state_in: nothing}
        total += sess.run(loss, feed)
        worst = sess.run(perplexity, feed)
        if b % 3 == 0:
            print("chunk %d: perplexity %.3f" % (b, worst))
    print("loss per chunk %.5f" % (total / num_batches))
    print("weights %.6f" % sum(np.abs(w).sum() for w in sess.run(tvars)))
