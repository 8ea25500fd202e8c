"""A small DCGAN: pictures of blobs from noise, trained against a convolutional critic."""

from __future__ import division, print_function

import os
import time

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("epoch", 2, "Epochs to train")
flags.DEFINE_float("learning_rate", 0.001, "Learning rate for Adam")
flags.DEFINE_float("beta1", 0.5, "Momentum term of Adam")
flags.DEFINE_integer("batch_size", 16, "The number of pictures in a batch")
flags.DEFINE_string("sample_dir", "samples", "Directory name to save the picture samples")
FLAGS = flags.FLAGS


def conv2d(input_, output_dim, name):
    with tf.variable_scope(name):
        w = tf.get_variable(
            "w",
            [3, 3, input_.get_shape()[-1], output_dim],
            initializer=tf.truncated_normal_initializer(stddev=0.05),
        )
        biases = tf.get_variable("biases", [output_dim], initializer=tf.constant_initializer(0.0))
        return tf.nn.conv2d(input_, w, strides=[1, 2, 2, 1], padding="SAME") + biases


def deconv2d(input_, output_shape, name):
    with tf.variable_scope(name):
        w = tf.get_variable(
            "w",
            [3, 3, output_shape[-1], input_.get_shape()[-1]],
            initializer=tf.random_normal_initializer(stddev=0.05),
        )
        biases = tf.get_variable(
            "biases", [output_shape[-1]], initializer=tf.constant_initializer(0.0)
        )
        deconv = tf.nn.conv2d_transpose(input_, w, output_shape, strides=[1, 2, 2, 1])
        return deconv + biases


def linear(input_, output_size, scope):
    with tf.variable_scope(scope):
        shape = input_.get_shape().as_list()
        matrix = tf.get_variable(
            "Matrix", [shape[1], output_size], initializer=tf.random_normal_initializer(stddev=0.05)
        )
        bias = tf.get_variable("bias", [output_size], initializer=tf.constant_initializer(0.0))
        return tf.matmul(input_, matrix) + bias


def lrelu(x, leak=0.2):
    return tf.maximum(x, leak * x)


class DCGAN(object):
    def __init__(self, sess, batch_size, z_dim=10, df_dim=8, gf_dim=8):
        self.sess = sess
        self.batch_size = batch_size
        self.z_dim = z_dim
        self.df_dim = df_dim
        self.gf_dim = gf_dim
        self.build_model()

    def build_model(self):
        self.inputs = tf.placeholder(
            tf.float32, [self.batch_size, 12, 12, 1], name="real_images"
        )
        self.z = tf.placeholder(tf.float32, [None, self.z_dim], name="z")
        self.G = self.generator(self.z)
        self.D_logits = self.discriminator(self.inputs)
        self.D_logits_ = self.discriminator(self.G, reuse=True)

        def sigmoid_cross_entropy(logits, labels):
            return tf.reduce_mean(
                tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=labels)
            )

        self.d_loss_real = sigmoid_cross_entropy(self.D_logits, tf.ones_like(self.D_logits))
        self.d_loss_fake = sigmoid_cross_entropy(self.D_logits_, tf.zeros_like(self.D_logits_))
        self.g_loss = sigmoid_cross_entropy(self.D_logits_, tf.ones_like(self.D_logits_))
        self.d_loss = self.d_loss_real + self.d_loss_fake

        t_vars = tf.trainable_variables()
        self.d_vars = [var for var in t_vars if "d_" in var.name]
        self.g_vars = [var for var in t_vars if "g_" in var.name]

    def discriminator(self, image, reuse=False):
        with tf.variable_scope("discriminator") as scope:
            if reuse:
                scope.reuse_variables()
            h0 = lrelu(conv2d(image, self.df_dim, name="d_h0_conv"))
            h1 = lrelu(conv2d(h0, self.df_dim * 2, name="d_h1_conv"))
            return linear(tf.reshape(h1, [self.batch_size, -1]), 1, "d_h2_lin")

    def generator(self, z):
        with tf.variable_scope("generator"):
            h0 = linear(z, self.gf_dim * 2 * 3 * 3, "g_h0_lin")
            h0 = tf.nn.relu(tf.reshape(h0, [-1, 3, 3, self.gf_dim * 2]))
            h1 = deconv2d(h0, [self.batch_size, 6, 6, self.gf_dim], name="g_h1")
            h2 = deconv2d(tf.nn.relu(h1), [self.batch_size, 12, 12, 1], name="g_h2")
            return tf.nn.tanh(h2)

    def train(self, config, data):
        d_optim = tf.train.AdamOptimizer(config.learning_rate, beta1=config.beta1).minimize(
            self.d_loss, var_list=self.d_vars
        )
        g_optim = tf.train.AdamOptimizer(config.learning_rate, beta1=config.beta1).minimize(
            self.g_loss, var_list=self.g_vars
        )
        tf.global_variables_initializer().run()
        sample_z = np.random.uniform(-1, 1, size=(self.batch_size, self.z_dim))

        counter = 1
        start_time = time.time()
        for epoch in range(config.epoch):
            batch_idxs = len(data) // config.batch_size
            for idx in range(0, batch_idxs):
                batch_images = data[idx * config.batch_size : (idx + 1) * config.batch_size]
                batch_z = np.random.uniform(-1, 1, [config.batch_size, self.z_dim])

                # Update D network
                self.sess.run(d_optim, feed_dict={self.inputs: batch_images, self.z: batch_z})
                # Update G network
                self.sess.run(g_optim, feed_dict={self.z: batch_z})
                # Run g_optim twice to make sure that d_loss does not go to zero
                self.sess.run(g_optim, feed_dict={self.z: batch_z})

                errD_fake, errD_real, errG = tf.get_default_session().run(
                    [self.d_loss_fake, self.d_loss_real, self.g_loss],
                    feed_dict={self.z: batch_z, self.inputs: batch_images})

                counter += 1
                print(
                    "Epoch: [%2d] [%4d/%4d] time: %4.4f, d_loss: %.6f, g_loss: %.6f"
                    % (
                        epoch,
                        idx,
                        batch_idxs,
                        time.time() - start_time,
                        errD_fake + errD_real,
                        errG,
                    )
                )
                if np.mod(counter, 10) == 1:
                    samples = self.sess.run(self.G, feed_dict={self.z: sample_z})
                    name = "train_{:02d}_{:04d}.npy".format(epoch, idx)
                    np.save(os.path.join(config.sample_dir, name), samples)


def load_blobs(count):
    """Bright spots of several widths, from -1 to 1."""
    rows, columns = np.mgrid[0:12, 0:12]
    pictures = []
    for _ in range(count):
        row, column = np.random.uniform(3, 8, 2)
        width = np.random.uniform(1, 3)
        spot = np.exp(-((rows - row) ** 2 + (columns - column) ** 2) / width ** 2)
        pictures.append(2 * spot - 1)
    return np.array(pictures, np.float32)[..., np.newaxis]


def main(_):
    np.random.seed(5)
    tf.set_random_seed(5)
    if not os.path.exists(FLAGS.sample_dir):
        os.makedirs(FLAGS.sample_dir)
    data = load_blobs(320)
    with tf.Session() as sess:
        dcgan = DCGAN(sess, batch_size=FLAGS.batch_size)
        dcgan.train(FLAGS, data)
        for name, var_list in (("d", dcgan.d_vars), ("g", dcgan.g_vars)):
            print(name, [round(float(np.abs(w).sum()), 4) for w in sess.run(var_list)])


if __name__ == "__main__":
    tf.app.run()
