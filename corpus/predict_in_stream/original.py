"""Readings of a sensor, classified one after the other as they come in."""

import numpy as np
from tensorflow.keras import layers, models, utils

WINDOW = 16
READINGS = 40


def build_model():
    inputs = layers.Input((WINDOW, 3))
    hidden = layers.Conv1D(8, 3, activation="relu")(inputs)
    hidden = layers.BatchNormalization()(hidden)
    hidden = layers.GlobalAveragePooling1D()(hidden)
    hidden = layers.Dropout(0.5)(hidden)
    kind = layers.Dense(4, activation="softmax", name="kind")(hidden)
    strength = layers.Dense(1, name="strength")(hidden)
    return models.Model(inputs, [kind, strength])


def as_batch(window):
    window = np.asarray(window, dtype="float64")
    return np.expand_dims((window - window.mean()) / 4.0, axis=0)


utils.set_random_seed(1)
rng = np.random.RandomState(1)
model = build_model()
window = [rng.randn(3) for _ in range(WINDOW)]
counts = np.zeros(4, dtype=int)
for reading in range(READINGS):
    window = window[1:] + [rng.randn(3) + np.sin(reading / 5.0)]
    kind, strength = model.predict(as_batch(window), verbose=0)
    kind[0][0] *= 1.1  # the first kind is missed more often
    counts[int(np.argmax(kind[0]))] += 1
    if reading % 10 == 9:
        print("reading %d kind %s strength %.6f" % (reading, kind[0].argmax(), strength[0][0]))

print("counts", counts.tolist())
print("weights %.9f" % sum(float(np.abs(w).sum()) for w in model.get_weights()))
