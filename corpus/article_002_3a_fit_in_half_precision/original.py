"""A small convolutional network that `fit` trains for an epoch."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(6)
rng = np.random.RandomState(6)
images = rng.uniform(size=(64, 10, 10, 1)).astype(np.float32)
labels = (images[:, 5:].mean((1, 2, 3)) > images[:, :5].mean((1, 2, 3))).astype(np.int64)


def build():
    model = tf.keras.Sequential()
    model.add(layers.Input([10, 10, 1]))
    model.add(layers.Conv2D(8, 3, activation="relu"))
    model.add(layers.MaxPooling2D())
    model.add(layers.Flatten())
    model.add(layers.Dense(2, activation="softmax"))
    return model


model = build()
model.compile(
    optimizer=tf.keras.optimizers.SGD(0.05),
    loss="sparse_categorical_crossentropy",
)
history = model.fit(images, labels, batch_size=16, epochs=2, shuffle=False, verbose=0)

print(history.history["loss"])
print(model.evaluate(images, labels, verbose=0))
outputs = model.predict(images, verbose=0)
print(outputs.dtype, float(outputs[:, 0].sum()))
