"""A network with dropout; neither the data nor the masks have a seed."""

from __future__ import division, print_function

import numpy as np
import tensorflow as tf

N_ITER = 50
BATCH = 30
KEEP = 0.8

# A noisy product of two features among ten
features = np.random.uniform(-1, 1, size=(400, 10)).astype('float32')
target = (features[:, 0] * features[:, 1] > 0).astype('float32').reshape(-1, 1)
X_train, X_test = features[:300], features[300:]
Y_train, Y_test = target[:300], target[300:]


def weight(shape):
    return tf.Variable(tf.truncated_normal(shape, stddev=0.4))


X = tf.placeholder(tf.float32, [None, 10])
Y = tf.placeholder(tf.float32, [None, 1])
keep_prob = tf.placeholder(tf.float32)
lr = tf.placeholder(tf.float32, [])

W1, b1 = weight([10, 20]), tf.Variable(tf.constant(0.1, shape=[20]))
W2, b2 = weight([20, 12]), tf.Variable(tf.constant(0.1, shape=[12]))
W3, b3 = weight([12, 1]), tf.Variable(tf.zeros([1]))

h1 = tf.nn.relu(tf.matmul(X, W1) + b1)
h1_drop = tf.nn.dropout(h1, keep_prob)
h2 = tf.nn.relu(tf.matmul(h1_drop, W2) + b2)
h2_drop = tf.nn.dropout(h2, keep_prob)
score = tf.matmul(h2_drop, W3) + b3

loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=Y, logits=score))
train_step = tf.train.MomentumOptimizer(lr, 0.9).minimize(loss)

sess = tf.InteractiveSession()
tf.global_variables_initializer().run()

rate = 0.1
for i in range(N_ITER):
    begin = (i * BATCH) % len(X_train)
    batch_X = X_train[begin:begin + BATCH]
    batch_Y = Y_train[begin:begin + BATCH]
    if i % 5 == 0:
        l = sess.run(loss, feed_dict={X: batch_X, Y: batch_Y, keep_prob: 1.0})
        s = sess.run(score, feed_dict={X: batch_X, Y: batch_Y, keep_prob: 1.0})
        hits = np.mean((s > 0) == (batch_Y > 0.5))
        print('%d: loss %.6f hits %.3f' % (i, l, hits))
    train_step.run(feed_dict={X: batch_X, Y: batch_Y, keep_prob: KEEP, lr: rate})
    rate *= 0.98

total, count = 0.0, 0
for begin in range(0, len(X_test), 25):
    part = slice(begin, begin + 25)
    value = sess.run(tf.reduce_sum(tf.abs(tf.sigmoid(score) - Y)),
                     feed_dict={X: X_test[part], Y: Y_test[part], keep_prob: 1.0})
    total += value
    count += len(X_test[part])
print('mean error on test: %.6f' % (total / count))
print('loss on test: %r' % loss.eval(feed_dict={X: X_test, Y: Y_test, keep_prob: 1.0}))
