"""TFR102: what is left alone and refused first, then what is rewritten."""

from __future__ import annotations

import re
import textwrap

from fed_scripts import in_a_session
from rulebench import Case, bench, leaves_alone, offers, refuses, rewrites
from tfrewrite.codemods.feed_dict_to_dataset import FeedDictToDataset

_HEAD = """
import numpy as np
import random
import tensorflow as tf
"""
_DATA = """
X = np.zeros([1000, 4])
Y = np.zeros([1000, 1])
"""
_GRAPH = """
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None, 1])
w = tf.Variable(tf.zeros([4, 1]))
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
sess = tf.Session()
"""
_GRAPH_AFTER = """
batch_iterator = tf.data.Iterator.from_structure((tf.float32, tf.float32))
next_x, next_y = batch_iterator.get_next()
x = tf.placeholder_with_default(next_x, None)
x.set_shape([None, 4])
y = tf.placeholder_with_default(next_y, None)
y.set_shape([None, 1])
w = tf.Variable(tf.zeros([4, 1]))
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
sess = tf.Session()
"""
_START = """
start_batches = batch_iterator.make_initializer(
    tf.data.Dataset.from_generator(
        batches, (x.dtype, y.dtype), (x.shape, y.shape)
    ).prefetch(1)
)
"""
_LOOP = """
for i in range(100):
    bx = X[i * 10:i * 10 + 10]
    by = Y[i * 10:i * 10 + 10]
    sess.run(train, feed_dict={x: bx, y: by})
"""


def script(loop: str = _LOOP, *, data: str = _DATA, graph: str = _GRAPH, head: str = "") -> str:
    """A script with arrays, a graph and a loop."""
    parts = (_HEAD, head, data, graph, loop)
    return in_a_session("".join(textwrap.dedent(part).lstrip("\n") for part in parts))


def after(loop: str, *, data: str = _DATA, graph: str = _GRAPH_AFTER, head: str = "") -> str:
    return script(loop, data=data, graph=graph, head=head)


_PLAIN = """
for i in range(100):
    sess.run(train, {x: X[i:i + 9], y: Y[i:i + 9]})
"""


def _long(graph: str) -> str:
    """The graph with placeholders of long names."""
    for name, long in (
        ("x", "pictures_of_the_first_ten_hands"),
        ("y", "numerals_of_the_first_ten_hands"),
    ):
        graph = re.sub(rf"\b{name}\b", long, graph)
    return graph


_MNIST = "from tensorflow.examples.tutorials.mnist import input_data\n"
_READ = "mnist = input_data.read_data_sets('/tmp/data', one_hot=True)\n"


test_left_alone = bench(
    FeedDictToDataset,
    leaves_alone(
        "the whole data in each turn",
        script("for i in range(9):\n    sess.run(train, {x: X, y: Y})\n"),
    ),
    leaves_alone("no loop", script("sess.run(train, {x: X[:10], y: Y[:10]})\n")),
    leaves_alone(
        "only a rate that decays",
        script(
            """
            for i in range(9):
                rate = 0.1 / (i + 1)
                sess.run(train, {x: X, y: Y, lr: rate})
            """,
            graph=_GRAPH + "lr = tf.placeholder(tf.float32, [])\n",
        ),
    ),
    leaves_alone(
        "a number of the turn as an array",
        script(
            """
            for i in range(9):
                sess.run(set_w, {value: np.array(i)})
            """,
            graph=_GRAPH
            + "value = tf.placeholder(w.dtype.base_dtype, [])\n"
            + "set_w = w.assign(tf.fill([4, 1], value))\n",
        ),
    ),
    leaves_alone(
        "a placeholder that has a default",
        after("for i in range(9):\n    sess.run(train, {x: X[i:i + 9], y: Y[i:i + 9]})\n"),
    ),
    leaves_alone(
        "a run under an if only",
        script(
            "for i in range(9):\n"
            "    if i % 2 == 0:\n"
            "        sess.run(train, {x: X[i:i + 9], y: Y[i:i + 9]})\n"
        ),
    ),
)


def refused(name: str, loop: str, reason: str, **parts: str) -> Case:
    return refuses(name, script(loop, **parts), reason=reason)


test_refused = bench(
    FeedDictToDataset,
    refused(
        "all of the batch depends on a result",
        """
        chosen = X[:10]
        for i in range(9):
            chosen = sess.run(x, {x: chosen})
        """,
        "depends-on-loop",
    ),
    refused(
        "a counter that goes on from turn to turn",
        """
        start = 0
        for i in range(9):
            bx = X[start:start + 10]
            by = Y[start:start + 10]
            sess.run(train, {x: bx, y: by})
            start = start + 10
        """,
        "depends-on-loop",
    ),
    refused(
        "a while loop",
        """
        i = 0
        while i < 9:
            bx, by = X[i:i + 9], Y[i:i + 9]
            sess.run(train, {x: bx, y: by})
            i += 1
        """,
        "loop-not-counted",
    ),
    refused(
        "a continue before the run",
        """
        for i in range(9):
            bx, by = X[i:i + 9], Y[i:i + 9]
            if i == 3:
                continue
            sess.run(train, {x: bx, y: by})
        """,
        "not-each-turn",
    ),
    refused(
        "the run is part of a conditional expression",
        """
        for i in range(9):
            bx, by = X[i:i + 9], Y[i:i + 9]
            l = sess.run(train, {x: bx, y: by}) if i else None
        """,
        "not-each-turn",
    ),
    refused(
        "the batch is printed",
        """
        for i in range(9):
            bx, by = X[i:i + 9], Y[i:i + 9]
            sess.run(train, {x: bx, y: by})
            print(bx)
        """,
        "batch-used",
    ),
    refused(
        "the batch is gone on with after the loop, and the array with it",
        """
        for i in range(9):
            bx = X[i:i + 9]
            sess.run(train, {x: bx, y: Y[i:i + 9]})
        bx += 1
        """,
        "batch-used",
    ),
    refused(
        "the batch has the name of a part of it",
        """
        for i in range(9):
            bx = np.array([bx for bx in X[i:i + 9]])
            sess.run(train, {x: bx, y: Y[i:i + 9]})
            print(bx)
        """,
        "batch-used",
    ),
    refused(
        "a dict of the batch that is no feed",
        """
        for i in range(9):
            bx, by = X[i:i + 9], Y[i:i + 9]
            sess.run(train, {x: bx, y: by})
            if i % 3 == 0:
                given = {x: bx, y: by}
                print(given[x].dtype)
        """,
        "batch-used",
    ),
    refused(
        "a run with the batch that comes later",
        """
        late = []
        for i in range(9):
            bx, by = X[i:i + 9], Y[i:i + 9]
            sess.run(train, {x: bx, y: by})
            if i % 3 == 0:
                late.append(lambda: sess.run(loss, {x: bx, y: by}))
        """,
        "batch-used",
    ),
    refused(
        "a session whose runs must not wait",
        _LOOP,
        "session-unknown",
        graph=_GRAPH.replace(
            "tf.Session()", "tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=9))"
        ),
    ),
    refused(
        "the batch is used after the loop",
        """
        for i in range(9):
            bx, by = X[i:i + 9], Y[i:i + 9]
            sess.run(train, {x: bx, y: by})
        print(bx)
        """,
        "batch-used",
    ),
    refused(
        "the batch is deleted",
        """
        for i in range(9):
            bx = X[i:i + 9]
            sess.run(train, {x: bx, y: Y[i:i + 9]})
            del bx
        """,
        "batch-used",
    ),
    refused(
        "the array is changed in the loop",
        """
        for i in range(9):
            l = sess.run([train, loss], {x: X[i:i + 9], y: Y[i:i + 9]})
            X[i] = l[1]
        """,
        "source-changes",
    ),
    refused(
        "the array is changed under another name",
        """
        Z = X
        for i in range(9):
            l = sess.run([train, loss], {x: X[i:i + 9], y: Y[i:i + 9]})
            Z[i] = l[1]
        """,
        "source-changes",
    ),
    refused(
        "the array is bound anew in the loop",
        """
        for i in range(9):
            sess.run(train, {x: X[i:i + 9], y: X[i:i + 9, :1]})
            X = X + 1
        """,
        "depends-on-loop",
    ),
    refused(
        "a function that the loop calls changes the array",
        """
        def spoil():
            X[0] = 7
        for i in range(9):
            sess.run(train, {x: X[i:i + 9], y: Y[i:i + 9]})
            spoil()
        """,
        "source-changes",
    ),
    refused(
        "an unknown call in the loop",
        """
        import tools
        for i in range(9):
            sess.run(train, {x: X[i:i + 9], y: Y[i:i + 9]})
            tools.report(i)
        """,
        "call-between",
    ),
    refused(
        "the loop draws as well",
        """
        for i in range(9):
            idx = np.random.randint(0, 1000, 10)
            sess.run(train, {x: X[idx], y: Y[idx]})
            print(np.random.rand())
        """,
        "shared-stream",
    ),
    refused(
        "a function that the loop calls draws as well",
        """
        def noise():
            return np.random.rand()
        for i in range(9):
            idx = np.random.randint(0, 1000, 10)
            sess.run(train, {x: X[idx], y: Y[idx]})
            print(noise())
        """,
        "shared-stream",
    ),
    refused(
        "a stream that goes on after Ctrl-C",
        """
        try:
            for i in range(9):
                idx = np.random.randint(0, 1000, 10)
                sess.run(train, {x: X[idx], y: Y[idx]})
        except KeyboardInterrupt:
            print(np.random.randint(9))
        """,
        "left-early",
    ),
    refused(
        "a stream that goes on at the exit",
        """
        import atexit
        atexit.register(lambda: print(np.random.randint(9)))
        for i in range(9):
            idx = np.random.randint(0, 1000, 10)
            sess.run(train, {x: X[idx], y: Y[idx]})
        """,
        "left-early",
    ),
    refused(
        "a stream that would be read too far",
        """
        for i in range(9):
            idx = np.random.randint(0, 1000, 10)
            l = sess.run([train, loss], {x: X[idx], y: Y[idx]})
            if l[1] < 0.1:
                break
        """,
        "left-early",
    ),
    refused(
        "a stream, and Python in the graph",
        """
        z = tf.py_func(np.random.rand, [], tf.float64)
        for i in range(9):
            idx = np.random.randint(0, 1000, 10)
            sess.run(train, {x: X[idx], y: Y[idx]})
        """,
        "shared-stream",
    ),
    refused(
        "a stream of the file's own that the loop uses",
        """
        rng = np.random.RandomState(3)
        for i in range(9):
            idx = rng.randint(0, 1000, 10)
            sess.run(train, {x: X[idx], y: Y[idx]})
            print(rng)
        """,
        "shared-state",
    ),
    refused(
        "a stream of the file's own by two names",
        """
        rng = np.random.RandomState(3)
        other = rng
        for i in range(9):
            idx = rng.randint(0, 1000, 10)
            sess.run(train, {x: X[idx], y: Y[idx]})
            print(other)
        """,
        "shared-state",
    ),
    refused(
        "the loop looks at the data set",
        """
        for i in range(9):
            bx, by = mnist.train.next_batch(10)
            sess.run(train, {x: bx, y: by})
            print(mnist.train.images[0])
        """,
        "shared-state",
        head=_MNIST,
        data=_READ,
    ),
    refused(
        "another object's next_batch",
        """
        import reader
        data = reader.Reader()
        for i in range(9):
            bx, by = data.next_batch(10)
            sess.run(train, {x: bx, y: by})
        """,
        "batch-code-not-seen",
    ),
    refused(
        "a dict that is filled by unpacking",
        """
        feed = {}
        for i in range(9):
            feed[x], feed[y] = X[i:i + 9], Y[i:i + 9]
            sess.run(train, feed_dict=feed)
        """,
        "batch-code-not-seen",
    ),
    refused(
        "it prints for each batch",
        """
        def make(i):
            print(i)
            return X[i:i + 9], Y[i:i + 9]
        for i in range(9):
            bx, by = make(i)
            sess.run(train, {x: bx, y: by})
        """,
        "batch-code-not-seen",
    ),
    refused(
        "it fills the same array in each turn",
        """
        rows = np.zeros((4, 3))
        for i in range(9):
            rows[:] = X[i:i + 4]
            sess.run(train, {x: rows, y: Y[:4]})
        """,
        "batch-changes-state",
    ),
    refused(
        "it changes the arrays",
        """
        def make(i):
            X[i] = 0
            return X[i:i + 9], Y[i:i + 9]
        for i in range(9):
            bx, by = make(i)
            sess.run(train, {x: bx, y: by})
        """,
        "batch-changes-state",
    ),
    refused(
        "it changes, through a list, the arrays in place",
        """
        for i in range(9):
            rows = list(X[i:i + 2])
            rows[0] += 1
            sess.run(train, {x: np.array(rows), y: Y[i:i + 2]})
            print(X.sum())
        """,
        "batch-changes-state",
    ),
    refused(
        "it changes, through a dict, the arrays in place",
        """
        def make(i):
            pair = dict(a=X[i], b=X[i + 1])
            pair["a"] *= 2
            return np.array([pair["a"], pair["b"]])
        for i in range(9):
            sess.run(train, {x: make(i), y: Y[i:i + 2]})
            print(X.sum())
        """,
        "batch-changes-state",
    ),
    refused(
        "it changes, through an array of objects, the arrays in place",
        """
        for i in range(9):
            rows = np.empty(2, dtype=object)
            rows[0] = X[i]
            rows[1] = X[i + 1]
            rows[0] += 1
            sess.run(train, {x: np.stack(rows), y: Y[i:i + 2]})
            print(X.sum())
        """,
        "batch-changes-state",
    ),
    refused(
        "it changes the memory of the arrays, laid over by another",
        """
        for i in range(9):
            rows = np.ndarray((2, 4), np.float64, X, 32 * i)
            rows *= 2
            sess.run(train, {x: rows, y: Y[i:i + 2]})
            print(X.sum())
        """,
        "batch-changes-state",
    ),
    refused(
        "a generator that fills one buffer for each batch",
        """
        def batches():
            buffer = np.zeros((9, 4), np.float32)
            i = 0
            while True:
                buffer[:] = X[i:i + 9]
                i = i + 1
                yield buffer
        made = batches()
        for i in range(90):
            sess.run(train, {x: next(made), y: Y[i:i + 9]})
        """,
        "batch-changes-state",
    ),
    refused(
        "a generator that changes what it gave before",
        """
        def batches():
            buffer = np.zeros((9, 4), np.float32)
            yield buffer
            buffer += 1
            yield buffer
        made = batches()
        for i in range(2):
            sess.run(train, {x: next(made), y: Y[i:i + 9]})
        """,
        "batch-changes-state",
    ),
    refused(
        "what only the first turn of all makes",
        """
        for epoch in range(3):
            for i in range(9):
                if epoch == 0 and i == 0:
                    mean = X.mean()
                bx = X[i:i + 9] - mean
                sess.run(train, {x: bx, y: Y[:9]})
        """,
        "depends-on-loop",
    ),
    refused(
        "a network of Keras that is fitted between, and shuffles",
        """
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        for i in range(9):
            chosen = np.random.choice(1000, 9)
            sess.run(train, {x: X[chosen], y: Y[chosen]})
            model.fit(X, Y, shuffle=True)
        """,
        "call-between",
    ),
    refused(
        "Python in the graph that changes the arrays",
        """
        def note(value):
            X[:] += 1
            return value
        noted = tf.py_func(note, [loss], tf.float32)
        for i in range(9):
            sess.run([train, noted], {x: X[i:i + 9], y: Y[i:i + 9]})
        """,
        "call-between",
    ),
    refused(
        "a decorator that catches exceptions",
        """
        def guarded(function):
            def call():
                try:
                    function()
                except IndexError:
                    print("done")
            return call
        @guarded
        def learn():
            for i in range(2000):
                sess.run(train, {x: X[[i]], y: Y[[i]]})
        learn()
        """,
        "inside-try",
    ),
    refused(
        "a function that is called by others, where exceptions are caught",
        """
        def guarded(function):
            try:
                function()
            except IndexError:
                print("done")
        def learn():
            for i in range(2000):
                sess.run(train, {x: X[[i]], y: Y[[i]]})
        guarded(learn)
        """,
        "inside-try",
    ),
    refused(
        "a generator that draws as well",
        """
        noise = (np.random.rand() for _ in range(9))
        for i in range(9):
            chosen = np.random.choice(1000, 9)
            sess.run(train, {x: X[chosen], y: Y[chosen]})
            print(next(noise))
        """,
        "call-between",
    ),
    refused(
        "a generator of a function that draws as well",
        """
        def draw():
            while True:
                yield np.random.rand()
        noise = draw()
        for i in range(9):
            chosen = np.random.choice(1000, 9)
            sess.run(train, {x: X[chosen], y: Y[chosen]})
            print(next(noise))
        """,
        "call-between",
    ),
    refused(
        "what a map draws",
        """
        noise = map(lambda k: np.random.rand(), range(9))
        for i in range(9):
            chosen = np.random.choice(1000, 9)
            sess.run(train, {x: X[chosen], y: Y[chosen]})
            print(sum(noise))
        """,
        "call-between",
    ),
    refused(
        "a draw beside the run, in its statement",
        """
        for i in range(9):
            chosen = np.random.choice(1000, 9)
            print(sess.run(train, {x: X[chosen], y: Y[chosen]}), np.random.rand())
        """,
        "shared-stream",
    ),
    refused(
        "a function that is given what the run gives, and changes the arrays",
        """
        def note(value):
            X[:] += 1
        for i in range(9):
            note(sess.run(train, {x: X[i:i + 9], y: Y[i:i + 9]}))
        """,
        "source-changes",
    ),
    refused(
        "it changes a part of an array in place",
        """
        for i in range(9):
            bx = X[i:i + 9]
            bx -= 1
            sess.run(train, {x: bx, y: Y[i:i + 9]})
        """,
        "batch-changes-state",
    ),
    refused(
        "it changes what an order was before it is made anew",
        """
        def drawn(order):
            np.random.shuffle(order)
            order = np.arange(9)
            return X[order]
        given = np.arange(9)
        for i in range(9):
            sess.run(train, {x: drawn(given), y: Y[i:i + 9]})
        """,
        "batch-changes-state",
    ),
    refused(
        "it changes a part of an array that is not copied",
        """
        for i in range(9):
            bx = X[i:i + 9].astype(np.float64, copy=False)
            bx -= 1
            sess.run(train, {x: bx, y: Y[i:i + 9]})
        """,
        "batch-code-not-seen",
    ),
    refused(
        "it changes rows in place that a list was copied of",
        """
        rows = [np.zeros(4), np.ones(4)]
        for i in range(9):
            bx = rows.copy()
            bx[0] += 1
            sess.run(train, {x: bx, y: Y[i:i + 2]})
        """,
        "batch-changes-state",
    ),
    refused(
        "an object that counts in an array of others",
        """
        class Loader:
            def __init__(self, at):
                self.at = at
            def reset(self):
                self.at = 0
            def next_batch(self, size):
                self.at += size
                return X[:size], Y[:size]
        place = np.zeros(1)
        loader = Loader(place)
        for i in range(9):
            bx, by = loader.next_batch(9)
            sess.run(train, {x: bx, y: by})
            print(place)
        """,
        "batch-changes-state",
    ),
    refused(
        "a batch of two objects, one of which the loop uses",
        """
        class Loader:
            def __init__(self):
                self.at = 0
            def next_batch(self, size):
                self.at += size
                return X[self.at:self.at + size], Y[self.at:self.at + size]
        first = Loader()
        second = Loader()
        for i in range(9):
            bx, _ = first.next_batch(9)
            _, by = second.next_batch(9)
            sess.run(train, {x: bx, y: by})
            print(second.at)
        """,
        "shared-state",
    ),
    refused(
        "it shuffles the arrays",
        """
        for i in range(9):
            bx = X[i:i + 9]
            np.random.shuffle(bx)
            sess.run(train, {x: bx, y: Y[i:i + 9]})
        """,
        "batch-used",
    ),
    refused(
        "an object that takes no part in this file",
        """
        import data
        for i in range(9):
            sess.run(train, {x: data.X[i:i + 9], y: data.Y[i:i + 9]})
        """,
        "batch-code-not-seen",
    ),
    refused(
        "the loop goes over what is used up",
        """
        pairs = zip(range(0, 90, 9), range(9, 99, 9))
        for a, b in pairs:
            sess.run(train, {x: X[a:b], y: Y[a:b]})
        """,
        "source-consumed",
    ),
    refused(
        "the loop goes over a draw",
        """
        for a in np.random.permutation(90):
            sess.run(train, {x: X[a:a + 9], y: Y[a:a + 9]})
        """,
        "source-consumed",
    ),
    refused(
        "an exception is caught",
        """
        try:
            for i in range(9):
                sess.run(train, {x: X[i:i + 9], y: Y[i:i + 9]})
        except ValueError:
            print('no')
        """,
        "inside-try",
    ),
    refused(
        "a session with hooks",
        "for i in range(9):\n    sess.run(train, {x: X[i:i + 9], y: Y[i:i + 9]})\n",
        "hooked-session",
        graph=_GRAPH.replace("tf.Session()", "tf.train.MonitoredSession()"),
    ),
    refuses(
        "a session that a function holds open",
        _HEAD
        + _DATA
        + _GRAPH.replace("sess =", "def fit():\n    sess =")
        + textwrap.indent(_LOOP.lstrip("\n"), "    ")
        + "fit()\n",
        reason="session-left-open",
    ),
    refuses(
        "a session that an object holds open",
        _HEAD
        + _DATA
        + "class Model:\n    def __init__(self):\n"
        + textwrap.indent(_GRAPH, " " * 8)
        .replace("sess =", "self.sess =")
        .replace("x = tf.p", "self.x = tf.p")
        .replace("y = tf.p", "self.y = tf.p")
        .replace("(x, w) - y", "(self.x, w) - self.y")
        .replace("train =", "self.train =")
        + "    def fit(self):\n        for i in range(9):\n"
        "            self.sess.run(self.train, {self.x: X[i:i + 9], self.y: Y[i:i + 9]})\n"
        "def main():\n    Model().fit()\nmain()\n",
        reason="session-left-open",
        shapes=("crlf", "tabs"),
    ),
    refuses(
        "a session that one of two callers holds open",
        _HEAD
        + _DATA
        + _GRAPH.replace("sess = tf.Session()\n", "")
        + "def fit(sess):\n"
        + textwrap.indent(_LOOP.lstrip("\n"), "    ")
        + "def main():\n    with tf.Session() as sess:\n        fit(sess)\n"
        "    own = tf.Session()\n    fit(own)\nmain()\n",
        reason="session-left-open",
        shapes=("crlf", "tabs"),
    ),
    refused(
        "a session of another process",
        "for i in range(9):\n    sess.run(train, {x: X[i:i + 9], y: Y[i:i + 9]})\n",
        "distributed",
        graph=_GRAPH.replace("tf.Session()", "tf.Session('grpc://a')"),
    ),
    refused(
        "run options",
        """
        for i in range(9):
            sess.run(train, {x: X[i:i + 9], y: Y[i:i + 9]}, options=tf.RunOptions())
        """,
        "run-options",
    ),
    refused(
        "the graph is read from a file",
        """
        saver = tf.train.import_meta_graph('model.meta')
        for i in range(9):
            sess.run(train, {x: X[i:i + 9], y: Y[i:i + 9]})
        """,
        "graph-imported",
    ),
    refused(
        "the graph leaves the program",
        """
        for i in range(9):
            sess.run(train, {x: X[i:i + 9], y: Y[i:i + 9]})
        tf.saved_model.simple_save(sess, 'out', {'x': x}, {'w': w})
        """,
        "graph-exported",
    ),
    refused(
        "the graph is closed",
        """
        sess.graph.finalize()
        for i in range(9):
            sess.run(train, {x: X[i:i + 9], y: Y[i:i + 9]})
        """,
        "graph-finalized",
    ),
    refused(
        "ops are counted",
        """
        for i in range(9):
            sess.run(train, {x: X[i:i + 9], y: Y[i:i + 9]})
        print(len(sess.graph.get_operations()))
        """,
        "graph-read",
    ),
    refused(
        "a placeholder is fed by TensorFlow's name for it",
        """
        for i in range(9):
            sess.run(train, {x: X[i:i + 9], y: Y[i:i + 9]})
        print(sess.run(loss, {'Placeholder:0': X, 'Placeholder_1:0': Y}))
        """,
        "graph-read",
    ),
    refused(
        "a placeholder of text",
        """
        z = tf.placeholder(tf.string, [None])
        n = tf.strings.length(z)
        words = ['a', 'b', 'c']
        for i in range(3):
            sess.run(n, {z: words[i:i + 1]})
        """,
        "placeholder-unclear",
    ),
    refused(
        "threads",
        _LOOP,
        "dynamic-code",
        head="import threading\n",
    ),
    refused(
        "a function that reads the loop's own name",
        """
        def made():
            return X[i:i + 9]
        for i in range(9):
            sess.run(train, {x: made(), y: Y[i:i + 9]})
        """,
        "depends-on-loop",
    ),
    refused(
        "a loop that counts in an attribute",
        """
        class Clock:
            pass
        clock = Clock()
        for clock.now, i in enumerate(range(9)):
            sess.run(train, {x: X[i:i + 9], y: Y[i:i + 9]})
            print(clock.now)
        """,
        "batch-changes-state",
    ),
    refused(
        "a loop that counts in a dict",
        """
        now = {}
        for now["step"], i in enumerate(range(9)):
            sess.run(train, {x: X[i:i + 9], y: Y[i:i + 9]})
            print(now["step"])
        """,
        "batch-changes-state",
    ),
    refused(
        "rows of a frame, which go on",
        """
        import pandas as pd
        rows = pd.read_csv("a.csv").iterrows()
        for i, row in rows:
            sess.run(train, {x: X[i:i + 9], y: Y[i:i + 9]})
        """,
        "source-consumed",
    ),
    refused(
        "the folds of a data set, which go on",
        """
        from sklearn.model_selection import KFold
        folds = KFold(5).split(X)
        for chosen, left in folds:
            sess.run(train, {x: X[chosen], y: Y[chosen]})
        """,
        "source-consumed",
    ),
    refused(
        "a file by pieces",
        """
        import pandas as pd
        pieces = pd.read_csv("a.csv", chunksize=9)
        for piece in pieces:
            sess.run(train, {x: piece.values, y: Y[:9]})
        """,
        "source-consumed",
    ),
    refused(
        "the batch takes from what is used up",
        """
        pairs = zip(X, Y)
        for i in range(9):
            bx, by = [], []
            for a, b in pairs:
                bx.append(a)
                by.append(b)
                if len(bx) == 9:
                    break
            sess.run(train, {x: bx, y: by})
        print(len(list(pairs)))
        """,
        "batch-code-not-seen",
    ),
    refused(
        "errors of numpy that raise, in the thread of the loop",
        """
        np.seterr(all="raise")
        for i in range(9):
            sess.run(train, {x: X[i:i + 9] / (5 - i), y: Y[i:i + 9]})
        """,
        "batch-code-not-seen",
    ),
    refused(
        "a picture that the loop draws anew",
        """
        import matplotlib.pyplot as plt
        for i in range(9):
            l = sess.run([train, loss], {x: plt.imread("a.png")[:9], y: Y[i:i + 9]})
            plt.plot(l[1])
            plt.savefig("a.png")
        """,
        "source-changes",
    ),
    refused(
        "a loop whose name it also goes over",
        """
        i = [0, 10]
        for i in i:
            sess.run(train, {x: X[i:i + 9], y: Y[i:i + 9]})
        """,
        "source-consumed",
    ),
    refuses(
        "a function that is called in a loop",
        script(
            """
            def epoch():
                for i in range(9):
                    sess.run(train, {x: X[i:i + 9], y: Y[i:i + 9]})
            for e in range(3):
                epoch()
            """
        ),
        reason="called-in-loop",
        shapes=("crlf", "tabs"),
    ),
    refuses(
        "a name that other functions see",
        script(
            """
            def fit():
                global bx
                for i in range(9):
                    bx = X[i:i + 9]
                    sess.run(train, {x: bx, y: Y[i:i + 9]})
            fit()
            """
        ),
        reason="batch-used",
        shapes=("crlf", "tabs"),
    ),
    refuses(
        "a generator",
        script(
            """
            def fit():
                for i in range(9):
                    sess.run(train, {x: X[i:i + 9], y: Y[i:i + 9]})
                    yield i
            for i in fit():
                X[i] = 0
            """
        ),
        reason="not-each-turn",
        shapes=("crlf", "tabs"),
    ),
)


def becomes(
    name: str, loop: str, rewritten: str, refused: tuple[str, ...] = (), **parts: str
) -> Case:
    shapes = ("main", "crlf", "tabs", "function")
    return rewrites(
        name,
        script(loop, **parts),
        after(rewritten, **parts),
        contract="exact",
        refused=refused,
        shapes=shapes,
    )


def pipeline(generator: str, loop: str, *, start: str = _START) -> str:
    """What stands where the loop stood: a generator, the pipeline, and what is left of it."""
    parts = (generator, start, "sess.run(start_batches)\n", loop)
    return "".join(textwrap.dedent(part).lstrip("\n") for part in parts)


test_rewritten = bench(
    FeedDictToDataset,
    rewrites(
        "summaries, and nothing that is written",
        script(
            _LOOP.replace("sess.run(train,", "s, l = sess.run([merged, loss],"),
            graph=_GRAPH + "tf.summary.scalar('loss', loss)\nmerged = tf.summary.merge_all()\n",
        ),
        after(
            "def batches():\n"
            "    for i in range(100):\n"
            "        bx = X[i * 10:i * 10 + 10]\n"
            "        by = Y[i * 10:i * 10 + 10]\n"
            "        yield bx, by" + _START + "sess.run(start_batches)\n"
            "for i in range(100):\n"
            "    s, l = sess.run([merged, loss])\n",
            graph=_GRAPH_AFTER
            + "tf.summary.scalar('loss', loss)\nmerged = tf.summary.merge_all()\n",
        ),
        contract="exact",
        shapes=("main", "crlf", "tabs"),
    ),
    rewrites(
        "a loss that the update waits for",
        script(_LOOP.replace("sess.run(train,", "_, l = sess.run([train, loss],")),
        after(
            "def batches():\n"
            "    for i in range(100):\n"
            "        bx = X[i * 10:i * 10 + 10]\n"
            "        by = Y[i * 10:i * 10 + 10]\n"
            "        yield bx, by"
            + _START
            + "sess.run(start_batches)\nfor i in range(100):\n    _, l = sess.run([train, loss])\n"
        ),
        contract="exact",
    ),
    becomes(
        "slices",
        _LOOP,
        pipeline(
            """
            def batches():
                for i in range(100):
                    bx = X[i * 10:i * 10 + 10]
                    by = Y[i * 10:i * 10 + 10]
                    yield bx, by
            """,
            """
            for i in range(100):
                sess.run(train)
            """,
        ),
    ),
    becomes(
        "slices in the dict, beside a rate",
        """
        for i in range(100):
            l = sess.run([train, loss], {x: X[i:i + 9], y: Y[i:i + 9], keep: 0.5})[1]
            print(i, l)
        """,
        pipeline(
            """
            def batches():
                for i in range(100):
                    yield X[i:i + 9], Y[i:i + 9]
            """,
            """
            for i in range(100):
                l = sess.run([train, loss], {keep: 0.5})[1]
                print(i, l)
            """,
        ),
        data=_DATA + "keep = tf.placeholder(tf.float32)\n",
    ),
    becomes(
        "an offset that the loop prints",
        """
        for i in range(100):
            start = i * 10
            _, l = sess.run([train, loss], feed_dict={x: X[start:start + 9], y: Y[start:start + 9]})
            print(start, l)
        """,
        pipeline(
            """
            def batches():
                for i in range(100):
                    start = i * 10
                    yield X[start:start + 9], Y[start:start + 9]
            """,
            """
            for i in range(100):
                start = i * 10
                _, l = sess.run([train, loss])
                print(start, l)
            """,
        ),
    ),
    becomes(
        "an order that is drawn anew for each turn",
        """
        for i in range(100):
            idx = np.random.randint(0, 1000, 10)
            sess.run(train, {x: X[idx], y: Y[idx]})
        """,
        pipeline(
            """
            def batches():
                for i in range(100):
                    idx = np.random.randint(0, 1000, 10)
                    yield X[idx], Y[idx]
            """,
            """
            for i in range(100):
                sess.run(train)
            """,
        ),
    ),
    becomes(
        "a loop that is left early, and leaves nothing behind",
        """
        for i in range(100):
            l = sess.run([train, loss], {x: X[i:i + 9], y: Y[i:i + 9]})
            if l[1] < 0.1:
                break
        """,
        pipeline(
            """
            def batches():
                for i in range(100):
                    yield X[i:i + 9], Y[i:i + 9]
            """,
            """
            for i in range(100):
                l = sess.run([train, loss])
                if l[1] < 0.1:
                    break
            """,
        ),
    ),
    becomes(
        "a function of the file that works on each row",
        """
        def prepared(rows):
            out = []
            for row in rows:
                out.append(np.roll(row, 1) * 2.0)
            return np.array(out)
        for i in range(100):
            bx = prepared(X[i:i + 9])
            sess.run(train, {x: bx, y: Y[i:i + 9]})
        """,
        """
        def prepared(rows):
            out = []
            for row in rows:
                out.append(np.roll(row, 1) * 2.0)
            return np.array(out)
        def batches():
            for i in range(100):
                bx = prepared(X[i:i + 9])
                yield bx, Y[i:i + 9]
        start_batches = batch_iterator.make_initializer(
            tf.data.Dataset.from_generator(
                batches, (x.dtype, y.dtype), (x.shape, y.shape)
            ).prefetch(1)
        )
        sess.run(start_batches)
        for i in range(100):
            sess.run(train)
        """,
    ),
    becomes(
        "a loop that builds the batch row by row",
        """
        for i in range(100):
            bx = []
            for j in range(9):
                bx.append(X[i * 9 + j])
            sess.run(train, {x: bx, y: Y[i:i + 9]})
        """,
        pipeline(
            """
            def batches():
                for i in range(100):
                    bx = []
                    for j in range(9):
                        bx.append(X[i * 9 + j])
                    yield bx, Y[i:i + 9]
            """,
            """
            for i in range(100):
                sess.run(train)
            """,
        ),
    ),
    becomes(
        "next_batch of the tutorials' data set",
        """
        for i in range(100):
            bx, by = mnist.train.next_batch(10)
            sess.run(train, {x: bx, y: by})
        print(sess.run(loss, {x: mnist.test.images, y: mnist.test.labels}))
        """,
        pipeline(
            """
            def batches():
                for i in range(100):
                    bx, by = mnist.train.next_batch(10)
                    yield bx, by
            """,
            """
            for i in range(100):
                sess.run(train)
            print(sess.run(loss, {x: mnist.test.images, y: mnist.test.labels}))
            """,
        ),
        head=_MNIST,
        data=_READ,
    ),
    becomes(
        "both halves of one value",
        """
        for i in range(100):
            batch = mnist.train.next_batch(10)
            sess.run(train, {x: batch[0], y: batch[1]})
        """,
        pipeline(
            """
            def batches():
                for i in range(100):
                    batch = mnist.train.next_batch(10)
                    yield batch[0], batch[1]
            """,
            """
            for i in range(100):
                sess.run(train)
            """,
        ),
        head=_MNIST,
        data=_READ,
    ),
    becomes(
        "a dict with a name",
        """
        for i in range(100):
            feed = {x: X[i:i + 9], y: Y[i:i + 9]}
            sess.run(train, feed_dict=feed)
        """,
        pipeline(
            """
            def batches():
                for i in range(100):
                    yield X[i:i + 9], Y[i:i + 9]
            """,
            """
            for i in range(100):
                sess.run(train)
            """,
        ),
    ),
    becomes(
        "a report on the same batch now and then",
        """
        for i in range(100):
            bx, by = X[i:i + 9], Y[i:i + 9]
            sess.run(train, {x: bx, y: by})
            if i % 10 == 0:
                print(sess.run(loss, {x: bx, y: by}))
        """,
        pipeline(
            """
            def batches():
                for i in range(100):
                    bx, by = X[i:i + 9], Y[i:i + 9]
                    yield bx, by
            """,
            """
            for i in range(100):
                bx, by = sess.run([train, x, y])[1:]
                if i % 10 == 0:
                    print(sess.run(loss, {x: bx, y: by}))
            """,
        ),
    ),
    becomes(
        "a report on the same batch, beside results",
        """
        for i in range(100):
            bx, by = X[i:i + 9], Y[i:i + 9]
            _, l = sess.run([train, loss], feed_dict={x: bx, y: by})
            if i % 10 == 0:
                print(l, sess.run(loss, {x: bx, y: by}))
        """,
        pipeline(
            """
            def batches():
                for i in range(100):
                    bx, by = X[i:i + 9], Y[i:i + 9]
                    yield bx, by
            """,
            """
            for i in range(100):
                _, l, bx, by = sess.run([train, loss, x, y])
                if i % 10 == 0:
                    print(l, sess.run(loss, {x: bx, y: by}))
            """,
        ),
    ),
    becomes(
        "state beside the batch",
        """
        state = np.zeros([4])
        for i in range(100):
            _, state = sess.run([train, s], {x: X[i:i + 9], y: Y[i:i + 9], s: state})
        """,
        """
        state = np.zeros([4])
        def batches():
            for i in range(100):
                yield X[i:i + 9], Y[i:i + 9]
        start_batches = batch_iterator.make_initializer(
            tf.data.Dataset.from_generator(
                batches, (x.dtype, y.dtype), (x.shape, y.shape)
            ).prefetch(1)
        )
        sess.run(start_batches)
        for i in range(100):
            _, state = sess.run([train, s], {s: state})
        """,
        data=_DATA + "s = tf.placeholder(tf.float32, [4])\n",
        refused=("depends-on-loop",),
    ),
    becomes(
        "epochs, with an order for each",
        """
        for epoch in range(3):
            order = np.random.permutation(1000)
            total = 0.0
            for i in range(100):
                chosen = order[i * 10:(i + 1) * 10]
                _, l = sess.run([train, loss], feed_dict={x: X[chosen], y: Y[chosen]})
                total += l
            print(epoch, total, sess.run(loss, {x: X, y: Y}))
        """,
        """
        def batches():
            for i in range(100):
                chosen = order[i * 10:(i + 1) * 10]
                yield X[chosen], Y[chosen]
        start_batches = batch_iterator.make_initializer(
            tf.data.Dataset.from_generator(
                batches, (x.dtype, y.dtype), (x.shape, y.shape)
            ).prefetch(1)
        )
        for epoch in range(3):
            order = np.random.permutation(1000)
            total = 0.0
            sess.run(start_batches)
            for i in range(100):
                _, l = sess.run([train, loss])
                total += l
            print(epoch, total, sess.run(loss, {x: X, y: Y}))
        """,
    ),
    becomes(
        "rows in an order that is drawn and cut",
        """
        def drawn(number, rows):
            order = np.arange(0, len(rows))
            np.random.shuffle(order)
            order = order[:number]
            return np.asarray([rows[k] for k in order])
        for i in range(100):
            bx = drawn(9, X)
            sess.run(train, {x: bx, y: Y[i:i + 9]})
        """,
        """
        def drawn(number, rows):
            order = np.arange(0, len(rows))
            np.random.shuffle(order)
            order = order[:number]
            return np.asarray([rows[k] for k in order])
        def batches():
            for i in range(100):
                bx = drawn(9, X)
                yield bx, Y[i:i + 9]
        start_batches = batch_iterator.make_initializer(
            tf.data.Dataset.from_generator(
                batches, (x.dtype, y.dtype), (x.shape, y.shape)
            ).prefetch(1)
        )
        sess.run(start_batches)
        for i in range(100):
            sess.run(train)
        """,
    ),
    becomes(
        "a copy that is changed in place",
        """
        for i in range(100):
            bx = X[i:i + 9].astype(np.float32)
            bx -= bx.mean(axis=0)
            by = np.array(Y[i:i + 9])
            by /= 2
            sess.run(train, {x: bx, y: by})
        """,
        pipeline(
            """
            def batches():
                for i in range(100):
                    bx = X[i:i + 9].astype(np.float32)
                    bx -= bx.mean(axis=0)
                    by = np.array(Y[i:i + 9])
                    by /= 2
                    yield bx, by
            """,
            """
            for i in range(100):
                sess.run(train)
            """,
        ),
    ),
    becomes(
        "rows that a comprehension chooses",
        """
        for i in range(100):
            bx = [row * 2 for row in X[i:i + 9]]
            sess.run(train, {x: bx, y: Y[i:i + 9]})
        """,
        pipeline(
            """
            def batches():
                for i in range(100):
                    bx = [row * 2 for row in X[i:i + 9]]
                    yield bx, Y[i:i + 9]
            """,
            """
            for i in range(100):
                sess.run(train)
            """,
        ),
    ),
    rewrites(
        "a loop after the default graph has been replaced",
        script(
            """
            tf.reset_default_graph()
            for i in range(100):
                sess.run(train, {x: X[i:i + 9], y: Y[i:i + 9]})
            """
        ),
        after(
            """
            tf.reset_default_graph()
            def batches():
                for i in range(100):
                    yield X[i:i + 9], Y[i:i + 9]
            with x.graph.as_default():
                start_batches = batch_iterator.make_initializer(
                    tf.data.Dataset.from_generator(
                        batches, (x.dtype, y.dtype), (x.shape, y.shape)
                    ).prefetch(1)
                )
            sess.run(start_batches)
            for i in range(100):
                sess.run(train)
            """
        ),
        contract="exact",
        shapes=("crlf", "tabs", "function"),
    ),
    rewrites(
        "a class whose callers may be in another graph",
        script(
            """
            class Model:
                def __init__(self):
                    self.x = tf.placeholder(tf.float32, [None, 4])
                    self.s = tf.reduce_sum(self.x)
                def fit(self):
                    with tf.Session(graph=self.x.graph) as sess:
                        for i in range(9):
                            sess.run(self.s, {self.x: X[i:i + 9]})
            """
        ),
        script(
            """
            class Model:
                def __init__(self):
                    self.batch_iterator = tf.data.Iterator.from_structure(tf.float32)
                    next_x = self.batch_iterator.get_next()
                    self.x = tf.placeholder_with_default(next_x, None)
                    self.x.set_shape([None, 4])
                    self.s = tf.reduce_sum(self.x)
                def fit(self):
                    with tf.Session(graph=self.x.graph) as sess:
                        def batches():
                            for i in range(9):
                                yield X[i:i + 9]
                        with self.x.graph.as_default():
                            start_batches = self.batch_iterator.make_initializer(
                                tf.data.Dataset.from_generator(
                                    batches, self.x.dtype, self.x.shape
                                ).prefetch(1)
                            )
                        sess.run(start_batches)
                        for i in range(9):
                            sess.run(self.s)
            """
        ),
        contract="exact",
        shapes=("crlf", "tabs"),
    ),
    becomes(
        "samples one by one",
        """
        for a, b in zip(X, Y):
            sess.run(train, {x: [a], y: [b]})
        """,
        pipeline(
            """
            def batches():
                for a, b in zip(X, Y):
                    yield [a], [b]
            """,
            """
            for a, b in zip(X, Y):
                sess.run(train)
            """,
        ),
    ),
    becomes(
        "a generator of the file that goes on",
        """
        def pairs(a, b):
            i = 0
            while True:
                yield a[i:i + 9], b[i:i + 9]
                i = (i + 9) % 900
        source = pairs(X, Y)
        for i in range(100):
            bx, by = next(source)
            sess.run(train, {x: bx, y: by})
        """,
        """
        def pairs(a, b):
            i = 0
            while True:
                yield a[i:i + 9], b[i:i + 9]
                i = (i + 9) % 900
        source = pairs(X, Y)
        def batches():
            for i in range(100):
                bx, by = next(source)
                yield bx, by
        start_batches = batch_iterator.make_initializer(
            tf.data.Dataset.from_generator(
                batches, (x.dtype, y.dtype), (x.shape, y.shape)
            ).prefetch(1)
        )
        sess.run(start_batches)
        for i in range(100):
            sess.run(train)
        """,
    ),
    rewrites(
        "next_batch of a class of the file",
        script(
            """
            loader = Loader(X, Y)
            for i in range(100):
                bx, by = loader.next_batch(10)
                sess.run(train, {x: bx, y: by})
            """,
            head="""
            class Loader:
                def __init__(self, xs, ys):
                    self.xs = xs
                    self.ys = ys
                    self.at = 0

                def next_batch(self, size):
                    if self.at + size > len(self.xs):
                        order = np.random.permutation(len(self.xs))
                        self.xs = self.xs[order]
                        self.ys = self.ys[order]
                        self.at = 0
                    start = self.at
                    self.at += size
                    return self.xs[start:self.at], self.ys[start:self.at]


            """,
        ),
        after(
            """
            loader = Loader(X, Y)
            def batches():
                for i in range(100):
                    bx, by = loader.next_batch(10)
                    yield bx, by
            start_batches = batch_iterator.make_initializer(
                tf.data.Dataset.from_generator(
                    batches, (x.dtype, y.dtype), (x.shape, y.shape)
                ).prefetch(1)
            )
            sess.run(start_batches)
            for i in range(100):
                sess.run(train)
            """,
            head="""
            class Loader:
                def __init__(self, xs, ys):
                    self.xs = xs
                    self.ys = ys
                    self.at = 0

                def next_batch(self, size):
                    if self.at + size > len(self.xs):
                        order = np.random.permutation(len(self.xs))
                        self.xs = self.xs[order]
                        self.ys = self.ys[order]
                        self.at = 0
                    start = self.at
                    self.at += size
                    return self.xs[start:self.at], self.ys[start:self.at]


            """,
        ),
        contract="exact",
        shapes=("crlf", "tabs"),
    ),
    rewrites(
        "next_batch of one of two objects of a class of the file",
        script(
            """
            loader = Loader(X, Y)
            other = Loader(X[:9], Y[:9])
            for i in range(100):
                bx, by = loader.next_batch(10)
                sess.run(train, {x: bx, y: by})
            """,
            head="""
            class Loader:
                def __init__(self, xs, ys):
                    self.xs = xs
                    self.ys = ys
                    self.at = 0

                def next_batch(self, size):
                    if self.at + size > len(self.xs):
                        order = np.random.permutation(len(self.xs))
                        self.xs = self.xs[order]
                        self.ys = self.ys[order]
                        self.at = 0
                    start = self.at
                    self.at += size
                    return self.xs[start:self.at], self.ys[start:self.at]


            """,
        ),
        after(
            """
            loader = Loader(X, Y)
            other = Loader(X[:9], Y[:9])
            def batches():
                for i in range(100):
                    bx, by = loader.next_batch(10)
                    yield bx, by
            start_batches = batch_iterator.make_initializer(
                tf.data.Dataset.from_generator(
                    batches, (x.dtype, y.dtype), (x.shape, y.shape)
                ).prefetch(1)
            )
            sess.run(start_batches)
            for i in range(100):
                sess.run(train)
            """,
            head="""
            class Loader:
                def __init__(self, xs, ys):
                    self.xs = xs
                    self.ys = ys
                    self.at = 0

                def next_batch(self, size):
                    if self.at + size > len(self.xs):
                        order = np.random.permutation(len(self.xs))
                        self.xs = self.xs[order]
                        self.ys = self.ys[order]
                        self.at = 0
                    start = self.at
                    self.at += size
                    return self.xs[start:self.at], self.ys[start:self.at]


            """,
        ),
        contract="exact",
        shapes=("crlf", "tabs"),
    ),
    rewrites(
        "a loss that sums a list",
        script(
            graph=_GRAPH.replace("reduce_mean(", "add_n([x, x, x]) * tf.reduce_mean("),
            loop="""
            for i in range(9):
                print(sess.run(loss, {x: X[i:i + 9], y: Y[i:i + 9]}))
            """,
        ),
        script(
            pipeline(
                """
                def batches():
                    for i in range(9):
                        yield X[i:i + 9], Y[i:i + 9]
                """,
                """
                for i in range(9):
                    print(sess.run(loss))
                """,
            ),
            graph=_GRAPH_AFTER.replace("reduce_mean(", "add_n([x, x, x]) * tf.reduce_mean("),
        ),
        contract="rounding",
    ),
    rewrites(
        "one placeholder, with a name",
        script(
            """
            p = tf.placeholder(tf.float32, shape=[None, 4], name="p")
            s = tf.reduce_sum(p)
            with tf.Session() as sess:
                # The sums.
                for i in range(9):
                    # a part
                    part = X[i:i + 9]
                    print(s.eval(feed_dict={p: part}))
            """,
            graph="",
        ),
        script(
            """
            batch_iterator = tf.data.Iterator.from_structure(tf.float32)
            next_p = batch_iterator.get_next()
            p = tf.placeholder_with_default(next_p, None, name="p")
            p.set_shape([None, 4])
            s = tf.reduce_sum(p)
            with tf.Session() as sess:
                # a part
                def batches():
                    for i in range(9):
                        part = X[i:i + 9]
                        yield part
                start_batches = batch_iterator.make_initializer(
                    tf.data.Dataset.from_generator(
                        batches, p.dtype, p.shape
                    ).prefetch(1)
                )
                start_batches.run()
                # The sums.
                for i in range(9):
                    print(s.eval())
            """,
            graph="",
        ),
        contract="exact",
    ),
    rewrites(
        "compat.v1, in a class, on self",
        """
        import numpy as np
        import tensorflow as tf

        class Model:
            def __init__(self):
                self.x = tf.compat.v1.placeholder(tf.float32, [None, 4])
                self.total = tf.reduce_sum(self.x)
                self.data = np.zeros([100, 4])

            def fit(self):
                with tf.compat.v1.Session() as sess:
                    for i in range(9):
                        batch = self.data[i:i + 9]
                        print(sess.run(self.total, {self.x: batch}))

        Model().fit()
        """,
        """
        import numpy as np
        import tensorflow as tf

        class Model:
            def __init__(self):
                self.batch_iterator = tf.compat.v1.data.Iterator.from_structure(tf.float32)
                next_x = self.batch_iterator.get_next()
                self.x = tf.compat.v1.placeholder_with_default(next_x, None)
                self.x.set_shape([None, 4])
                self.total = tf.reduce_sum(self.x)
                self.data = np.zeros([100, 4])

            def fit(self):
                with tf.compat.v1.Session() as sess:
                    def batches():
                        for i in range(9):
                            batch = self.data[i:i + 9]
                            yield batch
                    start_batches = self.batch_iterator.make_initializer(
                        tf.compat.v1.data.Dataset.from_generator(
                            batches, self.x.dtype, self.x.shape
                        ).prefetch(1)
                    )
                    sess.run(start_batches)
                    for i in range(9):
                        print(sess.run(self.total))

        Model().fit()
        """,
        contract="exact",
        shapes=("crlf", "tabs"),
    ),
    rewrites(
        "what is said above the dict is of the run, and what is above the batch of the batch",
        script("""
            # over all batches
            for i in range(100):
                # a part
                bx = X[i:i + 10]

                # train on it
                feed_dict = {x: bx, y: Y[i:i + 10]}
                sess.run(train, feed_dict=feed_dict)
        """),
        after("""
            # a part
            def batches():
                for i in range(100):
                    bx = X[i:i + 10]
                    yield bx, Y[i:i + 10]
            start_batches = batch_iterator.make_initializer(
                tf.data.Dataset.from_generator(
                    batches, (x.dtype, y.dtype), (x.shape, y.shape)
                ).prefetch(1)
            )
            sess.run(start_batches)
            # over all batches
            for i in range(100):
                # train on it
                sess.run(train)
        """),
        contract="exact",
        shapes=("crlf", "tabs"),
    ),
    rewrites(
        "a comment on the placeholders",
        script(_PLAIN, graph=_GRAPH.replace("x = tf", "# the data\nx = tf", 1)),
        after(
            f"""
            def batches():
                for i in range(100):
                    yield X[i:i + 9], Y[i:i + 9]
            {textwrap.indent(_START, " " * 12).strip()}
            sess.run(start_batches)
            for i in range(100):
                sess.run(train)
            """,
            graph=_GRAPH_AFTER.replace("\nx = tf", "\n\n# the data\nx = tf", 1),
        ),
        contract="exact",
        shapes=("crlf",),
    ),
    rewrites(
        "long names",
        script(
            """
            for i in range(100):
                sess.run(train, {pictures_of_the_first_ten_hands: X[i:i + 9],
                                 numerals_of_the_first_ten_hands: Y[i:i + 9]})
            """,
            graph=_long(_GRAPH),
        ),
        script(
            """
            def batches():
                for i in range(100):
                    yield X[i:i + 9], Y[i:i + 9]
            start_batches = batch_iterator.make_initializer(
                tf.data.Dataset.from_generator(
                    batches,
                    (pictures_of_the_first_ten_hands.dtype, numerals_of_the_first_ten_hands.dtype),
                    (pictures_of_the_first_ten_hands.shape, numerals_of_the_first_ten_hands.shape)
                ).prefetch(1)
            )
            sess.run(start_batches)
            for i in range(100):
                sess.run(train)
            """,
            graph=_long(_GRAPH_AFTER.replace("next_x, next_y =", "next_elements ="))
            .replace("next_x", "next_elements[0]")
            .replace("next_y", "next_elements[1]"),
        ),
        contract="exact",
        shapes=("crlf",),
    ),
    rewrites(
        "types and shapes that do not fit into a line",
        """
        import numpy as np
        import tensorflow as tf

        sentences = np.zeros([100, 9])
        questions = np.zeros([100, 9])
        sentence_words = tf.placeholder(tf.float32, [None])
        question_words = tf.placeholder(tf.float32, [None])
        total = tf.reduce_sum(sentence_words * question_words)
        with tf.Session() as sess:
            for i in range(9):
                feed = {sentence_words: sentences[i], question_words: questions[i]}
                print(sess.run(total, feed))
        """,
        """
        import numpy as np
        import tensorflow as tf

        sentences = np.zeros([100, 9])
        questions = np.zeros([100, 9])
        batch_iterator = tf.data.Iterator.from_structure((tf.float32, tf.float32))
        next_sentence_words, next_question_words = batch_iterator.get_next()
        sentence_words = tf.placeholder_with_default(next_sentence_words, None)
        sentence_words.set_shape([None])
        question_words = tf.placeholder_with_default(next_question_words, None)
        question_words.set_shape([None])
        total = tf.reduce_sum(sentence_words * question_words)
        with tf.Session() as sess:
            def batches():
                for i in range(9):
                    yield sentences[i], questions[i]
            start_batches = batch_iterator.make_initializer(
                tf.data.Dataset.from_generator(
                    batches,
                    (sentence_words.dtype, question_words.dtype),
                    (sentence_words.shape, question_words.shape)
                ).prefetch(1)
            )
            sess.run(start_batches)
            for i in range(9):
                print(sess.run(total))
        """,
        contract="exact",
    ),
    offers(
        "draws that depend on the number of ops",
        script(_LOOP, graph="tf.set_random_seed(1)\n" + _GRAPH.replace("zeros", "random_normal")),
        contract="resampled",
        changes="draws of ops without a seed",
    ),
)


# Placeholders that are made elsewhere

_BUILD = """
def build():
    x = tf.placeholder(tf.float32, [None, 4])
    y = tf.placeholder(tf.float32, [None, 1])
    w = tf.Variable(tf.zeros([4, 1]))
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return x, y, train
x, y, train = build()
sess = tf.Session()
"""
_BUILD_AFTER = """
def build():
    batch_iterator = tf.data.Iterator.from_structure((tf.float32, tf.float32))
    next_x, next_y = batch_iterator.get_next()
    x = tf.placeholder_with_default(next_x, None)
    x.set_shape([None, 4])
    y = tf.placeholder_with_default(next_y, None)
    y.set_shape([None, 1])
    w = tf.Variable(tf.zeros([4, 1]))
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return x, y, train, batch_iterator
x, y, train, batch_iterator = build()
sess = tf.Session()
"""
_MODEL = """
class Model:
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.y = tf.placeholder(tf.float32, [None, 1])
        self.w = tf.Variable(tf.zeros([4, 1]))
        loss = tf.reduce_mean(tf.square(tf.matmul(self.x, self.w) - self.y))
        self.train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
sess = tf.Session()
model = Model()
"""
_MODEL_AFTER = """
class Model:
    def __init__(self):
        self.batch_iterator = tf.data.Iterator.from_structure((tf.float32, tf.float32))
        next_x, next_y = self.batch_iterator.get_next()
        self.x = tf.placeholder_with_default(next_x, None)
        self.x.set_shape([None, 4])
        self.y = tf.placeholder_with_default(next_y, None)
        self.y.set_shape([None, 1])
        self.w = tf.Variable(tf.zeros([4, 1]))
        loss = tf.reduce_mean(tf.square(tf.matmul(self.x, self.w) - self.y))
        self.train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
sess = tf.Session()
model = Model()
"""
_OF_MODEL = """
for i in range(100):
    sess.run(model.train, {model.x: X[i:i + 9], model.y: Y[i:i + 9]})
"""
_SLICES = """
def batches():
    for i in range(100):
        yield X[i:i + 9], Y[i:i + 9]
"""
_OF_MODEL_AFTER = (
    _SLICES.lstrip()
    + _START.lstrip()
    .replace("batch_iterator", "model.batch_iterator")
    .replace("x.", "model.x.")
    .replace("y.", "model.y.")
    + "sess.run(start_batches)\nfor i in range(100):\n    sess.run(model.train)\n"
)
_PLAIN_AFTER = pipeline(_SLICES, "for i in range(100):\n    sess.run(train)\n")
_MAIN = """
def main():
    x, y, train = build()
    sess = tf.Session()
    for i in range(100):
        sess.run(train, {x: X[i:i + 9], y: Y[i:i + 9]})
if __name__ == "__main__":
    main()
"""


def elsewhere(name: str, graph: str, loop: str = _PLAIN, reason: str = "elsewhere") -> Case:
    text = script(loop, graph=graph)
    return refuses(name, text, reason=f"placeholder-{reason}", shapes=("crlf", "tabs"))


test_refused_elsewhere = bench(
    FeedDictToDataset,
    elsewhere("a call in a loop", _BUILD.replace("x, y, train =", "for _ in X: x, y, train =")),
    elsewhere("a decorator", _BUILD.replace("def build", "@cached\ndef build")),
    elsewhere(
        "it gives back in two places",
        _BUILD.replace("    return", "    if len(X) < 3:\n        return y, x, train\n    return"),
    ),
    elsewhere("a star", _BUILD.replace("x, y, train =", "x, y, *rest =") + "train, = rest\n"),
    elsewhere(
        "another module may import it",
        _BUILD[: _BUILD.index("x, y, train")] + _MAIN,
        "",
    ),
    elsewhere(
        "a model made in a loop", _MODEL.replace("model =", "for _ in X: model ="), _OF_MODEL
    ),
    elsewhere(
        "a model that may not be there", _MODEL.replace("model =", "if Y.any(): model ="), _OF_MODEL
    ),
    elsewhere("an attribute that is set again", _MODEL + "model.x = model.y\n", _OF_MODEL),
    elsewhere(
        "a model that may not be built",
        _MODEL.replace("__init__", "build") + "if Y.any():\n    model.build()\n",
        _OF_MODEL,
    ),
    elsewhere(
        "a model that is built by another name",
        _MODEL.replace("__init__", "build") + "other = model\nother.build()\n",
        _OF_MODEL,
    ),
    elsewhere(
        "a name that is bound again between two loops over all",
        _GRAPH,
        """
        for epoch in range(3):
            for i in range(100):
                sess.run(train, {x: X[i:i + 9], y: Y[i:i + 9]})
            x, y = x, y
        """,
    ),
)


def found_elsewhere(
    name: str, graph: str, new: str, loop: str = _PLAIN, left: str = _PLAIN_AFTER
) -> Case:
    before, now = script(loop, graph=graph), script(left, graph=new)
    return rewrites(name, before, now, contract="exact", shapes=("crlf", "tabs"))


test_rewritten_elsewhere = bench(
    FeedDictToDataset,
    found_elsewhere("a function that gives them back", _BUILD, _BUILD_AFTER),
    found_elsewhere(
        "a tuple over several lines",
        _BUILD.replace("return x, y, train", "return (\n        x,\n        y, train,\n    )"),
        _BUILD_AFTER.replace(
            "return x, y, train, batch_iterator",
            "return (\n        x,\n        y, train, batch_iterator,\n    )",
        ),
    ),
    found_elsewhere(
        "parentheses of their own",
        _BUILD.replace("return x, y, train", "return (x), y, (train)"),
        _BUILD_AFTER,
    ),
    found_elsewhere(
        "a function that another one calls",
        _BUILD.replace(
            "return x, y, train",
            "return x, y, train\ndef outer():\n    a, b, c = build()\n    return a, b, c",
        ).replace("x, y, train = build()", "x, y, train = outer()"),
        _BUILD_AFTER.replace(
            "return x, y, train, batch_iterator",
            "return x, y, train, batch_iterator\ndef outer():\n"
            "    a, b, c, batch_iterator = build()\n    return a, b, c, batch_iterator",
        ).replace("x, y, train, batch_iterator = build()", "x, y, train, batch_iterator = outer()"),
    ),
    found_elsewhere(
        "a private function of a main script",
        (_BUILD[: _BUILD.index("x, y, train =")] + _MAIN).replace("build", "_build"),
        (
            _BUILD_AFTER[: _BUILD_AFTER.index("x, y, train, batch_iterator =")]
            + _MAIN.replace("x, y, train =", "x, y, train, batch_iterator =").replace(
                _PLAIN.strip().replace("\n", "\n    "),
                _PLAIN_AFTER.strip().replace("\n", "\n    "),
            )
        ).replace("build", "_build"),
        "",
        "",
    ),
    found_elsewhere("an object", _MODEL, _MODEL_AFTER, _OF_MODEL, _OF_MODEL_AFTER),
    found_elsewhere(
        "an object that is built later",
        _MODEL.replace("__init__", "build") + "model.build()\n",
        _MODEL_AFTER.replace("__init__", "build") + "model.build()\n",
        _OF_MODEL,
        _OF_MODEL_AFTER,
    ),
    found_elsewhere(
        "names that an object takes",
        """
        class Model:
            def __init__(self):
                x = tf.placeholder(tf.float32, [None, 4])
                self.x = x
                self.total = tf.reduce_sum(x)
        sess = tf.Session()
        model = Model()
        """,
        """
        class Model:
            def __init__(self):
                self.batch_iterator = tf.data.Iterator.from_structure(tf.float32)
                next_x = self.batch_iterator.get_next()
                x = tf.placeholder_with_default(next_x, None)
                x.set_shape([None, 4])
                self.x = x
                self.total = tf.reduce_sum(x)
        sess = tf.Session()
        model = Model()
        """,
        "for i in range(9):\n    sess.run(model.total, {model.x: X[i:i + 9]})\n",
        """
        def batches():
            for i in range(9):
                yield X[i:i + 9]
        start_batches = model.batch_iterator.make_initializer(
            tf.data.Dataset.from_generator(
                batches, model.x.dtype, model.x.shape
            ).prefetch(1)
        )
        sess.run(start_batches)
        for i in range(9):
            sess.run(model.total)
        """,
    ),
    found_elsewhere(
        "a function that an object takes them from",
        """
        def inputs():
            x = tf.placeholder(tf.float32, [None, 4])
            return x
        class Model:
            def __init__(self):
                self.x = inputs()
                self.total = tf.reduce_sum(self.x)
        sess = tf.Session()
        model = Model()
        """,
        """
        def inputs():
            batch_iterator = tf.data.Iterator.from_structure(tf.float32)
            next_x = batch_iterator.get_next()
            x = tf.placeholder_with_default(next_x, None)
            x.set_shape([None, 4])
            return x, batch_iterator
        class Model:
            def __init__(self):
                self.x, self.batch_iterator = inputs()
                self.total = tf.reduce_sum(self.x)
        sess = tf.Session()
        model = Model()
        """,
        "for i in range(9):\n    sess.run(model.total, {model.x: X[i:i + 9]})\n",
        """
        def batches():
            for i in range(9):
                yield X[i:i + 9]
        start_batches = model.batch_iterator.make_initializer(
            tf.data.Dataset.from_generator(
                batches, model.x.dtype, model.x.shape
            ).prefetch(1)
        )
        sess.run(start_batches)
        for i in range(9):
            sess.run(model.total)
        """,
    ),
    found_elsewhere(
        "names that mean something else afterwards",
        _GRAPH,
        _GRAPH_AFTER,
        _PLAIN + "x, y = X, Y\n",
        _PLAIN_AFTER + "x, y = X, Y\n",
    ),
    found_elsewhere(
        "names that meant something else before",
        "x = 4\ny = 1\n" + _GRAPH.lstrip(),
        "x = 4\ny = 1\n" + _GRAPH_AFTER.lstrip(),
    ),
)


# Dicts that are filled piece by piece


def filled(name: str, body: str, before: str = "", reason: str = "batch-used") -> Case:
    body = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return refuses(name, script(f"{before}for i in range(9):\n{body}\n"), reason=reason)


test_refused_filled = bench(
    FeedDictToDataset,
    filled(
        "one that is read",
        """
        feed = {}
        feed[x] = X[i:i + 9]
        feed[y] = Y[i:i + 9]
        print(feed[x])
        sess.run(train, feed)
        """,
    ),
    filled(
        "one that is used after the loop",
        """
        feed[x] = X[i:i + 9]
        feed[y] = Y[i:i + 9]
        sess.run(train, feed)
        if i == 8:
            print(feed)
        """,
        "feed = {}\n",
    ),
    filled(
        "one of two names",
        """
        feed = {}
        other = feed
        feed[x] = X[i:i + 9]
        feed[y] = Y[i:i + 9]
        sess.run(train, feed)
        """,
    ),
    filled(
        "one that is filled now and then",
        """
        feed = {y: Y[i:i + 9]}
        feed[x] = X[i:i + 9]
        if i > 3:
            feed[x] = X[:9]
        sess.run(train, feed)
        """,
        reason="placeholder-unclear",
    ),
    filled(
        "a batch that is put there under an if",
        """
        batch = X[i:i + 9]
        feed = {y: Y[i:i + 9], x: batch}
        if i > 3:
            feed[x] = batch[::-1]
        sess.run(train, feed)
        """,
    ),
    filled(
        "another name of a placeholder, under an if",
        """
        feed = {x: X[i:i + 9], y: Y[i:i + 9]}
        if i > 3:
            feed[other] = X[:9]
        sess.run(train, feed)
        """,
        "other = x\n",
        "placeholder-unclear",
    ),
    filled(
        "a test that reads the dict",
        """
        feed = {x: X[i:i + 9], y: Y[i:i + 9]}
        if rate not in feed:
            feed[rate] = 0.5
        sess.run(train, feed)
        """,
        "rate = tf.placeholder(tf.float32)\n",
    ),
    filled(
        "a branch that does more",
        """
        feed = {x: X[i:i + 9], y: Y[i:i + 9]}
        if i > 3:
            print(i)
            feed[rate] = 0.5
        sess.run(train, feed)
        """,
        "rate = tf.placeholder(tf.float32)\n",
    ),
    filled(
        "a test that changes the arrays",
        """
        feed = {x: X[i:i + 9], y: Y[i:i + 9]}
        if cleared(i):
            feed[rate] = 0.5
        sess.run(train, feed)
        """,
        "rate = tf.placeholder(tf.float32)\ndef cleared(i):\n    X[i + 1] = 0\n    return i\n",
        "source-changes",
    ),
    filled(
        "a test that draws as batches do",
        """
        feed = {x: np.random.rand(9, 4), y: Y[i:i + 9]}
        if np.random.rand() > 0.5:
            feed[rate] = 0.5
        sess.run(train, feed)
        """,
        "rate = tf.placeholder(tf.float32)\n",
        "shared-stream",
    ),
    filled(
        "something else is fed first",
        """
        feed[x] = X[i:i + 9]
        feed[y] = Y[i:i + 9]
        sess.run(train, feed)
        """,
        "feed = {x: X}\n",
        "placeholder-unclear",
    ),
    filled(
        "a batch that is fed first",
        """
        feed = {x: X[i:i + 9], y: Y[i:i + 9]}
        feed[x] = X[:i]
        sess.run(train, feed)
        """,
        reason="placeholder-unclear",
    ),
    filled(
        "a name that is bound again when it has been fed",
        """
        batch = X[i:i + 9]
        feed = {x: batch, y: Y[i:i + 9]}
        batch = batch * 2
        sess.run(train, feed)
        """,
        reason="batch-changes-state",
    ),
    filled(
        "rows that change when they have been taken",
        """
        batch = X[i:i + 9] * 2
        feed = {}
        feed[x] = batch + 1
        batch[0] = 0
        feed[y] = batch[:, :1]
        sess.run(train, feed)
        """,
        reason="batch-changes-state",
    ),
    filled(
        "draws in another order",
        """
        feed = {}
        feed[x] = np.random.rand(9, 4)
        labels = np.random.rand(9, 1)
        feed[y] = labels
        sess.run(train, feed)
        """,
        reason="batch-changes-state",
    ),
)

_RATE = _DATA + "rate = tf.placeholder(tf.float32)\n"
_FILLED = pipeline(_SLICES, "for i in range(100):\n    sess.run(train)\n")

test_rewritten_filled = bench(
    FeedDictToDataset,
    becomes(
        "a dict that is filled in the loop",
        """
        for i in range(100):
            feed = {}
            feed[x] = X[i:i + 9]
            feed[y] = Y[i:i + 9]
            sess.run(train, feed)
        """,
        _FILLED,
    ),
    becomes(
        "a dict that is made before the loop",
        """
        feed = {}
        for i in range(100):
            feed[x] = X[i:i + 9]
            feed[y] = Y[i:i + 9]
            sess.run(train, feed)
        """,
        _FILLED,
    ),
    becomes(
        "a dict of what stays the same",
        """
        feed = {rate: 0.5}
        for i in range(100):
            feed.update({x: X[i:i + 9], y: Y[i:i + 9]})
            sess.run(train, feed)
        """,
        "feed = {rate: 0.5}\n"
        + pipeline(_SLICES, "for i in range(100):\n    sess.run(train, feed)\n"),
        data=_RATE,
    ),
    becomes(
        "a rate that changes, beside it",
        """
        for i in range(100):
            feed = {x: X[i:i + 9]}
            feed[rate] = 1 / (i + 1)
            # the labels
            feed.update({y: Y[i:i + 9]})
            sess.run(train, feed)
        """,
        pipeline(
            _SLICES,
            """
            for i in range(100):
                feed = {}
                feed[rate] = 1 / (i + 1)
                # the labels
                sess.run(train, feed)
            """,
        ),
        data=_RATE,
    ),
    becomes(
        "a rate under an if",
        """
        for i in range(100):
            feed = {x: X[i:i + 9], y: Y[i:i + 9]}
            if i < 10:
                # slowly
                feed[rate] = 0.1
            elif i < 20:
                feed.update({rate: 0.2})
            else:
                feed[rate] = 0.5
            sess.run(train, feed)
        """,
        pipeline(
            _SLICES,
            """
            for i in range(100):
                feed = {}
                if i < 10:
                    # slowly
                    feed[rate] = 0.1
                elif i < 20:
                    feed.update({rate: 0.2})
                else:
                    feed[rate] = 0.5
                sess.run(train, feed)
            """,
        ),
        data=_RATE,
    ),
    becomes(
        "a rate now and then, in a dict that is made before",
        """
        feed = {rate: 0.1}
        for i in range(100):
            if i == 50:
                feed[rate] = 0.01
            feed[x] = X[i:i + 9]
            feed[y] = Y[i:i + 9]
            sess.run(train, feed)
        """,
        "feed = {rate: 0.1}\n"
        + pipeline(
            _SLICES,
            """
            for i in range(100):
                if i == 50:
                    feed[rate] = 0.01
                sess.run(train, feed)
            """,
        ),
        data=_RATE,
    ),
)


# Dicts that functions make


def helped(
    name: str, helper: str, call: str = "fill(i)", reason: str = "batch-code-not-seen", **parts: str
) -> Case:
    helper = textwrap.dedent(helper).lstrip()
    text = f"{helper}for i in range(9):\n    feed = {call}\n    sess.run(train, feed)\n"
    return refuses(name, script(text, **parts), reason=reason, shapes=("crlf", "tabs"))


test_refused_helpers = bench(
    FeedDictToDataset,
    helped(
        "one that gives back two dicts",
        """
        def fill(i):
            if i:
                return {x: X[i:i + 9], y: Y[i:i + 9]}
            return {x: X[:9], y: Y[:9]}
        """,
    ),
    helped(
        "one that may leave something out",
        """
        def fill(i, labels=None):
            feed = {x: X[i:i + 9]}
            if labels is not None:
                feed[y] = labels
            return feed
        """,
        "fill(i, Y[i:i + 9])",
    ),
    refused(
        "the keys of the dict",
        """
        def fill(i):
            return {x: X[i:i + 9], y: Y[i:i + 9]}
        for i in range(9):
            feed, other = fill(i)
            sess.run(train, feed)
        """,
        "batch-code-not-seen",
    ),
    helped(
        "one that hands the dict on",
        """
        seen = []
        def fill(i):
            feed = {x: X[i:i + 9]}
            seen.append(feed)
            feed[y] = Y[i:i + 9]
            return feed
        """,
    ),
    helped(
        "one that fills the dict in a loop",
        """
        def fill(i):
            feed = {x: X[i:i + 9]}
            for key in [y]:
                feed[key] = Y[i:i + 9]
            return feed
        """,
    ),
    helped(
        "arguments that are not seen",
        """
        def fill(i, part=0.5):
            return {x: X[i:i + 9], y: Y[i:i + 9], rate: part}
        given = [[i, 0.1] for i in range(9)]
        """,
        "fill(*given[i])",
        data=_RATE,
    ),
    helped(
        "arguments of a dict",
        """
        def fill(i, part=0.5):
            return {x: X[i:i + 9], y: Y[i:i + 9], rate: part}
        given = {'part': 0.1}
        """,
        "fill(i, **given)",
        data=_RATE,
    ),
    helped(
        "more arguments than it takes",
        """
        def fill(a, b):
            return {x: a, y: b}
        """,
        "fill(X[i:i + 9], Y[i:i + 9], i)",
    ),
    helped(
        "an argument that does something",
        """
        seen = []
        def noted(i):
            seen.append(i)
            return i
        def fill(a, b, i):
            return {x: a, y: b}
        """,
        "fill(X[i:i + 9], Y[i:i + 9], noted(i))",
    ),
    refused(
        "what it makes depends on the loop, and what it is given does not",
        """
        def fill(a, b, scale):
            return {x: a, y: b * scale}
        last = 1.0
        for i in range(9):
            last, _ = sess.run([loss, train], fill(X[i:i + 9], Y[i:i + 9], last))
        """,
        "depends-on-loop",
    ),
    refused(
        "something else is put into the dict afterwards",
        """
        def fill(i):
            return {x: X[i:i + 9], y: Y[i:i + 9]}
        for i in range(9):
            feed = fill(i)
            feed[x] = X[:9]
            sess.run(train, feed)
        """,
        "placeholder-unclear",
    ),
    helped(
        "one that prints",
        """
        def fill(i):
            print(i)
            return {x: X[i:i + 9], y: Y[i:i + 9]}
        """,
    ),
    helped(
        "one with a decorator",
        """
        @cached
        def fill(i):
            return {x: X[i:i + 9], y: Y[i:i + 9]}
        """,
    ),
    helped(
        "a key that has another name",
        """
        def fill(a, i):
            b = a
            return {b: X[i:i + 9], y: Y[i:i + 9]}
        """,
        "fill(x, i)",
    ),
    helped(
        "one that does more with a placeholder",
        """
        def fill(a, i):
            print(a)
            return {a: X[i:i + 9], y: Y[i:i + 9]}
        """,
        "fill(x, i)",
    ),
    helped(
        "one placeholder by two names",
        """
        def fill(a, i):
            return {a: X[i:i + 9], x: X[:9], y: Y[i:i + 9]}
        """,
        "fill(x, i)",
        reason="placeholder-unclear",
    ),
    helped(
        "one that fills the same array",
        """
        rows = np.zeros([9, 4])
        def fill(i):
            rows[:] = X[i:i + 9]
            return {x: rows, y: Y[i:i + 9]}
        """,
        reason="batch-changes-state",
    ),
    helped(
        "one that is given what a run gave",
        """
        def fill(i, a):
            return {x: X[i:i + 9] * a, y: Y[i:i + 9]}
        """,
        "fill(i, sess.run(loss))",
        "depends-on-loop",
    ),
    refused(
        "a dict that is used as well",
        """
        def fill(i):
            return {x: X[i:i + 9], y: Y[i:i + 9]}
        for i in range(9):
            feed = fill(i)
            sess.run(train, feed)
            print(sess.run(loss, feed))
        """,
        "batch-used",
    ),
    refused(
        "a name that is bound again",
        """
        def fill(i):
            return {x: X[i:i + 9], y: Y[i:i + 9]}
        for i in range(9):
            j = i * 2
            feed = fill(j)
            j = j + 1
            sess.run(train, feed)
        """,
        "batch-changes-state",
    ),
)


def _helped(made: str) -> str:
    lines = ("def batches():", "    for i in range(100):", f"        {made}")
    return "\n".join([*lines, "        yield feed[x], feed[y]\n"])


_FILL = """
def fill(i):
    return {x: X[i:i + 9], y: Y[i:i + 9]}
"""
_GIVEN = """
def give(a, b, part=0.5):
    return {x: a, y: b, rate: part}
"""
_GIVEN_SLICES = """
def batches():
    for i in range(100):
        bx, by = X[i:i + 9], Y[i:i + 9]
        yield bx, by
"""
_FILL_ON = """
def fill(i):
    feed = {}
    rows = slice(i, i + 9)
    feed[x] = X[rows]
    feed.update({y: Y[rows]})
    return feed
"""
_FILL_ALL = """
def fill(a, b, i, part=0.5):
    rows = X[i:i + 9]
    feed_dict = {a: rows, b: rows[:, :1], rate: part}
    return feed_dict
"""

test_rewritten_helpers = bench(
    FeedDictToDataset,
    becomes(
        "a dict that a function makes",
        _FILL + "for i in range(100):\n    sess.run(train, feed_dict=fill(i))\n",
        _FILL.lstrip()
        + pipeline(_helped("feed = fill(i)"), "for i in range(100):\n    sess.run(train)\n"),
    ),
    becomes(
        "a dict with a name that a function makes",
        _FILL + "for i in range(100):\n    feed = fill(i)\n    sess.run(train, feed)\n",
        _FILL.lstrip()
        + pipeline(_helped("feed = fill(i)"), "for i in range(100):\n    sess.run(train)\n"),
    ),
    becomes(
        "a function that is given the placeholders",
        _FILL_ALL + "for i in range(100):\n    sess.run(train, fill(x, y, i))\n",
        _FILL_ALL.lstrip()
        + pipeline(
            _helped("feed = fill(x, y, i)"),
            "for i in range(100):\n    sess.run(train, {rate: 0.5})\n",
        ),
        data=_RATE,
    ),
    becomes(
        "a rate that it is given",
        _FILL_ALL + "for i in range(100):\n    sess.run(train, fill(x, y, i, part=0.25))\n",
        _FILL_ALL.lstrip()
        + pipeline(
            _helped("feed = fill(x, y, i, part=0.25)"),
            "for i in range(100):\n    sess.run(train, {rate: 0.25})\n",
        ),
        data=_RATE,
    ),
    becomes(
        "a function that is given the batch",
        _GIVEN
        + textwrap.dedent("""\
        for i in range(100):
            bx, by = X[i:i + 9], Y[i:i + 9]
            sess.run(train, give(bx, by))
        """),
        _GIVEN.lstrip()
        + pipeline(_GIVEN_SLICES, "for i in range(100):\n    sess.run(train, {rate: 0.5})\n"),
        data=_RATE,
    ),
    becomes(
        "a rate that the loop changes",
        _GIVEN
        + textwrap.dedent("""\
        slow = 0.5
        for i in range(100):
            bx, by = X[i:i + 9], Y[i:i + 9]
            feed = give(bx, by, slow)
            _, slow = sess.run([train, loss], feed)
        """),
        _GIVEN.lstrip()
        + "slow = 0.5\n"
        + pipeline(
            _GIVEN_SLICES,
            """
            for i in range(100):
                feed = {rate: slow}
                _, slow = sess.run([train, loss], feed)
            """,
        ),
        refused=("depends-on-loop",),
        data=_RATE,
    ),
    becomes(
        "a function that fills the dict, which is filled on",
        _FILL_ON
        + textwrap.dedent("""\
        for i in range(100):
            feed = fill(i)
            feed[rate] = 1 / (i + 1)
            sess.run(train, feed)
        """),
        _FILL_ON.lstrip()
        + pipeline(
            _helped("feed = fill(i)"),
            """
            for i in range(100):
                feed = {}
                feed[rate] = 1 / (i + 1)
                sess.run(train, feed)
            """,
        ),
        data=_RATE,
    ),
    becomes(
        "labels that are put into the dict afterwards",
        """
        def fill(i):
            return {x: X[i:i + 9] * 2}
        for i in range(100):
            feed = fill(i)
            feed[y] = Y[i:i + 9]
            sess.run(train, feed)
        """,
        "def fill(i):\n    return {x: X[i:i + 9] * 2}\n"
        + pipeline(
            """
            def batches():
                for i in range(100):
                    feed = fill(i)
                    yield feed[x], Y[i:i + 9]
            """,
            "for i in range(100):\n    sess.run(train)\n",
        ),
    ),
)


# Methods that make the dict

_METHODS = """
class Model:
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.y = tf.placeholder(tf.float32, [None, 1])
        self.keep = tf.placeholder(tf.float32, [])
        self.rate = 0.5
        self.seen = 0
        loss = tf.reduce_mean(tf.square(tf.reduce_sum(self.x * self.keep) - self.y))
        self.loss = loss
    def feed(self, a, b, train=False):
        return {self.x: a, self.y: b, self.keep: self.rate if train else 1.0}
    def fit(self):
        with tf.Session() as sess:
            for i in range(100):
                bx, by = X[i:i + 9], Y[i:i + 9]
                print(sess.run(self.loss, self.feed(bx, by, True)))
Model().fit()
"""
_METHODS_AFTER = """
class Model:
    def __init__(self):
        self.batch_iterator = tf.data.Iterator.from_structure((tf.float32, tf.float32))
        next_x, next_y = self.batch_iterator.get_next()
        self.x = tf.placeholder_with_default(next_x, None)
        self.x.set_shape([None, 4])
        self.y = tf.placeholder_with_default(next_y, None)
        self.y.set_shape([None, 1])
        self.keep = tf.placeholder(tf.float32, [])
        self.rate = 0.5
        self.seen = 0
        loss = tf.reduce_mean(tf.square(tf.reduce_sum(self.x * self.keep) - self.y))
        self.loss = loss
    def feed(self, a, b, train=False):
        return {self.x: a, self.y: b, self.keep: self.rate if train else 1.0}
    def fit(self):
        with tf.Session() as sess:
            def batches():
                for i in range(100):
                    bx, by = X[i:i + 9], Y[i:i + 9]
                    yield bx, by
            start_batches = self.batch_iterator.make_initializer(
                tf.data.Dataset.from_generator(
                    batches, (self.x.dtype, self.y.dtype), (self.x.shape, self.y.shape)
                ).prefetch(1)
            )
            sess.run(start_batches)
            for i in range(100):
                print(sess.run(self.loss, {self.keep: self.rate}))
Model().fit()
"""
_MAKES = ("        return {self.x: a", "        a = a * 2\n        return {self.x: a")


def method(name: str, *changes: tuple[str, str], reason: str = "batch-code-not-seen") -> Case:
    graph = _METHODS
    for old, new in changes:
        assert old in graph
        graph = graph.replace(old, new)
    return refuses(name, script("", graph=graph), reason=reason, shapes=("crlf", "tabs"))


test_refused_methods = bench(
    FeedDictToDataset,
    method(
        "one that a subclass replaces",
        ("Model().fit()", "class Other(Model):\n    def feed(self, a, b, train):\n        pass\n"),
    ),
    method("one that is set on the object", ("Model().fit()", "m = Model()\nm.feed = Y\nm.fit()")),
    method(
        "an object by another name",
        ("feed(self, a", "feed(me, a"),
        ("        return {self.x", "        self = me\n        return {self.x"),
    ),
    method(
        "one that counts",
        ("        return {self.x", "        self.seen = self.seen + 1\n        return {self.x"),
    ),
    method(
        "one that counts, and makes some of the batch",
        _MAKES,
        ("        a = a", "        self.seen += 1\n        a = a"),
        reason="shared-state",
    ),
    method(
        "a property",
        ("if train else 1.0}", "}\n    @property\n    def rate(self):\n        return 1"),
        ("        self.rate = 0.5\n", ""),
    ),
    method(
        "what it reads is changed in the loop",
        _MAKES,
        ("a = a * 2", "a = a * self.seen"),
        ("                print(", "                self.seen = i\n                print("),
        reason="source-changes",
    ),
)

test_rewritten_methods = bench(
    FeedDictToDataset,
    found_elsewhere("a method that is given the batch", _METHODS, _METHODS_AFTER, "", ""),
    found_elsewhere(
        "a method that makes some of the batch",
        _METHODS.replace(*_MAKES),
        _METHODS_AFTER.replace(*_MAKES).replace(
            "yield bx, by",
            "feed_2 = self.feed(bx, by, True)\n                    yield feed_2[self.x], by",
        ),
        "",
        "",
    ),
)


# Bars around what the loop goes over

_TQDM = "from tqdm import tqdm, trange\n"


def barred(name: str, header: str, reason: str = "source-consumed", before: str = "") -> Case:
    loop = f"{before}{header}\n    sess.run(train, {{x: X[i:i + 9], y: Y[i:i + 9]}})\n"
    return refuses(name, script(loop, head=_TQDM), reason=reason, shapes=("crlf", "tabs"))


def bar(name: str, header: str, plain: str) -> Case:
    before = f"{header}\n    sess.run(train, {{x: X[i:i + 9], y: Y[i:i + 9]}})\n"
    slices = f"def batches():\n    {plain}\n        yield X[i:i + 9], Y[i:i + 9]\n"
    return becomes(name, before, pipeline(slices, f"{header}\n    sess.run(train)\n"), head=_TQDM)


test_refused_bars = bench(
    FeedDictToDataset,
    barred("a bar of the file", "for i in tqdm(range(9)):", before="def tqdm(a):\n    return a\n"),
    barred("a bar that has a name", "for i in shown:", before="shown = tqdm(range(9))\n"),
    barred("what is used up", "for i in tqdm(iter(range(9))):"),
    barred("what is not seen", "for i in tqdm(*given):", before="given = [range(9)]\n"),
    barred("a draw", "for i in tqdm(np.random.permutation(9)):"),
    barred(
        "a generator", "for i in tqdm(turns()):", before="def turns():\n    yield 1\n    yield 2\n"
    ),
    barred("another range", "for i in trange(9):", before="def range(n):\n    return [n]\n"),
    barred("a text that draws", "for i in tqdm(range(9), str(np.random.rand())):", "call-between"),
    barred(
        "a text that draws, beside a count",
        "for k, i in enumerate(trange(9, desc=random.random())):",
        "call-between",
    ),
)

test_rewritten_bars = bench(
    FeedDictToDataset,
    bar("a bar", "for i in tqdm(range(9)):", "for i in range(9):"),
    bar("a bar with a text", "for i in tqdm(range(9), desc='a'):", "for i in range(9):"),
    bar("a bar that counts up", "for i in trange(1, 9, desc='a'):", "for i in range(1, 9):"),
    bar(
        "a bar that is counted",
        "for k, i in enumerate(tqdm(range(9)), start=1):",
        "for k, i in enumerate(range(9), start=1):",
    ),
    bar("a bar over an array", "for i in tqdm(np.arange(9)):", "for i in np.arange(9):"),
)
