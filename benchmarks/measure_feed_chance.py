"""What chance decides in runs that are fed, and in those that are fed what a run of its own took.

    PYTHON benchmarks/measure_feed_chance.py races [STEPS]

Each graph has a run that writes and reads with nothing to fix the order. What it reads is compared
with what is there before it and after it. The two ways take turns, fifty steps each. In a second
session the other way begins, since the first steps of a session are unlike the later ones.
`docs/measurements.md` says what came out. Runs in TensorFlow 1.15 and in 2.x.
"""

import itertools
import sys
from collections import Counter

import numpy as np
import tensorflow.compat.v1 as tf

TURN = 50
WAYS = ("feed", "run")
ROWS = np.random.RandomState(3).rand(200, 4)
TARGETS = np.random.RandomState(4).rand(200, 1)


def line(*, static=False, resource=False):
    """A line with its placeholders, its weights and its error."""
    rows = 10 if static else None
    x = tf.placeholder(tf.float32, [rows, 4])
    y = tf.placeholder(tf.float32, [rows, 1])
    first = np.linspace(-1, 1, 4, dtype=np.float32).reshape(4, 1)
    w = tf.get_variable("w", initializer=first, use_resource=resource)
    return x, y, w, tf.matmul(x, w) - y


def descent(loss):
    return tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def norm(*, resource=False):
    """The norm of the weights beside their update."""
    x, y, w, error = line(resource=resource)
    return x, y, descent(tf.reduce_mean(tf.square(error))), tf.reduce_sum(tf.square(w))


def linear():
    """A loss whose update does not wait for it."""
    x, y, _, error = line(static=True)
    b = tf.get_variable("b", initializer=np.float32(0))
    loss = tf.reduce_mean(error + b)
    return x, y, descent(loss), loss


def waiting():
    """A loss that is seen to be there first: nothing in the graph says so."""
    x, y, _, error = line()
    loss = tf.reduce_mean(error)
    return x, y, descent(loss), loss


def clipped():
    """A loss beside a clip of its weights."""
    x, y, w, error = line()
    return x, y, w.assign(tf.clip_by_value(w * 1.01, -0.9, 0.9)), tf.reduce_mean(tf.square(error))


def counted():
    """A counter beside what adds to it."""
    x, y, _, error = line()
    counter = tf.get_variable("counter", initializer=0)
    update = tf.group(counter.assign_add(1), descent(tf.reduce_mean(tf.square(error))))
    return x, y, update, counter + 0


def decayed():
    """A loss with a decay of two layers beside its update."""
    x = tf.placeholder(tf.float32, [None, 4])
    y = tf.placeholder(tf.float32, [None, 1])
    first = tf.get_variable("first", initializer=np.ones([4, 300], np.float32))
    second = tf.get_variable("second", initializer=np.ones([300, 1], np.float32))
    out = tf.matmul(tf.nn.relu(tf.matmul(x, first)), second)
    loss = tf.reduce_mean(tf.square(out * 1e-3 - y))
    reported = loss + 0.01 * (tf.nn.l2_loss(first) + tf.nn.l2_loss(second))
    return x, y, tf.train.AdamOptimizer(0.01).minimize(loss), reported


def norm_of_resource():
    """The same norm, of a resource variable."""
    return norm(resource=True)


GRAPHS = (norm, norm_of_resource, linear, clipped, counted, decayed, waiting)


def pipeline(x, y):
    def batches():
        for number in range(10**9):
            start = number % 190
            yield ROWS[start : start + 10], TARGETS[start : start + 10]

    made = tf.data.Dataset.from_generator(batches, (x.dtype, y.dtype))
    return made.prefetch(1).make_initializable_iterator()


def moment(before, read, after):
    """When something was read; nothing where that cannot be told."""
    if before == after:
        return ""
    return "before" if read == before else "after" if read == after else "between"


def outcomes(graph, ways, steps):
    """How often what is read was that of before and of after, with a feed and with a run."""
    found = {"feed": Counter(), "run": Counter()}
    with tf.Graph().as_default(), tf.Session() as sess:
        x, y, update, read = graph()
        iterator = pipeline(x, y)
        taken = iterator.get_next()
        sess.run([tf.global_variables_initializer(), iterator.initializer])
        for number in range(2 * steps):
            way = ways[number // TURN % 2]
            start = number % 190
            batch = ROWS[start : start + 10], TARGETS[start : start + 10]
            if way == "run":
                batch = sess.run(taken)
            feed = {x: batch[0], y: batch[1]}
            before = sess.run(read, feed)
            _, value = sess.run([update, read], feed)
            found[way][moment(before, value, sess.run(read, feed))] += 1
    return found


def races(steps=300):
    print("| graph | fed: before | after | between | taken: before | after | between |")
    print("|---" * 7 + "|")
    for graph in GRAPHS:
        sessions = [outcomes(graph, ways, steps // 2) for ways in (WAYS, WAYS[::-1])]
        moments = itertools.product(WAYS, ("before", "after", "between"))
        counts = [sum(found[way][one] for found in sessions) for way, one in moments]
        print(f"| {graph.__doc__} | {' | '.join(map(str, counts))} |", flush=True)


if __name__ == "__main__":
    if tf.__version__.startswith("2"):
        tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    {"races": races}[sys.argv[1]](*map(int, sys.argv[2:]))
