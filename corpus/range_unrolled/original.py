"""A compiled function with a long loop of Python: reported, since which form pays is not sure."""

import hashlib

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(2)
turn = tf.constant(rng.normal(size=(8, 8)).astype(np.float32) / 3)


@tf.function
def simulate(state):
    for _ in range(120):
        state = tf.tanh(tf.matmul(state, turn))
    return state


digest = hashlib.sha256()
for start in range(8):
    state = simulate(tf.constant(rng.normal(size=(4, 8)).astype(np.float32)))
    digest.update(state.numpy().tobytes())
    print(start, float(tf.reduce_sum(tf.abs(state))))

print(digest.hexdigest())
