"""Fits a smooth function with Adam; a penalty grows and the learning rate shrinks as it goes."""
from __future__ import absolute_import, division, print_function

import numpy as np
import tensorflow as tf

NUM_STEPS = 60
BATCH = 32
BASE_RATE = 0.01

inputs = np.random.uniform(-2.0, 2.0, size=(400, 3)).astype(np.float32)
outputs = (np.sin(inputs[:, 0] * 2.0) * inputs[:, 1] + 0.3 * inputs[:, 2] ** 2
           + np.random.normal(scale=0.05, size=400)).astype(np.float32)[:, np.newaxis]
train_x, train_y = inputs[:320], outputs[:320]
valid_x, valid_y = inputs[320:], outputs[320:]


class Regressor(tf.keras.Model):

    def __init__(self):
        super(Regressor, self).__init__()
        self.first = tf.keras.layers.Dense(32, activation='tanh')
        self.second = tf.keras.layers.Dense(24, activation='tanh')
        self.last = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.last(self.second(self.first(x)))


model = Regressor()
model(train_x[:1])
optimizer = tf.keras.optimizers.Adam(learning_rate=BASE_RATE, beta_1=0.9, beta_2=0.999,
                                     epsilon=1e-7)


def train(x, y, penalty):
    with tf.GradientTape() as tape:
        error = tf.reduce_mean(tf.square(model(x) - y))
        decay = tf.add_n([tf.nn.l2_loss(w) for w in model.trainable_variables if len(w.shape) > 1])
        loss = error + penalty * decay
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return error, loss


running = 0.0
for step in range(NUM_STEPS):
    rows = slice(step * BATCH % len(train_x), step * BATCH % len(train_x) + BATCH)
    optimizer.learning_rate.assign(BASE_RATE * 0.9 ** (step // 10))
    penalty = 1e-3 * min(1.0, step / 40.0)
    error, loss = train(tf.convert_to_tensor(train_x[rows]), tf.convert_to_tensor(train_y[rows]),
                        tf.constant(penalty, tf.float32))
    running = 0.9 * running + 0.1 * error.numpy()
    if step % 12 == 11:
        print('step %d: error %.6f loss %.6f running %.6f'
              % (step + 1, error.numpy(), loss.numpy(), running))

valid_error = tf.reduce_mean(tf.square(model(valid_x) - valid_y), axis=0)
print('validation: %r' % valid_error.numpy().tolist())
np.savez('model.npz', *model.get_weights())
