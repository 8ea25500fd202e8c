"""Smooths images one by one, in a session for each of them."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

images = np.random.RandomState(6).uniform(size=(24, 20, 20, 1)).astype(np.float32)

image = tf.placeholder(tf.float32, [20, 20, 1])
kernel = tf.constant(np.full([3, 3, 1, 1], 1 / 9.0, dtype=np.float32))
smooth = tf.nn.conv2d(tf.expand_dims(image, 0), kernel, strides=[1, 1, 1, 1], padding="SAME")
contrast = tf.reduce_max(smooth) - tf.reduce_min(smooth)

digest = hashlib.sha256()
with tf.Session() as sess:
    for number in range(len(images)):
        smoothed, width = sess.run([smooth, contrast], feed_dict={image: images[number]})
        digest.update(smoothed.tobytes())
        print(number, width)

print(digest.hexdigest())
