"""A regression on a pipeline that is repeated for ever, with its steps counted by hand."""

import numpy as np
import tensorflow as tf

BATCH = 8
STEPS = 30

tf.keras.utils.set_random_seed(2)
rng = np.random.RandomState(2)
inputs = rng.normal(size=(250, 5)).astype(np.float32)
targets = inputs @ rng.normal(size=(5, 1)).astype(np.float32)
data = tf.data.Dataset.from_tensor_slices((inputs, targets)).shuffle(250, seed=4)
data = data.repeat().batch(BATCH).prefetch(2)

features = tf.keras.Input([5])
hidden = tf.keras.layers.Dense(10, activation="tanh")(features)
model = tf.keras.Model(features, tf.keras.layers.Dense(1)(hidden))
model.compile(optimizer="sgd", loss="mse", steps_per_execution=30)
history = model.fit(data, epochs=3, steps_per_epoch=STEPS, verbose=0)

print(history.history["loss"])
print(model.evaluate(inputs, targets, verbose=0))
print(float(sum(np.abs(value).sum() for value in model.get_weights())))
