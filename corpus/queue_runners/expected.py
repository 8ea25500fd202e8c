"""Trains from queues, as it was done before tf.data: a producer of slices, and batches behind it.

Threads fill the queues. A run takes a batch out of them, so that two runs see two batches and one
run would see one.
"""

from __future__ import print_function

import numpy as np
import tensorflow as tf

NUM_EXAMPLES = 240
BATCH_SIZE = 16
NUM_EPOCHS = 4


def read_and_decode():
    """One example after the other, in the order in which they were made."""
    rng = np.random.RandomState(21)
    images = rng.normal(size=(NUM_EXAMPLES, 10)).astype(np.float32)
    labels = (images[:, 0] * images[:, 1] > 0).astype(np.int32)
    image, label = tf.train.slice_input_producer(
        [tf.constant(images), tf.constant(labels)], num_epochs=NUM_EPOCHS, shuffle=False
    )
    image = tf.clip_by_value(image, -2.0, 2.0)
    return image, label


def inputs():
    image, label = read_and_decode()
    # One thread: with more, the order of the examples would be chance.
    return tf.train.batch([image, label], batch_size=BATCH_SIZE, num_threads=1, capacity=100)


def inference(images):
    with tf.variable_scope("hidden"):
        weights = tf.get_variable("weights", [10, 16])
        biases = tf.get_variable("biases", [16], initializer=tf.zeros_initializer())
        hidden = tf.nn.relu(tf.matmul(images, weights) + biases)
    with tf.variable_scope("softmax"):
        weights = tf.get_variable("weights", [16, 2])
        return tf.matmul(hidden, weights)


def run_training():
    with tf.Graph().as_default():
        tf.set_random_seed(21)
        images, labels = inputs()
        logits = inference(images)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        )
        train_op = tf.train.AdamOptimizer(0.01).minimize(loss)

        init_op = tf.group(tf.global_variables_initializer(), tf.local_variables_initializer())
        sess = tf.Session()
        sess.run(init_op)

        # Start input enqueue threads.
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        step = 0
        try:
            while not coord.should_stop():
                sess.run(train_op)
                # The loss of the batch that comes next, which is not trained on.
                loss_value = sess.run(loss)
                if step % 5 == 0:
                    print("Step %d: loss = %.5f" % (step, loss_value))
                step += 1
        except tf.errors.OutOfRangeError:
            print("Done training for %d epochs, %d steps." % (NUM_EPOCHS, step))
        finally:
            # When done, ask the threads to stop.
            coord.request_stop()
        coord.join(threads)
        norms = [float(np.abs(w).sum()) for w in sess.run(tf.trainable_variables())]
        print("weights", norms)
        sess.close()


if __name__ == "__main__":
    run_training()
