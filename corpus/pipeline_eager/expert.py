"""An eager training loop over a pipeline, with the tape written out."""

import hashlib

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(8)
inputs = rng.normal(size=(256, 5)).astype(np.float32)
targets = inputs @ np.arange(5, dtype=np.float32).reshape(5, 1)

weights = tf.Variable(tf.zeros([5, 1]))

train_data = tf.data.Dataset.from_tensor_slices((inputs, targets))
train_data = train_data.batch(16).cache().repeat(2).prefetch(tf.data.AUTOTUNE)


@tf.function(
    input_signature=[tf.TensorSpec((16, 5), tf.float32), tf.TensorSpec((16, 1), tf.float32)]
)
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) - y))
    gradient = tape.gradient(loss, weights)
    weights.assign_sub(0.1 * gradient)
    return loss


for step, (x, y) in enumerate(train_data):
    loss = train_step(x, y)
    print(step, float(loss))

print(hashlib.sha256(weights.numpy().tobytes()).hexdigest())
