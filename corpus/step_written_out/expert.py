"""Classification with the training step written out in the loop, and a log line now and then."""

import numpy as np
import tensorflow as tf

EPOCHS = 3

tf.keras.utils.set_random_seed(11)
rng = np.random.RandomState(11)
features = rng.normal(size=(500, 10)).astype(np.float32)
labels = (features[:, :3].sum(axis=1) > 0).astype(np.int64)
# The batches stay what they are, so they are made once.
train_data = tf.data.Dataset.from_tensor_slices((features, labels)).batch(32).cache()
train_data = train_data.prefetch(tf.data.AUTOTUNE)

model = tf.keras.Sequential(
    [
        tf.keras.Input((10,)),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.Dense(2),
    ]
)
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam(0.005)
accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
history = []


# One trace for full batches and the short one.
@tf.function(
    input_signature=[
        tf.TensorSpec((None, 10), tf.float32),
        tf.TensorSpec((None,), tf.int64),
    ]
)
def train_step(inputs, targets):
    with tf.GradientTape() as tape:
        logits = model(inputs, training=True)
        loss = loss_object(targets, logits)
    gradients = tape.gradient(loss, model.trainable_variables)
    # Long gradients come with labels that are wrong.
    gradients, norm = tf.clip_by_global_norm(gradients, 1.0)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    accuracy.update_state(targets, logits)
    return loss, norm


for epoch in range(EPOCHS):
    accuracy.reset_state()
    for step, (inputs, targets) in enumerate(train_data):
        loss, norm = train_step(inputs, targets)
        history.append(loss)
        if step % 8 == 0:
            print(epoch, step, float(loss), float(norm))
    print(epoch, float(accuracy.result()))

print(float(np.mean(tf.stack(history).numpy(), dtype=np.float64)))
weights = np.concatenate([v.numpy().ravel() for v in model.variables])
print(float(np.linalg.norm(weights)))
