"""A value goes through ops in a Python loop that makes their constants anew, and shows each sum."""

import hashlib

import tensorflow as tf


@tf.function
def grow(level):
    level = level * 0.999
    level = level * tf.constant([1.01, 1.02, 1.03]) + tf.constant([1.0, 1.0 / 2.0, 1.0 / 3.0])
    return level, tf.reduce_sum(level)


def grow_in_loop(iterations):
    level = tf.constant([1.0, 0.5, 0.25])
    for _ in range(iterations):
        level, total = grow(level)
        print(total.numpy())
    return level


result = grow_in_loop(200)
print(hashlib.sha256(result.numpy().tobytes()).hexdigest())
