"""A multilayer perceptron on MNIST, logged for TensorBoard, as a tutorial of 2016 had it.

Two hidden layers, Adam, dropout during training. The summaries go to ./logs.
"""

from __future__ import print_function

import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

mnist = input_data.read_data_sets("MNIST_data/", one_hot=True)

# Parameters
learning_rate = 0.001
training_epochs = 3
batches_per_epoch = 30
batch_size = 100
display_step = 1
logs_path = "./logs"

# Network parameters
n_hidden_1 = 64
n_hidden_2 = 32
n_input = 784  # 28 * 28 pixels
n_classes = 10

tf.set_random_seed(1234)


def variable_summaries(var, name):
    with tf.name_scope("summaries"):
        mean = tf.reduce_mean(var)
        tf.summary.scalar("mean/" + name, mean)
        stddev = tf.sqrt(tf.reduce_mean(tf.square(var - mean)))
        tf.summary.scalar("stddev/" + name, stddev)
        tf.summary.histogram(name, var)


with tf.name_scope("input"):
    x = tf.placeholder(tf.float32, [None, n_input], name="x-input")
    y_ = tf.placeholder(tf.float32, [None, n_classes], name="y-input")

weights = {
    "h1": tf.Variable(tf.truncated_normal([n_input, n_hidden_1], stddev=0.1)),
    "h2": tf.Variable(tf.truncated_normal([n_hidden_1, n_hidden_2], stddev=0.1)),
    "out": tf.Variable(tf.truncated_normal([n_hidden_2, n_classes], stddev=0.1)),
}
biases = {
    "b1": tf.Variable(tf.constant(0.1, shape=[n_hidden_1])),
    "b2": tf.Variable(tf.constant(0.1, shape=[n_hidden_2])),
    "out": tf.Variable(tf.constant(0.1, shape=[n_classes])),
}
variable_summaries(weights["h1"], "layer1")
variable_summaries(weights["h2"], "layer2")


def multilayer_perceptron(x, weights, biases):
    layer_1 = tf.nn.relu(tf.add(tf.matmul(x, weights["h1"]), biases["b1"]))
    layer_2 = tf.nn.relu(tf.add(tf.matmul(layer_1, weights["h2"]), biases["b2"]))
    return tf.matmul(layer_2, weights["out"]) + biases["out"]


# Construct model
pred = multilayer_perceptron(x, weights, biases)

# Define loss and optimizer
with tf.name_scope("cost"):
    cost = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(logits=pred, labels=y_))
    tf.summary.scalar("cost", cost)
with tf.name_scope("train"):
    train_step = tf.train.AdamOptimizer(learning_rate).minimize(cost)

# Test model
with tf.name_scope("accuracy"):
    correct_prediction = tf.equal(tf.argmax(pred, 1), tf.argmax(y_, 1))
    accuracy = tf.reduce_mean(tf.cast(correct_prediction, tf.float32))
    tf.summary.scalar("accuracy", accuracy)

# Merge all summaries into a single op
merged = tf.summary.merge_all()
init = tf.global_variables_initializer()

# Launch the graph
with tf.Session() as sess:
    sess.run(init)
    writer = tf.summary.FileWriter(logs_path, graph=tf.get_default_graph())

    # How well does it do on images that it has not seen?
    hits = tf.equal(tf.argmax(pred, 1), tf.argmax(y_, 1))
    reduce_mean_op = tf.reduce_mean(tf.cast(hits, "float"))
    # Training cycle
    for epoch in range(training_epochs):
        avg_cost = 0.0
        # Loop over all batches
        for i in range(batches_per_epoch):
            batch_xs, batch_ys = mnist.train.next_batch(batch_size)
            # Fit training using batch data
            sess.run(train_step, feed_dict={x: batch_xs, y_: batch_ys})
            cost_value, summary = sess.run(
                [cost, merged], feed_dict={x: batch_xs, y_: batch_ys})
            # Compute average loss
            # Write logs at every iteration
            avg_cost += cost_value / batches_per_epoch
            writer.add_summary(summary, epoch * batches_per_epoch + i)
        # Display logs per epoch step
        if epoch % display_step == 0:
            print("Epoch:", "%04d" % (epoch + 1), "cost=", "{:.9f}".format(avg_cost))
            feed = {x: mnist.validation.images, y_: mnist.validation.labels}
            print("Validation accuracy:", sess.run(reduce_mean_op, feed))

    writer.close()
    print("Optimization finished!")

    print("Test accuracy:", accuracy.eval({x: mnist.test.images, y_: mnist.test.labels}))
    print("Weights:", sum(float(abs(sess.run(w)).sum()) for w in tf.trainable_variables()))
