"""TFR102 where a run of its own fetches the batch: generators, and batches that are fed twice."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from fed_scripts import in_a_session
from rulebench import Case, bench, leaves_alone, refuses, rewrites
from tfrewrite.codemods.feed_dict_to_dataset import FeedDictToDataset

_HEAD = """
import numpy as np
import random
import tensorflow as tf
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
_PAIRS = """
def pairs():
    for i in range(9):
        yield X[i:i + 9], Y[i:i + 9]
"""
_ITERATOR = """
batch_iterator = tf.data.Dataset.from_generator(
    batches, (x.dtype, y.dtype)
).prefetch(1).make_initializable_iterator()
next_batch = batch_iterator.get_next()
"""
_AHEAD = """
def batches_ahead():
    sess.run(batch_iterator.initializer)
    while True:
        try:
            batch = sess.run(next_batch)
        except tf.errors.OutOfRangeError:
            return
        yield batch
"""


def script(*parts: str, graph: str = _GRAPH) -> str:
    """A script with arrays and a graph, and what comes after them."""
    return in_a_session(
        "".join(textwrap.dedent(part).lstrip("\n") for part in (_HEAD, graph, *parts))
    )


def refused(name: str, loop: str, reason: str, pairs: str = _PAIRS, graph: str = _GRAPH) -> Case:
    return refuses(name, script(pairs, loop, graph=graph), reason=reason)


test_refused = bench(
    FeedDictToDataset,
    refused(
        "a generator that is made before its loop, which may be taken up by others",
        """
        made = pairs()
        for bx, by in made:
            sess.run(train, {x: bx, y: by})
        """,
        "source-consumed",
    ),
    refused(
        "a generator beside a range, which may end first",
        """
        for i, (bx, by) in zip(range(5), pairs()):
            sess.run(train, {x: bx, y: by})
        """,
        "source-consumed",
    ),
    refused(
        "a loop with an else",
        """
        for bx, by in pairs():
            sess.run(train, {x: bx, y: by})
        else:
            print("done")
        """,
        "loop-not-counted",
    ),
    refused(
        "a loop that may be left, and a generator that draws",
        """
        for bx, by in pairs():
            value = sess.run([train, loss], {x: bx, y: by})[1]
            if value < 0.1:
                break
        """,
        "left-early",
        """
        def pairs():
            for i in range(9):
                chosen = np.random.randint(0, 1000, 9)
                yield X[chosen], Y[chosen]
        """,
    ),
    refused(
        "a generator that draws, and a loop that does",
        """
        for bx, by in pairs():
            sess.run(train, {x: bx, y: by})
            print(np.random.rand())
        """,
        "shared-stream",
        """
        def pairs():
            for i in range(9):
                chosen = np.random.randint(0, 1000, 9)
                yield X[chosen], Y[chosen]
        """,
    ),
    refused(
        "a generator that draws when it begins, of an order that it is given",
        """
        for bx, by in pairs(np.random.permutation(90)):
            sess.run(train, {x: bx, y: by})
            print(np.random.rand())
        """,
        "shared-stream",
        """
        def pairs(order):
            for i in order:
                yield X[i:i + 9], Y[i:i + 9]
        """,
    ),
    refused(
        "a generator that reads what the loop counts",
        """
        for bx, by in pairs():
            sess.run(train, {x: bx, y: by})
            scale = scale + 1
        """,
        "source-changes",
        """
        scale = 1
        def pairs():
            for i in range(9):
                yield X[i:i + 9] * scale, Y[i:i + 9]
        """,
    ),
    refused(
        "a generator that reads a list that the loop fills",
        """
        for bx, by in pairs():
            sess.run(train, {x: bx, y: by})
            if len(starts) < 9:
                starts.append(9)
        """,
        "source-changes",
        """
        starts = [0]
        def pairs():
            for i in starts:
                yield X[i:i + 9], Y[i:i + 9]
        """,
    ),
    refused(
        "a generator that reads the batch before",
        """
        bx = X[:9]
        for bx, by in pairs():
            sess.run(train, {x: bx, y: by})
        """,
        "batch-used",
        """
        def pairs():
            for i in range(9):
                yield X[i:i + 9] + np.mean(bx), Y[i:i + 9]
        """,
    ),
    refused(
        "a generator that is given what the turn sets",
        """
        start = 0
        for bx, by in pairs(start):
            start = len(bx)
            rows = bx[:start]
            sess.run(train, {x: rows, y: by})
        """,
        "depends-on-loop",
        """
        def pairs(first):
            for i in range(first, 9):
                yield X[i:i + 9], Y[i:i + 9]
        """,
    ),
    refused(
        "a generator that raises what ends others",
        """
        for bx, by in pairs():
            sess.run(train, {x: bx, y: by})
        """,
        "batch-code-not-seen",
        """
        def pairs():
            yield X[:9], Y[:9]
            raise StopIteration
        """,
    ),
    refused(
        "a generator that runs the graph",
        """
        for bx, by in pairs():
            sess.run(train, {x: bx, y: by})
        """,
        "batch-code-not-seen",
        """
        def pairs():
            for i in range(9):
                yield X[i:i + 9], sess.run(loss, {x: X[:9], y: Y[:9]})
        """,
    ),
    refused(
        "more of the batch is made once its dict is there",
        """
        for i in range(9):
            rows = slice(i, i + 9)
            feed = {x: X[rows], y: Y[rows]}
            rows = slice(0, 9)
            sess.run(train, feed)
            print(sess.run(loss, feed))
        """,
        "batch-changes-state",
    ),
    refused(
        "a batch is sorted in place once its dict is there",
        """
        for i in range(9):
            bx, by = X[i:i + 9] + 1, Y[i:i + 9]
            feed = {x: bx, y: by}
            bx.sort()
            sess.run(train, feed)
            print(sess.run(loss, feed))
        """,
        "batch-changes-state",
    ),
    refused(
        "a generator that fills one array for all batches",
        """
        for bx in pairs():
            sess.run(train, {x: bx, y: Y[:9]})
        """,
        "batch-changes-state",
        """
        def pairs():
            rows = np.zeros((9, 4))
            for i in range(9):
                rows[:] = X[i:i + 9]
                yield rows
        """,
    ),
    refused(
        "a generator that cleans up when it is left",
        """
        for bx, by in pairs():
            sess.run(train, {x: bx, y: by})
            break
        """,
        "batch-code-not-seen",
        """
        def pairs():
            try:
                for i in range(9):
                    yield X[i:i + 9], Y[i:i + 9]
            finally:
                print("left")
        """,
    ),
    refused(
        "an exception of the generator that is caught",
        """
        try:
            for bx, by in pairs():
                sess.run(train, {x: bx, y: by})
        except IndexError:
            print("no")
        """,
        "inside-try",
    ),
    refused(
        "a third part of the batch that is shown",
        """
        for bx, name, by in pairs():
            sess.run(train, {x: bx, y: by})
            print(name)
        """,
        "batch-used",
        """
        def pairs():
            for i in range(9):
                yield X[i:i + 9], "rows %d" % i, Y[i:i + 9]
        """,
    ),
    refused(
        "a batch that is shown",
        """
        for bx, by in pairs():
            sess.run(train, {x: bx, y: by})
            print(bx)
        """,
        "batch-used",
    ),
    refused(
        "a batch that is fed after the loop, when its array may be another",
        """
        for bx, by in pairs():
            sess.run(train, {x: bx, y: by})
        X[:] = 1
        print(sess.run(loss, {x: bx, y: by}))
        """,
        "batch-used",
    ),
    refused(
        "a batch whose second run may be left out, and then have no second part",
        """
        for bx, by in pairs():
            print(sess.run(w, {x: bx}))
            if by is not None:
                sess.run(train, {x: bx, y: by})
        """,
        "batch-used",
    ),
    refused(
        "a batch for placeholders of two types",
        """
        for i in range(9):
            bx = X[i:i + 9]
            sess.run(train, {x: bx, y: Y[i:i + 9]})
            print(sess.run(total, {exact: bx}))
        """,
        "batch-used",
        graph=_GRAPH
        + "exact = tf.placeholder(tf.float64, [None, 4])\ntotal = tf.reduce_sum(exact)\n",
    ),
    refused(
        "a dict that is shown",
        """
        for i in range(9):
            feed = {x: X[i:i + 9], y: Y[i:i + 9]}
            sess.run(train, feed)
            print(len(feed), sess.run(loss, feed))
        """,
        "batch-used",
    ),
    refused(
        "a dict that is changed before the second run",
        """
        for i in range(9):
            feed = {x: X[i:i + 9], y: Y[i:i + 9]}
            sess.run(train, feed)
            feed[y] = Y[:9]
            print(sess.run(loss, feed))
        """,
        "batch-used",
    ),
    refused(
        "a batch that is changed between its runs",
        """
        for i in range(9):
            bx, by = X[i:i + 9] * 2, Y[i:i + 9]
            sess.run(train, {x: bx, y: by})
            bx += 1
            print(sess.run(loss, {x: bx, y: by}))
        """,
        "batch-used",
    ),
    refused(
        "ops are counted after the loop",
        """
        for bx, by in pairs():
            sess.run(train, {x: bx, y: by})
        print(len(sess.graph.get_operations()))
        """,
        "graph-read",
    ),
    refused(
        "a tensor is looked up by its name after the loop",
        """
        for bx, by in pairs():
            sess.run(train, {x: bx, y: by})
        print(sess.run(tf.get_default_graph().get_tensor_by_name("Const_3:0")))
        """,
        "graph-read",
    ),
    refuses(
        "a generator of an object that the loop looks at",
        script(
            """
            class Reader:
                def __init__(self):
                    self.epoch = 0
                def pairs(self):
                    self.epoch = self.epoch + 1
                    for i in range(9):
                        yield X[i:i + 9] * self.epoch, Y[i:i + 9]
            reader = Reader()
            for bx, by in reader.pairs():
                sess.run(train, {x: bx, y: by})
                print(reader.epoch)
            """
        ),
        reason="shared-state",
        shapes=("crlf", "tabs"),
    ),
    refuses(
        "a generator of the loop's own object that counts, as others may see",
        script(
            """
            class Model:
                def __init__(self):
                    self.epoch = 0
                def pairs(self):
                    self.epoch = self.epoch + 1
                    for i in range(9):
                        yield X[i:i + 9] * self.epoch, Y[i:i + 9]
                def fit(self):
                    for bx, by in self.pairs():
                        sess.run(train, {x: bx, y: by})
                        seen()
            model = Model()
            def seen():
                print(model.epoch)
            model.fit()
            """
        ),
        reason="shared-state",
        shapes=("crlf", "tabs"),
    ),
    refuses(
        "a generator of the loop's own object, whose array others give it anew",
        script(
            """
            class Model:
                def __init__(self):
                    self.data = X
                def pairs(self):
                    for i in range(9):
                        yield self.data[i:i + 9], Y[i:i + 9]
                def fit(self):
                    for bx, by in self.pairs():
                        sess.run(train, {x: bx, y: by})
                        change()
            model = Model()
            def change():
                model.data = X + 1
            model.fit()
            """
        ),
        reason="source-changes",
        shapes=("crlf", "tabs"),
    ),
    refuses(
        "a generator that another class may have another of",
        script(
            """
            class Model:
                def pairs(self):
                    for i in range(9):
                        yield X[i:i + 9], Y[i:i + 9]
                def fit(self):
                    for bx, by in self.pairs():
                        sess.run(train, {x: bx, y: by})
            class Other(Model):
                def pairs(self):
                    print("other")
                    yield X, Y
            Other().fit()
            """
        ),
        reason="batch-code-not-seen",
        shapes=("crlf", "tabs"),
    ),
    refuses(
        "a name that other functions see",
        script(
            _PAIRS,
            """
            def fit():
                global bx
                for bx, by in pairs():
                    sess.run(train, {x: bx, y: by})
            fit()
            """,
        ),
        reason="batch-used",
        shapes=("crlf", "tabs"),
    ),
    leaves_alone(
        "a batch that a run fetches already",
        script(
            _PAIRS,
            "def batches():\n    for bx, by in pairs():\n        yield bx, by\n",
            _ITERATOR,
            _AHEAD,
            "for bx, by in batches_ahead():\n    sess.run(train, {x: bx, y: by})\n",
        ),
    ),
)


def becomes(
    name: str, generator: str, before: str, after: str, *, pairs: str = _PAIRS,
    graph: str = _GRAPH, made: str = _ITERATOR,
    shapes: Sequence[str] = ("main", "crlf", "tabs", "function"),
) -> Case:  # fmt: skip
    """A loop that gets its batches from a pipeline, which goes over what `generator` does."""
    text = textwrap.dedent(generator).lstrip("\n")
    comment = "".join(line for line in text.splitlines(keepends=True) if line.startswith("#"))
    batches = f"{comment}def batches():\n{textwrap.indent(text.removeprefix(comment), '    ')}"
    return rewrites(
        name,
        script(pairs, before, graph=graph),
        script(pairs, batches, made, after, graph=graph),
        contract="exact",
        shapes=shapes,
    )


def goes_on(loop: str) -> str:
    """What becomes of a loop over a generator."""
    return _AHEAD.lstrip("\n") + textwrap.dedent(loop).lstrip("\n")


_ONE = _ITERATOR.replace("(x.dtype, y.dtype)", "x.dtype")

test_rewritten = bench(
    FeedDictToDataset,
    becomes(
        "a loop over a generator",
        """
        for bx, by in pairs():
            yield bx, by
        """,
        """
        # learn
        for bx, by in pairs():
            sess.run(train, {x: bx, y: by})  # one step
        """,
        goes_on(
            """
            # learn
            for bx, by in batches_ahead():
                sess.run(train, {x: bx, y: by})  # one step
            """
        ),
    ),
    becomes(
        "epochs, a count, and the loss of the same batch now and then",
        """
        for i, (bx, by) in enumerate(pairs(), 1):
            yield bx, by
        """,
        """
        for epoch in range(3):
            for i, (bx, by) in enumerate(pairs(), 1):
                sess.run(train, {x: bx, y: by})
                if i % 5 == 0:
                    print(epoch, len(bx), sess.run(loss, {x: bx, y: by}))
            print(i)
        """,
        goes_on(
            """
            for epoch in range(3):
                for i, (bx, by) in enumerate(batches_ahead(), 1):
                    sess.run(train, {x: bx, y: by})
                    if i % 5 == 0:
                        print(epoch, len(bx), sess.run(loss, {x: bx, y: by}))
                print(i)
            """
        ),
    ),
    becomes(
        "a batch that is taken apart in the turn, and a name that nobody reads",
        """
        for name, batch in pairs():
            bx, by = batch
            yield bx, by
        """,
        """
        for name, batch in pairs():
            bx, by = batch
            feed = {x: bx, y: by}
            sess.run(train, feed)
            print(sess.run(loss, feed))
        """,
        goes_on(
            """
            for bx, by in batches_ahead():
                feed = {x: bx, y: by}
                sess.run(train, feed)
                print(sess.run(loss, feed))
            """
        ),
        pairs="""
        def pairs():
            for i in range(9):
                yield "batch %d" % i, (X[i:i + 9], Y[i:i + 9])
        """,
    ),
    becomes(
        "parts of a batch, and the number of the turn",
        """
        for i, batch in enumerate(pairs()):
            yield batch[0], batch[1]
        """,
        """
        for i, batch in enumerate(pairs()):
            print(i, sess.run([loss, train], {x: batch[0], y: batch[1]}))
        """,
        goes_on(
            """
            for i, (next_x, next_y) in enumerate(batches_ahead()):
                print(i, sess.run([loss, train], {x: next_x, y: next_y}))
            """
        ),
    ),
    becomes(
        "a generator that goes over another, and draws",
        """
        for bx in doubled(9):
            yield bx
        """,
        """
        for bx in doubled(9):
            print(sess.run(total, {x: bx}))
        """,
        goes_on(
            """
            for bx in batches_ahead():
                print(sess.run(total, {x: bx}))
            """
        ),
        pairs="""
        def rows(size):
            for i in range(9):
                chosen = np.random.randint(0, 1000, size)
                yield X[chosen]
        def doubled(size):
            for one in rows(size):
                yield one * 2
        """,
        graph=_GRAPH + "total = tf.reduce_sum(x)\n",
        made=_ONE,
    ),
    becomes(
        "a generator that collects rows in lists",
        """
        for bx, by in rows():
            yield bx, by
        """,
        """
        for bx, by in rows():
            sess.run(train, {x: bx, y: by})
        """,
        goes_on(
            """
            for bx, by in batches_ahead():
                sess.run(train, {x: bx, y: by})
            """
        ),
        pairs="""
        def rows():
            bx, by = [], []
            for i in range(90):
                bx.append(X[i])
                by.append(Y[i])
                if len(bx) == 9:
                    yield bx, by
                    bx, by = [], []
        """,
    ),
    becomes(
        "two updates with one batch",
        """
        # rows
        for i in range(9):
            chosen = np.random.randint(0, 1000, 9)
            bx, by = X[chosen], Y[chosen]
            yield bx, by
        """,
        """
        for i in range(9):
            # rows
            chosen = np.random.randint(0, 1000, 9)
            bx, by = X[chosen], Y[chosen]
            _, a = sess.run([train, loss], {x: bx, y: by})
            _, b = sess.run([train, loss], {x: bx, y: by})
            print(a, b)
        """,
        """
        sess.run(batch_iterator.initializer)
        for i in range(9):
            bx, by = sess.run(next_batch)
            _, a = sess.run([train, loss], {x: bx, y: by})
            _, b = sess.run([train, loss], {x: bx, y: by})
            print(a, b)
        """,
    ),
    becomes(
        "a loss before the update, now and then, in epochs",
        """
        for i in range(9):
            start = i * 9
            bx, by = X[start:start + 9], Y[start:start + 9]
            yield bx, by
        """,
        """
        for epoch in range(3):
            for i in range(9):
                start = i * 9
                bx, by = X[start:start + 9], Y[start:start + 9]
                if i % 2 == 0:
                    print(start, loss.eval({x: bx, y: by}))
                train.run({x: bx, y: by})
        """,
        """
        for epoch in range(3):
            tf.get_default_session().run(batch_iterator.initializer)
            for i in range(9):
                start = i * 9
                bx, by = tf.get_default_session().run(next_batch)
                if i % 2 == 0:
                    print(start, loss.eval({x: bx, y: by}))
                train.run({x: bx, y: by})
        """,
        graph=_GRAPH.replace("tf.Session()", "tf.InteractiveSession()"),
        shapes=("main", "crlf", "tabs"),
    ),
    becomes(
        "a dict that two runs use",
        """
        for i in range(9):
            yield X[i:i + 9], Y[i:i + 9]
        """,
        """
        for i in range(9):
            feed = {x: X[i:i + 9], y: Y[i:i + 9], keep: 0.5}
            sess.run(train, feed)
            print(sess.run(loss, feed_dict=feed))
        """,
        """
        sess.run(batch_iterator.initializer)
        for i in range(9):
            next_x, next_y = sess.run(next_batch)
            feed = {x: next_x, y: next_y, keep: 0.5}
            sess.run(train, feed)
            print(sess.run(loss, feed_dict=feed))
        """,
        graph=_GRAPH + "keep = tf.placeholder(tf.float32)\n",
    ),
    becomes(
        "a critic's loss beside a clip of its weights, and another run with the batch",
        """
        for bx, by in pairs():
            yield bx, by
        """,
        """
        for bx, by in pairs():
            _, l, _ = sess.run([train, loss, clip], {x: bx, y: by})
            print(l, sess.run(loss, {x: bx, y: by}))
        """,
        goes_on(
            """
            for bx, by in batches_ahead():
                _, l, _ = sess.run([train, loss, clip], {x: bx, y: by})
                print(l, sess.run(loss, {x: bx, y: by}))
            """
        ),
        graph=_GRAPH + "clip = w.assign(tf.clip_by_value(w, -0.01, 0.01))\n",
    ),
    rewrites(
        "a generator of the loop's own object",
        script(
            """
            class Model:
                def __init__(self):
                    self.data = X
                def rows(self, i):
                    return self.data[i:i + 9]
                def pairs(self):
                    for i in range(9):
                        yield self.rows(i), Y[i:i + 9]
                def fit(self):
                    for bx, by in self.pairs():
                        sess.run(train, {x: bx, y: by})
            Model().fit()
            """
        ),
        script(
            """
            class Model:
                def __init__(self):
                    self.data = X
                def rows(self, i):
                    return self.data[i:i + 9]
                def pairs(self):
                    for i in range(9):
                        yield self.rows(i), Y[i:i + 9]
                def fit(self):
                    def batches():
                        for bx, by in self.pairs():
                            yield bx, by
                    batch_iterator = tf.data.Dataset.from_generator(
                        batches, (x.dtype, y.dtype)
                    ).prefetch(1).make_initializable_iterator()
                    next_batch = batch_iterator.get_next()
                    def batches_ahead():
                        sess.run(batch_iterator.initializer)
                        while True:
                            try:
                                batch = sess.run(next_batch)
                            except tf.errors.OutOfRangeError:
                                return
                            yield batch
                    for bx, by in batches_ahead():
                        sess.run(train, {x: bx, y: by})
            Model().fit()
            """
        ),
        contract="exact",
        shapes=("crlf", "tabs"),
    ),
)
