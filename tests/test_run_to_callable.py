"""TFR105: what is left alone and refused first, then what is rewritten."""

from __future__ import annotations

import textwrap

from rulebench import bench, leaves_alone, refuses, rewrites
from tfrewrite.codemods.run_to_callable import RunToCallable

TOP = ("main", "crlf", "tabs")

HEAD = """\
import numpy as np
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 3])
w = tf.Variable(tf.zeros([3]))
v = tf.Variable(tf.zeros([3]))
loss = tf.reduce_mean(tf.square(w - 1))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
fed = tf.reduce_mean(x * w)
init_op = tf.global_variables_initializer()
sess = tf.Session()
sess.run(init_op)
"""


def script(rest: str) -> str:
    return HEAD + textwrap.dedent(rest).lstrip("\n")


def in_loop(*lines: str) -> str:
    return HEAD + "for step in range(1000):\n" + "".join(f"    {line}\n" for line in lines)


test_left_alone = bench(
    RunToCallable,
    leaves_alone("no loop", script("print(sess.run(train_op))\n")),
    leaves_alone("a feed", in_loop("sess.run(fed, feed_dict={x: batch()})")),
    leaves_alone("a feed by position", in_loop("sess.run(fed, {x: batch()})")),
    leaves_alone("a feed that may be none", in_loop("sess.run(fed, feed)")),
    leaves_alone("the tensor's own method", in_loop("with sess.as_default():", "    loss.eval()")),
    leaves_alone("not a session", "import tensorflow as tf\nfor i in n:\n    model.run(x)\n"),
    leaves_alone(
        "a process", "import tensorflow as tf, subprocess\nfor i in n:\n    subprocess.run(x)\n"
    ),
    leaves_alone("a few turns", script("for i in range(5):\n    sess.run(train_op)\n")),
    leaves_alone("a few values", script("print([sess.run(loss) for i in range(3)])\n")),
    leaves_alone("now and then", in_loop("if step % 100 == 0:", "    print(sess.run(loss))")),
    leaves_alone("if it is asked for", in_loop("if verbose:", "    print(sess.run(loss))")),
    leaves_alone("in a condition's value", in_loop("a = sess.run(loss) if step % 9 == 0 else 0")),
    leaves_alone("after a condition", in_loop("a = step % 9 == 0 and sess.run(loss)")),
    leaves_alone(
        "where an error is handled",
        in_loop("try:", "    work()", "except tf.errors.OpError:", "    sess.run(init_op)"),
    ),
    leaves_alone(
        "once for a loop of runs",
        script(
            """
            for epoch in range(100):
                sess.run(init_op)
                for step in range(100):
                    sess.run(fed, {x: batch()})
            """
        ),
    ),
    leaves_alone(
        "once for a loop of calls",
        script(
            """
            run_train_op = sess.make_callable(train_op)
            for epoch in range(100):
                sess.run(init_op)
                for step in range(100):
                    run_train_op()
            """
        ),
    ),
    leaves_alone("in a lambda", script("f = lambda n: [sess.run(loss) for _ in n]\n")),
    leaves_alone(
        "in a class",
        script("class A:\n    for step in range(1000):\n        sess.run(train_op)\n"),
        shapes=TOP,
    ),
    leaves_alone(
        "one of its own kind",
        script(
            """
            class Counting(tf.Session):
                def run(self, *given):
                    self.n += 1
                    return super().run(*given)
            my_sess = Counting()
            for step in range(1000):
                my_sess.run(train_op)
            """
        ),
    ),
    leaves_alone("by a partial run", in_loop("sess.partial_run(handle, loss)")),
)

test_sessions_refused = bench(
    RunToCallable,
    refuses(
        "a session from elsewhere",
        HEAD + "def train(sess):\n    while True:\n        sess.run(train_op)\n",
        reason="session-unknown",
    ),
    refuses(
        "a monitored session",
        script(
            """
            with tf.train.MonitoredTrainingSession() as mon:
                while not mon.should_stop():
                    mon.run(train_op)
            """
        ),
        reason="hooked-session",
    ),
    refuses(
        "one that is wrapped",
        script(
            """
            from tensorflow.python import debug as tf_debug
            sess = tf_debug.LocalCLIDebugWrapperSession(sess)
            for step in range(1000):
                sess.run(train_op)
            """
        ),
        reason="session-unknown",
        shapes=TOP,
    ),
    refuses(
        "one that may be wrapped",
        script(
            """
            if debug:
                sess = wrapped(sess)
            for step in range(1000):
                sess.run(train_op)
            """
        ),
        reason="session-unknown",
    ),
    refuses(
        "another one in each turn",
        script(
            """
            for step in range(1000):
                sess.run(train_op)
                sess = tf.Session()
            """
        ),
        reason="session-unknown",
        shapes=TOP,
    ),
    refuses(
        "opened in the loop",
        in_loop("with tf.Session() as own_sess:", "    own_sess.run(train_op)"),
        reason=("scope-in-loop",),
    ),
    refuses(
        "closed in the loop, and the error is caught",
        script(
            """
            try:
                for step in range(1000):
                    sess.run(train_op)
                    if step > 10:
                        sess.close()
            except RuntimeError:
                print("closed")
            """
        ),
        reason="session-closed",
    ),
    refuses(
        "closed in the loop, and what a callable then raises is caught",
        script(
            """
            try:
                for step in range(1000):
                    sess.run(train_op)
                    if step > 10:
                        sess.close()
            except tf.errors.CancelledError:
                print("cancelled")
            """
        ),
        reason="session-closed",
    ),
    refuses(
        "a list that may be empty",
        script(
            """
            updates = [w.assign(w) for w in tf.trainable_variables() if "moving" in w.name]
            for step in range(1000):
                sess.run(updates)
            """
        ),
        reason="fetch-unknown",
    ),
    refuses("options", in_loop("sess.run(train_op, options=options)"), reason="run-options"),
    refuses("metadata", in_loop("sess.run(train_op, run_metadata=metadata)"), reason="run-options"),
    refuses(
        "a run that is replaced",
        script("tf.Session.run = counted\nfor step in range(1000):\n    sess.run(train_op)\n"),
        reason="dynamic-code",
    ),
    refuses(
        "a run of this session that is replaced",
        script("sess.run = counted\nfor step in range(1000):\n    sess.run(train_op)\n"),
        reason="dynamic-code",
    ),
    refuses(
        "a run that is mocked",
        "from unittest import mock\n" + in_loop("sess.run(train_op)"),
        reason="dynamic-code",
        shapes=("crlf", "tabs"),
    ),
    refuses(
        "names set unseen",
        in_loop("sess.run(train_op)", "globals()['train_op'] = loss"),
        reason="dynamic-code",
    ),
)

test_fetches_refused = bench(
    RunToCallable,
    refuses(
        "another fetch in each turn",
        in_loop("sess.run(op)", "op = train_op"),
        reason=("rebound-in-loop",),
    ),
    refuses(
        "the loop's own",
        HEAD + "for op in [train_op, loss] * 9:\n    sess.run(op)\n",
        reason="fetch-unknown",
    ),
    refuses(
        "deleted",
        in_loop("sess.run(train_op)", "del train_op"),
        reason="fetch-unknown",
        shapes=TOP,
    ),
    refuses("made in the turn", in_loop("sess.run(tf.reduce_sum(w))"), reason="operand-not-sure"),
    refuses("an operator", in_loop("sess.run(loss * 2)"), reason="operand-not-sure"),
    refuses("nothing", in_loop("sess.run([])"), reason="fetch-unknown"),
    refuses("none", in_loop("sess.run(None)"), reason="fetch-unknown"),
    refuses("a name", in_loop("sess.run('train_op')"), reason="fetch-unknown"),
    refuses(
        "all variables, if any",
        script("ops = tf.trainable_variables()\nfor i in range(99):\n    sess.run(ops)\n"),
        reason="fetch-unknown",
    ),
    refuses(
        "a collection",
        script("ops = tf.get_collection('mine')\nfor i in range(99):\n    sess.run(ops)\n"),
        reason="fetch-unknown",
    ),
    refuses(
        "a handle",
        script("handle = tf.get_session_handle(loss)\nfor i in range(99):\n    sess.run(handle)\n"),
        reason="fetch-unknown",
    ),
    refuses(
        "a handle among others",
        script(
            "h = tf.get_session_handle(loss)\nfor i in range(99):\n    print(sess.run([loss, h]))\n"
        ),
        reason="fetch-unknown",
    ),
    refuses("of another file", in_loop("sess.run(model.train_op)"), reason="fetch-unknown"),
    refuses(
        "given by callers of another file",
        HEAD + "def train(op):\n    while True:\n        sess.run(op)\n",
        reason="fetch-unknown",
    ),
    refuses(
        "a list that grows",
        script("ops = [loss]\nfor i in range(99):\n    sess.run(ops)\n    ops.append(train_op)\n"),
        reason="fetch-changes",
    ),
    refuses(
        "a list that gets another element",
        script("ops = [loss]\nfor i in range(99):\n    sess.run(ops)\n    ops[0] = train_op\n"),
        reason="fetch-changes",
    ),
    refuses(
        "a list that a function is given",
        script("ops = [loss]\nfor i in range(99):\n    sess.run(ops)\n    change(ops)\n"),
        reason=("fetch-unknown",),
    ),
    refuses(
        "a list under another name",
        script(
            """
            ops = [loss]
            same = ops
            for i in range(99):
                sess.run(ops)
                same.append(train_op)
            """
        ),
        reason=("fetch-unknown",),
    ),
    refuses(
        "parts under another name",
        script(
            """
            parts = tf.split(w, 3)
            same = parts
            for i in range(99):
                sess.run(parts)
                same.append(train_op)
            """
        ),
        reason=("fetch-changes",),
    ),
    refuses(
        "a dict that grows under a condition",
        script(
            """
            ops = {"loss": loss}
            for i in range(99):
                if i == 9:
                    ops["w"] = w
                sess.run(ops)
            """
        ),
        reason="fetch-changes",
    ),
    refuses(
        "bound perhaps",
        script("if a:\n    op = loss\nfor i in range(99):\n    sess.run(op)\n"),
        reason="operand-not-sure",
    ),
    refuses(
        "bound by a function",
        HEAD
        + "def build():\n    global op\n    op = loss\nbuild()\n"
        + "for i in range(99):\n    sess.run(op)\n",
        reason=("fetch-unknown",),
        shapes=("crlf", "tabs"),
    ),
    refuses(
        "by a walrus",
        in_loop("sess.run((op := loss))"),
        reason="operand-not-sure",
    ),
    refuses(
        "an attribute that a method of the loop sets",
        HEAD
        + textwrap.dedent(
            """\
            class Model:
                def __init__(self):
                    self.op = loss
                def other(self):
                    self.op = train_op
                def train(self):
                    for i in range(99):
                        sess.run(self.op)
                        self.other()
            """
        ),
        reason="operand-not-sure",
    ),
    refuses(
        "an attribute that is built perhaps",
        HEAD
        + textwrap.dedent(
            """\
            class Model:
                def build(self):
                    self.op = tf.reduce_sum(w)
                def fit(self):
                    for i in range(99):
                        sess.run(self.op)
            model = Model()
            if new:
                model.build()
            model.fit()
            """
        ),
        reason="operand-not-sure",
    ),
)

test_errors_refused = bench(
    RunToCallable,
    refuses(
        "the message is printed",
        in_loop(
            "try:",
            "    sess.run(train_op)",
            "except tf.errors.OutOfRangeError as e:",
            "    print(e)",
        ),
        reason="message-read",
    ),
    refuses(
        "the message is printed outside",
        script(
            """
            try:
                for step in range(1000):
                    sess.run(train_op)
            except tf.errors.InvalidArgumentError as error:
                print(error.message)
            """
        ),
        reason="message-read",
    ),
    refuses(
        "the traceback is printed",
        "import traceback\n"
        + script(
            """
            try:
                for step in range(1000):
                    sess.run(train_op)
            except tf.errors.InvalidArgumentError:
                traceback.print_exc()
            """
        ),
        reason="message-read",
    ),
    refuses(
        "a caller prints the message",
        HEAD
        + textwrap.dedent(
            """\
            def train():
                for step in range(1000):
                    sess.run(train_op)
            try:
                train()
            except Exception as e:
                print(e)
            """
        ),
        reason="message-read",
    ),
    refuses(
        "somebody calls it and prints the message",
        HEAD
        + textwrap.dedent(
            """\
            def train():
                for step in range(1000):
                    sess.run(train_op)
            def guarded(f):
                try:
                    f()
                except Exception as e:
                    print(e)
            guarded(train)
            """
        ),
        reason="message-read",
    ),
    refuses(
        "a manager that is not known",
        script("with timer():\n    for step in range(1000):\n        sess.run(train_op)\n"),
        reason="message-read",
    ),
    refuses(
        "anything is caught in the loop",
        in_loop("try:", "    sess.run(train_op)", "except Exception:", "    continue"),
        reason="error-caught",
    ),
    refuses(
        "anything at all is caught in the loop",
        in_loop("try:", "    sess.run(train_op)", "except:", "    continue"),
        reason="error-caught",
    ),
    refuses(
        "runs that are merged first",
        in_loop("a = sess.run(loss)", "b = sess.run(w)", "print(a, b)"),
        reason="fewer-first",
    ),
    refuses(
        "fetches that nobody reads go first",
        in_loop("_, a = sess.run([loss, w])", "print(a)"),
        reason="fewer-first",
    ),
)

test_rewritten = bench(
    RunToCallable,
    rewrites(
        "an op",
        in_loop("sess.run(train_op)"),
        HEAD
        + "run_train_op = sess.make_callable(train_op)\n"
        + "for step in range(1000):\n    run_train_op()\n",
        contract="exact",
    ),
    rewrites(
        "a list",
        in_loop("_, l = sess.run([train_op, loss])", "print(l)"),
        HEAD
        + "run_train_op_loss = sess.make_callable([train_op, loss])\n"
        + "for step in range(1000):\n    _, l = run_train_op_loss()\n    print(l)\n",
        contract="exact",
    ),
    rewrites(
        "a dict, by keyword, and a part of what it gives",
        in_loop('print(sess.run(fetches={"l": loss, "w": w, "t": train_op})["l"])'),
        HEAD
        + 'run_step = sess.make_callable({"l": loss, "w": w, "t": train_op})\n'
        + 'for step in range(1000):\n    print(run_step()["l"])\n',
        contract="exact",
    ),
    rewrites(
        "no feed in so many words",
        in_loop("sess.run(train_op, feed_dict=None)"),
        HEAD
        + "run_train_op = sess.make_callable(train_op)\n"
        + "for step in range(1000):\n    run_train_op()\n",
        contract="exact",
    ),
    rewrites(
        "to the end of the data, in each epoch",
        script(
            """
            with tf.Session() as s:
                s.run(init_op)
                # All epochs.
                for epoch in range(10):
                    while True:
                        try:
                            # The step.
                            _, l = s.run([train_op, loss])  # trains
                            print(l)
                        except tf.errors.OutOfRangeError:
                            break
            """
        ),
        script(
            """
            with tf.Session() as s:
                s.run(init_op)
                run_train_op_loss = s.make_callable([train_op, loss])
                # All epochs.
                for epoch in range(10):
                    while True:
                        try:
                            # The step.
                            _, l = run_train_op_loss()  # trains
                            print(l)
                        except tf.errors.OutOfRangeError:
                            break
            """
        ),
        contract="exact",
    ),
    rewrites(
        "with queues and a coordinator",
        script(
            """
            coord = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(sess=sess, coord=coord)
            try:
                while not coord.should_stop():
                    sess.run(train_op)
            except tf.errors.OutOfRangeError:
                print("done")
            finally:
                coord.request_stop()
            """
        ),
        script(
            """
            coord = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(sess=sess, coord=coord)
            try:
                run_train_op = sess.make_callable(train_op)
                while not coord.should_stop():
                    run_train_op()
            except tf.errors.OutOfRangeError:
                print("done")
            finally:
                coord.request_stop()
            """
        ),
        contract="exact",
    ),
    rewrites(
        "the other steps",
        in_loop(
            "if step % 10 == 0:",
            "    _, l = sess.run([train_op, loss])",
            "    print(l)",
            "else:",
            "    sess.run(train_op)",
        ),
        HEAD
        + textwrap.dedent(
            """\
            run_train_op = sess.make_callable(train_op)
            for step in range(1000):
                if step % 10 == 0:
                    _, l = sess.run([train_op, loss])
                    print(l)
                else:
                    run_train_op()
            """
        ),
        contract="exact",
    ),
    rewrites(
        "two updates",
        in_loop("sess.run(train_op)", "sess.run(init_op)"),
        HEAD
        + textwrap.dedent(
            """\
            run_train_op = sess.make_callable(train_op)
            run_init_op = sess.make_callable(init_op)
            for step in range(1000):
                run_train_op()
                run_init_op()
            """
        ),
        contract="exact",
    ),
    rewrites(
        "the same twice",
        in_loop("sess.run(train_op)", "sess.run(train_op)"),
        HEAD
        + textwrap.dedent(
            """\
            run_train_op = sess.make_callable(train_op)
            for step in range(1000):
                run_train_op()
                run_train_op()
            """
        ),
        contract="exact",
    ),
    rewrites(
        "the same three times, and something else",
        in_loop(
            "sess.run(train_op)", "sess.run(init_op)", "sess.run(train_op)", "sess.run(train_op)"
        ),
        HEAD
        + textwrap.dedent(
            """\
            run_train_op = sess.make_callable(train_op)
            run_init_op = sess.make_callable(init_op)
            for step in range(1000):
                run_train_op()
                run_init_op()
                run_train_op()
                run_train_op()
            """
        ),
        contract="exact",
    ),
    rewrites(
        "a callable of it that is another one later",
        script(
            """
            step = sess.make_callable(train_op)
            for i in range(99):
                sess.run(train_op)
            step = print
            """
        ),
        script(
            """
            step = sess.make_callable(train_op)
            run_train_op = sess.make_callable(train_op)
            for i in range(99):
                run_train_op()
            step = print
            """
        ),
        contract="exact",
    ),
    rewrites(
        "a callable of it, made where it may have been another op",
        script(
            """
            step = sess.make_callable(train_op)
            train_op = init_op
            for i in range(99):
                sess.run(train_op)
            """
        ),
        script(
            """
            step = sess.make_callable(train_op)
            train_op = init_op
            run_train_op = sess.make_callable(train_op)
            for i in range(99):
                run_train_op()
            """
        ),
        contract="exact",
    ),
    rewrites(
        "a list with a name, built before",
        script(
            """
            ops = [train_op]
            if verbose:
                ops.append(loss)
            for i in range(99):
                print(sess.run(ops))
            """
        ),
        script(
            """
            ops = [train_op]
            if verbose:
                ops.append(loss)
            run_ops = sess.make_callable(ops)
            for i in range(99):
                print(run_ops())
            """
        ),
        contract="exact",
    ),
    rewrites(
        "in a comprehension",
        script("values = [sess.run(loss) for _ in range(1000)]\n"),
        script("run_loss = sess.make_callable(loss)\nvalues = [run_loss() for _ in range(1000)]\n"),
        contract="exact",
    ),
    rewrites(
        "in the condition",
        script("while sess.run(loss) > 0.1:\n    step()\n"),
        script("run_loss = sess.make_callable(loss)\nwhile run_loss() > 0.1:\n    step()\n"),
        contract="exact",
    ),
    rewrites(
        "on the object",
        HEAD
        + textwrap.dedent(
            """\
            class Trainer:
                def __init__(self):
                    self.sess = tf.Session()
                    self.loss = tf.reduce_mean(w)
                    self.train_op = tf.train.AdamOptimizer().minimize(self.loss)
                def fit(self, n):
                    for i in range(n):
                        self.sess.run(self.train_op)
            """
        ),
        HEAD
        + textwrap.dedent(
            """\
            class Trainer:
                def __init__(self):
                    self.sess = tf.Session()
                    self.loss = tf.reduce_mean(w)
                    self.train_op = tf.train.AdamOptimizer().minimize(self.loss)
                def fit(self, n):
                    run_train_op = self.sess.make_callable(self.train_op)
                    for i in range(n):
                        run_train_op()
            """
        ),
        contract="exact",
    ),
    rewrites(
        "built first, then trained, with a session that is handed on",
        HEAD
        + textwrap.dedent(
            """\
            class Model:
                def _add_loss(self):
                    self.loss = tf.reduce_sum(w)
                def build(self):
                    self._add_loss()
                def epoch(self, sess):
                    for i in range(99):
                        print(sess.run(self.loss))
                def fit(self, n):
                    with tf.Session() as sess:
                        for i in range(n):
                            self.epoch(sess)
            def run_all():
                model = Model()
                model.build()
                model.fit(3)
            """
        ),
        HEAD
        + textwrap.dedent(
            """\
            class Model:
                def _add_loss(self):
                    self.loss = tf.reduce_sum(w)
                def build(self):
                    self._add_loss()
                def epoch(self, sess):
                    for i in range(99):
                        print(sess.run(self.loss))
                def fit(self, n):
                    with tf.Session() as sess:
                        for i in range(n):
                            self.epoch(sess)
            def run_all():
                model = Model()
                model.build()
                model.fit(3)
            """
        )
        .replace(
            "for i in range(99)",
            "run_loss = sess.make_callable(self.loss)\n        for i in range(99)",
        )
        .replace("sess.run(self.loss)", "run_loss()"),
        contract="exact",
    ),
    rewrites(
        "given by the callers of this file",
        HEAD
        + textwrap.dedent(
            """\
            def train(s, op, n):
                for i in range(n):
                    s.run(op)
            def both():
                with tf.Session() as s:
                    train(s, train_op, 5)
                    train(s, loss, 5)
            """
        ),
        HEAD
        + textwrap.dedent(
            """\
            def train(s, op, n):
                run_op = s.make_callable(op)
                for i in range(n):
                    run_op()
            def both():
                with tf.Session() as s:
                    train(s, train_op, 5)
                    train(s, loss, 5)
            """
        ),
        contract="exact",
    ),
    rewrites(
        "over several lines",
        in_loop("_, l = sess.run(", "    [train_op,", "     loss])", "print(l)"),
        HEAD
        + "run_train_op_loss = sess.make_callable([train_op, loss])\n"
        + "for step in range(1000):\n    _, l = run_train_op_loss()\n    print(l)\n",
        contract="exact",
    ),
    rewrites(
        "in a generator",
        HEAD + "def values(n):\n    for i in range(n):\n        yield sess.run(loss)\n",
        HEAD
        + "def values(n):\n    run_loss = sess.make_callable(loss)\n"
        + "    for i in range(n):\n        yield run_loss()\n",
        contract="exact",
    ),
)
