"""Denoising autoencoder: learns to give back pictures from spoiled copies of them."""

from __future__ import division, print_function

import math

import numpy as np
import tensorflow as tf

SIDE = 12
n_visible = SIDE * SIDE


def make_pictures(count, rng):
    """Crosses and frames of several sizes, at several places."""
    pictures = np.zeros((count, SIDE, SIDE), np.float32)
    for picture in pictures:
        size = rng.randint(4, 8)
        top, left = rng.randint(0, SIDE - size, 2)
        if rng.rand() < 0.5:
            picture[top : top + size, left + size // 2] = 1.0
            picture[top + size // 2, left : left + size] = 1.0
        else:
            picture[[top, top + size], left : left + size] = 1.0
            picture[top : top + size, [left, left + size]] = 1.0
    return pictures.reshape(count, n_visible)


def autoencoder(dimensions):
    """Build a deep denoising autoencoder with tied weights.

    Returns the placeholders, the code, the reconstruction and the cost, by name.
    """
    # input to the network
    x = tf.placeholder(tf.float32, [None, dimensions[0]], name="x")
    corrupted = tf.placeholder(tf.float32, [None, dimensions[0]], name="corrupted")
    current_input = corrupted

    # Build the encoder
    encoder = []
    for n_output in dimensions[1:]:
        n_input = int(current_input.get_shape()[1])
        bound = 1.0 / math.sqrt(n_input)
        W = tf.Variable(tf.random_uniform([n_input, n_output], -bound, bound, seed=n_output))
        b = tf.Variable(tf.zeros([n_output]))
        encoder.append(W)
        current_input = tf.nn.tanh(tf.matmul(current_input, W) + b)
    # latent representation
    z = current_input

    # Build the decoder using the same weights
    for layer_i, n_output in enumerate(dimensions[:-1][::-1]):
        W = tf.transpose(encoder[::-1][layer_i])
        b = tf.Variable(tf.zeros([n_output]))
        logits = tf.matmul(current_input, W) + b
        current_input = tf.nn.tanh(logits)
    # the reconstruction, pixel by pixel
    y = tf.nn.sigmoid(logits)
    cost = tf.reduce_mean(
        tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), 1)
    )
    return {"x": x, "corrupted": corrupted, "z": z, "y": y, "cost": cost}


def corrupt(batch, rng, level=0.3):
    """Sets a part of the pixels to nothing."""
    return batch * (rng.uniform(size=batch.shape) > level)


def main():
    rng = np.random.RandomState(8)
    train_pictures = make_pictures(600, rng)
    test_pictures = make_pictures(64, rng)
    ae = autoencoder([n_visible, 64, 24])

    learning_rate = 0.005
    optimizer = tf.train.AdamOptimizer(learning_rate).minimize(ae["cost"])

    sess = tf.Session()
    sess.run(tf.global_variables_initializer())

    batch_size = 50
    n_epochs = 6
    distance = tf.reduce_mean(tf.abs(ae["y"] - ae["x"]))
    whole = tf.cast(tf.equal(tf.round(ae["y"]), ae["x"]), tf.float32)
    reduce_mean_op = tf.reduce_mean(whole)
    for epoch_i in range(n_epochs):
        order = rng.permutation(len(train_pictures))
        for batch_i in range(len(train_pictures) // batch_size):
            batch = train_pictures[order[batch_i * batch_size : (batch_i + 1) * batch_size]]
            spoiled = corrupt(batch, rng)
            sess.run(optimizer, feed_dict={ae["x"]: batch, ae["corrupted"]: spoiled})
        # on the last batch, spoiled as it was and as it is
        print(
            epoch_i,
            sess.run(ae["cost"], feed_dict={ae["x"]: batch, ae["corrupted"]: spoiled}),
            sess.run(ae["cost"], feed_dict={ae["x"]: batch, ae["corrupted"]: batch}),
        )
        # how far are the pictures that are made whole from the true ones?
        test_feed = {ae["x"]: test_pictures, ae["corrupted"]: corrupt(test_pictures, rng)}
        distance_value, reduce_mean_op_value, results = sess.run(
            [distance, reduce_mean_op, ae["z"]], feed_dict=test_feed)
        print("  distance %.5f" % distance_value)
        print("  pixels right %.5f" % reduce_mean_op_value)
        print("  code of the first picture", results[0, :3])

    weights = sess.run(tf.trainable_variables())
    print("weights", float(sum(np.abs(w).sum() for w in weights)))
    sess.close()


if __name__ == "__main__":
    main()
