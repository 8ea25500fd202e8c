"""Two networks against each other, on points of a ring; two optimisers take turns."""
from __future__ import division, print_function

import numpy as np
import tensorflow as tf

mb_size = 40
Z_dim = 4
h_dim = 24
iterations = 50

np.random.seed(101)
angles = np.random.uniform(0, 2 * np.pi, size=600)
ring = np.stack([np.cos(angles), np.sin(angles)], axis=1) + np.random.normal(0, 0.05, (600, 2))
ring = ring.astype(np.float32)


def xavier_init(size):
    return tf.random_normal(shape=size, stddev=1. / np.sqrt(size[0] / 2.))


X = tf.placeholder(tf.float32, shape=[None, 2])
Z = tf.placeholder(tf.float32, shape=[None, Z_dim])

D_W1 = tf.Variable(xavier_init([2, h_dim]))
D_b1 = tf.Variable(tf.zeros(shape=[h_dim]))
D_W2 = tf.Variable(xavier_init([h_dim, 1]))
D_b2 = tf.Variable(tf.zeros(shape=[1]))
theta_D = [D_W1, D_W2, D_b1, D_b2]

G_W1 = tf.Variable(xavier_init([Z_dim, h_dim]))
G_b1 = tf.Variable(tf.zeros(shape=[h_dim]))
G_W2 = tf.Variable(xavier_init([h_dim, 2]))
G_b2 = tf.Variable(tf.zeros(shape=[2]))
theta_G = [G_W1, G_W2, G_b1, G_b2]


def sample_Z(m, n):
    return np.random.uniform(-1., 1., size=[m, n])


def generator(z):
    G_h1 = tf.nn.relu(tf.matmul(z, G_W1) + G_b1)
    return tf.matmul(G_h1, G_W2) + G_b2


def discriminator(x):
    D_h1 = tf.nn.leaky_relu(tf.matmul(x, D_W1) + D_b1, alpha=0.2)
    return tf.matmul(D_h1, D_W2) + D_b2


def cross_entropy(logits, target):
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(
        logits=logits, labels=target * tf.ones_like(logits)))


G_sample = generator(Z)
D_real = discriminator(X)
D_fake = discriminator(G_sample)

D_loss = cross_entropy(D_real, 1.0) + cross_entropy(D_fake, 0.0)
G_loss = cross_entropy(D_fake, 1.0)
D_solver = tf.train.AdamOptimizer(0.005, beta1=0.5).minimize(D_loss, var_list=theta_D)
G_solver = tf.train.AdamOptimizer(0.005, beta1=0.5).minimize(G_loss, var_list=theta_G)

sess = tf.Session()
sess.run(tf.global_variables_initializer())

for it in range(iterations):
    first = it * mb_size % len(ring)
    X_mb = ring[first:first + mb_size]
    _, D_loss_curr = sess.run([D_solver, D_loss],
                              feed_dict={X: X_mb, Z: sample_Z(mb_size, Z_dim)})
    _, G_loss_curr = sess.run([G_solver, G_loss], feed_dict={Z: sample_Z(mb_size, Z_dim)})

    if it % 10 == 0:
        print('Iter: {}'.format(it))
        print('D loss: {:.4}'.format(D_loss_curr))
        print('G loss: {:.4}'.format(G_loss_curr))
        print()

z_check = sample_Z(200, Z_dim)
samples = sess.run(G_sample, feed_dict={Z: z_check})
belief = sess.run(tf.reduce_mean(tf.sigmoid(D_fake)), feed_dict={Z: z_check})
radius = np.sqrt(np.sum(samples ** 2, axis=1))
print('radius of what is generated: %.5f +- %.5f' % (radius.mean(), radius.std()))
print('taken for real: %.5f' % belief)
np.save('samples.npy', samples)
sess.close()
