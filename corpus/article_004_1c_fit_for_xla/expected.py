"""A small convolutional network that `fit` trains, evaluates and predicts with."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(3)
rng = np.random.RandomState(3)
images = rng.uniform(size=(96, 12, 12, 1)).astype(np.float32)
labels = (images[:, :6].mean((1, 2, 3)) > images[:, 6:].mean((1, 2, 3))).astype(np.int64)

model = tf.keras.Sequential(
    [
        layers.Input([12, 12, 1]),
        layers.Conv2D(8, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(2, activation="softmax"),
    ]
)
model.compile(
    optimizer=tf.keras.optimizers.SGD(0.05),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
    jit_compile=True,
)
history = model.fit(images, labels, batch_size=16, epochs=3, shuffle=False, verbose=0)

print(history.history["loss"])
print(model.evaluate(images, labels, batch_size=32, verbose=0))
print(float(model.predict(images, verbose=0)[:, 0].sum()))
print(float(sum(np.abs(value).sum() for value in model.get_weights())))
