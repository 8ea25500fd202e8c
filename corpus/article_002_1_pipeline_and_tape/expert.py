"""A pipeline with a map, a shuffle, batches and a prefetch, and a step written out in its loop."""

import numpy as np
import tensorflow as tf

EPOCHS = 3

tf.keras.utils.set_random_seed(13)
rng = np.random.RandomState(13)
readings = rng.normal(size=(320, 8)).astype(np.float32)
kinds = (readings[:, 0] * readings[:, 1] > 0).astype(np.int64)


def prepare(reading, kind):
    reading = (reading - tf.reduce_mean(reading)) / (tf.math.reduce_std(reading) + 1e-6)
    return {"features": tf.clip_by_value(reading, -2.0, 2.0), "labels": kind}


dataset = (
    tf.data.Dataset.from_tensor_slices((readings, kinds))
    .map(prepare, num_parallel_calls=tf.data.AUTOTUNE)
    .cache()
    .shuffle(buffer_size=320, seed=13)
    .batch(batch_size=32)
    .prefetch(buffer_size=tf.data.AUTOTUNE)
)
model = tf.keras.Sequential(
    [
        tf.keras.Input((8,)),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.Dense(2),
    ]
)
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam(0.005)


@tf.function
def train_step(batch):
    with tf.GradientTape() as tape:
        predictions = model(batch["features"])
        loss = loss_object(batch["labels"], predictions)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for epoch in range(EPOCHS):
    for batch in dataset:
        loss = train_step(batch)
    print(epoch, float(loss))

weights = np.concatenate([v.numpy().ravel() for v in model.variables])
print(float(np.linalg.norm(weights)))
