"""A small GAN on numbers, which calls its generator anew in each step."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


class Gan(object):
    """Learns to draw numbers as they are given to it."""

    def __init__(self, noise_size):
        self.noise_size = noise_size
        self.rng = np.random.RandomState(8)
        self.noise = tf.placeholder(tf.float32, [None, noise_size])
        self.real = tf.placeholder(tf.float32, [None, 1])
        self.generator_weights = {
            "in": tf.Variable(tf.constant(self.rng.normal(size=(noise_size, 8)), tf.float32)),
            "out": tf.Variable(tf.constant(self.rng.normal(size=(8, 1)), tf.float32)),
        }
        self.judge = tf.Variable(tf.constant(self.rng.normal(size=(1, 4)), tf.float32))
        self.seen = tf.Variable(0.0)
        fake = self.generate(self.noise)
        self.judge_loss = tf.reduce_mean(tf.square(self.score(self.real) - 1.0)) + tf.reduce_mean(
            tf.square(self.score(fake))
        )
        self.generator_loss = tf.reduce_mean(tf.square(self.score(fake) - 1.0))
        optimizer = tf.train.GradientDescentOptimizer(0.02)
        self.train_judge = optimizer.minimize(self.judge_loss, var_list=[self.judge])
        self.train_generator = optimizer.minimize(
            self.generator_loss, var_list=list(self.generator_weights.values())
        )
        self.sample = self.generate(self.noise)
        self.sample_score = self.score(self.sample)
        self.count = self.seen.assign_add(4.0)
        self.spread = tf.reduce_max(self.noise) - tf.reduce_min(self.noise)
        self.sess = tf.Session()

    def generate(self, noise):
        """Numbers made of noise."""
        with tf.name_scope("generate"):
            hidden = tf.tanh(tf.matmul(noise, self.generator_weights["in"]))
            return tf.matmul(hidden, self.generator_weights["out"])

    def score(self, numbers):
        return tf.reduce_mean(tf.sigmoid(tf.matmul(numbers, self.judge)), axis=1)

    def draw(self, count):
        return self.rng.normal(size=(count, self.noise_size))

    def fit(self, numbers, steps):
        self.sess.run(tf.global_variables_initializer())
        for step in range(steps):
            chosen = numbers[self.rng.randint(len(numbers), size=32)]
            feed = {self.noise: self.draw(32), self.real: chosen}
            self.sess.run(self.train_judge, feed_dict=feed)
            self.sess.run(self.train_generator, feed_dict={self.noise: self.draw(32)})
            sample = self.sess.run(self.sample, feed_dict={self.noise: self.draw(4)})
            drawn, scores = self.sess.run(
                [self.count, self.sample_score],
                feed_dict={self.noise: self.draw(4)},
            )
            if step % 10 == 0:
                for _ in range(2):
                    print(self.sess.run(self.spread, feed_dict={self.noise: self.draw(16)}))
                print(step, sample.mean(), drawn, scores)

    def digest(self):
        values = self.sess.run(tf.trainable_variables())
        return hashlib.sha256(b"".join(value.tobytes() for value in values)).hexdigest()


if __name__ == "__main__":
    gan = Gan(3)
    gan.fit(np.random.RandomState(2).normal(2.0, 0.5, size=(500, 1)), 30)
    print(gan.digest())
