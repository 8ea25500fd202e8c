"""TFR101: which runs of a step become one, and which must not."""

from __future__ import annotations

import textwrap

from rulebench import Case, bench, leaves_alone, offers, refuses, rewrites
from tfrewrite.codemods.merge_session_runs import MergeSessionRuns

GRAPH = """\
import contextlib
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 8])
y = tf.placeholder(tf.int64, [None])
w = tf.Variable(tf.truncated_normal([8, 4]))
b = tf.Variable(tf.zeros([4]))
hidden = tf.nn.relu(tf.matmul(x, w) + b)
logits = tf.layers.dense(hidden, 3)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
"""


def step(body: str, graph: str = "", before: str = "", after: str = "") -> str:
    """A training script: the graph, more of it, and a loop over batches with the given body."""
    loop = "with tf.Session() as sess:\n    sess.run(tf.global_variables_initializer())\n"
    loop += textwrap.indent(textwrap.dedent(before), "    ")
    loop += "    for images, labels in batches:\n"
    loop += textwrap.indent(textwrap.dedent(body).removeprefix("\n"), "        ")
    loop += textwrap.indent(textwrap.dedent(after), "    ")
    return GRAPH + textwrap.dedent(graph) + loop


READS = """
    l = sess.run(loss, {x: images, y: labels})
    a = sess.run(accuracy, {x: images, y: labels})
"""

MERGED = """
    l = sess.run(loss, {x: images, y: labels})
    s = sess.run(merged, {x: images, y: labels})
"""

SHOWN = """
def show(name, value):
    with tf.name_scope("summaries"):
        tf.summary.scalar("mean/" + name, tf.reduce_mean(value))
        tf.summary.histogram(name, value)

tf.summary.scalar("loss", loss)
"""


# Who calls a function is to be seen, since the caller may have made summaries.
CALLED = ("main", "crlf", "tabs")


def shown(more: str) -> str:
    """Code that makes summaries, these more and collects them."""
    return f"{SHOWN}{more}merged = tf.summary.merge_all()\n"


CLIPPED = """
tvars = tf.trainable_variables()
grads, _ = tf.clip_by_global_norm(tf.gradients(loss, tvars), 5.0)
clipped_op = tf.train.AdamOptimizer(0.01).apply_gradients(zip(grads, tvars))
"""

TRAPS = [
    leaves_alone(
        "another feed",
        step("""
            l = sess.run(loss, {x: images, y: labels})
            a = sess.run(accuracy, {x: test_images, y: labels})
        """),
    ),
    leaves_alone(
        "a feed with the same keys, one of them twice and in another order",
        step("""
            l = sess.run(loss, {x: images, x: labels})
            a = sess.run(accuracy, {x: labels, x: images})
        """),
    ),
    leaves_alone(
        "a run under an if",
        step("""
            sess.run(train_op, {x: images, y: labels})
            if step % 100 == 0:
                l = sess.run(loss, {x: images, y: labels})
                a = sess.run(accuracy, {x: images, y: labels})
        """),
    ),
    leaves_alone("one run only", step("l = sess.run(loss, {x: images, y: labels})\n")),
    leaves_alone(
        "outside any loop, without a feed",
        GRAPH + "sess = tf.Session()\nfirst = sess.run(w)\nsecond = sess.run(b)\n",
    ),
    leaves_alone(
        "runs in a comprehension",
        step("""
            l = [sess.run(loss, {x: images, y: labels}) for _ in range(3)]
            a = [sess.run(accuracy, {x: images, y: labels}) for _ in range(3)]
        """),
    ),
    leaves_alone(
        "something else that has a run method",
        step("""
            l = runner.run(loss, {x: images, y: labels})
            a = runner.run(accuracy, {x: images, y: labels})
        """),
    ),
    refuses(
        "a TensorFlow that is not TensorFlow",
        step(READS).replace("import tensorflow as tf", "import tensorflow\nimport fake as tf"),
        reason="session-unknown",
    ),
    refuses(
        "a session whose kind is not known",
        step(READS).replace("tf.Session()", "make_session()"),
        reason="session-unknown",
    ),
    refuses(
        "a session with hooks",
        step(READS).replace("tf.Session()", "tf.train.MonitoredTrainingSession()"),
        reason="hooked-session",
    ),
    refuses(
        "a session class that the script puts in TensorFlow's place",
        step(READS, graph="tf.Session = Recorder\n"),
        reason="session-unknown",
    ),
    refuses(
        "a run with options of its own",
        step("""
            l = sess.run(loss, {x: images, y: labels}, options=trace, run_metadata=metadata)
            a = sess.run(accuracy, {x: images, y: labels})
        """),
        reason="run-options",
    ),
    refuses(
        "a feed that is drawn anew",
        step("""
            l = sess.run(loss, {x: data.next_batch(), y: labels})
            a = sess.run(accuracy, {x: data.next_batch(), y: labels})
        """),
        reason="feed-not-repeatable",
    ),
    refuses(
        "a feed that a class of the file makes an array of",
        step(
            """
            l = sess.run(loss, feed)
            a = sess.run(accuracy, feed)
            """,
            graph="""
            class Batch:
                def __array__(self, dtype=None):
                    return next(batches)
            feed = {x: Batch(), y: labels}
            """,
        ),
        reason="feed-not-repeatable",
    ),
    refuses(
        "a feed of an object that gives its items",
        step(
            """
            l = sess.run(loss, {x: batch, y: labels})
            a = sess.run(accuracy, {x: batch, y: labels})
            """,
            graph="""
            class Batch:
                def __len__(self):
                    return 2

                def __getitem__(self, index):
                    return next(rows)
            batch = Batch()
            """,
        ),
        reason="feed-not-repeatable",
    ),
    refuses(
        "a feed that the script's own function draws",
        step(
            """
            l = sess.run(loss, fill())
            a = sess.run(accuracy, fill())
            """,
            graph="""
            def fill():
                return {x: next(images), y: next(labels)}
            """,
        ),
        reason="feed-not-repeatable",
    ),
    refuses(
        "dropout beneath",
        step(READS, graph="loss = tf.reduce_mean(tf.nn.dropout(loss * logits, 0.5))\n"),
        reason="random-beneath",
    ),
    refuses(
        "dropout in a function of the script",
        step(
            READS,
            graph="""
            def head(z):
                with tf.name_scope("head"):
                    return tf.layers.dropout(z, 0.5, training=True)
            accuracy = tf.reduce_mean(head(logits))
            """,
        ),
        reason="random-beneath",
    ),
    refuses(
        "noise on one way through an if",
        step(
            READS,
            graph="""
            if noisy:
                logits = logits + tf.random_normal([3])
            accuracy = tf.reduce_mean(logits)
            """,
        ),
        reason="random-beneath",
    ),
    refuses(
        "noise put into a list of fetches",
        step(
            """
            l = sess.run(loss, {x: images, y: labels})
            a = sess.run(extra, {x: images, y: labels})
            """,
            graph="""
            extra = [accuracy]
            extra.append(tf.random_uniform([]))
            """,
        ),
        reason="random-beneath",
    ),
    refuses(
        "noise put into a list by subscript",
        step(
            """
            l = sess.run(loss, {x: images, y: labels})
            a = sess.run(extra, {x: images, y: labels})
            """,
            graph="extra = [accuracy]\nextra[0] = tf.random_uniform([])\n",
        ),
        reason="random-beneath",
    ),
    refuses(
        "a list that another function may change",
        step(
            """
            l = sess.run(loss, {x: images, y: labels})
            a = sess.run(extra, {x: images, y: labels})
            """,
            graph="extra = [accuracy]\nregister(extra)\n",
        ),
        reason="fetch-not-traced",
    ),
    refuses(
        "an element of an iterator",
        step(
            READS,
            graph="""
            element = tf.data.Dataset.range(9).make_one_shot_iterator().get_next()
            accuracy = tf.reduce_mean(logits) * tf.cast(element, tf.float32)
            """,
        ),
        reason="iterator-beneath",
    ),
    refuses(
        "a streaming metric",
        step(READS, graph="_, accuracy = tf.metrics.accuracy(y, tf.argmax(logits, 1))\n"),
        reason="writes-state",
    ),
    refuses(
        "a counter by control dependency",
        step(
            READS,
            graph="""
            seen = tf.Variable(0)
            with tf.control_dependencies([tf.assign_add(seen, 1)]):
                accuracy = tf.identity(loss)
            """,
        ),
        reason="writes-state",
    ),
    refuses(
        "a counter by control dependency around the call of a function",
        step(
            READS,
            graph="""
            seen = tf.Variable(0)
            def same(value):
                return tf.identity(value)
            with tf.control_dependencies([tf.assign_add(seen, 1)]):
                accuracy = same(loss)
            """,
        ),
        reason="writes-state",
    ),
    refuses(
        "Python code beneath",
        step(READS, graph="accuracy = tf.py_func(measure, [logits], tf.float32)\n"),
        reason="fetch-not-traced",
    ),
    refuses(
        "printing beneath",
        step(READS, graph="accuracy = tf.Print(accuracy, [accuracy])\n"),
        reason="host-effect-beneath",
    ),
    refuses(
        "a fetch from another module",
        step(READS, graph="from model import accuracy\n"),
        reason="fetch-not-traced",
    ),
    refuses(
        "a fetch by name",
        step("""
            l = sess.run("loss:0", {x: images, y: labels})
            a = sess.run(accuracy, {x: images, y: labels})
        """),
        reason="fetch-not-traced",
    ),
    refuses(
        "all summaries of the graph",
        step(READS, graph="accuracy = tf.summary.merge_all()\n"),
        reason="fetch-not-traced",
    ),
    refuses(
        "summaries, and one with noise that a helper makes",
        step(
            MERGED,
            graph=shown("show('noise', tf.nn.dropout(hidden, 0.5))\n"),
        ),
        shapes=CALLED,
        reason="random-beneath",
    ),
    refuses(
        "summaries, and a queue that comes with one of its own",
        step(
            MERGED,
            graph=shown("queue = tf.train.batch([tf.constant(1.0)], 2)\n"),
        ),
        reason="fetch-not-traced",
    ),
    refuses(
        "summaries, and a function of another module before them",
        step(
            MERGED,
            graph=shown("import model\nmodel.more(loss)\n"),
        ),
        reason="fetch-not-traced",
    ),
    refuses(
        "the histogram of a weight before the update",
        step(
            """
            s = sess.run(merged, {x: images, y: labels})
            sess.run(train_op, {x: images, y: labels})
            """,
            graph=shown("show('weights', w)\n"),
        ),
        shapes=CALLED,
        reason="races-with-update",
    ),
    refuses(
        "a shared weight in the summaries of the function's first call",
        GRAPH
        + textwrap.dedent("""
        def train(batches):
            out = tf.matmul(x, w)
            tf.summary.histogram("out", out)
            step = tf.train.AdamOptimizer().minimize(tf.reduce_mean(tf.square(out)))
            merged = tf.summary.merge_all()
            with tf.Session() as sess:
                for images in batches:
                    s = sess.run(merged, {x: images})
                    sess.run(step, {x: images})

        train(first)
        train(second)
        """),
        shapes=CALLED,
        reason="races-with-update",
    ),
    refuses(
        "a histogram, which fails for what is no number, and a line that was printed before",
        step(
            """
            l = sess.run(loss, {x: images, y: labels})
            print(l)
            s = sess.run(merged, {x: images, y: labels})
            """,
            graph=shown("show('hidden', hidden)\n"),
        ),
        shapes=CALLED,
        reason="call-between",
    ),
    refuses(
        "an operation made for the fetch",
        step("""
            l = sess.run(loss, {x: images, y: labels})
            a = sess.run(tf.argmax(logits, 1), {x: images, y: labels})
        """),
        reason="fetch-builds-graph",
    ),
    refuses(
        "fetches that operators make anew",
        """
        import tensorflow as tf
        x = tf.placeholder(tf.float32, [None])
        most = tf.reduce_max(x)
        least = tf.reduce_min(x)
        with tf.Session() as sess:
            for i in range(10):
                print(sess.run(most + 1, {x: [1.0]}))
                print(sess.run(least * 2, {x: [1.0]}))
        """,
        reason="fetch-builds-graph",
    ),
    refuses(
        "a fetch that a global statement may replace",
        step(
            READS,
            graph="""
            def rebuild():
                global accuracy
                accuracy = tf.random_normal([])
            """,
        ),
        reason=("fetch-not-traced",),
        shapes=("crlf", "tabs"),
    ),
    refuses(
        "the fed array changed in place between the runs",
        step("""
            l = sess.run(loss, {x: images, y: labels})
            images[0] = 0
            a = sess.run(accuracy, {x: images, y: labels})
        """),
        reason="feed-changes",
    ),
    refuses(
        "the fed array changed through another name",
        step("""
            view = images
            l = sess.run(loss, {x: images, y: labels})
            view += 1
            a = sess.run(accuracy, {x: images, y: labels})
        """),
        reason="feed-changes",
    ),
    refuses(
        "the fed array shuffled",
        step("""
            l = sess.run(loss, {x: images, y: labels})
            np.random.shuffle(images)
            a = sess.run(accuracy, {x: images, y: labels})
        """),
        reason="feed-changes",
    ),
    refuses(
        "the fed array written by numpy's output argument",
        step("""
            l = sess.run(loss, {x: images, y: labels})
            np.add(images, 1, out=images)
            a = sess.run(accuracy, {x: images, y: labels})
        """),
        reason="call-between",
    ),
    refuses(
        "the same, by position",
        step("""
            l = sess.run(loss, {x: images, y: labels})
            np.exp(images, images)
            a = sess.run(accuracy, {x: images, y: labels})
        """),
        reason="call-between",
    ),
    refuses(
        "the feed dict gets another entry",
        step("""
            fd = {x: images, y: labels}
            l = sess.run(loss, fd)
            fd[x] = test_images
            a = sess.run(accuracy, fd)
        """),
        reason="feed-changes",
    ),
    refuses(
        "the feed dict is bound anew",
        step("""
            fd = {x: images, y: labels}
            l = sess.run(loss, fd)
            fd = {x: test_images, y: labels}
            a = sess.run(accuracy, fd)
        """),
        reason="rebound-between",
    ),
    refuses(
        "a feed that the first result takes part in",
        step("""
            l = sess.run(loss, {x: images, y: labels})
            images = images + l
            a = sess.run(accuracy, {x: images, y: labels})
        """),
        reason="rebound-between",
    ),
    refuses(
        "the first run's result is the second run's feed",
        step(
            """
            images = sess.run(hidden, {x: images})
            again = sess.run(logits, {x: images})
            """
        ),
        reason="rebound-between",
    ),
    refuses(
        "an unknown call between",
        step("""
            l = sess.run(loss, {x: images, y: labels})
            callback(l)
            a = sess.run(accuracy, {x: images, y: labels})
        """),
        reason="call-between",
    ),
    refuses(
        "a function of the script that runs the graph",
        step(
            """
            l = sess.run(loss, {x: images, y: labels})
            note(l)
            a = sess.run(accuracy, {x: images, y: labels})
            """,
            graph="""
            def note(value):
                tf.get_default_session().run(train_op)
            """,
        ),
        reason="call-between",
    ),
    refuses(
        "a generator that is looped over between",
        step(
            """
            l = sess.run(loss, {x: images, y: labels})
            n = sum(steps)
            a = sess.run(accuracy, {x: images, y: labels})
            """,
            graph="""
            def walk():
                yield sess.run(train_op)
            steps = walk()
            """,
        ),
        reason="call-between",
    ),
    refuses(
        "printing an object that knows how to print itself",
        step(
            """
            l = sess.run(loss, {x: images, y: labels})
            print(spy)
            a = sess.run(accuracy, {x: images, y: labels})
            """,
            graph="""
            class Spy:
                def __str__(self):
                    return str(sess.run(train_op))
            spy = Spy()
            """,
        ),
        reason="call-between",
    ),
    refuses(
        "a variable loaded between",
        step("""
            l = sess.run(loss, {x: images, y: labels})
            w.load(best, sess)
            a = sess.run(accuracy, {x: images, y: labels})
        """),
        reason="call-between",
    ),
    refuses(
        "an update with another feed between",
        step("""
            l = sess.run(loss, {x: images, y: labels})
            sess.run(train_op, {x: other, y: labels})
            a = sess.run(accuracy, {x: images, y: labels})
        """),
        reason="run-between",
    ),
    refuses(
        "the loop may be left between",
        step("""
            l = sess.run(loss, {x: images, y: labels})
            if np.isnan(l):
                break
            sess.run(train_op, {x: images, y: labels})
        """),
        reason="jump-between",
    ),
    refuses(
        "an assertion between",
        step("""
            l = sess.run(loss, {x: images, y: labels})
            assert l < 10
            sess.run(train_op, {x: images, y: labels})
        """),
        reason="jump-between",
    ),
    refuses(
        "a generator that hands the value out between",
        GRAPH
        + textwrap.dedent("""
            def train(batches):
                with tf.Session() as sess:
                    for images, labels in batches:
                        l = sess.run(loss, {x: images, y: labels})
                        yield l
                        sess.run(train_op, {x: images, y: labels})
        """),
        reason="jump-between",
    ),
    refuses(
        "exceptions that are caught",
        step("""
            try:
                l = sess.run(loss, {x: images, y: labels})
                a = sess.run(accuracy, {x: images, y: labels})
            except Exception:
                print(l)
        """),
        reason="inside-try",
    ),
    refuses(
        "exceptions that an object called like a session swallows",
        step(
            """
            with quiet_session:
                l = sess.run(loss, {x: images, y: labels})
                a = sess.run(accuracy, {x: images, y: labels})
            """,
            graph="""
            class Quiet:
                def __enter__(self):
                    pass

                def __exit__(self, *error):
                    return True
            quiet_session = Quiet()
            """,
        ),
        reason="inside-try",
    ),
    refuses(
        "exceptions that a with statement swallows",
        step("""
            with contextlib.suppress(Exception):
                l = sess.run(loss, {x: images, y: labels})
                a = sess.run(accuracy, {x: images, y: labels})
        """),
        reason="inside-try",
    ),
    refuses(
        "two updates",
        step(
            """
            sess.run(train_op, {x: images, y: labels})
            sess.run(second, {x: images, y: labels})
            """,
            graph="second = tf.train.AdamOptimizer(0.1).minimize(accuracy + loss)\n",
        ),
        reason="two-updates",
    ),
    refuses(
        "weight decay is not on the way of the gradient that the update waits for",
        step(
            """
            l = sess.run(loss, {x: images, y: labels})
            sess.run(train_op, {x: images, y: labels})
            """,
            graph="""
            loss = loss + 0.1 * tf.nn.l2_loss(w)
            train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
            """,
        ),
        reason="races-with-update",
    ),
    refuses(
        "a loss that is linear in its last layer",
        step(
            """
            l = sess.run(loss, {x: images, y: labels})
            sess.run(train_op, {x: images, y: labels})
            """,
            graph="""
            loss = tf.reduce_mean(logits)
            train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
            """,
        ),
        reason="races-with-update",
    ),
    refuses(
        "a read of a weight beside the loss",
        step("""
            before = sess.run(w, {x: images, y: labels})
            sess.run(train_op, {x: images, y: labels})
        """),
        reason="races-with-update",
    ),
    refuses(
        "a view of a weight is still the weight",
        step(
            """
            l = sess.run(loss, {x: images})
            sess.run(train_op, {x: images})
            """,
            graph="""
            loss = tf.nn.l2_loss(tf.reshape(w, [-1]))
            train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
            """,
        ),
        reason="races-with-update",
    ),
    refuses(
        "a second tower over the same weights",
        step(
            """
            l = sess.run(other, {x: images, y: labels})
            sess.run(train_op, {x: images, y: labels})
            """,
            graph="other = tf.reduce_mean(tf.matmul(tf.nn.tanh(x), w) + b)\n",
        ),
        reason="races-with-update",
    ),
    refuses(
        "a slope is minimised, and what it is the slope of is not on the way",
        step(
            """
            l = sess.run(logits, {x: images})
            sess.run(train_op, {x: images})
            """,
            graph="""
            logits = tf.matmul(x, w)
            loss = tf.reduce_mean(tf.square(tf.gradients(logits, x)))
            train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
            """,
        ),
        reason="races-with-update",
    ),
    refuses(
        "a path that the gradient is stopped on",
        step(
            """
            l = sess.run(loss, {x: images, y: labels})
            sess.run(train_op, {x: images, y: labels})
            """,
            graph="""
            target = tf.reduce_mean(tf.stop_gradient(tf.abs(tf.matmul(x, w))))
            loss = tf.reduce_mean(tf.square(tf.layers.dense(hidden, 4))) + target
            train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
            """,
        ),
        reason="races-with-update",
    ),
    refuses(
        "a factor of zero folds the dependency away",
        step(
            """
            l = sess.run(loss, {x: images, y: labels})
            sess.run(train_op, {x: images, y: labels})
            """,
            graph="""
            loss = 0.0 * loss
            train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
            """,
        ),
        reason="races-with-update",
    ),
    refuses(
        "a feed that cuts the graph between the loss and the weights",
        step("""
            l = sess.run(loss, {x: images, y: labels, logits: scores})
            sess.run(train_op, {x: images, y: labels, logits: scores})
        """),
        reason="feed-not-traced",
    ),
    refuses(
        "another loss than the one that is minimised",
        step(
            """
            l = sess.run(loss, {x: images, y: labels})
            sess.run(train_op, {x: images, y: labels})
            """,
            graph="""
            old = loss
            loss = tf.reduce_mean(tf.square(tf.layers.dense(hidden, 1)))
            """,
        ),
        reason="races-with-update",
    ),
    refuses(
        "gradients with the wrong variables",
        step(
            """
            l = sess.run(loss, {x: images, y: labels})
            sess.run(train_op, {x: images, y: labels})
            """,
            graph="""
            grads = tf.gradients(loss, [w, b])
            train_op = tf.train.GradientDescentOptimizer(0.1).apply_gradients(zip(grads, [b, w]))
            """,
        ),
        reason=("writes-state",),
    ),
    refuses(
        "updates beside the update",
        step(
            """
            l = sess.run(loss, {x: images, y: labels})
            sess.run(train_op, {x: images, y: labels})
            """,
            graph="""
            with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
                train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
            """,
        ),
        reason="update-not-traced",
    ),
    refuses(
        "a graph that is rewired afterwards",
        step(
            READS, graph="import tensorflow.contrib.graph_editor as ge\nge.swap_ts(loss, logits)\n"
        ),
        reason="graph-surgery",
    ),
    refuses(
        "a metric after the update that ends the training",
        step("""
            sess.run(train_op, {x: images, y: labels})
            a = sess.run(accuracy, {x: images, y: labels})
            if a > 0.9:
                break
        """),
        reason="value-acts",
        allow=("shifted",),
    ),
    refuses(
        "a metric after the update that a caller gets",
        GRAPH
        + textwrap.dedent("""
            def train(images, labels):
                with tf.Session() as sess:
                    sess.run(train_op, {x: images, y: labels})
                    return sess.run(accuracy, {x: images, y: labels})
        """),
        reason="value-acts",
        allow=("shifted",),
    ),
    refuses(
        "a metric that decides by way of a list",
        step(
            """
            sess.run(train_op, {x: images, y: labels})
            a = sess.run(accuracy, {x: images, y: labels})
            history.append(a)
            if np.mean(history) > 0.9:
                break
            """,
            before="history = []\n",
        ),
        reason="value-acts",
        allow=("shifted",),
    ),
    refuses(
        "the same tensor twice, which would be one array",
        step("""
            z = sess.run(hidden, {x: images, y: labels})
            again = sess.run({"h": hidden, "l": loss}, {x: images, y: labels})
            z *= 2
        """),
        reason="same-array",
    ),
    refuses(
        "a value that is fused away under the activation of the other run",
        step(
            """
            before = sess.run(h, {x: images})
            after = sess.run(out, {x: images})
            """,
            graph="""
            h = tf.layers.conv2d(tf.reshape(x, [-1, 2, 2, 2]), 4, 2)
            out = tf.nn.leaky_relu(h)
            """,
        ),
        reason="fails-together",
    ),
    refuses(
        "the same behind the update, and the leaky ReLU written out",
        step(
            """
            sess.run(train_op, {x: images, y: labels})
            after = sess.run(tf_out, {x: images, y: labels})
            before = sess.run(h, {x: images, y: labels})
            """,
            graph="""
            def lrelu(value, leak=0.2):
                return tf.maximum(leak * value, value)
            h = tf.layers.batch_normalization(
                tf.layers.conv2d(tf.reshape(x, [-1, 2, 2, 2]), 4, 2, use_bias=False))
            tf_out = tf.reduce_mean(lrelu(h))
            """,
        ),
        reason=("fails-together", "races-with-update"),
    ),
    refuses(
        "a fetched placeholder, which is the fed array itself",
        step("""
            fed = sess.run(x, {x: images, y: labels})
            l = sess.run(loss, {x: images, y: labels})
        """),
        reason="fetch-not-traced",
    ),
    refuses(
        "a counter by control dependency, by keyword and by import",
        step(
            READS,
            graph="""
            from tensorflow import control_dependencies
            seen = tf.Variable(0)
            with control_dependencies(control_inputs=[tf.assign_add(seen, 1)]):
                accuracy = tf.identity(loss)
            """,
        ),
        reason="writes-state",
    ),
    refuses(
        "control dependencies that are entered elsewhere",
        step(
            READS,
            graph="""
            manager = tf.control_dependencies([tf.assign_add(tf.Variable(0), 1)])
            with manager:
                accuracy = tf.identity(loss)
            """,
        ),
        reason=("dynamic-code",),
    ),
    refuses(
        "a manager that is not known around the graph",
        step(
            READS,
            graph="""
            from tensorflow.contrib import slim
            with slim.arg_scope([slim.fully_connected], normalizer_fn=slim.dropout):
                accuracy = tf.reduce_mean(logits)
            """,
        ),
        reason="fetch-not-traced",
    ),
    refuses(
        "control dependencies around what makes an object",
        step(
            """
            l = sess.run(model.low, {x: images})
            a = sess.run(model.high, {x: images})
            """,
            graph="""
            class Model:
                def __init__(self):
                    self.low = tf.reduce_min(logits)
                    self.high = tf.reduce_max(logits)
            with tf.control_dependencies([tf.assign_add(tf.Variable(0), 1)]):
                model = Model()
            """,
        ),
        reason="writes-state",
    ),
    refuses(
        "a method that a subclass replaces",
        GRAPH
        + textwrap.dedent("""
        class Net:
            def __init__(self):
                self.out = self.net(x)
                self.low = tf.reduce_min(self.out)
                self.high = tf.reduce_max(self.out)
                self.sess = tf.Session()
            def net(self, value):
                return tf.layers.dense(value, 3)
            def scan(self):
                for images in batches:
                    low = self.sess.run(self.low, {x: images})
                    high = self.sess.run(self.high, {x: images})
        class Noisy(Net):
            def net(self, value):
                return tf.nn.dropout(tf.layers.dense(value, 3), 0.5)
        """),
        reason="fetch-not-traced",
    ),
    refuses(
        "dropout in a list of layers",
        step(
            READS,
            graph="""
            layers = [tf.keras.layers.Dense(3), tf.keras.layers.Dropout(0.5)]
            accuracy = tf.reduce_mean(tf.keras.Sequential(layers)(x, training=True))
            """,
        ),
        reason="fetch-not-traced",
    ),
    refuses(
        "a feed that an object of the script makes when it is asked",
        step(
            """
            l = sess.run(loss, {x: data[step], y: labels})
            a = sess.run(accuracy, {x: data[step], y: labels})
            """,
            graph="""
            class Data:
                def __getitem__(self, index):
                    return images + np.random.rand()
            data = Data()
            """,
        ),
        reason="feed-not-repeatable",
    ),
    refuses(
        "a fed array that a list holds as well",
        step(
            """
            l = sess.run(loss, {x: held[0], y: labels})
            buffer[0] = 1.0
            a = sess.run(accuracy, {x: held[0], y: labels})
            """,
            before="buffer = np.zeros((4, 8))\nheld = []\nheld.append(buffer)\n",
        ),
        reason="feed-changes",
    ),
    refuses(
        "a fed array that an attribute changes in place",
        step(
            """
            l = sess.run(loss, {x: buffer, y: labels})
            state.buffer += 1
            a = sess.run(accuracy, {x: buffer, y: labels})
            """,
            before="buffer = np.zeros((4, 8))\nstate.buffer = buffer\n",
        ),
        reason="feed-changes",
    ),
    refuses(
        "unpacking a generator between",
        step("""
            l = sess.run(loss, {x: images, y: labels})
            first, second = pairs
            a = sess.run(accuracy, {x: images, y: labels})
        """),
        reason="call-between",
    ),
    refuses(
        "a caller that goes on after an exception",
        GRAPH
        + textwrap.dedent("""
        sess = tf.Session()
        losses = []

        def one(images, labels):
            losses.append(sess.run(loss, {x: images, y: labels}))
            a = sess.run(accuracy, {x: images, y: labels})

        for images, labels in batches:
            try:
                one(images, labels)
            except tf.errors.InvalidArgumentError:
                continue
        """),
        reason="inside-try",
    ),
    refuses(
        "a feed that changes when it is gone through",
        step(
            """
            l = sess.run(loss, feed)
            a = sess.run(accuracy, feed)
            """,
            before="""
            class Feed(dict):
                def items(self):
                    self[x] = self[x] * 0.9
                    return dict.items(self)
            feed = Feed({x: first, y: labels})
            """,
        ),
        reason="feed-not-repeatable",
    ),
    refuses(
        "a handler that shows what was read before the exception",
        step("""
            try:
                l = sess.run(loss, {x: images, y: labels})
                sess.run(train_op, {x: images, y: labels})
            except tf.errors.InvalidArgumentError:
                print("last loss", l)
                raise
        """),
        reason="inside-try",
    ),
    refuses(
        "an update that finds no next element when what is read before it is newer",
        step(
            """
            try:
                e = sess.run(curve)
                sess.run(update)
            except tf.errors.OutOfRangeError:
                break
            """,
            graph="""
            rows = tf.data.Dataset.from_tensor_slices(np.ones([9, 8], np.float32)).batch(3)
            row = rows.make_one_shot_iterator().get_next()
            curve = tf.square(w)
            cost = tf.reduce_mean(tf.square(tf.matmul(row, w))) + tf.reduce_sum(tf.exp(curve))
            update = tf.train.GradientDescentOptimizer(0.1).minimize(cost)
            """,
            after="print(e)\n",
        ),
        reason="iterator-beneath",
    ),
    refuses(
        "a handler that goes on now and then",
        step("""
            try:
                l = sess.run(loss, {x: images, y: labels})
                a = sess.run(accuracy, {x: images, y: labels})
            except tf.errors.InvalidArgumentError as error:
                if "nan" in str(error):
                    continue
                raise
        """),
        reason="inside-try",
    ),
    refuses(
        "another session under the same name",
        step("""
            current = sess
            l = loss.eval({x: images, y: labels}, session=current)
            current = other
            a = accuracy.eval({x: images, y: labels}, session=current)
        """),
        reason=("session-unknown",),
    ),
    refuses(
        "a class whose methods are decided on when it is made",
        step(
            READS,
            graph="class Logger:\n    if True:\n        def log(self): pass\n",
        ),
        reason="dynamic-code",
    ),
    refuses(
        "a run that the script counts",
        step(READS, before="sess.run = counted(sess.run)\n"),
        reason="dynamic-code",
    ),
    refuses(
        "names set through globals()",
        step(READS, graph="globals()[name] = tf.random_normal([])\n"),
        reason="dynamic-code",
    ),
    leaves_alone(
        "a run in the target comes after the one in the value",
        step("""
            seen[float(sess.run(loss, {x: images, y: labels}))] = sess.run(
                train_op, {x: images, y: labels})
        """),
    ),
    refuses(
        "the step counter of the update itself",
        step(
            """
            n = sess.run(counter, {x: images, y: labels})
            sess.run(train_op, {x: images, y: labels})
            """,
            graph="""
            counter = tf.Variable(0, trainable=False)
            optimizer = tf.train.GradientDescentOptimizer(0.1)
            train_op = optimizer.minimize(loss, global_step=counter)
            """,
        ),
        reason="races-with-update",
    ),
    refuses(
        "a metric that a caller's list gets",
        GRAPH
        + textwrap.dedent("""
        def epoch(history):
            with tf.Session() as sess:
                for images, labels in batches:
                    sess.run(train_op, {x: images, y: labels})
                    a = sess.run(accuracy, {x: images, y: labels})
                    history.append(a)
        """),
        reason="value-acts",
        allow=("shifted",),
    ),
]


def between(name: str, code: str, reason: str = "call-between", **around: str) -> Case:
    """Something between two reads that one run would be moved past."""
    first, second = textwrap.dedent(READS).strip().splitlines()
    return refuses(
        name, step(f"{first}\n{textwrap.dedent(code).strip()}\n{second}\n", **around), reason=reason
    )


def fed(name: str, feed: str, reason: str = "feed-not-repeatable", **around: str) -> Case:
    """Two reads with a feed that is not the same twice."""
    runs = f"l = sess.run(loss, {feed})\na = sess.run(accuracy, {feed})\n"
    return refuses(name, step(runs, **around), reason=reason)


def beneath(name: str, graph: str, reason: str = "fetch-not-traced") -> Case:
    """Two reads of the same value, where the graph makes it."""
    return refuses(name, step(READS, graph=graph), reason=reason)


RATE = "rate = tf.placeholder(tf.float32)\n"
CHANGED = "images[:] = images + 1"

UNSEEN = [
    # objects that are changed where they are
    between("an element changed in place", "held[0] += 1", "feed-changes", before="held = [0]\n"),
    between(
        "a number changed by a function of the script",
        "bump()",
        graph="""
        def bump():
            global total
            total += 1
        """,
    ),
    between("a numpy function that may write", "np.nan_to_num(images, copy=False)"),
    between("an unbound method that writes", "np.ndarray.sort(images)"),
    between(
        "a view of the array", "top[0] = 1", "feed-changes", before="top, low = np.split(x, 2)\n"
    ),
    between(
        "an array unpacked from a new list of the old arrays",
        "first[0] = 1.0",
        "feed-changes",
        before="held = [1]\nheld.append(images)\none, first = list(held)\n",
    ),
    between(
        "an array unpacked from a sum of lists",
        "first[0] = 1.0",
        "feed-changes",
        before="one, first = [1] + held\n",
    ),
    between("a target of a loop", "for images[0, 0] in range(3): pass", "feed-changes"),
    between(
        "a hidden method of a library", "random._inst.shuffle(images)", graph="import random\n"
    ),
    # code that runs where the text does not show it
    between("a field of a format", 'print("{0.name}".format(data))', graph="data = load()\n"),
    between(
        "a property in an f-string",
        'print(f"{data.name}")',
        graph=f"""
        class Data:
            @property
            def name(self):
                {CHANGED}
        data = Data()
        """,
    ),
    between(
        "numpy asks an object of the script",
        "np.mean(data)",
        graph=f"""
        class Data:
            def mean(self, axis, dtype, out):
                {CHANGED}
        data = Data()
        """,
    ),
    between(
        "a default that is made by the script",
        "seen[1]",
        "dynamic-code",
        graph=f"""
        from collections import defaultdict
        def make():
            {CHANGED}
        seen = defaultdict(make)
        """,
    ),
    between(
        "an object that goes away",
        "data = None",
        "dynamic-code",
        graph=f"""
        class Data:
            def __del__(self):
                {CHANGED}
        """,
    ),
    between(
        "a screen of the script's own",
        "print(l)",
        "dynamic-code",
        graph="""
        import sys
        sys.stdout = Screen()
        """,
    ),
    between(
        "a handler of what is logged",
        "logging.warning(l)",
        graph=f"""
        import logging
        class Handler(logging.Handler):
            def emit(self, record):
                {CHANGED}
        """,
    ),
    between(
        "a filter of what is logged",
        "log.warning(l)",
        graph="""
        import logging
        log = logging.getLogger()
        log.addFilter(look)
        """,
    ),
    between(
        "a thread",
        "time.sleep(1)",
        "dynamic-code",
        graph="""
        import time
        from threading import Thread as Worker
        Worker(target=work).start()
        """,
    ),
    between(
        "a signal",
        "time.sleep(1)",
        "dynamic-code",
        graph="""
        import signal
        import time
        signal.signal(signal.SIGALRM, work)
        """,
    ),
    between(
        "a reference that tells when its object goes",
        "data = None",
        "dynamic-code",
        graph="""
        import weakref
        weakref.finalize(data, work)
        """,
    ),
    between(
        "a profiler",
        "n = len(images)",
        "dynamic-code",
        graph="""
        import sys
        sys.setprofile(work)
        """,
    ),
    between(
        "numbers that the script prints",
        "print(l)",
        "dynamic-code",
        graph="""
        np.set_printoptions(formatter={"float": work})
        """,
    ),
    between(
        "errors that call back",
        "n = np.float32(1) / 0",
        "dynamic-code",
        graph="""
        np.seterrcall(work)
        """,
    ),
    between(
        "a line that is printed before a check fails",
        "print(l)",
        graph="""
        accuracy = tf.check_numerics(tf.reduce_max(hidden), "bad")
        """,
    ),
    between(
        "names that another module may have replaced",
        "print(l)",
        "dynamic-code",
        graph="from helpers import *\n",
    ),
    # feeds
    fed(
        "pairs that are gone after the first look",
        "{x: images, y: list(pairs)}",
        before="pairs = zip(images, labels)\n",
    ),
    fed("a clock", "{x: images, rate: time.time()}", graph=f"import time\n{RATE}"),
    fed(
        "an attribute of somebody else's object",
        "{x: data.batch}",
        graph="from somewhere import data\n",
    ),
    fed(
        "an attribute that a parent may compute",
        "{x: data.batch}",
        graph="""
        from somewhere import Parent
        class Data(Parent):
            def __init__(self):
                self.size = 3
        data = Data()
        """,
    ),
    fed("a name that the feed binds", "{x: (images := images + 1)}"),
    # values that are one tensor
    beneath("a sum of one", "accuracy = tf.add_n([loss])\n", "same-array"),
    beneath(
        "an image in its own size",
        """
        loss = tf.reshape(hidden, [1, 2, 2, -1])
        accuracy = tf.image.resize_images(loss, [2, 2])
        """,
        "same-array",
    ),
    beneath(
        "an image that is not cropped",
        """
        loss = tf.reshape(hidden, [1, 2, 2, -1])
        accuracy = tf.image.central_crop(loss, 1.0)
        """,
        "same-array",
    ),
    # objects that are not what their class says
    beneath(
        "a class that makes another object",
        """
        class Net:
            def __new__(cls):
                return other
            def out(self):
                return loss
        accuracy = Net().out()
        """,
    ),
    beneath(
        "a parent that changes its children",
        """
        class Parent:
            def __init_subclass__(cls):
                cls.out = noisy
        class Net(Parent):
            def out(self):
                return loss
        accuracy = Net().out()
        """,
    ),
]

SIZES = """
from tensorflow.examples.tutorials.mnist import input_data
mnist = input_data.read_data_sets("data")
size = tf.cast(len(words), tf.float32) * mnist.train.images.shape[1]
loss = tf.reduce_sum(hidden) / size
"""

FORMAT = """
# threading would not help here
np.set_printoptions(precision=3, formatter={"float": "{:.3f}".format, "int": lambda n: "%d" % n})
"""

REWRITES = [
    offers(
        "a metric whose name another loop gives to what acts",
        step(
            """
            sess.run(train_op, {x: images, y: labels})
            a = sess.run(accuracy, {x: images, y: labels})
            print(a)
            """,
            after="""
            for step in range(9):
                a = evaluate(step)
                if a > 0.9:
                    break
            """,
        ),
        contract="shifted",
        changes="before the update",
    ),
    rewrites(
        "two reads into lists that are made beside each other",
        step(
            """
            losses.append(sess.run(loss, fd))
            accuracies.append(sess.run(accuracy, fd))
            """,
            before="losses, accuracies = [], []\nfd = {x: test_images, y: labels}\n",
        ),
        step(
            """
            loss_value, accuracy_value = sess.run([loss, accuracy], fd)
            losses.append(loss_value)
            accuracies.append(accuracy_value)
            """,
            before="losses, accuracies = [], []\nfd = {x: test_images, y: labels}\n",
        ),
        contract="exact",
    ),
    rewrites(
        "a loss, then the update by gradients that are clipped together",
        step(
            """
            l = sess.run(loss, {x: images, y: labels})
            sess.run(clipped_op, {x: images, y: labels})
            """,
            graph=CLIPPED,
        ),
        step(
            "l, _ = sess.run([loss, clipped_op], {x: images, y: labels})\n",
            graph=CLIPPED,
        ),
        contract="rounding",
    ),
    rewrites(
        "two reads",
        step(READS),
        step("l, a = sess.run([loss, accuracy], {x: images, y: labels})\n"),
        contract="exact",
    ),
    rewrites(
        "two parts of one tensor, each of which is a tensor of its own",
        step(
            """
            u = sess.run(first, {x: images})
            v = sess.run(second, {x: images})
        """,
            graph="first, second = hidden[:, 0:1], hidden[:, 1:2]\n",
        ),
        step(
            "u, v = sess.run([first, second], {x: images})\n",
            graph="first, second = hidden[:, 0:1], hidden[:, 1:2]\n",
        ),
        contract="rounding",
    ),
    rewrites(
        "a sum of a list beside something else that is made of the same feed",
        step(
            """
            a = sess.run(total, {x: images})
            m = sess.run(product, {x: images})
        """,
            graph="""
            total = 1.7 - tf.add_n([x + 2 * x, x, x])
            product = tf.matmul(x, w)
        """,
        ),
        step(
            "a, m = sess.run([total, product], {x: images})\n",
            graph="""
            total = 1.7 - tf.add_n([x + 2 * x, x, x])
            product = tf.matmul(x, w)
        """,
        ),
        contract="rounding",
    ),
    rewrites(
        "a graph with the sizes of data that is loaded elsewhere",
        step(READS, graph=SIZES),
        step("l, a = sess.run([loss, accuracy], {x: images, y: labels})\n", graph=SIZES),
        contract="exact",
    ),
    rewrites(
        "a comment on threads, and a format of numbers",
        step(READS, graph=FORMAT),
        step("l, a = sess.run([loss, accuracy], {x: images, y: labels})\n", graph=FORMAT),
        contract="exact",
    ),
    rewrites(
        "one beneath the other may be folded in another way",
        step("""
            z = sess.run(logits, {x: images})
            h = sess.run(hidden, {x: images})
        """),
        step("z, h = sess.run([logits, hidden], {x: images})\n"),
        contract="rounding",
    ),
    rewrites(
        "the update alone, then all that is read after it",
        step("""
            sess.run(train_op, feed_dict={x: images, y: labels})
            l = sess.run(loss, feed_dict={x: images, y: labels})
            a = sess.run(accuracy, feed_dict={x: images, y: labels})
            print(l, a)
        """),
        step("""
            sess.run(train_op, feed_dict={x: images, y: labels})
            l, a = sess.run([loss, accuracy], feed_dict={x: images, y: labels})
            print(l, a)
        """),
        contract="exact",
    ),
    rewrites(
        "the loss first, then the update that minimises it",
        step("""
            l = sess.run(loss, {x: images, y: labels})
            sess.run(train_op, {x: images, y: labels})
        """),
        step("l, _ = sess.run([loss, train_op], {x: images, y: labels})\n"),
        contract="rounding",
    ),
    rewrites(
        "a target that the same weights make is read before the gate as well",
        step(
            """
            fd = {x: images}
            fd[y] = labels
            l = sess.run(loss, fd)
            sess.run(train_op, fd)
            """,
            graph="""
            target = tf.stop_gradient(tf.matmul(x, w))
            loss = tf.reduce_mean(tf.square(tf.layers.dense(hidden, 4) - target))
            train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
            """,
        ),
        step(
            """
            fd = {x: images}
            fd[y] = labels
            l, _ = sess.run([loss, train_op], fd)
            """,
            graph="""
            target = tf.stop_gradient(tf.matmul(x, w))
            loss = tf.reduce_mean(tf.square(tf.layers.dense(hidden, 4) - target))
            train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
            """,
        ),
        contract="rounding",
    ),
    rewrites(
        "a clipped update",
        step(
            """
            l = sess.run(loss, {x: images, y: labels})
            sess.run(train_op, {x: images, y: labels})
            """,
            graph="""
            optimizer = tf.train.AdamOptimizer(0.1)
            pairs = optimizer.compute_gradients(loss)
            pairs = [(tf.clip_by_value(g, -1.0, 1.0), v) for g, v in pairs]
            train_op = optimizer.apply_gradients(pairs)
            """,
        ),
        step(
            "l, _ = sess.run([loss, train_op], {x: images, y: labels})\n",
            graph="""
            optimizer = tf.train.AdamOptimizer(0.1)
            pairs = optimizer.compute_gradients(loss)
            pairs = [(tf.clip_by_value(g, -1.0, 1.0), v) for g, v in pairs]
            train_op = optimizer.apply_gradients(pairs)
            """,
        ),
        contract="rounding",
    ),
    offers(
        "a metric after the update",
        step("""
            sess.run(train_op, {x: images, y: labels})
            a = sess.run(accuracy, {x: images, y: labels})
            print("accuracy", a)
        """),
        contract="shifted",
        changes="before the update",
    ),
    rewrites(
        "a metric after the update, where that is allowed",
        step("""
            _, l = sess.run([train_op, loss], {x: images, y: labels})
            a = sess.run(accuracy, {x: images, y: labels})
            print("accuracy %.2f" % a, l)
        """),
        step("""
            _, l, a = sess.run([train_op, loss, accuracy], {x: images, y: labels})
            print("accuracy %.2f" % a, l)
        """),
        contract="shifted",
        allow=("shifted",),
    ),
    rewrites(
        "comments go with their lines",
        step("""
            # how wrong
            l = sess.run(loss, {x: images, y: labels})  # a number
            # how right
            a = sess.run(accuracy, {x: images, y: labels})  # another
            print(a)
        """),
        step("""
            # how wrong
            # how right
            # another
            l, a = sess.run([loss, accuracy], {x: images, y: labels})  # a number
            print(a)
        """),
        contract="exact",
    ),
    rewrites(
        "printing between does not matter",
        step("""
            l = sess.run(loss, {x: images, y: labels})
            print("loss", l)
            a = sess.run(accuracy, {x: images, y: labels})
        """),
        step("""
            l, a = sess.run([loss, accuracy], {x: images, y: labels})
            print("loss", l)
        """),
        contract="exact",
    ),
    rewrites(
        "a result whose name is in use until then",
        step(
            """
            l = sess.run(loss, {x: images, y: labels})
            print("accuracy of the step before", a)
            a = sess.run(accuracy, {x: images, y: labels})
        """,
            before="a = 0.0\n",
        ),
        step(
            """
            l, accuracy_value = sess.run([loss, accuracy], {x: images, y: labels})
            print("accuracy of the step before", a)
            a = accuracy_value
        """,
            before="a = 0.0\n",
        ),
        contract="exact",
    ),
    rewrites(
        "the same name for both results",
        step("""
            v = sess.run(loss, {x: images, y: labels})
            print(v)
            v = sess.run(accuracy, {x: images, y: labels})
            print(v)
        """),
        step("""
            v, accuracy_value = sess.run([loss, accuracy], {x: images, y: labels})
            print(v)
            v = accuracy_value
            print(v)
        """),
        contract="exact",
    ),
    rewrites(
        "runs inside other expressions",
        step(
            """
            total += sess.run(loss, {x: images, y: labels})
            print("%.3f" % sess.run(accuracy, {x: images, y: labels}))
        """,
            before="total = 0.0\n",
        ),
        step(
            """
            loss_value, accuracy_value = sess.run([loss, accuracy], {x: images, y: labels})
            total += loss_value
            print("%.3f" % accuracy_value)
        """,
            before="total = 0.0\n",
        ),
        contract="exact",
        shapes=("crlf", "tabs"),
    ),
    rewrites(
        "two runs in one statement",
        step('print("loss", sess.run(loss, feed), "accuracy", sess.run(accuracy, feed))\n'),
        step("""
            loss_value, accuracy_value = sess.run([loss, accuracy], feed)
            print("loss", loss_value, "accuracy", accuracy_value)
        """),
        contract="exact",
    ),
    rewrites(
        "a subscripted result",
        step("""
            l = sess.run([loss], {x: images, y: labels})[0]
            a = sess.run(accuracy, {x: images, y: labels})
        """),
        step("""
            results, a = sess.run([[loss], accuracy], {x: images, y: labels})
            l = results[0]
        """),
        contract="exact",
    ),
    rewrites(
        "lists of fetches are taken apart, single results of lists are not",
        step("""
            l, z = sess.run([loss, hidden], {x: images, y: labels})
            both = sess.run([accuracy, w], {x: images, y: labels})
        """),
        step("""
            l, z, both = sess.run([loss, hidden, [accuracy, w]], {x: images, y: labels})
        """),
        contract="rounding",
        shapes=("crlf", "tabs"),
    ),
    rewrites(
        "a dict of fetches",
        step("""
            out = sess.run({"loss": loss}, feed_dict={x: images, y: labels})
            a = sess.run(fetches=accuracy, feed_dict={x: images, y: labels})
        """),
        step("""
            out, a = sess.run([{"loss": loss}, accuracy], feed_dict={x: images, y: labels})
        """),
        contract="exact",
        shapes=("crlf", "tabs"),
    ),
    rewrites(
        "eval beside run",
        step("""
            l = loss.eval(feed_dict={x: images, y: labels})
            a = sess.run(accuracy, feed_dict={x: images, y: labels})
        """),
        step("l, a = sess.run([loss, accuracy], feed_dict={x: images, y: labels})\n"),
        contract="exact",
    ),
    rewrites(
        "the default session has no name",
        step("""
            l = loss.eval({x: images, y: labels})
            a = accuracy.eval({x: images, y: labels})
        """)
        .replace(" as sess", "")
        .replace("sess.run(tf.g", "tf.get_default_session().run(tf.g"),
        step("""
            l, a = tf.get_default_session().run(
                [loss, accuracy], feed_dict={x: images, y: labels})
        """)
        .replace(" as sess", "")
        .replace("sess.run(tf.g", "tf.get_default_session().run(tf.g"),
        contract="exact",
        shapes=("main", "tabs"),
    ),
    rewrites(
        "a name that somebody reads is not thrown away into",
        step("""
            l = sess.run(loss, {x: images, y: labels})
            sess.run(train_op, {x: images, y: labels})
            print(_("done"))
        """),
        step("""
            l, train_op_value = sess.run([loss, train_op], {x: images, y: labels})
            print(_("done"))
        """),
        contract="rounding",
    ),
    rewrites(
        "a read with another feed may be passed",
        step("""
            l = sess.run(loss, {x: images, y: labels})
            v = sess.run(loss, {x: test_images, y: test_labels})
            a = sess.run(accuracy, {x: images, y: labels})
        """),
        step("""
            l, a = sess.run([loss, accuracy], {x: images, y: labels})
            v = sess.run(loss, {x: test_images, y: test_labels})
        """),
        contract="exact",
    ),
    rewrites(
        "a call over several lines keeps its lines",
        step("""
            l = sess.run(loss, feed_dict={
                x: images,  # scaled
                y: labels,
            })
            a = sess.run(accuracy, feed_dict={
                x: images,
                y: labels,
            })
        """),
        step("""
            l, a = sess.run([loss, accuracy], feed_dict={
                x: images,  # scaled
                y: labels,
            })
        """),
        contract="exact",
    ),
    rewrites(
        "sessions and tensors on self",
        GRAPH.split("x = tf", maxsplit=1)[0]
        + textwrap.dedent("""
        class Model:
            def __init__(self):
                self.x = tf.placeholder(tf.float32, [None, 8])
                self.out = tf.layers.dense(self.x, 3)
                self.low = tf.reduce_min(self.out)
                self.high = tf.reduce_max(self.out)
                self.sess = tf.Session()

            def scan(self, batches):
                for images in batches:
                    low = self.sess.run(self.low, {self.x: images})
                    high = self.sess.run(self.high, {self.x: images})
                    print(low, high)
        """),
        GRAPH.split("x = tf", maxsplit=1)[0]
        + textwrap.dedent("""
        class Model:
            def __init__(self):
                self.x = tf.placeholder(tf.float32, [None, 8])
                self.out = tf.layers.dense(self.x, 3)
                self.low = tf.reduce_min(self.out)
                self.high = tf.reduce_max(self.out)
                self.sess = tf.Session()

            def scan(self, batches):
                for images in batches:
                    low, high = self.sess.run([self.low, self.high], {self.x: images})
                    print(low, high)
        """),
        contract="exact",
    ),
    rewrites(
        "a value and all summaries, of a weight too",
        step(
            MERGED,
            graph=shown("show('weights', w)\n"),
        ),
        step(
            """
            l, s = sess.run([loss, merged], {x: images, y: labels})
            """,
            graph=shown("show('weights', w)\n"),
        ),
        shapes=CALLED,
        contract="rounding",
    ),
    rewrites(
        "summaries of what the update waits for",
        step(
            """
            s = sess.run(merged, {x: images, y: labels})
            sess.run(train_op, {x: images, y: labels})
            """,
            graph="""
            tf.summary.scalar("loss", loss)
            merged = tf.summary.merge_all()
            """,
        ),
        step(
            """
            s, _ = sess.run([merged, train_op], {x: images, y: labels})
            """,
            graph="""
            tf.summary.scalar("loss", loss)
            merged = tf.summary.merge_all()
            """,
        ),
        shapes=CALLED,
        contract="rounding",
    ),
    rewrites(
        "a session that callers pass",
        GRAPH
        + textwrap.dedent("""
        def measure(sess, feed):
            l = sess.run(loss, feed)
            a = sess.run(accuracy, feed)
            return l, a

        with tf.Session() as session:
            measure(session, {x: images, y: labels})
        """),
        GRAPH
        + textwrap.dedent("""
        def measure(sess, feed):
            l, a = sess.run([loss, accuracy], feed)
            return l, a

        with tf.Session() as session:
            measure(session, {x: images, y: labels})
        """),
        contract="exact",
    ),
    rewrites(
        "a long line is broken after the bracket",
        step("""
            loss_of_this_batch = sess.run(loss, feed_dict={x: images, y: labels})
            accuracy_of_this_batch = sess.run(accuracy, feed_dict={x: images, y: labels})
        """),
        step("""
            loss_of_this_batch, accuracy_of_this_batch = sess.run(
                [loss, accuracy], feed_dict={x: images, y: labels})
        """),
        contract="exact",
    ),
]

test_merge_session_runs = bench(MergeSessionRuns, *TRAPS, *UNSEEN, *REWRITES)
