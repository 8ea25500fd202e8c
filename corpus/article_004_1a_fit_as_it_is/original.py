"""A linear regression by `fit`, which compiles its step itself."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(23)
hours = np.linspace(0.0, 3.0, 24, dtype=np.float32).reshape(-1, 1)
heights = 1.5 * hours - 0.5

line = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1)])
line.compile(tf.keras.optimizers.SGD(0.05), tf.keras.losses.MeanSquaredError())
history = line.fit(hours, heights, batch_size=8, epochs=12, verbose=0)

print([round(loss, 4) for loss in history.history["loss"]])
print(float(np.linalg.norm(np.concatenate([w.ravel() for w in line.get_weights()]))))
