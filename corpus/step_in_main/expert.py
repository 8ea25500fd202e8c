"""Regression in a `main` that leaves short batches out and stops early."""

import numpy as np
import tensorflow as tf

EPOCHS = 6
BATCH = 32


def make_data():
    rng = np.random.RandomState(5)
    inputs = rng.normal(size=(400, 8)).astype(np.float32)
    targets = inputs[:, :1] * 2.0 - inputs[:, 1:2]
    data = tf.data.Dataset.from_tensor_slices((inputs, targets)).batch(BATCH)
    return data.prefetch(tf.data.AUTOTUNE)


def main():
    tf.keras.utils.set_random_seed(5)
    data = make_data()
    body = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(24, "tanh")])
    head = tf.keras.Sequential([tf.keras.Input((24,)), tf.keras.layers.Dense(1)])
    body_optimizer = tf.keras.optimizers.Adam(0.002)
    head_optimizer = tf.keras.optimizers.Adam(0.01)
    mean_loss = tf.keras.metrics.Mean()
    used = 0

    @tf.function(
        input_signature=[
            tf.TensorSpec((BATCH, 8), tf.float32),
            tf.TensorSpec((BATCH, 1), tf.float32),
        ]
    )
    def train_step(inputs, targets):
        with tf.GradientTape() as tape:
            hidden = body(inputs, training=True)
            outputs = head(hidden, training=True)
            loss = tf.reduce_mean(tf.square(targets - outputs))
        # One way back for both parts.
        body_gradients, head_gradients = tape.gradient(
            loss, (body.trainable_variables, head.trainable_variables)
        )
        body_optimizer.apply_gradients(zip(body_gradients, body.trainable_variables))
        head_optimizer.apply_gradients(zip(head_gradients, head.trainable_variables))
        mean_loss.update_state(loss)
        return loss

    for epoch in range(EPOCHS):
        mean_loss.reset_state()
        for inputs, targets in data:
            if inputs.shape[0] < BATCH:
                print("left out:", inputs.shape[0])
                continue
            loss = float(train_step(inputs, targets))
            used += 1
            if loss < 0.05:
                break
        print(epoch, used, loss, float(mean_loss.result()))
    weights = np.concatenate([v.numpy().ravel() for v in body.variables + head.variables])
    print(float(np.linalg.norm(weights)))


if __name__ == "__main__":
    main()
