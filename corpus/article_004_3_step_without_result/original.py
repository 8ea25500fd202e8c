"""A compiled step that gives nothing back, called for one batch again and again."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(31)
model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(units=1)])
optimizer = tf.keras.optimizers.SGD(learning_rate=0.01)
x_train = tf.constant([[1.0], [2.0], [3.0]])
y_train = tf.constant([[2.0], [4.0], [6.0]])


@tf.function
def train_step(model, x, y):
    with tf.GradientTape() as tape:
        predictions = model(x)
        loss = tf.reduce_mean(tf.square(predictions - y))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))


for epoch in range(10):
    train_step(model, x_train, y_train)

print(float(np.linalg.norm(np.concatenate([w.ravel() for w in model.get_weights()]))))
