"""A pipeline that works each image over, one after the other, and a small model in a graph."""

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()

rng = np.random.RandomState(4)
images = rng.randint(0, 255, size=(96, 24, 24, 3)).astype(np.uint8)
labels = rng.randint(0, 5, size=96)


def work_over(image, label):
    image = tf.image.convert_image_dtype(image, tf.float32)
    for side in (96, 72, 96, 48):
        image = tf.image.resize_images(image, [side, side])
    image = tf.image.adjust_contrast(image, 1.2)
    return tf.image.per_image_standardization(image), label


dataset = tf.data.Dataset.from_tensor_slices((images, labels))
dataset = dataset.map(work_over, num_parallel_calls=tf.data.experimental.AUTOTUNE)
dataset = dataset.batch(12).repeat(2).prefetch(1)
x, y = tf.data.make_one_shot_iterator(dataset).get_next()

weights = tf.Variable(tf.zeros([48 * 48 * 3, 5]))
logits = tf.matmul(tf.reshape(x, [-1, 48 * 48 * 3]), weights)
loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
train = tf.train.GradientDescentOptimizer(1e-4).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(16):
        _, value = sess.run([train, loss])
        print(step, value)
    print(hashlib.sha256(sess.run(weights).tobytes()).hexdigest())
