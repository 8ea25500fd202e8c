"""A compiled step that is traced anew in each call: its counter and its weight are numbers."""

import hashlib

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(9)
rng = np.random.RandomState(9)
inputs = rng.normal(size=(256, 6)).astype(np.float32)
targets = np.tanh(inputs @ rng.normal(size=(6, 1))).astype(np.float32)

model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="tanh"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.05)
loss_of = tf.keras.losses.MeanSquaredError()
shrunk = tf.Variable(tf.zeros([6]))
batches = tf.data.Dataset.from_tensor_slices((inputs, targets)).batch(32).cache().repeat()


@tf.function(
    input_signature=[
        tf.TensorSpec((32, 6), tf.float32),
        tf.TensorSpec((32, 1), tf.float32),
        tf.TensorSpec((), tf.int32),
        tf.TensorSpec((), tf.float32),
    ]
)
def train_step(x, y, step, beta):
    with tf.GradientTape() as tape:
        pull = tf.reduce_sum(tf.square(shrunk - 1.0))
        loss = loss_of(y, model(x * (1.0 + shrunk))) + beta * pull
    values = [*model.trainable_variables, shrunk]
    gradients = tape.gradient(loss, values)
    warm = tf.minimum(1.0, tf.cast(step, tf.float32) / 8.0)
    optimizer.apply_gradients(zip([warm * one for one in gradients], values))
    return loss


beta = 0.0
for step, (x, y) in zip(range(24), batches.prefetch(tf.data.AUTOTUNE)):
    loss = train_step(x, y, tf.constant(step), tf.constant(beta))
    beta = min(0.1, beta + 0.01)
    print(step, float(loss))

digest = hashlib.sha256()
for weight in model.get_weights():
    digest.update(weight.tobytes())
print(digest.hexdigest())
