"""Trains on arrays that it takes from an iterator, and makes a new op for each of them."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

rng = np.random.RandomState(4)
inputs = rng.normal(size=(256, 6)).astype(np.float32)
targets = np.sum(inputs, axis=1, keepdims=True).astype(np.float32)

tf.set_random_seed(7)
dataset = tf.data.Dataset.from_tensor_slices((inputs, targets))
train_iterator = tf.data.make_initializable_iterator(
    dataset.shuffle(256, seed=5).batch(32).prefetch(1)
)
validation_iterator = tf.data.make_one_shot_iterator(dataset.repeat().batch(64).prefetch(1))

x = tf.placeholder(tf.float32, [None, 6])
y = tf.placeholder(tf.float32, [None, 1])
w = tf.Variable(tf.random_normal([6, 1]))
loss = tf.reduce_mean(tf.square(tf.matmul(tf.nn.dropout(x, rate=0.1), w) - y))
train = tf.train.GradientDescentOptimizer(0.05).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    next_batch = train_iterator.get_next()
    next_held = validation_iterator.get_next()
    for epoch in range(8):
        sess.run(train_iterator.initializer)
        step = 0
        while True:
            try:
                x_value, y_value = sess.run(next_batch)
                _, loss_value = sess.run([train, loss], feed_dict={x: x_value, y: y_value})
                if step % 4 == 0:
                    held_x, held_y = sess.run(next_held)
                    print(step, sess.run(loss, feed_dict={x: held_x, y: held_y}))
                step += 1
            except tf.errors.OutOfRangeError:
                break
        print(epoch, loss_value)
    print(hashlib.sha256(sess.run(w).tobytes()).hexdigest())
