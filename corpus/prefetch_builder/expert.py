"""Eager training in a class: two pipelines of one builder, left early, with draws in a map."""

import hashlib

import numpy as np
import tensorflow as tf

tf.random.set_seed(4)


def make_datasets(features, targets):
    train = tf.data.Dataset.from_tensor_slices((features, targets)) \
        .map(lambda x, y: (x + tf.random.normal([5], stddev=0.01), y)) \
        .shuffle(100, seed=2) \
        .batch(16) \
        .prefetch(tf.data.experimental.AUTOTUNE)
    check = tf.data.Dataset.from_tensor_slices((features, targets)).batch(64).cache().prefetch(tf.data.experimental.AUTOTUNE)
    return train, check


class Trainer:
    def __init__(self, features, targets):
        self.train_data, self.check_data = make_datasets(features, targets)
        self.weights = tf.Variable(tf.zeros([5, 1]))

    @tf.function(
        input_signature=[tf.TensorSpec((None, 5), tf.float32), tf.TensorSpec((None, 1), tf.float32)]
    )
    def loss(self, x, y):
        return tf.reduce_mean(tf.square(tf.matmul(x, self.weights) - y))

    @tf.function
    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss(x, y)
        self.weights.assign_sub(0.1 * tape.gradient(loss, self.weights))
        return loss

    def epoch(self, limit):
        for step, (x, y) in enumerate(self.train_data):
            if step == limit:
                break
            loss = self.train_step(x, y)
            print(step, float(loss))

    def check(self):
        print("check", [float(self.loss(x, y)) for x, y in self.check_data])


rng = np.random.RandomState(8)
inputs = rng.normal(size=(256, 5)).astype(np.float32)
outputs = inputs @ np.arange(5, dtype=np.float32).reshape(5, 1)

trainer = Trainer(inputs, outputs)
for limit in (10, 16, 7):
    trainer.epoch(limit)
    trainer.check()
print(hashlib.sha256(trainer.weights.numpy().tobytes()).hexdigest())
