"""A learning rate that is lowered by hand: the model is compiled anew for each."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(9)
rng = np.random.RandomState(9)

# How far a spring goes that is pulled twice as hard, with its stiffness.
stiffness = rng.uniform(1.0, 3.0, size=(256, 1))
force = rng.uniform(0.0, 2.0, size=(256, 1))
inputs = np.hstack([stiffness, force]).astype(np.float32)
lengths = (2.0 * force / stiffness).astype(np.float32)

model = tf.keras.Sequential([
    tf.keras.layers.Input([2]),
    tf.keras.layers.Dense(16, activation="tanh"),
    tf.keras.layers.Dense(1),
])
rate = 0.02
for stage in range(4):
    # The moments of Adam begin anew, too, which may or may not be meant.
    model.compile(optimizer=tf.keras.optimizers.Adam(rate), loss="mse")
    history = model.fit(inputs, lengths, batch_size=64, epochs=2, shuffle=False, verbose=0)
    print(stage, rate, history.history["loss"][-1])
    rate = rate / 2
