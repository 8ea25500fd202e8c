"""TFR109: what is left alone and reported first, then what is rewritten."""

from __future__ import annotations

import textwrap

from rulebench import bench, leaves_alone, reports, rewrites
from tfrewrite.codemods.fed_tensor import FedTensorRule

HEAD = """\
import numpy as np
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 3])
y = tf.placeholder(tf.float32, [None], name="labels")
rate = tf.placeholder(tf.float32, [])
w = tf.Variable(tf.zeros([3]))
loss = tf.reduce_mean(tf.square(tf.reduce_sum(x * w, 1) - y))
train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss)
"""
DATA = """\
dataset = tf.data.Dataset.from_generator(examples, (tf.float32, tf.int32)).batch(4)
"""
TAKEN = """\
iterator = dataset.make_one_shot_iterator()
element = iterator.get_next()
"""
LOOP = """\
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    while True:
        sess.run(train_op, feed_dict={x: element[0], y: element[1], rate: 0.1})
"""
MODULE = ("main", "crlf", "tabs")


def script(*parts: str) -> str:
    """A script of the head and these parts; such as begin with an empty line are dedented."""
    return HEAD + "".join(
        textwrap.dedent(part).lstrip("\n") if part.startswith("\n") else part for part in parts
    )


test_left_alone = bench(
    FedTensorRule,
    leaves_alone(
        "arrays and numbers",
        script(
            """
            data = np.zeros([4, 3], np.float32)
            sess = tf.Session()
            for step in range(9):
                sess.run(train_op, {x: data, y: data[:, 0], rate: 0.1 / (step + 1)})
            """
        ),
    ),
    leaves_alone(
        "what was fetched",
        script(
            DATA,
            TAKEN,
            """
            sess = tf.Session()
            for step in range(9):
                a, b = sess.run(element)
                sess.run(train_op, {x: a, y: b, rate: sess.run(rate_now)})
            """,
        ),
    ),
    leaves_alone(
        "what nothing is known of",
        script("def step(sess, a):\n    sess.run(train_op, {x: a, y: load(), rate: self.rate})\n"),
    ),
    leaves_alone(
        "a value that is a tensor on one way only",
        script(
            """
            sess = tf.Session()
            one = tf.zeros([1, 3])
            if quick:
                one = np.zeros([1, 3])
            sess.run(loss, {x: one})
            """
        ),
    ),
    leaves_alone(
        "a difference, and slices, of arrays that a caller gives",
        script(
            """
            class Model:
                def __init__(self, sess):
                    self.sess = sess
                def train(self, rewards, values, images):
                    advantages = rewards - values
                    images = images[:10]
                    feed = {x: images, y: advantages}
                    return self.sess.run(train_op, feed)
            """
        ),
        shapes=("crlf",),
    ),
    leaves_alone(
        "a shape and a static value",
        script("sess = tf.Session()\nsess.run(loss, {rate: x.shape[1], y: x.get_shape()})\n"),
    ),
)

REPORTED = "refuses it in a feed (TypeError)"

test_reported = bench(
    FedTensorRule,
    reports(
        "a tensor that is no element",
        script(
            "sess = tf.Session()\nfor i in range(3):\n    sess.run(loss, {x: tf.ones([1, 3])})\n"
        ),
        message=REPORTED,
    ),
    reports(
        "no loop",
        script(
            DATA, TAKEN, "sess = tf.Session()\nsess.run(loss, {x: element[0], y: element[1]})\n"
        ),
        message=REPORTED,
    ),
    reports(
        "the exception is caught",
        script(
            DATA,
            TAKEN,
            """
            sess = tf.Session()
            while True:
                try:
                    sess.run(loss, {x: element[0], y: element[1]})
                except TypeError:
                    break
            """,
        ),
        message=REPORTED,
    ),
    reports(
        "the element is fetched as well",
        script(DATA, TAKEN, LOOP, "        print(sess.run(element[1]))\n"),
        message=REPORTED,
    ),
    reports(
        "an iterator that begins anew",
        script(
            DATA,
            """
            iterator = dataset.make_initializable_iterator()
            element = iterator.get_next()
            sess = tf.Session()
            for epoch in range(3):
                sess.run(iterator.initializer)
                sess.run(train_op, {x: element[0], y: element[1], rate: 0.1})
            """,
        ),
        message=REPORTED,
    ),
    reports(
        "a subscript of which it is not known whether it takes a part or a row",
        script("dataset = tf.data.Dataset.from_tensor_slices(load())\n", TAKEN, LOOP),
        message=REPORTED,
    ),
    reports(
        "parts that a function makes",
        script(DATA, "dataset = dataset.map(parse)\n", TAKEN, LOOP),
        message=REPORTED,
    ),
    reports(
        "a part that is not there",
        script(DATA, TAKEN, LOOP.replace("element[1]", "element[2]")),
        message=REPORTED,
    ),
    reports(
        "a feed with a name",
        script(
            DATA,
            TAKEN,
            """
            sess = tf.Session()
            feed = {x: element[0], y: element[1], rate: 0.1}
            while True:
                sess.run(train_op, feed_dict=feed)
            """,
        ),
        message=REPORTED,
    ),
    reports(
        "a session that is opened in the loop",
        script(
            DATA,
            TAKEN,
            """
            for i in range(3):
                with tf.Session() as sess:
                    sess.run(train_op, {x: element[0], y: element[1], rate: 0.1})
            """,
        ),
        message=REPORTED,
    ),
    reports(
        "a session with hooks",
        script(DATA, TAKEN, LOOP.replace("tf.Session()", "tf.train.MonitoredTrainingSession()")),
        message=REPORTED,
    ),
    reports(
        "one placeholder twice",
        script(DATA, TAKEN, LOOP.replace("y: element", "x: element")),
        message=REPORTED,
    ),
    reports(
        "a data set that is made in a function",
        script(
            "def data():\n    dataset = tf.data.Dataset.from_tensor_slices((images, labels))\n",
            textwrap.indent(TAKEN, "    "),
            "    return element\nelement = data()\n",
            LOOP,
        ),
        message=REPORTED,
    ),
)

AFTER = """\
import numpy as np
import tensorflow as tf
element_iterator = tf.data.Iterator.from_structure((tf.float32, tf.float32))
next_x, next_y = element_iterator.get_next()
x = tf.placeholder_with_default(next_x, None)
x.set_shape([None, 3])
y = tf.placeholder_with_default(next_y, None, name="labels")
y.set_shape([None])
rate = tf.placeholder(tf.float32, [])
w = tf.Variable(tf.zeros([3]))
loss = tf.reduce_mean(tf.square(tf.reduce_sum(x * w, 1) - y))
train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss)
"""
STARTED = """\
start_elements = element_iterator.make_initializer(
    dataset.map(
        lambda *element: (tf.cast(element[0], tf.float32), tf.cast(element[1], tf.float32))
    )
)
"""
WITHOUT = """\
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(start_elements)
    while True:
        sess.run(train_op, feed_dict={rate: 0.1})
"""

test_rewritten = bench(
    FedTensorRule,
    rewrites(
        "parts of an element",
        script(DATA, TAKEN, LOOP),
        AFTER + DATA + STARTED + WITHOUT,
        contract="exact",
        shapes=MODULE,
    ),
    rewrites(
        "parts with names of their own, and a call of the module",
        script(
            DATA,
            "images, labels = tf.data.make_one_shot_iterator(dataset).get_next()\n",
            LOOP.replace("element[0]", "images").replace("element[1]", "labels"),
        ),
        AFTER + DATA + STARTED + WITHOUT,
        contract="exact",
        shapes=MODULE,
    ),
    rewrites(
        "a single tensor, until the data end, and nothing else to feed",
        """
        import tensorflow as tf
        x = tf.placeholder(tf.float32)
        total = tf.reduce_sum(x)
        dataset = tf.data.Dataset.from_generator(examples, tf.int32)
        dataset = dataset.shuffle(10).repeat(2)  # twice
        # Elements.
        iterator = dataset.make_one_shot_iterator()
        value = iterator.get_next()  # one at a time
        sess = tf.InteractiveSession()
        try:
            for step in range(10):
                for part in range(2):
                    print(sess.run(fetches=total, feed_dict={x: value}))
        except tf.errors.OutOfRangeError:
            pass
        """,
        """
        import tensorflow as tf
        element_iterator = tf.data.Iterator.from_structure(tf.float32)
        next_x = element_iterator.get_next()
        x = tf.placeholder_with_default(next_x, None)
        total = tf.reduce_sum(x)
        dataset = tf.data.Dataset.from_generator(examples, tf.int32)
        dataset = dataset.shuffle(10).repeat(2)  # twice
        # Elements.
        # one at a time
        start_elements = element_iterator.make_initializer(
            dataset.map(lambda element: tf.cast(element, tf.float32))
        )
        sess = tf.InteractiveSession()
        try:
            sess.run(start_elements)
            for step in range(10):
                for part in range(2):
                    print(sess.run(fetches=total))
        except tf.errors.OutOfRangeError:
            pass
        """,
        contract="exact",
        shapes=MODULE,
    ),
)
