"""TFR107: which values leave a run, and which must not."""

from __future__ import annotations

import textwrap

from rulebench import Case, bench, leaves_alone, refuses, rewrites
from tfrewrite.codemods.drop_unused_fetches import DropUnusedFetches

GRAPH = """\
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
    """A training script: the graph, more of it, and a function with a loop over batches."""
    inner = "with tf.Session() as sess:\n    sess.run(tf.global_variables_initializer())\n"
    inner += textwrap.indent(textwrap.dedent(before), "    ")
    inner += "    for images, labels in batches:\n"
    inner += textwrap.indent(textwrap.dedent(body).removeprefix("\n"), "        ")
    inner += textwrap.indent(textwrap.dedent(after), "    ")
    return GRAPH + textwrap.dedent(graph) + "def train(batches):\n" + textwrap.indent(inner, "    ")


def module(body: str, guard: str = "if True:") -> str:
    """The same with the loop at the top level, under an `if`."""
    loop = "with tf.Session() as sess:\n    for images, labels in batches:\n"
    loop += textwrap.indent(textwrap.dedent(body).removeprefix("\n"), "        ")
    return GRAPH + f"{guard}\n" + textwrap.indent(loop, "    ")


MAIN = 'if __name__ == "__main__":'
FEED = "{x: images, y: labels}"
THREE = f"""
    _, l, a = sess.run([train_op, loss, accuracy], {FEED})
    print(l)
"""
TWO = f"""
    _, l = sess.run([train_op, loss], {FEED})
    print(l)
"""
# Nobody reads the value of the last fetch, which one of the cases below defines.
EXTRA = f"""
    _, l, extra = sess.run([train_op, loss, more], {FEED})
    print(l)
"""


def read(name: str, body: str, before: str = "", after: str = "", graph: str = "") -> Case:
    """A case in which somebody reads `a`, and so nothing is said."""
    return leaves_alone(name, step(body, graph=graph, before=before, after=after))


def kept(name: str, more: str, reason: str) -> Case:
    """A case in which `more` is unread, and stays all the same."""
    return refuses(name, step(EXTRA, graph=more), reason=reason)


SUMMARIES = """
merged = tf.summary.merge([tf.summary.scalar("l", loss), tf.summary.scalar("a", accuracy)])
"""
BATCH = """
data = tf.data.Dataset.from_tensor_slices((inputs, kinds_of_inputs))
points, kinds = data.make_one_shot_iterator().get_next()
scores = tf.matmul(points, w) + b
cost = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=kinds, logits=scores))
step_op = tf.train.GradientDescentOptimizer(0.1).minimize(cost)
"""
RUN = f"_, l, a = sess.run([train_op, loss, accuracy], {FEED})\n"

READERS = [
    read("read at once", RUN + "print(l, a)\n"),
    read("read after the loop", RUN + "print(l)\n", after="print(a)\n"),
    read("read on the next turn", "print(a)\n" + RUN + "print(l)\n", before="a = 0.0\n"),
    read(
        "read under a condition on a later turn",
        "if labels is None:\n    print(a)\n" + RUN + "print(l)\n",
        before="a = 0.0\n",
    ),
    read("read in a later loop", RUN + "print(l)\n", after="for _ in range(3):\n    print(a)\n"),
    read(
        "read in a loop whose own variable has the name, once that is over",
        RUN + "print(l)\n",
        after="for a in labels:\n    pass\nprint(a)\n",
    ),
    read("read in an f-string", RUN + 'print(f"{l} {a:.3f}")\n'),
    read(
        "read in a debugging f-string",
        RUN + 'print(f"{l=} {a=}")\n',
    ),
    read("read in a comprehension", RUN + "print(l, [a * part for part in labels])\n"),
    read("read by a closure", RUN + "print(l)\n", before="def show():\n    print(a)\n"),
    read("read by a lambda", RUN + "print(l)\n", before="show = lambda: a\n"),
    read(
        "read by a function made before it, by nonlocal",
        RUN + "print(l)\n",
        before="a = 0.0\ndef count():\n    nonlocal a\n    a = a + 1\n",
    ),
    read("read as a default", RUN + "print(l)\ndef show(value=a):\n    print(value)\n"),
    read("added to", RUN + "print(l)\na += 1\n"),
    read("deleted", RUN + "print(l)\ndel a\n"),
    read(
        "deleted by another function's leave",
        RUN + "print(l)\nif labels is None:\n    del a\n",
    ),
    read("returned", RUN + "print(l)\n", after="return a\n"),
    read("yielded", RUN + "print(l)\nyield a\n"),
    read(
        "read in a finally",
        RUN + "print(l)\n",
        after="try:\n    print(1)\nfinally:\n    print(a)\n",
    ),
    read(
        "read in an except",
        RUN + "print(l)\n",
        after="try:\n    print(1)\nexcept ValueError:\n    print(a)\n",
    ),
    read(
        "given another value in a branch only",
        RUN + "if labels is None:\n    a = 0.0\nprint(l, a)\n",
    ),
    read(
        "given another value in a try only",
        RUN + "try:\n    a = float(images)\nexcept ValueError:\n    pass\nprint(l, a)\n",
    ),
    read("an underscore that is read", f"l, _ = sess.run([loss, accuracy], {FEED})\nprint(l, _)\n"),
    read("an attribute", f"l, batches.a = sess.run([loss, accuracy], {FEED})\nprint(l)\n"),
    read("a subscript", f"l, batches[0] = sess.run([loss, accuracy], {FEED})\nprint(l)\n"),
    read("a starred target", f"l, *a = sess.run([loss, accuracy, logits], {FEED})\nprint(l, a)\n"),
    read("a result that is indexed", f"r = sess.run([loss, accuracy], {FEED})\nprint(r[0])\n"),
    read("a dict", f"r = sess.run(dict(l=loss, a=accuracy), {FEED})\nprint(r['l'])\n"),
    read("a run that is returned", f"return sess.run([loss, accuracy], {FEED})\n"),
    read("a run that is an argument", f"print(sess.run([loss, accuracy], {FEED}))\n"),
    read(
        "two names for the result",
        f"r = l, a = sess.run([loss, accuracy], {FEED})\nprint(l, r)\n",
    ),
    read("a nested target", f"l, (a, c) = sess.run([loss, [accuracy, w]], {FEED})\nprint(l)\n"),
    read("one name twice, and read", f"a, a = sess.run([loss, accuracy], {FEED})\nprint(a)\n"),
    read(
        "a tensor that is unpacked",
        f"_, c = sess.run(tf.stack([loss, accuracy]), {FEED})\nprint(c)\n",
    ),
]

SILENT = [
    leaves_alone("only the update is unread", step(TWO)),
    leaves_alone("the update alone", step(f"sess.run(train_op, {FEED})\n")),
    leaves_alone("the update alone, in a list", step(f"_ = sess.run([train_op], {FEED})\n")),
    leaves_alone(
        "two updates, unread",
        step(f"sess.run([train_op, more], {FEED})\n", graph="more = tf.assign(b, b * 0.9)\n"),
    ),
    leaves_alone(
        "metrics that are updated",
        step(
            f"_, u = sess.run([train_op, more], {FEED})\n",
            graph="value, more = tf.metrics.accuracy(y, tf.argmax(logits, 1))\n",
        ),
    ),
    leaves_alone(
        "an enqueue",
        step(
            f"_, l = sess.run([more, loss], {FEED})\nprint(l)\n",
            graph="queue = tf.FIFOQueue(10, tf.float32)\nmore = queue.enqueue(0.5)\n",
        ),
    ),
    leaves_alone(
        "a print",
        step(
            f"_, l = sess.run([more, loss], {FEED})\nprint(l)\n",
            graph="more = tf.print(loss)\n",
        ),
    ),
    leaves_alone(
        "Python code",
        step(EXTRA, graph="more = tf.py_func(np.sum, [loss], tf.float32) * 2.0\n"),
    ),
    leaves_alone(
        "something that waits for an update",
        step(
            f"l, late = sess.run([loss, more], {FEED})\nprint(l)\n",
            graph="with tf.control_dependencies([train_op]):\n    more = tf.identity(accuracy)\n",
        ),
    ),
    leaves_alone(
        "a group of what is not known",
        step(
            f"_, l = sess.run([more, loss], {FEED})\nprint(l)\n",
            graph="import models\nmore = models.update(loss)\n",
        ),
    ),
    leaves_alone(
        "at the top level, once",
        GRAPH + "sess = tf.Session()\nl, a = sess.run([loss, accuracy])\nprint(l)\n",
        shapes=("crlf", "tabs"),
    ),
    leaves_alone(
        "something else that has a run method",
        step(f"l, a = runner.run([loss, accuracy], {FEED})\nprint(l)\n"),
    ),
    leaves_alone(
        "in the body of a class",
        GRAPH
        + textwrap.dedent("""\
            class Result:
                with tf.Session() as sess:
                    for images, labels in batches:
                        l, a = sess.run([loss, accuracy], {x: images, y: labels})
                        print(l)
            """),
    ),
]

REFUSED = [
    refuses(
        "a session whose kind is not known",
        step(THREE).replace("tf.Session()", "make_session()"),
        reason="session-unknown",
    ),
    refuses(
        "a session with hooks",
        step(THREE).replace("tf.Session()", "tf.train.MonitoredTrainingSession()"),
        reason="hooked-session",
    ),
    refuses(
        "a timeline",
        step(THREE.replace(FEED, f"{FEED}, options=trace, run_metadata=metadata")),
        reason="run-options",
    ),
    refuses("locals()", step(THREE + "    print(locals())\n"), reason="dynamic-code"),
    refuses("globals()", step(THREE, graph="globals()['z'] = 1\n"), reason="dynamic-code"),
    refuses("eval", step(THREE + "    print(eval('a'))\n"), reason="dynamic-code"),
    refuses("exec", step(THREE + "    exec('print(a)')\n"), reason="dynamic-code"),
    refuses(
        "a debugger",
        step("    import pdb\n" + THREE + "    pdb.set_trace()\n"),
        reason="dynamic-code",
    ),
    refuses(
        "a text that is evaluated",
        step(THREE + "    print(table.query('x > @a'))\n"),
        reason="dynamic-code",
    ),
    refuses(
        "the script as a module of its own",
        step(THREE, graph="import __main__ as names\n"),
        reason="dynamic-code",
    ),
    *[
        refuses(
            f"a name of the module that is had otherwise: {name}",
            f"{before}\n{module(THREE, MAIN)}{after}\n",
            reason="dynamic-code",
            shapes=(),
        )
        for name, before, after in (
            ("imported", "", "def show():\n    from __main__ import a"),
            ("an attribute", "import importlib", "print(importlib.import_module('__main__').a)"),
            ("by its text", "import sys", "print(getattr(__import__('__main__'), 'a'))"),
            ("in a text that is run", "import timeit", "print(timeit.timeit('a > 0', number=3))"),
            ("in a doctest", "import doctest", "def show():\n    '''\n    >>> a > 0\n    '''"),
            ("the modules by name", "from sys import modules", "print(modules[__name__])"),
            ("all members", "import inspect", "print(inspect.getmembers(module))"),
        )
    ],
    refuses(
        "the frame of a generator",
        GRAPH
        + textwrap.dedent(f"""
        def train(sess):
            for images, labels in batches:
                _, l, a = sess.run([train_op, loss, accuracy], {FEED})
                yield l

        steps = train(tf.Session())
        for l in steps:
            print(steps.gi_frame.f_locals)
        """),
        reason="dynamic-code",
        shapes=(),
    ),
    refuses("a breakpoint", step(THREE + "    breakpoint()\n"), reason="dynamic-code"),
    refuses(
        "a frame that is looked at",
        step(THREE + "    print(sys._getframe().f_locals)\n", graph="import sys\n"),
        reason="dynamic-code",
    ),
    refuses(
        "gradients that are replaced",
        step(THREE, graph="g = tf.get_default_graph().gradient_override_map({})\n"),
        reason="graph-surgery",
    ),
    refuses(
        "an exception that is caught",
        step(
            f"try:\n    l, a = sess.run([loss, accuracy], {FEED})\n"
            "except ValueError:\n    l = 0.0\nprint(l)\n"
        ),
        reason="inside-try",
    ),
    refuses(
        "an exception that a caller catches",
        step(THREE) + "try:\n    train([])\nexcept ValueError:\n    pass\n",
        reason="inside-try",
    ),
    refuses(
        "a decorator that tries again",
        step(THREE, graph="from retrying import retry\n").replace("def train", "@retry\ndef train"),
        reason="inside-try",
    ),
    refuses(
        "nothing is read",
        step(f"l, a = sess.run([loss, accuracy], {FEED})\n"),
        reason="whole-run",
    ),
    refuses("nothing is even named", step(f"sess.run(loss, {FEED})\n"), reason="whole-run"),
    refuses("an evaluation", step(f"loss.eval({FEED})\n"), reason="whole-run"),
    refuses("one name, unread", step(f"l = sess.run(loss, {FEED})\n"), reason="whole-run"),
    refuses(
        "a list that is made elsewhere",
        step(
            f"_, l, a = sess.run(fetches, {FEED})\nprint(l)\n",
            graph="fetches = [train_op, loss, accuracy]\n",
        ),
        reason="fetches-elsewhere",
    ),
    refuses(
        "a list with another in it",
        step(
            f"_, l, a = sess.run([train_op, *more], {FEED})\nprint(l)\n",
            graph="more = [loss, accuracy]\n",
        ),
        reason="fetches-elsewhere",
    ),
    refuses(
        "a list that is extended in the call",
        step(
            f"_, l, a = sess.run([train_op] + more, {FEED})\nprint(l)\n",
            graph="more = [loss, accuracy]\n",
        ),
        reason="fetches-elsewhere",
    ),
    refuses(
        "an operation that is made in the call",
        step(f"_, l, a = sess.run([train_op, loss, tf.argmax(logits, 1)], {FEED})\nprint(l)\n"),
        reason="fetch-builds-graph",
    ),
    refuses(
        "an operator in the call",
        step(f"_, l, a = sess.run([train_op, loss, loss * 2.0], {FEED})\nprint(l)\n"),
        reason="fetch-builds-graph",
    ),
    refuses(
        "a part of a tensor",
        step(f"_, l, a = sess.run([train_op, loss, w[0]], {FEED})\nprint(l)\n"),
        reason="may-fail",
    ),
    kept("a parameter", "def of(more):\n    return more\nmore = of(unknown)\n", "fetch-not-traced"),
    kept("a module's tensor", "import models\nmore = models.value\n", "fetch-not-traced"),
    kept("a name of a tensor", 'more = "accuracy:0"\n', "fetch-not-traced"),
    kept(
        "all summaries",
        'tf.summary.scalar("l", loss)\nmore = tf.summary.merge_all()\n',
        "fetch-not-traced",
    ),
    kept("a draw", "more = tf.random_normal([3])\n", "random-beneath"),
    kept("dropout of its own", "more = tf.nn.dropout(logits, 0.5)\n", "random-beneath"),
    kept(
        "a next element",
        "more = tf.data.Dataset.range(9).make_one_shot_iterator().get_next()\n",
        "iterator-beneath",
    ),
    kept("a check of numbers", "more = tf.check_numerics(loss, 'l')\n", "may-fail"),
    kept(
        "an assertion before it",
        "with tf.control_dependencies([tf.assert_less(loss, 9.0)]):\n    more = accuracy * 2.0\n",
        "may-fail",
    ),
    kept(
        "a histogram, which checks values", 'more = tf.summary.histogram("l", loss)\n', "may-fail"
    ),
    kept(
        "a histogram among summaries",
        'more = tf.summary.merge([tf.summary.scalar("l", loss), tf.summary.histogram("w", w)])\n',
        "may-fail",
    ),
    kept("what ends in a sum and factors a matrix", "more = tf.linalg.logdet(w)\n", "may-fail"),
    kept("a depth that is computed", "more = tf.one_hot(y, tf.argmax(b))\n", "may-fail"),
    kept("an axis that is computed", "more = tf.reduce_sum(w, y)\n", "may-fail"),
    kept("a shape that is computed", "more = tf.reshape(w, [-1, tf.argmax(b)])\n", "may-fail"),
    kept("a lookup", "more = tf.gather(w, y)\n", "may-fail"),
    kept("a division of whole numbers", "more = y // tf.size(y)\n", "may-fail"),
    kept("tf.div, which may be of whole numbers", "more = tf.div(y, y)\n", "may-fail"),
    kept(
        "a label that nobody else checks",
        """\
more = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y + 1, logits=logits)
""",
        "may-fail",
    ),
    kept(
        "a placeholder that is not fed",
        "z = tf.placeholder(tf.float32, [])\nmore = loss * z\n",
        "may-fail",
    ),
    refuses(
        "noise on the loss, which the update does not need",
        step(
            f"sess.run([step_op, noisy], {FEED})\n",
            graph="""
            noisy = loss + tf.random_normal([])
            step_op = tf.train.GradientDescentOptimizer(0.1).minimize(noisy)
            """,
        ),
        reason="random-beneath",
    ),
    refuses(
        "a draw of which only the shape is used elsewhere",
        step(
            f"a, c = sess.run([zeros, noise], {FEED})\nprint(a)\n",
            graph="noise = tf.random_normal([3])\nzeros = tf.zeros_like(noise)\n",
        ),
        reason="random-beneath",
    ),
    refuses(
        "a draw that is needed on one way of the program only",
        step(
            f"a, c = sess.run([chosen, noise], {FEED})\nprint(a)\n",
            graph="""
            noise = tf.random_normal([])
            chosen = noise * 2.0 if flag else loss * 2.0
            """,
        ),
        reason="random-beneath",
    ),
    refuses(
        "a draw that is cut off by a feed",
        step(
            "a, c = sess.run([late, noise], {middle: images})\nprint(a)\n",
            graph="noise = tf.random_normal([3])\nmiddle = noise * 2.0\nlate = middle + 1.0\n",
        ),
        reason="random-beneath",
    ),
    refuses(
        "one result of what is not known, of which another is read",
        step(
            f"_, l, c = sess.run([train_op, first, second], {FEED})\nprint(l)\n",
            graph="import models\nfirst, second = models.both(x)\n",
        ),
        reason="fetch-not-traced",
    ),
    refuses(
        "what stays races with the update",
        step(f"_, v, a = sess.run([train_op, w, accuracy], {FEED})\nprint(v)\n"),
        reason="races-with-update",
    ),
    refuses(
        "one may fail and stays, and races with the update",
        step(
            f"_, l, a, c = sess.run([train_op, loss, accuracy, more], {FEED})\nprint(l)\n",
            graph="more = tf.gather(w, y)\n",
        ),
        reason=("may-fail", "races-with-update"),
    ),
    refuses(
        "two updates stay",
        step(
            f"_, _, l, a = sess.run([train_op, more, loss, accuracy], {FEED})\nprint(l)\n",
            graph="more = tf.train.AdamOptimizer(0.1).minimize(accuracy)\n",
        ),
        reason="races-with-update",
    ),
    refuses(
        "what stays is not known",
        step(
            f"_, l, a = sess.run([more, loss, accuracy], {FEED})\nprint(l)\n",
            graph="import models\nmore = models.update(loss)\n",
        ),
        reason="races-with-update",
    ),
    refuses(
        "an activation of a batch norm of a convolution, which TensorFlow 2 cannot fuse",
        step(
            f"l, a = sess.run([top, normed], {FEED})\nprint(l)\n",
            graph="""
            kernel = tf.Variable(tf.zeros([3, 3, 1, 1]))
            conv = tf.nn.conv2d(tf.reshape(x, [-1, 4, 2, 1]), kernel, [1, 1, 1, 1], "SAME")
            normed = tf.nn.fused_batch_norm(conv, one, one, one, one, is_training=False)[0]
            top = tf.tanh(normed)
            """,
            before="one = 1\n",
        ).replace("one, one, one, one", "[1.0], [1.0], [1.0], [1.0]"),
        reason=("fails-alone",),
    ),
    refuses(
        "a name at the top level",
        module(THREE),
        reason="importable-name",
        shapes=("crlf", "tabs"),
    ),
    refuses(
        "a global name",
        step("    global a\n" + THREE),
        reason="importable-name",
        shapes=("crlf", "tabs"),
    ),
]

REWRITTEN = [
    rewrites("an accuracy that nobody reads", step(THREE), step(TWO), contract="rounding"),
    rewrites(
        "a loss and an accuracy",
        step(RUN),
        step(f"_ = sess.run(train_op, {FEED})\n"),
        contract="rounding",
    ),
    rewrites(
        "results that are not even named",
        step(f"sess.run([train_op, loss, accuracy], {FEED})\n"),
        step(f"sess.run([train_op], {FEED})\n"),
        contract="rounding",
    ),
    rewrites(
        "results under one name, in a tuple",
        step(f"_ = sess.run((train_op, loss, accuracy), {FEED})\n"),
        step(f"_ = sess.run((train_op,), {FEED})\n"),
        contract="rounding",
    ),
    rewrites(
        "one value that only reads stays",
        step(f"l, a = sess.run([loss, accuracy], {FEED})\nprint(l)\n"),
        step(f"l = sess.run(loss, {FEED})\nprint(l)\n"),
        contract="exact",
    ),
    rewrites(
        "they share a link that may be folded",
        step(
            f"l, a = sess.run([scaled, twentieth], {FEED})\nprint(l)\n",
            graph="twentieth = logits / 20.0\nscaled = twentieth * 0.01\n",
        ),
        step(
            f"l = sess.run(scaled, {FEED})\nprint(l)\n",
            graph="twentieth = logits / 20.0\nscaled = twentieth * 0.01\n",
        ),
        contract="rounding",
    ),
    rewrites(
        "an underscore",
        step(f"l, _ = sess.run([loss, accuracy], {FEED})\nprint(l)\n"),
        step(f"l = sess.run(loss, {FEED})\nprint(l)\n"),
        contract="exact",
    ),
    rewrites(
        "an underscore that is given another value before it is read",
        step(f"l, _ = sess.run([loss, accuracy], {FEED})\nfor _ in range(3):\n    print(l, _)\n"),
        step(f"l = sess.run(loss, {FEED})\nfor _ in range(3):\n    print(l, _)\n"),
        contract="exact",
    ),
    rewrites(
        "a name that is given another value before it is read",
        step(f"l, a = sess.run([loss, accuracy], {FEED})\na = len(labels)\nprint(l, a)\n"),
        step(f"l = sess.run(loss, {FEED})\na = len(labels)\nprint(l, a)\n"),
        contract="exact",
    ),
    rewrites(
        "one name twice, unread",
        step(f"_, l, _ = sess.run([accuracy, loss, w], {FEED})\nprint(l)\n"),
        step(f"l = sess.run(loss, {FEED})\nprint(l)\n"),
        contract="exact",
    ),
    rewrites(
        "one tensor twice",
        step(f"l, again = sess.run([loss, loss], {FEED})\nprint(l)\n"),
        step(f"l = sess.run(loss, {FEED})\nprint(l)\n"),
        contract="exact",
    ),
    rewrites(
        "a list of fetches that nobody reads",
        step(f"l, more = sess.run([loss, [accuracy, w]], {FEED})\nprint(l)\n"),
        step(f"l = sess.run(loss, {FEED})\nprint(l)\n"),
        contract="exact",
    ),
    rewrites(
        "a nested target stays",
        step(f"(l, c), a = sess.run([[loss, w], accuracy], {FEED})\nprint(l, c)\n"),
        step(f"(l, c) = sess.run([loss, w], {FEED})\nprint(l, c)\n"),
        contract="exact",
    ),
    rewrites(
        "an attribute stays",
        step(f"a, batches.loss = sess.run([accuracy, loss], {FEED})\n"),
        step(f"batches.loss = sess.run(loss, {FEED})\n"),
        contract="exact",
    ),
    rewrites(
        "targets in parentheses and in a list",
        step(f"(l, a, c) = sess.run([loss, accuracy, w], feed_dict={FEED})\nprint(l, c)\n"),
        step(f"(l, c) = sess.run([loss, w], feed_dict={FEED})\nprint(l, c)\n"),
        contract="exact",
    ),
    rewrites(
        "fetches by keyword, targets in a list",
        step(f"[l, a, c] = sess.run(feed_dict={FEED}, fetches=[loss, accuracy, w])\nprint(l, c)\n"),
        step(f"[l, c] = sess.run(feed_dict={FEED}, fetches=[loss, w])\nprint(l, c)\n"),
        contract="exact",
    ),
    rewrites(
        "parentheses around some of the fetches",
        step(f"l, c, a = sess.run([loss, (w), accuracy], {FEED})\nprint(l, c)\n"),
        step(f"l, c = sess.run([loss, w], {FEED})\nprint(l, c)\n"),
        contract="exact",
    ),
    rewrites(
        "parentheses around some of the targets",
        step(f"l, (c), a = sess.run([loss, w, accuracy], {FEED})\nprint(l, c)\n"),
        step(f"(l, c) = sess.run([loss, w], {FEED})\nprint(l, c)\n"),
        contract="exact",
    ),
    rewrites(
        "a comment above the first, which goes",
        step(f"""
            a, l, c = sess.run([
                # how many are right
                accuracy,
                # the loss
                loss, w
            ], {FEED})
            print(l, c)
        """),
        step(f"""
            # how many are right
            l, c = sess.run([
                # the loss
                loss, w
            ], {FEED})
            print(l, c)
        """),
        contract="exact",
    ),
    rewrites(
        "comments stay",
        step(f"""
            # One step.
            _, l, a = sess.run(
                [
                    train_op,  # the step
                    loss,  # its loss
                    accuracy,  # for nobody
                ],
                {FEED},
            )  # done
            print(l)
        """),
        step(f"""
            # One step.
            # for nobody
            _, l = sess.run(
                [
                    train_op,  # the step
                    loss,  # its loss
                ],
                {FEED},
            )  # done
            print(l)
        """),
        contract="rounding",
    ),
    rewrites(
        "comments stay when a value in the middle goes",
        step(f"""
            a, l, c = sess.run([accuracy,  # for nobody
                                loss,  # the loss
                                w], {FEED})
            print(l, c)
        """),
        step(f"""
            # for nobody
            l, c = sess.run([loss,  # the loss
                                w], {FEED})
            print(l, c)
        """),
        contract="exact",
    ),
    rewrites(
        "summaries of numbers",
        step(
            f"_, l, summary = sess.run([train_op, loss, merged], {FEED})\nprint(l)\n",
            graph=SUMMARIES,
        ),
        step(
            f"_, l = sess.run([train_op, loss], {FEED})\nprint(l)\n",
            graph=SUMMARIES,
        ),
        contract="rounding",
    ),
    rewrites(
        "dropout that the update draws in any case",
        step(
            f"sess.run([step_op, cost], {FEED})\n",
            graph="""
            thin = tf.layers.dense(tf.nn.dropout(hidden, 0.5), 3)
            cost = tf.losses.sparse_softmax_cross_entropy(y, thin)
            step_op = tf.train.AdamOptimizer(0.1).minimize(cost)
            """,
        ),
        step(
            f"sess.run([step_op], {FEED})\n",
            graph="""
            thin = tf.layers.dense(tf.nn.dropout(hidden, 0.5), 3)
            cost = tf.losses.sparse_softmax_cross_entropy(y, thin)
            step_op = tf.train.AdamOptimizer(0.1).minimize(cost)
            """,
        ),
        contract="rounding",
    ),
    rewrites(
        "one of the results of one operation, another of which is read",
        step("p, k = sess.run([points, kinds])\nprint(p)\n", graph=BATCH),
        step("p = sess.run(points)\nprint(p)\n", graph=BATCH),
        contract="rounding",
    ),
    rewrites(
        "a batch that the update takes in any case",
        step("sess.run([step_op, cost])\n", graph=BATCH),
        step("sess.run([step_op])\n", graph=BATCH),
        contract="rounding",
    ),
    rewrites(
        "under an if, in a loop that ends with the data",
        step(f"""
            try:
                if len(labels) > 3:
                    l, a = sess.run([loss, accuracy], {FEED})
                    print(l)
            except tf.errors.OutOfRangeError:
                break
        """),
        step(f"""
            try:
                if len(labels) > 3:
                    l = sess.run(loss, {FEED})
                    print(l)
            except tf.errors.OutOfRangeError:
                break
        """),
        contract="exact",
    ),
    rewrites(
        "an update that is not known stays alone",
        step(
            f"_, a = sess.run([more, accuracy], {FEED})\n",
            graph="import models\nmore = models.update(loss)\n",
        ),
        step(
            f"_ = sess.run(more, {FEED})\n",
            graph="import models\nmore = models.update(loss)\n",
        ),
        contract="rounding",
    ),
    rewrites(
        "one goes, one may fail and stays",
        step(
            f"l, a, c = sess.run([loss, accuracy, more], {FEED})\nprint(l)\n",
            graph="more = tf.gather(w, y)\n",
        ),
        step(
            f"l, c = sess.run([loss, more], {FEED})\nprint(l)\n",
            graph="more = tf.gather(w, y)\n",
        ),
        contract="exact",
        refused=("may-fail",),
    ),
    rewrites(
        "in a function that takes one step",
        GRAPH
        + textwrap.dedent("""\
            sess = tf.Session()
            def one(images, labels):
                _, l, a = sess.run([train_op, loss, accuracy], {x: images, y: labels})
                return l
            """),
        GRAPH
        + textwrap.dedent("""\
            sess = tf.Session()
            def one(images, labels):
                _, l = sess.run([train_op, loss], {x: images, y: labels})
                return l
            """),
        contract="rounding",
    ),
    rewrites(
        "in the main part of a script",
        module(THREE, 'if __name__ == "__main__":'),
        module(TWO, 'if __name__ == "__main__":'),
        contract="rounding",
        shapes=("crlf", "tabs"),
    ),
    rewrites(
        "an underscore at the top level",
        module(f"l, _ = sess.run([loss, accuracy], {FEED})\nprint(l)\n"),
        module(f"l = sess.run(loss, {FEED})\nprint(l)\n"),
        contract="exact",
        shapes=("crlf", "tabs"),
    ),
]

test_drop_unused_fetches = bench(DropUnusedFetches, *READERS, *SILENT, *REFUSED, *REWRITTEN)
