"""A chain of products whose factors are made before the loop, printed at each turn."""

import tensorflow as tf


def chain(turns):
    x = tf.constant(1.0)
    factors = []
    for _ in range(turns):
        factors.append(tf.constant(1.01))
    for factor in factors:
        x = x * factor
        print(tf.reduce_sum(x).numpy())
    return x


result = chain(40)
print(float(result))
