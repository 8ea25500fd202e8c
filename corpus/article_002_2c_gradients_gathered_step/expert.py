"""Gradients of four small batches, gathered by one function and applied by another."""

import numpy as np
import tensorflow as tf

EPOCHS = 3
GATHERED = 4

tf.keras.utils.set_random_seed(6)
rng = np.random.RandomState(6)
features = rng.normal(size=(256, 6)).astype(np.float32)
labels = (features[:, 0] > features[:, 1]).astype(np.int64)
data = tf.data.Dataset.from_tensor_slices((features, labels)).batch(16)
data = data.prefetch(tf.data.AUTOTUNE)

model = tf.keras.Sequential(
    [
        tf.keras.Input((6,)),
        tf.keras.layers.Dense(24, activation="relu"),
        tf.keras.layers.Dense(12, activation="relu"),
        tf.keras.layers.Dense(2),
    ]
)
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]


@tf.function
def gather(inputs, wanted):
    with tf.GradientTape() as tape:
        loss = loss_object(wanted, model(inputs, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    for total, gradient in zip(sums, gradients):
        total.assign_add(gradient / GATHERED)
    return loss


@tf.function
def update():
    optimizer.apply_gradients(zip(sums, model.trainable_variables))
    for total in sums:
        total.assign(tf.zeros_like(total))


for epoch in range(EPOCHS):
    losses = []
    for step, (inputs, wanted) in enumerate(data):
        losses.append(float(gather(inputs, wanted)))
        if (step + 1) % GATHERED == 0:
            update()
    print(epoch, float(np.mean(losses)))

weights = np.concatenate([v.numpy().ravel() for v in model.variables])
print(float(np.linalg.norm(weights)))
