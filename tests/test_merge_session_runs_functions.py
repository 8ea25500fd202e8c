"""TFR101: runs that stand alone in functions; first where nothing is said of them."""

from __future__ import annotations

import textwrap

from rulebench import bench, leaves_alone, refuses
from tfrewrite.codemods.merge_session_runs import MergeSessionRuns

OWN = ("crlf", "tabs")
"""Shapes of a case that has functions of its own."""
GRAPH = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 8])
y = tf.placeholder(tf.int64, [None])
w = tf.Variable(tf.truncated_normal([8, 3]))
logits = tf.matmul(x, w)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))
noise = tf.reduce_mean(tf.nn.dropout(logits, 0.5))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
other_op = tf.train.GradientDescentOptimizer(0.1).minimize(accuracy)
sess = tf.Session()
"""
HELPERS = """
def loss_of(session, feed):
    return session.run(loss, feed)

def accuracy_of(session, feed):
    return session.run(accuracy, feed_dict=feed)

def update(session, feed):
    session.run(train_op, feed)

def update_other(session, feed):
    session.run(other_op, feed)

"""


def step(body: str, helpers: str = HELPERS) -> str:
    """A training script with functions that run the graph, and a loop with the given body."""
    loop = "for images, labels in batches:\n    feed = {x: images, y: labels}\n"
    loop += textwrap.indent(textwrap.dedent(body).removeprefix("\n"), "    ")
    return GRAPH + textwrap.dedent(helpers) + loop


test_nothing_is_said = bench(
    MergeSessionRuns,
    leaves_alone("one run", step("print(loss_of(sess, feed))"), shapes=OWN),
    leaves_alone(
        "different feeds",
        step("print(loss_of(sess, feed), accuracy_of(sess, {x: images}))"),
        shapes=OWN,
    ),
    leaves_alone(
        "different sessions",
        step("print(loss_of(sess, feed), accuracy_of(tf.get_default_session(), feed))"),
        shapes=OWN,
    ),
    leaves_alone(
        "a feed that is found out anew",
        step("print(loss_of(sess, next(feeds)), accuracy_of(sess, next(feeds)))"),
        shapes=OWN,
    ),
    leaves_alone("two updates", step("update(sess, feed)\nupdate_other(sess, feed)"), shapes=OWN),
    leaves_alone(
        "another run between",
        step(
            """
            before = loss_of(sess, feed)
            sess.run(train_op, {x: images[::2], y: labels[::2]})
            print(before, accuracy_of(sess, feed))
            """
        ),
        shapes=OWN,
    ),
    leaves_alone(
        "a run between, in a function that it is called by",
        step(
            """
            before = loss_of(sess, feed)
            again({x: images[::2], y: labels[::2]})
            print(before, accuracy_of(sess, feed))
            """,
            HELPERS + "def again(feed):\n    for _ in range(3):\n        update(sess, feed)\n\n",
        ),
        shapes=OWN,
    ),
    leaves_alone(
        "another feed of the same name",
        step("value = loss_of(sess, feed)\nfeed = {x: images}\nprint(accuracy_of(sess, feed))"),
        shapes=OWN,
    ),
    leaves_alone(
        "a feed that is changed",
        step("value = loss_of(sess, feed)\nfeed[x] = images + 1\nprint(accuracy_of(sess, feed))"),
        shapes=OWN,
    ),
    leaves_alone(
        "under a condition",
        step("if len(images) > 9:\n    print(loss_of(sess, feed), accuracy_of(sess, feed))"),
        shapes=OWN,
    ),
    leaves_alone(
        "one of them now and then",
        step("value = loss_of(sess, feed)\nprint(value and accuracy_of(sess, feed))"),
        shapes=OWN,
    ),
    leaves_alone(
        "after the loop",
        step("sess.run(train_op, feed)\n")
        + "print(loss_of(sess, feed), accuracy_of(sess, feed))\n",
        shapes=OWN,
    ),
    leaves_alone(
        "several runs in the function",
        step(
            "both(feed)\nprint(accuracy_of(sess, feed))",
            HELPERS + "def both(feed):\n    for _ in range(2):\n        update(sess, feed)\n\n",
        ),
        shapes=OWN,
    ),
    leaves_alone(
        "a decorated function",
        step(
            "print(loss_of(sess, feed), twice(sess, feed))",
            HELPERS
            + "@repeated\ndef twice(session, feed):\n    return session.run(loss, feed)\n\n",
        ),
        shapes=OWN,
    ),
    leaves_alone(
        "what draws at each run",
        step(
            "print(loss_of(sess, feed), drawn(sess, feed))",
            HELPERS + "def drawn(session, feed):\n    return session.run(noise, feed)\n\n",
        ),
        shapes=OWN,
    ),
    leaves_alone(
        "a batch that the function takes by itself",
        GRAPH
        + textwrap.dedent(
            """
            class Trainer:
                def loss(self):
                    return sess.run(loss, {x: self.images, y: self.labels})

                def accuracy(self):
                    self.images, self.labels = next(batches)
                    return sess.run(accuracy, {x: self.images, y: self.labels})

                def train(self):
                    for _ in range(9):
                        print(self.loss(), self.accuracy())
            """
        ),
        shapes=OWN,
    ),
)

test_said = bench(
    MergeSessionRuns,
    refuses(
        "two functions",
        step("print(loss_of(sess, feed), accuracy_of(sess, feed))"),
        reason="run-in-function",
        shapes=OWN,
    ),
    refuses(
        "a function beside a run",
        step("value = sess.run(loss, feed)\nprint(value, accuracy_of(sess, feed))"),
        reason="run-in-function",
        shapes=OWN,
    ),
    refuses(
        "an update and a metric",
        step("update(sess, feed)\nprint(accuracy_of(sess, feed))"),
        reason="run-in-function",
        shapes=OWN,
    ),
    refuses(
        "feeds that the functions make of what they are given",
        step(
            "print(loss_of(images, labels), accuracy_of(labels, images))",
            """
            def loss_of(xs, ys):
                return sess.run(loss, {x: xs, y: ys})

            def accuracy_of(ys, xs):
                batch = {x: xs, y: ys}
                return sess.run(accuracy, batch)

            """,
        ),
        reason="run-in-function",
        shapes=OWN,
    ),
    refuses(
        "methods, of which one is given what to fetch",
        GRAPH
        + textwrap.dedent(
            """
            class Model:
                def __init__(self):
                    self.session = tf.Session()

                def ask(self, what, feed):
                    return self.session.run(what, feed)

                def loss(self, feed):
                    return self.session.run(loss, feed)

            model = Model()
            for feed in feeds:
                print(model.loss(feed), model.ask(accuracy, feed))
            """
        ),
        reason="run-in-function",
        shapes=OWN,
    ),
    refuses(
        "in a function that a loop calls",
        step(
            "report(images, labels)",
            HELPERS
            + "def report(images, labels):\n"
            + "    feed = {x: images, y: labels}\n"
            + "    print(loss_of(sess, feed))\n"
            + "    print(accuracy_of(sess, feed))\n\n",
        ),
        reason="run-in-function",
        shapes=OWN,
    ),
)
