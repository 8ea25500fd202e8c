"""A linear regression by `fit`, which compiles its step itself."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(23)
model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(units=1)])
model.compile(optimizer="sgd", loss="mse")

x_train = tf.constant([[1.0], [2.0], [3.0]])
y_train = tf.constant([[2.0], [4.0], [6.0]])
history = model.fit(x_train, y_train, epochs=10, verbose=0)

print([round(loss, 4) for loss in history.history["loss"]])
print(float(np.linalg.norm(np.concatenate([w.ravel() for w in model.get_weights()]))))
