"""Weights saved at every fifth epoch, by the argument that Keras 3 no longer has: reported."""

import os

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(19)
features = rng.normal(size=(64, 4)).astype(np.float32)
targets = features[:, :1]
np.random.seed(19)

model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
model.compile(optimizer="sgd", loss="mse")

path = "checkpoints/cp-{epoch:04d}.ckpt"
os.makedirs(os.path.dirname(path), exist_ok=True)
saving = tf.keras.callbacks.ModelCheckpoint(filepath=path, save_weights_only=True, period=5)
model.fit(features, targets, batch_size=16, epochs=15, verbose=0, callbacks=[saving])

print(len([name for name in os.listdir("checkpoints") if name.endswith(".index")]))
