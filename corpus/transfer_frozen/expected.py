"""Transfer learning: the first layers of a net that knows one task serve for another.

First a net learns to tell eight kinds of signals and is saved. Then its first layers are restored
into a new graph and stay as they are, and a new last layer learns another task of few examples.
"""

from __future__ import absolute_import, division, print_function

import os

import numpy as np
import tensorflow as tf

SIGNAL = 32
FEATURES = 24
CHECKPOINT = os.path.join("models", "base.ckpt")


def make_signals(count, kinds, seed):
    """Waves: the kind sets how fast and how steep; where they begin is chance."""
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, kinds, count)
    at = np.linspace(0, 2 * np.pi, SIGNAL) + rng.uniform(0, 6, (count, 1))
    waves = np.sin(at * (1 + labels[:, None] % 4)) ** (1 + 2 * (labels[:, None] // 4))
    return (waves + rng.normal(0, 0.1, waves.shape)).astype(np.float32), labels


def features_of(signals, trainable):
    """The layers that both tasks share."""
    with tf.variable_scope("features"):
        w1 = tf.get_variable("w1", [SIGNAL, 48], trainable=trainable)
        b1 = tf.get_variable("b1", [48], initializer=tf.zeros_initializer(), trainable=trainable)
        w2 = tf.get_variable("w2", [48, FEATURES], trainable=trainable)
        b2 = tf.get_variable(
            "b2", [FEATURES], initializer=tf.zeros_initializer(), trainable=trainable
        )
    return tf.nn.relu(tf.matmul(tf.nn.relu(tf.matmul(signals, w1) + b1), w2) + b2)


def head_of(features, kinds):
    with tf.variable_scope("head"):
        w = tf.get_variable("w", [FEATURES, kinds])
        b = tf.get_variable("b", [kinds], initializer=tf.zeros_initializer())
    return tf.matmul(features, w) + b


def loss_of(logits, labels):
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )


def train_base():
    """Learns the first task, and keeps the net."""
    signals, labels = make_signals(800, 8, seed=1)
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        x = tf.placeholder(tf.float32, [None, SIGNAL])
        y = tf.placeholder(tf.int64, [None])
        loss = loss_of(head_of(features_of(x, trainable=True), 8), y)
        train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
        saver = tf.train.Saver()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for epoch in range(4):
                for start in range(0, len(labels), 40):
                    feed = {x: signals[start : start + 40], y: labels[start : start + 40]}
                    loss_value, _ = sess.run([loss, train_op], feed_dict=feed)
                print("base: epoch %d, loss %.5f" % (epoch, loss_value))
            if not os.path.isdir("models"):
                os.makedirs("models")
            saver.save(sess, CHECKPOINT)


def train_head():
    """Learns the second task on top of the first one's features."""
    signals, labels = make_signals(200, 8, seed=2)
    labels = labels % 3
    test_signals, test_labels = make_signals(60, 8, seed=3)
    test_labels = test_labels % 3
    with tf.Graph().as_default():
        tf.set_random_seed(2)
        x = tf.placeholder(tf.float32, [None, SIGNAL], name="signals")
        y = tf.placeholder(tf.int64, [None], name="labels")
        features = features_of(x, trainable=False)
        logits = head_of(features, 3)
        loss = loss_of(logits, y)
        probabilities = tf.nn.softmax(logits)
        accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        restorer = tf.train.Saver(
            tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope="features")
        )
        saver = tf.train.Saver()

        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            restorer.restore(sess, CHECKPOINT)
            for step in range(60):
                start = step * 20 % len(labels)
                feed = {x: signals[start : start + 20], y: labels[start : start + 20]}
                sess.run(train_op, feed_dict=feed)
                if step % 10 == 9:
                    test_feed = {x: test_signals, y: test_labels}
                    test_loss = sess.run(loss, feed_dict=test_feed)
                    test_accuracy = sess.run(accuracy, feed_dict=test_feed)
                    print("head: step %d, %.5f, %.3f" % (step, test_loss, test_accuracy))
            saver.save(sess, os.path.join("models", "transfer.ckpt"))

        # the finished net, asked as it will be in use: one signal at a time
        answers = []
        kept_session = tf.Session()
        saver.restore(kept_session, os.path.join("models", "transfer.ckpt"))
        for signal in test_signals[:12]:
            with kept_session.as_default() as sess:
                said = sess.run(probabilities, feed_dict={x: [signal]})
                answers.append(int(np.argmax(said)))
        kept_session.close()
        print("answers", answers)
        print("right", int(np.sum(np.array(answers) == test_labels[:12])))

        with tf.Session() as sess:
            saver.restore(sess, os.path.join("models", "transfer.ckpt"))
            for variable in tf.global_variables():
                print(variable.name, float(np.abs(sess.run(variable)).sum()))


if __name__ == "__main__":
    train_base()
    train_head()
