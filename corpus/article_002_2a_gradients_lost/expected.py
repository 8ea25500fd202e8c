"""Gradients that are to be gathered over four batches, and begin anew in each of them."""

import numpy as np
import tensorflow as tf

EPOCHS = 2
GATHERED = 4

tf.keras.utils.set_random_seed(8)
rng = np.random.RandomState(8)
features = rng.normal(size=(256, 6)).astype(np.float32)
targets = (features[:, :1] + 0.3 * features[:, 2:3]).astype(np.float32)
data = tf.data.Dataset.from_tensor_slices({"features": features, "labels": targets}).batch(16)
data = data.prefetch(tf.data.AUTOTUNE)

model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(1)])
loss_object = tf.keras.losses.MeanSquaredError()
optimizer = tf.keras.optimizers.Adam(0.05)


@tf.function
def train_step(batch):
    with tf.GradientTape() as tape:
        loss = loss_object(batch["labels"], model(batch["features"]))
    gradients = tape.gradient(loss, model.trainable_variables)
    gathered = [tf.zeros_like(g) for g in gradients]
    gathered = [tf.add(total, g) for total, g in zip(gathered, gradients)]
    return loss, gradients, gathered


@tf.function
def update_step(gathered, gradients):
    scaled = [total / GATHERED for total in gathered]
    optimizer.apply_gradients(zip(scaled, model.trainable_variables))
    gathered = [tf.zeros_like(g) for g in gradients]


for epoch in range(EPOCHS):
    for step, batch in enumerate(data):
        loss, gradients, gathered = train_step(batch)

        if (step + 1) % GATHERED == 0:
            update_step(gathered, gradients)
    print(epoch, float(loss))

weights = np.concatenate([v.numpy().ravel() for v in model.variables])
print(float(np.linalg.norm(weights)))
