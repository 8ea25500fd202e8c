"""Trains on a text file that it writes first, read by a one-shot iterator."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

PATH = "train.csv"


def write_lines():
  rng = np.random.RandomState(3)
  with open(PATH, "w") as lines:
    for _ in range(200):
      lines.write(",".join("%.6f" % value for value in rng.normal(size=7)) + "\n")


def parse(line):
  row = tf.stack(tf.decode_csv(line, [[0.0]] * 7))
  return row[:6], row[6:]


def batches(training):
  data = (tf.data.TextLineDataset(PATH)
          .map(parse,
               num_parallel_calls=2)
          # the same order in each run
          .shuffle(50, seed=5)
          .batch(20, drop_remainder=True))
  if training:
    data = data.repeat(3)
  return data.prefetch(4)


write_lines()
x, y = batches(training=True).make_one_shot_iterator().get_next()
w = tf.Variable(np.zeros((6, 1), np.float32))
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
train = tf.train.GradientDescentOptimizer(0.05).minimize(loss)

with tf.Session() as sess:
  sess.run(tf.global_variables_initializer())
  step = 0
  while True:
    try:
      sess.run(train)
    except tf.errors.OutOfRangeError:
      break
    step += 1
    print(step, [float(value) for value in sess.run(w).ravel()])
  print(hashlib.sha256(sess.run(w).tobytes()).hexdigest())
