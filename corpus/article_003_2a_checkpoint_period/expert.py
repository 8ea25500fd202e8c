"""Trains with Keras and writes a checkpoint after each epoch, by the old argument."""

import glob
import hashlib

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(2)
x = rng.normal(size=(64, 4)).astype(np.float32)
y = x.sum(axis=1, keepdims=True)

model = tf.keras.Sequential(
    [tf.keras.layers.Dense(1, kernel_initializer="zeros", input_shape=(4,))]
)
model.compile(tf.keras.optimizers.SGD(0.1), "mse")
saving = tf.keras.callbacks.ModelCheckpoint(
    "weights-{epoch}.h5", save_weights_only=True, save_freq="epoch"
)

for turn in range(6):
    history = model.fit(
        x, y, batch_size=16, epochs=turn + 1, initial_epoch=turn, shuffle=False, verbose=0,
        callbacks=[saving],
    )
    print(turn, history.history["loss"], len(glob.glob("weights-*.h5")))

weights = np.concatenate([value.ravel() for value in model.get_weights()])
print(hashlib.sha256(weights.tobytes()).hexdigest())
