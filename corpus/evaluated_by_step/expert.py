"""A custom loop: the training step is a `tf.function`, the evaluation of each epoch is not."""

import numpy as np
import tensorflow as tf

EPOCHS = 4

tf.keras.utils.set_random_seed(21)
rng = np.random.RandomState(21)


def make_spirals(count):
    """Points on three arms that wind around the origin."""
    arms = rng.randint(0, 3, size=count)
    radius = rng.uniform(0.2, 1.0, size=count)
    angle = 4.0 * radius + arms * 2.0 * np.pi / 3.0 + rng.normal(scale=0.1, size=count)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return points.astype(np.float32), arms.astype(np.int64)


train_points, train_arms = make_spirals(640)
test_points, test_arms = make_spirals(1000)
train_ds = tf.data.Dataset.from_tensor_slices((train_points, train_arms)).shuffle(640, seed=21)
train_ds = train_ds.batch(32).prefetch(tf.data.AUTOTUNE)
test_ds = tf.data.Dataset.from_tensor_slices((test_points, test_arms)).batch(25)
# The batches stay what they are, so they are made once.
test_ds = test_ds.cache().prefetch(tf.data.AUTOTUNE)


class SpiralModel(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.d1 = tf.keras.layers.Dense(32, activation="tanh")
        self.d2 = tf.keras.layers.Dense(32, activation="tanh")
        self.drop = tf.keras.layers.Dropout(0.2, seed=21)
        self.d3 = tf.keras.layers.Dense(3)

    def call(self, x, training=None):
        x = self.d2(self.d1(x))
        return self.d3(self.drop(x, training=training))


model = SpiralModel()
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam(0.01)
train_loss = tf.keras.metrics.Mean(name="train_loss")
train_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="train_accuracy")
test_loss = tf.keras.metrics.Mean(name="test_loss")
test_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="test_accuracy")


@tf.function
def train_step(points, arms):
    with tf.GradientTape() as tape:
        logits = model(points, training=True)
        loss = loss_object(arms, logits)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    train_loss(loss)
    train_accuracy(arms, logits)


@tf.function(
    input_signature=[tf.TensorSpec((None, 2), tf.float32), tf.TensorSpec((None,), tf.int64)]
)
def test_step(points, arms):
    logits = model(points, training=False)
    test_loss.update_state(loss_object(arms, logits))
    test_accuracy.update_state(arms, logits)
    return tf.math.bincount(tf.argmax(logits, axis=1, output_type=tf.int32), minlength=3)


for epoch in range(EPOCHS):
    train_loss.reset_state()
    train_accuracy.reset_state()
    test_loss.reset_state()
    test_accuracy.reset_state()
    for points, arms in train_ds:
        train_step(points, arms)
    counts = tf.zeros(3, tf.int32)
    for points, arms in test_ds:
        counts += test_step(points, arms)
    print(
        epoch + 1,
        float(train_loss.result()),
        float(train_accuracy.result()),
        float(test_loss.result()),
        float(test_accuracy.result()),
        counts.numpy(),
    )
