"""A compiled chain of products that prints the value of a tensor, which a trace does not have."""

import tensorflow as tf

TURNS = 1000


@tf.function
def chain():
    x = tf.constant(1.0)
    for i in range(TURNS):
        x = x * 1.001
        print(tf.reduce_sum(x).numpy())
    return x


result = chain()
print(float(result))
