"""A compiled step, with a schedule, a clipped gradient and a metric, and a short last batch."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(7)
rng = np.random.RandomState(7)
inputs = rng.normal(size=(208, 10)).astype(np.float32)
labels = (inputs[:, 0] > inputs[:, 1]).astype(np.int64) + (inputs[:, 2] > 0.5)
data = tf.data.Dataset.from_tensor_slices((inputs, labels)).batch(32).prefetch(2)

model = tf.keras.Sequential(
    [
        tf.keras.Input([10]),
        tf.keras.layers.Dense(32, activation="gelu"),
        tf.keras.layers.LayerNormalization(),
        tf.keras.layers.Dense(32, activation="gelu"),
        tf.keras.layers.Dense(3),
    ]
)
rate = tf.keras.optimizers.schedules.ExponentialDecay(0.01, 20, 0.9)
optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9)
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
mean_loss = tf.keras.metrics.Mean()


@tf.function(jit_compile=True)
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_object(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    gradients, norm = tf.clip_by_global_norm(gradients, 1.0)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    mean_loss.update_state(loss)
    return norm


for epoch in range(4):
    mean_loss.reset_state()
    for x, y in data:
        norm = train_step(x, y)
    print(epoch, float(mean_loss.result()), float(norm))
print(float(sum(np.abs(value.numpy()).sum() for value in model.trainable_variables)))
