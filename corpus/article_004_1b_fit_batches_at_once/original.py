"""A small classifier with dropout: arrays, a part kept for validation, an early stop, a log."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(11)
rng = np.random.RandomState(11)
samples = rng.normal(size=(480, 12)).astype(np.float32)
classes = (samples[:, :4].sum(axis=1) > 0).astype(np.int64)


class Log(tf.keras.callbacks.Callback):
    """Prints what an epoch has come to."""

    def on_epoch_end(self, epoch, logs=None):
        print(epoch, logs["loss"], logs["val_loss"], int(self.model.optimizer.iterations))


def build():
    network = tf.keras.Sequential()
    network.add(tf.keras.Input([12]))
    network.add(tf.keras.layers.Dense(16, activation="relu"))
    network.add(tf.keras.layers.Dropout(0.2))
    network.add(tf.keras.layers.Dense(2, activation="softmax"))
    return network


model = build()
model.compile(
    tf.keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"]
)
stop = tf.keras.callbacks.EarlyStopping(patience=3, restore_best_weights=True)
history = model.fit(
    samples,
    classes,
    batch_size=16,
    epochs=4,
    validation_split=0.2,
    callbacks=[stop, Log()],
    verbose=0,
)

print(history.history["accuracy"])
print(model.evaluate(samples, classes, verbose=0))
print(float(model.predict(samples, verbose=0)[:, 0].sum()))
print(float(sum(np.abs(value).sum() for value in model.get_weights())))
