"""Gradients of four small batches, summed in the loop and applied at once."""

import numpy as np
import tensorflow as tf

EPOCHS = 3
GATHERED = 4

tf.keras.utils.set_random_seed(5)
rng = np.random.RandomState(5)
features = rng.normal(size=(256, 6)).astype(np.float32)
targets = (features[:, :1] - 0.5 * features[:, 1:2]).astype(np.float32)
data = tf.data.Dataset.from_tensor_slices((features, targets)).batch(16)
data = data.prefetch(tf.data.AUTOTUNE)

model = tf.keras.Sequential(
    [
        tf.keras.Input((6,)),
        tf.keras.layers.Dense(24, activation="relu"),
        tf.keras.layers.Dense(12, activation="relu"),
        tf.keras.layers.Dense(1),
    ]
)
loss_object = tf.keras.losses.MeanSquaredError()
optimizer = tf.keras.optimizers.Adam(0.01)

sums = [tf.zeros_like(v) for v in model.trainable_variables]


@tf.function
def train_step(wanted, inputs, sums):
    with tf.GradientTape() as tape:
        loss = loss_object(wanted, model(inputs, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    sums = [s + g for s, g in zip(sums, gradients)]
    return loss, sums


@tf.function
def update_step(sums):
    means = [s / GATHERED for s in sums]
    optimizer.apply_gradients(zip(means, model.trainable_variables))
    sums = [tf.zeros_like(v) for v in model.trainable_variables]
    return sums


for epoch in range(EPOCHS):
    losses = []
    for step, (inputs, wanted) in enumerate(data):
        loss, sums = train_step(wanted, inputs, sums)
        if (step + 1) % GATHERED == 0:
            sums = update_step(sums)
        losses.append(loss)
    losses = [float(loss) for loss in losses]
    print(epoch, float(np.mean(losses)))

weights = np.concatenate([v.numpy().ravel() for v in model.variables])
print(float(np.linalg.norm(weights)))
