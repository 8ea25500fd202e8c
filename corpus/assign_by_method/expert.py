"""Sets the rate by a method of the model, which makes a new op at each call."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


class Model(object):
    def __init__(self, size):
        self.inputs = tf.placeholder(tf.float32, [None, size])
        self.targets = tf.placeholder(tf.float32, [None, 1])
        self.weights = tf.get_variable("weights", [size, 1], initializer=tf.zeros_initializer())
        self._lr = tf.Variable(0.0, trainable=False, name="lr")
        self._new_lr = tf.placeholder(tf.float32, [])
        self._update_lr = tf.assign(self._lr, self._new_lr)
        difference = tf.matmul(self.inputs, self.weights) - self.targets
        self.loss = tf.reduce_mean(tf.square(difference))
        self.train = tf.train.MomentumOptimizer(self._lr, 0.5).minimize(self.loss)

    def assign_lr(self, session, lr_value):
        session.run(self._update_lr, {self._new_lr: lr_value})

    @property
    def lr(self):
        return self._lr


class Config(object):
    def __init__(self):
        self.learning_rate = 0.2
        self.decay = 0.97
        self.steps = 36


def main():
    config = Config()
    rng = np.random.RandomState(1)
    inputs = rng.normal(size=(64, 5)).astype(np.float32)
    targets = np.mean(inputs, axis=1, keepdims=True).astype(np.float32)
    model = Model(5)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step in range(config.steps):
            decay = config.decay ** max(step - 4, 0.0)
            model.assign_lr(session, config.learning_rate * decay)
            feed = {model.inputs: inputs, model.targets: targets}
            loss, _ = session.run([model.loss, model.train], feed)
            if step % 10 == 0:
                print(step, session.run(model.lr), loss)
        print(hashlib.sha256(session.run(model.weights).tobytes()).hexdigest())


if __name__ == "__main__":
    main()
