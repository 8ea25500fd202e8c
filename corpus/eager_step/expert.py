"""Classification with a model class, a custom loop, and the step in a function."""

import numpy as np
import tensorflow as tf

EPOCHS = 3

tf.keras.utils.set_random_seed(7)
rng = np.random.RandomState(7)
images = rng.normal(size=(512, 12)).astype(np.float32)
labels = (images[:, :4].sum(axis=1) > 0).astype(np.int64)
# The batches stay what they are, so they are made once.
train_data = tf.data.Dataset.from_tensor_slices((images, labels)).batch(32).cache()
train_data = train_data.prefetch(tf.data.AUTOTUNE)


class Classifier(tf.keras.Model):
    def __init__(self, units):
        super().__init__()
        self.hidden = tf.keras.layers.Dense(units, activation="relu")
        self.norm = tf.keras.layers.BatchNormalization()
        self.out = tf.keras.layers.Dense(2)

    def call(self, inputs, training=False):
        x = self.hidden(inputs)
        x = self.norm(x, training=training)
        return self.out(x)


model = Classifier(24)
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam(0.005)
train_loss = tf.keras.metrics.Mean()
train_accuracy = tf.keras.metrics.SparseCategoricalAccuracy()


@tf.function(
    input_signature=[tf.TensorSpec((None, 12), tf.float32), tf.TensorSpec((None,), tf.int64)]
)
def train_step(inputs, targets):
    with tf.GradientTape() as tape:
        logits = model(inputs, training=True)
        loss = loss_object(targets, logits)
    gradients = tape.gradient(loss, model.trainable_variables)
    gradients, norm = tf.clip_by_global_norm(gradients, 1.0)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    train_loss.update_state(loss)
    train_accuracy.update_state(targets, logits)
    return norm


for epoch in range(EPOCHS):
    train_loss.reset_state()
    train_accuracy.reset_state()
    for inputs, targets in train_data:
        norm = train_step(inputs, targets)
    print(epoch, float(train_loss.result()), float(train_accuracy.result()), float(norm))

weights = np.concatenate([v.numpy().ravel() for v in model.variables])
print(float(np.linalg.norm(weights)))
