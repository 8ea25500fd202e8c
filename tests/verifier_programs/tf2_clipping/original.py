"""An LSTM on long sums whose gradients have to be clipped; dropout in front of its last layer."""

import numpy as np
import tensorflow as tf

TIME_STEPS = 15
BATCH = 20
N_BATCHES = 40

np.random.seed(5)
series = np.random.uniform(0, 1, size=(500, TIME_STEPS, 1)).astype(np.float32)
marks = np.zeros((500, TIME_STEPS, 1), np.float32)
for row in marks:
    row[np.random.choice(TIME_STEPS, 2, replace=False)] = 1.0
features = np.concatenate([series, marks], axis=2)
sums = np.sum(series * marks, axis=1)
train_x, train_y = features[:400], sums[:400]
test_x, test_y = features[400:], sums[400:]

inputs = tf.keras.Input((TIME_STEPS, 2))
hidden = tf.keras.layers.LSTM(16)(inputs)
hidden = tf.keras.layers.Dropout(0.2)(hidden)
model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(hidden))
optimizer = tf.keras.optimizers.SGD(0.2)
CLIP = 0.3

clipped = 0
for i in range(N_BATCHES):
    first = i * BATCH % len(train_x)
    x, y = train_x[first:first + BATCH], train_y[first:first + BATCH]
    with tf.GradientTape() as tape:
        output = model(x, training=True)
        loss = tf.reduce_mean(tf.square(output - y))
    grads = tape.gradient(loss, model.trainable_variables)
    grads, norm = tf.clip_by_global_norm(grads, CLIP)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    if norm > CLIP:
        clipped += 1
    if i % 8 == 0:
        print('batch %d: loss %.6f gradient norm %.6f' % (i, loss, norm))

print('clipped', clipped, 'times')
test_loss = tf.reduce_mean(tf.square(model(test_x, training=False) - test_y))
print('test loss: %.6f' % test_loss.numpy())
print('mean of the targets alone: %.6f' % np.mean((test_y - train_y.mean()) ** 2))
