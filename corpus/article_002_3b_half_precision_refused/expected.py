"""A small network that `fit` trains first, and then steps with a tape of their own."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(8)
rng = np.random.RandomState(8)
rows = rng.normal(size=(64, 6)).astype(np.float32)
targets = (rows[:, :1] * rows[:, 1:2]).astype(np.float32)

model = tf.keras.Sequential(
    [layers.Dense(16, "tanh", input_shape=[6]), layers.Dense(1)]
)
model.compile("sgd", "mse")
model.fit(rows, targets, batch_size=16, epochs=2, shuffle=False, verbose=0)

optimizer = tf.keras.optimizers.SGD(0.02)


@tf.function
def step(batch, wanted):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(model(batch, training=True) - wanted))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for start in range(0, 64, 16):
    print(float(step(rows[start : start + 16], targets[start : start + 16])))

print(sum(float(tf.reduce_sum(tf.abs(weight))) for weight in model.trainable_variables))
