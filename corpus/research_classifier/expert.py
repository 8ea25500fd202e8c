"""Train and evaluate a text classifier on bags of words.

    python original.py --num_epochs 4 --hidden_size 48

The documents are made up: each topic has words of its own, and all have common ones.
"""

from __future__ import absolute_import, division, print_function

import argparse
import os

import numpy as np
import tensorflow as tf


def get_args():
    parser = argparse.ArgumentParser(description="Bag-of-words topic classifier")
    parser.add_argument("--num_epochs", type=int, default=4, help="passes over the training set")
    parser.add_argument("--batch_size", type=int, default=32, help="minibatch size")
    parser.add_argument("--hidden_size", type=int, default=32)
    parser.add_argument("--learning_rate", type=float, default=0.5)
    parser.add_argument("--decay_rate", type=float, default=0.8, help="per epoch")
    parser.add_argument("--grad_clip", type=float, default=5.0, help="clip gradients at this norm")
    parser.add_argument("--vocab_size", type=int, default=200)
    parser.add_argument("--num_topics", type=int, default=5)
    parser.add_argument("--save_dir", type=str, default="save", help="where checkpoints go")
    parser.add_argument("--seed", type=int, default=7)
    return parser.parse_args()


class DataLoader(object):
    """Makes the documents, and gives batches of their word counts."""

    def __init__(self, args):
        self.batch_size = args.batch_size
        self.rng = np.random.RandomState(args.seed)
        popularity = self.rng.dirichlet(np.ones(args.vocab_size) * 0.2, args.num_topics)
        self.train = self._documents(popularity, 640)
        self.valid = self._documents(popularity, 200)
        self.num_batches = len(self.train[1]) // self.batch_size
        self.reset_batch_pointer()

    def _documents(self, popularity, count):
        topics = self.rng.randint(0, len(popularity), count)
        words = np.array([self.rng.multinomial(30, popularity[topic]) for topic in topics])
        return words.astype(np.float32), topics.astype(np.int64)

    def next_batch(self):
        chosen = self.order[self.pointer : self.pointer + self.batch_size]
        self.pointer += self.batch_size
        return self.train[0][chosen], self.train[1][chosen]

    def reset_batch_pointer(self):
        self.order = self.rng.permutation(len(self.train[1]))
        self.pointer = 0


class Model(object):
    def __init__(self, args, sess):
        self.args = args
        self.sess = sess
        self.build_model()
        self.saver = tf.train.Saver(tf.global_variables(), max_to_keep=2)

    def build_model(self):
        args = self.args
        self.words = tf.placeholder(tf.float32, [None, args.vocab_size], name="words")
        self.topics = tf.placeholder(tf.int64, [None], name="topics")
        self.lr = tf.Variable(0.0, trainable=False, name="lr")
        self.new_lr = tf.placeholder(tf.float32, [], name="new_lr")
        self.set_lr = tf.assign(self.lr, self.new_lr)

        with tf.variable_scope("encoder"):
            w = tf.get_variable("w", [args.vocab_size, args.hidden_size])
            b = tf.get_variable("b", [args.hidden_size], initializer=tf.zeros_initializer())
            hidden = tf.tanh(tf.matmul(self.words, w) + b)
        with tf.variable_scope("softmax"):
            w = tf.get_variable("w", [args.hidden_size, args.num_topics])
            b = tf.get_variable("b", [args.num_topics], initializer=tf.zeros_initializer())
            self.logits = tf.matmul(hidden, w) + b

        self.loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.topics, logits=self.logits)
        )
        self.predictions = tf.argmax(self.logits, 1)
        self.accuracy = tf.reduce_mean(
            tf.cast(tf.equal(self.predictions, self.topics), tf.float32)
        )

        tvars = tf.trainable_variables()
        grads, _ = tf.clip_by_global_norm(tf.gradients(self.loss, tvars), args.grad_clip)
        optimizer = tf.train.GradientDescentOptimizer(self.lr)
        self.train_op = optimizer.apply_gradients(zip(grads, tvars))

    def train(self, loader):
        args = self.args
        self.sess.run(tf.global_variables_initializer())
        for epoch in range(args.num_epochs):
            rate = args.learning_rate * (args.decay_rate ** epoch)
            self.sess.run(self.set_lr, {self.new_lr: rate})
            loader.reset_batch_pointer()
            for batch in range(loader.num_batches):
                x, y = loader.next_batch()
                feed = {self.words: x, self.topics: y}
                self.sess.run(self.train_op, feed)
                train_loss, train_accuracy = self.sess.run(
                    [self.loss, self.accuracy], feed)
                print(
                    "{}/{} (epoch {}), train_loss = {:.3f}, accuracy = {:.3f}".format(
                        epoch * loader.num_batches + batch,
                        args.num_epochs * loader.num_batches,
                        epoch,
                        train_loss,
                        train_accuracy,
                    )
                )
            valid_loss, valid_accuracy = self.evaluate(loader.valid)
            print("epoch {}: valid {:.4f} {:.3f}".format(epoch, valid_loss, valid_accuracy))
            checkpoint_path = os.path.join(args.save_dir, "model.ckpt")
            self.saver.save(self.sess, checkpoint_path, global_step=epoch)

    def evaluate(self, data):
        words, topics = data
        losses, accuracies = [], []
        for start in range(0, len(topics), 50):
            feed = {
                self.words: words[start : start + 50],
                self.topics: topics[start : start + 50],
            }
            loss_value, accuracy_value = self.sess.run(
                [self.loss, self.accuracy], feed_dict=feed)
            losses.append(loss_value)
            accuracies.append(accuracy_value)
        return np.mean(losses), np.mean(accuracies)


def main():
    args = get_args()
    if not os.path.exists(args.save_dir):
        os.makedirs(args.save_dir)
    tf.set_random_seed(args.seed)
    loader = DataLoader(args)
    with tf.Session() as sess:
        model = Model(args, sess)
        model.train(loader)
        norms = [float(np.linalg.norm(w)) for w in sess.run(tf.trainable_variables())]
        print("weights:", norms)


if __name__ == "__main__":
    main()
