"""Sequences are scored by a recurrent cell; its state and the constants are made for each anew."""

import hashlib

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(11)
rng = np.random.RandomState(11)
sequences = rng.normal(size=(40, 6, 1, 3)).astype(np.float32)
table = np.linspace(0.1, 1.0, 8)

cell = tf.keras.layers.LSTMCell(8)
readout = tf.keras.layers.Dense(4)
UNITS = 8


def score(logits, weights):
    # The first class is what is looked for.
    wanted = tf.one_hot([0], 4)
    return tf.reduce_sum(tf.nn.softmax(logits) * wanted) * tf.reduce_mean(weights)


total = 0.0


@tf.function
def forward_step(sequence):
    # Each sequence begins anew.
    state = [tf.zeros([1, UNITS]), tf.zeros([1, UNITS])]
    weights = tf.cast(tf.constant(table), tf.float32)
    summed = tf.zeros([1, UNITS])
    for element in sequence:
        out, state = cell(element, state)
        summed = summed + out * tf.constant(0.5)
    return score(readout(summed * weights), weights)


for epoch in range(2):
    for sequence in sequences:
        total += float(forward_step(tuple(sequence)))
    print(epoch, total)

digest = hashlib.sha256()
for weight in cell.get_weights() + readout.get_weights():
    digest.update(weight.tobytes())
print(digest.hexdigest())
