"""Weights that are drawn and set by hand before `fit`."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(29)
model = tf.keras.Sequential(
    [
        tf.keras.Input((1,)),
        tf.keras.layers.Dense(units=10, kernel_initializer="random_normal"),
        tf.keras.layers.Dense(1),
    ]
)
initializer = tf.keras.initializers.RandomNormal(seed=29)
weights = initializer(shape=(1, 10))
biases = initializer(shape=(10,))
model.layers[0].set_weights([weights, biases])

x_train = tf.constant([[1.0], [2.0], [3.0]])
y_train = tf.constant([[2.0], [4.0], [6.0]])
model.compile(optimizer="adam", loss="mse")
model.fit(x_train, y_train, epochs=10, verbose=0)

print(float(np.linalg.norm(np.concatenate([w.ravel() for w in model.get_weights()]))))
