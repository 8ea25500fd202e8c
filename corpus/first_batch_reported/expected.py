"""Takes `next(iter(dataset))` in each step, which is the first batch again and again."""

import hashlib

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(9)
inputs = rng.normal(size=(240, 5)).astype(np.float32)
targets = inputs @ np.arange(5, dtype=np.float32).reshape(5, 1)

weights = tf.Variable(tf.zeros([5, 1]))
dataset = tf.data.Dataset.from_tensor_slices((inputs, targets))
dataset = dataset.batch(24, drop_remainder=True).prefetch(2)

for step in range(20):
    x, y = next(iter(dataset))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) - y))
    gradient = tape.gradient(loss, weights)
    weights.assign_sub(0.1 * gradient)
    print(step, float(loss))

print(hashlib.sha256(weights.numpy().tobytes()).hexdigest())
