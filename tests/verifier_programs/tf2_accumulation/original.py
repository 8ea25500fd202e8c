"""Adds the gradients of four small batches up before it takes a step."""
import numpy as np
import tensorflow as tf

MICRO_BATCH = 8
ACCUMULATE = 4
EPOCHS = 3

rng = np.random.RandomState(17)
x_all = rng.normal(size=(160, 6)).astype(np.float32)
y_all = np.stack([np.tanh(x_all[:, 0] * x_all[:, 1]), x_all[:, 2:].sum(axis=1)], axis=1)
y_all += rng.normal(scale=0.05, size=y_all.shape)
y_all = y_all.astype(np.float32)
x_train, y_train = x_all[:128], y_all[:128]
x_eval, y_eval = x_all[128:], y_all[128:]

model = tf.keras.Sequential([
    tf.keras.layers.InputLayer(shape=(6,)),
    tf.keras.layers.Dense(20, activation='relu'),
    tf.keras.layers.Dense(20, activation='relu'),
    tf.keras.layers.Dense(2),
])
optimizer = tf.keras.optimizers.SGD(0.05, momentum=0.9)
accumulated = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]
epoch_loss = tf.keras.metrics.Mean()

dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train))
dataset = dataset.shuffle(len(x_train)).batch(MICRO_BATCH)


def add_gradients(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y)) / ACCUMULATE
    gradients = tape.gradient(loss, model.trainable_variables)
    for total, gradient in zip(accumulated, gradients):
        total.assign_add(gradient)
    return loss * ACCUMULATE


def take_step():
    optimizer.apply_gradients(zip(accumulated, model.trainable_variables))
    for total in accumulated:
        total.assign(tf.zeros_like(total))


def evaluate():
    return float(tf.reduce_mean(tf.square(model(x_eval, training=False) - y_eval)))


count = 0
for epoch in range(EPOCHS):
    epoch_loss.reset_state()
    for x, y in dataset:
        loss = add_gradients(x, y)
        epoch_loss.update_state(loss)
        count += 1
        if count % ACCUMULATE == 0:
            take_step()
        if count % 8 == 0:
            print('batch %d: loss %.6f, eval %.6f' % (count, float(loss), evaluate()))
    print('epoch %d: mean loss %.6f' % (epoch, float(epoch_loss.result())))

print('final error: %.6f' % evaluate())
np.save('weights.npy', model.get_weights()[0])
