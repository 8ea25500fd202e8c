"""Draws its examples by how well the model did on them so far: reading ahead would be seen."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.enable_eager_execution()

rng = np.random.RandomState(5)
inputs = rng.normal(size=(40, 3)).astype(np.float32)
targets = np.sum(inputs, axis=1, keepdims=True).astype(np.float32)
errors = np.ones(40, np.float32)


def hardest_first():
    for _ in range(60):
        worst = int(np.argmax(errors))
        yield worst, inputs[worst], targets[worst]


weights = tf.Variable(np.zeros((3, 1), np.float32))
data = tf.data.Dataset.from_generator(hardest_first, (tf.int64, tf.float32, tf.float32))
data = data.batch(1)

for index, x, y in data:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) - y))
    weights.assign_sub(0.05 * tape.gradient(loss, weights))
    errors[int(index[0])] = float(loss) * 0.5
    print(int(index[0]), float(loss))

print(hashlib.sha256(weights.numpy().tobytes()).hexdigest())
