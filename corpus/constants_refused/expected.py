"""Constants and reads that only look as if they stayed the same, in an eager loop."""

import hashlib

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(7)
weights = np.linspace(0.1, 1.0, 4).astype(np.float32)
rate = tf.Variable(0.5)
kept = []
total = 0.0

for step in range(12):
    # The array is written to below.
    scale = tf.constant(weights)
    value = tf.reduce_sum(scale * rate)
    total += float(value)
    # A variable: what it holds later is something else.
    used = rate.numpy()
    rate.assign(rate * 0.9)
    kept.append(tf.zeros([2]))
    weights[step % 4] += 0.25
    if step % 3 == 0:
        print(step, used, value.numpy())

print(total, len({id(one) for one in kept}))
print(hashlib.sha256(rate.numpy().tobytes() + weights.tobytes()).hexdigest())
