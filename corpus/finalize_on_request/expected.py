"""Trains, saves, restores and writes summaries, with all ops made before the loop."""

from __future__ import print_function

import hashlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


def main():
    rng = np.random.RandomState(2)
    inputs = rng.normal(size=(90, 4)).astype(np.float32)
    targets = np.sum(inputs, axis=1, keepdims=True).astype(np.float32)

    x = tf.placeholder(tf.float32, [None, 4])
    y = tf.placeholder(tf.float32, [None, 1])
    w = tf.Variable(np.zeros((4, 1), np.float32))
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
    train = tf.train.AdamOptimizer(0.05).minimize(loss)
    summary = tf.summary.scalar("loss", loss)
    saver = tf.train.Saver(max_to_keep=1)

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        writer = tf.summary.FileWriter("logs", sess.graph)
        sess.graph.finalize()
        for step in range(30):
            start = 3 * step
            batch = {x: inputs[start : start + 3], y: targets[start : start + 3]}
            sess.run(train, feed_dict=batch)
            if step % 10 == 9:
                text, value = sess.run([summary, loss], feed_dict={x: inputs, y: targets})
                writer.add_summary(text, step)
                saver.save(sess, "model/checkpoint", global_step=step)
                print("step %d: loss %.6f" % (step, value / 2))
        writer.close()
        saver.restore(sess, tf.train.latest_checkpoint("model"))
        print(hashlib.sha256(sess.run(w).tobytes()).hexdigest())


if __name__ == "__main__":
    main()
