"""Reads its examples through an initialisable iterator that shuffles, and keeps checkpoints."""

from __future__ import print_function

import os

import numpy as np
import tensorflow as tf

EPOCHS = 4
BATCH_SIZE = 32
MODEL_DIR = 'model'

rng = np.random.RandomState(3)
raw = rng.uniform(0, 255, size=(430, 12)).astype(np.float32)
hidden = np.tanh(raw / 255.0 - 0.5).dot(rng.normal(size=(12, 3)))
values = (hidden[:, :1] * hidden[:, 1:2] + hidden[:, 2:]).astype(np.float32)
train_raw, train_values = raw[:350], values[:350]
test_raw, test_values = raw[350:], values[350:]


def parse(features, value):
    scaled = features / 255.0 - 0.5
    return scaled, value


features_ph = tf.placeholder(tf.float32, [None, 12])
values_ph = tf.placeholder(tf.float32, [None, 1])
buffer_size = tf.placeholder(tf.int64, [])
dataset = tf.data.Dataset.from_tensor_slices((features_ph, values_ph))
dataset = dataset.map(parse)
dataset = dataset.shuffle(buffer_size)
dataset = dataset.batch(BATCH_SIZE)
iterator = tf.data.make_initializable_iterator(dataset)
x, y = iterator.get_next()

global_step = tf.train.get_or_create_global_step()
with tf.variable_scope('net', initializer=tf.glorot_uniform_initializer()):
    w1 = tf.get_variable('w1', [12, 20])
    b1 = tf.get_variable('b1', [20], initializer=tf.zeros_initializer())
    w2 = tf.get_variable('w2', [20, 1])
prediction = tf.matmul(tf.tanh(tf.matmul(x, w1) + b1), w2)
loss = tf.losses.mean_squared_error(y, prediction)
squared = tf.reduce_sum(tf.square(y - prediction))
train_op = tf.train.GradientDescentOptimizer(0.2).minimize(loss, global_step=global_step)
saver = tf.train.Saver(max_to_keep=2)

if not os.path.isdir(MODEL_DIR):
    os.makedirs(MODEL_DIR)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(EPOCHS):
        sess.run(iterator.initializer, feed_dict={
            features_ph: train_raw, values_ph: train_values, buffer_size: 100})
        losses = []
        while True:
            try:
                _, batch_loss = sess.run([train_op, loss])
                losses.append(batch_loss)
            except tf.errors.OutOfRangeError:
                break
        print('epoch', epoch, 'steps', sess.run(global_step), 'loss', np.mean(losses))
        saver.save(sess, os.path.join(MODEL_DIR, 'model.ckpt'), global_step=global_step)

with tf.Session() as sess:
    saver.restore(sess, tf.train.latest_checkpoint(MODEL_DIR))
    sess.run(iterator.initializer, feed_dict={
        features_ph: test_raw, values_ph: test_values, buffer_size: 1})
    total = 0.0
    while True:
        try:
            total += sess.run(squared)
        except tf.errors.OutOfRangeError:
            break
    print('test error', total / len(test_raw))
