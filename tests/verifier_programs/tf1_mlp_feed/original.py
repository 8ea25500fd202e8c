"""A multilayer perceptron on clouds of points; the batches are cut from the arrays by hand."""

from __future__ import print_function

import numpy as np
import tensorflow as tf

# Parameters
learning_rate = 0.1
training_epochs = 3
batch_size = 32
display_step = 10

# Network
n_input = 8
n_hidden_1 = 24
n_hidden_2 = 16
n_classes = 4

np.random.seed(12)
centres = np.random.normal(scale=1.2, size=(n_classes, n_input))


def make_points(size):
    labels = np.random.randint(0, n_classes, size)
    points = centres[labels] + np.random.normal(size=(size, n_input))
    return points.astype(np.float32), np.eye(n_classes, dtype=np.float32)[labels]


train_x, train_y = make_points(470)
test_x, test_y = make_points(150)

x = tf.placeholder(tf.float32, [None, n_input], name='x')
y = tf.placeholder(tf.float32, [None, n_classes], name='y')

weights = {
    'h1': tf.Variable(tf.random_normal([n_input, n_hidden_1], stddev=0.3)),
    'h2': tf.Variable(tf.random_normal([n_hidden_1, n_hidden_2], stddev=0.3)),
    'out': tf.Variable(tf.random_normal([n_hidden_2, n_classes], stddev=0.3)),
}
biases = {
    'b1': tf.Variable(tf.zeros([n_hidden_1])),
    'b2': tf.Variable(tf.zeros([n_hidden_2])),
    'out': tf.Variable(tf.zeros([n_classes])),
}


def multilayer_perceptron(x):
    layer_1 = tf.nn.relu(tf.add(tf.matmul(x, weights['h1']), biases['b1']))
    layer_2 = tf.nn.relu(tf.add(tf.matmul(layer_1, weights['h2']), biases['b2']))
    return tf.matmul(layer_2, weights['out']) + biases['out']


logits = multilayer_perceptron(x)
cost = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(logits=logits, labels=y))
train_op = tf.train.GradientDescentOptimizer(learning_rate).minimize(cost)

correct = tf.equal(tf.argmax(logits, 1), tf.argmax(y, 1))
accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    step = 0
    for epoch in range(training_epochs):
        order = np.random.permutation(len(train_x))
        epoch_loss = 0.0
        for start in range(0, len(train_x), batch_size):
            rows = order[start:start + batch_size]
            batch_x = train_x[rows]
            batch_y = train_y[rows]
            sess.run(train_op, feed_dict={x: batch_x, y: batch_y})
            loss = sess.run(cost, feed_dict={x: batch_x, y: batch_y})
            acc = sess.run(accuracy, feed_dict={x: batch_x, y: batch_y})
            epoch_loss += loss * len(rows)
            step += 1
            if step % display_step == 0:
                print('Step %d, minibatch loss %.6f, accuracy %.4f' % (step, loss, acc))
        print('Epoch %d, mean loss %.6f' % (epoch + 1, epoch_loss / len(train_x)))

    print('Testing accuracy:', sess.run(accuracy, feed_dict={x: test_x, y: test_y}))
    print('Testing loss:', sess.run(cost, feed_dict={x: test_x, y: test_y}))
    np.save('hidden.npy', sess.run(weights['h1']))
