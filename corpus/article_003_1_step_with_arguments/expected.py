"""A compiled step that gets its model and its optimizer as arguments: nothing is left to do."""

import numpy as np
import tensorflow as tf

EPOCHS = 3

tf.keras.utils.set_random_seed(17)
rng = np.random.RandomState(17)
images = rng.normal(size=(96, 10)).astype(np.float32)
labels = np.eye(2, dtype=np.float32)[(images[:, 0] > 0).astype(np.int64)]
dataset = tf.data.Dataset.from_tensor_slices({"images": images, "labels": labels}).batch(32)
dataset = dataset.prefetch(tf.data.AUTOTUNE)

model = tf.keras.Sequential(
    [tf.keras.Input((10,)), tf.keras.layers.Dense(2, activation="softmax")]
)
optimizer = tf.keras.optimizers.SGD(0.1)


@tf.function
def train_step(images, labels, model, optimizer):
    with tf.GradientTape() as tape:
        predictions = model(images)
        loss = tf.keras.losses.categorical_crossentropy(labels, predictions)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for epoch in range(EPOCHS):
    for batch in dataset:
        loss = train_step(batch["images"], batch["labels"], model, optimizer)
    print(f"Epoch {epoch + 1}: loss {float(np.mean(loss)):.5f}")

weights = np.concatenate([v.numpy().ravel() for v in model.variables])
print(float(np.linalg.norm(weights)))
