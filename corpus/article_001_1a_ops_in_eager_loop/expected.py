"""A value goes through ops in a Python loop that makes their constants anew, and shows each sum."""

import hashlib

import tensorflow as tf


def grow_in_loop(iterations):
    level = tf.constant([1.0, 0.5, 0.25])
    rates = tf.constant([1.01, 1.02, 1.03])
    ones_tensor = tf.ones([3])
    cast_tensor = tf.cast(tf.range(1, 4), tf.float32)
    for _ in range(iterations):
        level = level * 0.999
        level = level * rates + ones_tensor / cast_tensor
        print(tf.reduce_sum(level).numpy())
    return level


result = grow_in_loop(200)
print(hashlib.sha256(result.numpy().tobytes()).hexdigest())
