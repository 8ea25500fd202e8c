"""Trains in a MonitoredTrainingSession, whose hooks see each run.

A hook counts the runs, and the global step ends the training: two runs made one would be another
count, and another end.
"""

from __future__ import print_function

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)


class CountingHook(tf.train.SessionRunHook):
    """Says at the end how often the graph was run, and the mean loss of the runs that had one."""

    def __init__(self, loss):
        self.loss = loss
        self.runs = 0
        self.total = 0.0

    def before_run(self, run_context):
        self.runs += 1
        return tf.train.SessionRunArgs(self.loss)

    def after_run(self, run_context, run_values):
        self.total += run_values.results

    def end(self, session):
        print("%d runs, mean loss %.6f" % (self.runs, self.total / self.runs))


def main():
    rng = np.random.RandomState(30)
    data = rng.normal(size=(400, 5)).astype(np.float32)
    target = np.sin(data.sum(axis=1, keepdims=True)).astype(np.float32)

    with tf.Graph().as_default():
        tf.set_random_seed(30)
        x = tf.placeholder(tf.float32, [20, 5])
        y = tf.placeholder(tf.float32, [20, 1])
        w1 = tf.get_variable("w1", [5, 24])
        w2 = tf.get_variable("w2", [24, 1])
        prediction = tf.matmul(tf.tanh(tf.matmul(x, w1)), w2)
        loss = tf.reduce_mean(tf.square(prediction - y))
        error = tf.reduce_max(tf.abs(prediction - y))
        global_step = tf.train.get_or_create_global_step()
        train_op = tf.train.MomentumOptimizer(0.02, 0.9).minimize(loss, global_step=global_step)

        hooks = [
            tf.train.StopAtStepHook(last_step=60),
            tf.train.NanTensorHook(loss),
            CountingHook(loss),
        ]
        # The hooks feed nothing themselves, so that each run needs its batch.
        with tf.train.MonitoredTrainingSession(hooks=hooks) as mon_sess:
            batch = 0
            while not mon_sess.should_stop():
                start = 20 * (batch % 20)
                feed = {x: data[start : start + 20], y: target[start : start + 20]}
                loss_value = mon_sess.run(loss, feed_dict=feed)
                error_value = mon_sess.run(error, feed_dict=feed)
                step, _ = mon_sess.run([global_step, train_op], feed_dict=feed)
                if batch % 10 == 0:
                    print("batch %d: %.5f %.5f" % (batch, loss_value, error_value))
                batch += 1


if __name__ == "__main__":
    main()
