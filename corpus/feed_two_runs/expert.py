"""Feeds one batch to two updates, as adversarial networks do, and to a report before them."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

rng = np.random.RandomState(3)
samples = rng.normal(size=(600, 12))
size = 20

real = tf.placeholder(tf.float32, [None, 12])
noise = tf.placeholder(tf.float32, [None, 4])
made_from = tf.Variable(tf.random_normal([4, 12], seed=1))
judged_by = tf.Variable(tf.random_normal([12, 1], seed=2))
fake = tf.matmul(noise, made_from)
real_score = tf.reduce_mean(tf.matmul(real, judged_by))
fake_score = tf.reduce_mean(tf.matmul(fake, judged_by))
critic_loss = fake_score - real_score
critic = tf.train.GradientDescentOptimizer(0.01).minimize(critic_loss, var_list=[judged_by])
with tf.control_dependencies([critic]):
    new_score = tf.reduce_mean(tf.matmul(fake, judged_by.read_value()))
maker = tf.train.GradientDescentOptimizer(0.01).minimize(-new_score, var_list=[made_from])

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(60):
        chosen = np.random.randint(0, len(samples), size)
        rows = samples[chosen]
        seeds = np.random.uniform(-1.0, 1.0, [size, 4])
        if step % 10 == 0:
            print(step, sess.run(critic_loss, feed_dict={real: rows, noise: seeds}))
        _, score = sess.run([maker, new_score], feed_dict={real: rows, noise: seeds})
        print(step, len(rows), score)
    print(hashlib.sha256(sess.run(judged_by).tobytes()).hexdigest())
