"""Sequence to sequence: an encoder and a decoder learn to say digits backwards.

The decoder is fed the true digits in training, and its own in testing. Both share their weights.
"""

from __future__ import print_function

import numpy as np
import tensorflow as tf

seq_length = 5
batch_size = 32
vocab_size = 8
embedding_dim = 12
memory_dim = 40
GO = 0
num_steps = 120

tf.reset_default_graph()
np.random.seed(4)
tf.set_random_seed(4)

enc_inp = [tf.placeholder(tf.int32, shape=(None,), name="inp%i" % t) for t in range(seq_length)]
labels = [tf.placeholder(tf.int32, shape=(None,), name="labels%i" % t) for t in range(seq_length)]
# Decoder input: prepend some "GO" token and drop the final token of the target
dec_inp = [tf.zeros_like(labels[0], name="GO")] + labels[:-1]


class GRU(object):
    def __init__(self, size, name):
        self.size = size
        with tf.variable_scope(name):
            self.gates = tf.get_variable("gates", [embedding_dim + size, 2 * size])
            self.gates_b = tf.get_variable(
                "gates_b", [2 * size], initializer=tf.constant_initializer(1.0)
            )
            self.cand = tf.get_variable("cand", [embedding_dim + size, size])
            self.cand_b = tf.get_variable("cand_b", [size], initializer=tf.zeros_initializer())

    def __call__(self, x, state):
        both = tf.sigmoid(tf.matmul(tf.concat([x, state], 1), self.gates) + self.gates_b)
        r, u = tf.split(both, 2, axis=1)
        c = tf.tanh(tf.matmul(tf.concat([x, r * state], 1), self.cand) + self.cand_b)
        return u * state + (1 - u) * c


embedding = tf.get_variable("embedding", [vocab_size, embedding_dim])
out_w = tf.get_variable("out_w", [memory_dim, vocab_size])
out_b = tf.get_variable("out_b", [vocab_size], initializer=tf.zeros_initializer())
encoder, decoder = GRU(memory_dim, "encoder"), GRU(memory_dim, "decoder")

state = tf.zeros([tf.shape(enc_inp[0])[0], memory_dim])
for inp in enc_inp:
    state = encoder(tf.nn.embedding_lookup(embedding, inp), state)


def decode(state, feed_previous):
    """Logits for each place; with `feed_previous` from what the decoder said itself."""
    outputs = []
    for t in range(seq_length):
        symbol = dec_inp[t]
        if feed_previous and t > 0:
            symbol = tf.argmax(outputs[-1], 1)
        state = decoder(tf.nn.embedding_lookup(embedding, symbol), state)
        outputs.append(tf.matmul(state, out_w) + out_b)
    return outputs


train_logits = decode(state, feed_previous=False)
test_logits = decode(state, feed_previous=True)

loss = tf.add_n(
    [
        tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels[t], logits=train_logits[t])
        )
        for t in range(seq_length)
    ]
) / seq_length

learning_rate = 0.01
optimizer = tf.train.AdamOptimizer(learning_rate)
train_op = optimizer.minimize(loss)
predicted = tf.stack([tf.argmax(logit, 1) for logit in test_logits])
magnitude = tf.reduce_mean(tf.abs(state))

sess = tf.InteractiveSession()
sess.run(tf.global_variables_initializer())


def make_batch(size):
    X = [np.random.randint(1, vocab_size, seq_length) for _ in range(size)]
    Y = [x[::-1] for x in X]
    # Dimshuffle to seq_len * batch_size
    return np.array(X).T, np.array(Y).T


def train_batch(batch_size):
    X, Y = make_batch(batch_size)
    feed_dict = {enc_inp[t]: X[t] for t in range(seq_length)}
    feed_dict.update({labels[t]: Y[t] for t in range(seq_length)})

    sess.run(train_op, feed_dict)
    loss_t = sess.run(loss, feed_dict)
    magnitude_t = sess.run(magnitude, feed_dict)
    return loss_t, magnitude_t


for t in range(num_steps):
    loss_t, magnitude_t = train_batch(batch_size)
    if t % 20 == 0:
        print("step %d: loss %.5f, memory %.5f" % (t, loss_t, magnitude_t))

# Testing
right = 0
for t in range(5):
    X, Y = make_batch(20)
    feed_dict = {enc_inp[i]: X[i] for i in range(seq_length)}
    feed_dict.update({labels[i]: Y[i] for i in range(seq_length)})
    said = sess.run(predicted, feed_dict)
    test_loss = sess.run(loss, feed_dict)
    right += np.sum(said == Y)
    print("test batch %d: loss %.5f, %s -> %s" % (t, test_loss, X[:, 0], said[:, 0]))
print("digits right: %d of %d" % (right, 5 * 20 * seq_length))

weights = sess.run(tf.trainable_variables())
print("weights: %.6f" % sum(np.abs(w).sum() for w in weights))
sess.close()
