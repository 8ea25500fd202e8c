"""TFR101: what is fed changes by another name, and what is done is seen after an exception."""

from __future__ import annotations

import textwrap

from rulebench import Case, bench, refuses, rewrites
from tfrewrite.codemods.merge_session_runs import MergeSessionRuns

GRAPH = """\
import contextlib
import gc
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 3])
ids = tf.placeholder(tf.int32, [None])
total = tf.reduce_sum(x)
largest = tf.reduce_max(x)
count = tf.reduce_sum(ids)
looked_up = tf.gather([1.0, 2.0, 3.0], ids)
sess = tf.Session()
data = np.ones([12, 3])
"""


def of_two_names(between: str, before: str = "pass") -> str:
    """A step to which one array is given twice, and that changes it by the name `view`."""
    return GRAPH + textwrap.dedent(f"""
    def step(view, batch):
        {before}
        t = sess.run(total, {{x: batch}})
        {between}
        m = sess.run(largest, {{x: batch}})
        print(t, m)

    for i in range(9):
        step(data, data)
    """)


def caught(step: str, before: str = "", after: str = "") -> str:
    """Steps that a caller goes on after where one of them fails."""
    return (
        GRAPH
        + textwrap.dedent(before)
        + "def steps(batches):\n"
        + textwrap.indent(textwrap.dedent(step).removeprefix("\n"), "    ")
        + "try:\n    steps([[0], [9]])\nexcept tf.errors.InvalidArgumentError:\n    pass\n"
        + textwrap.dedent(after)
    )


def fed(between: str, before: str = "") -> str:
    """Two runs with the same feed, and what is between them."""
    loop = f"""
    for batch in batches:
        t = sess.run(total, {{x: batch}})
        {between}
        m = sess.run(largest, {{x: batch}})
        print(t, m)
    """
    return GRAPH + textwrap.dedent(before) + textwrap.dedent(loop)


OWN = ("crlf", "tabs")


def _changed(reason: str, **cases: tuple[str, str]) -> list[Case]:
    return [
        refuses(name.replace("_", " "), of_two_names(between, before), reason=reason, shapes=OWN)
        for name, (before, between) in cases.items()
    ]


TRAPS = [
    *_changed(
        "feed-changes",
        an_array_that_is_no_copy=("b = np.array(view, copy=False)", "b[0] = 7"),
        an_array_that_is_no_copy_by_position=("b = np.array(view, None, False)", "b[0] = 7"),
        an_array_that_a_sum_begins_with=("b = sum([], view)", "b[0] = 7"),
        an_array_that_is_written_to=("b = np.mean(view, 0, out=view[0])", "b[0] = 7"),
        the_shape_of_an_array=("pass", "view.shape = (3, 12)"),
        all_elements_of_an_array=("pass", "view.flat = 7.0"),
        the_real_part_of_an_array=("pass", "view.real = 7.0"),
    ),
    *_changed(
        "call-between",
        an_output_argument_among_others=("pass", "np.add(*view)"),
        an_output_argument_if_wanted=("pass", "np.exp(view, view if i else None)"),
        an_output_argument_that_a_call_gives=("pass", "np.exp(view, view.view())"),
        an_output_argument_of_a_method=("pass", "view.mean(0, None, view.view())"),
    ),
    refuses(
        "a parameter that is a number by default only",
        of_two_names("view += 1").replace("def step(view, batch)", "def step(view=0, batch=None)"),
        reason="feed-changes",
        shapes=OWN,
    ),
    refuses(
        "rows of an array, which are views of it",
        GRAPH
        + textwrap.dedent("""
        held = np.zeros([4, 3])
        rows = []
        for row in held:
            rows.append(row)
        for i in range(9):
            t = sess.run(total, {x: rows})
            held[0] = i
            m = sess.run(largest, {x: rows})
        """),
        reason="feed-changes",
    ),
    refuses(
        "a view on the object, with another shape",
        GRAPH
        + textwrap.dedent("""
        class Model:
            def __init__(self, batch):
                self.batch = self.view = batch

            def step(self):
                t = sess.run(total, {x: self.batch})
                self.view.shape = (3, 12)
                m = sess.run(largest, {x: self.batch})

        for i in range(9):
            Model(data).step()
        """),
        reason="feed-changes",
        shapes=OWN,
    ),
    *[
        refuses(
            f"steps that are taken when a list is filled: {name}",
            fed(filled, "steps = (sess.run(w_op) for _ in range(9))\nseen = [0]\n"),
            reason="call-between",
        )
        for name, filled in (("added to", "seen += steps"), ("as a whole", "seen[:] = steps"))
    ],
    refuses(
        "a list of the object, the sum of which is fed",
        GRAPH
        + textwrap.dedent("""
        class Model:
            def __init__(self):
                self.seen = []

            def step(self):
                t = sess.run(total, {x: [[sum(self.seen), 1, 2]]})
                self.seen.append(t)
                m = sess.run(largest, {x: [[sum(self.seen), 1, 2]]})

        model = Model()
        for i in range(9):
            model.step()
        """),
        reason="feed-changes",
        shapes=OWN,
    ),
    refuses(
        "a list of the object that is had by its name as a text",
        GRAPH
        + textwrap.dedent("""
        class Model:
            def __init__(self):
                self.seen = []

            def step(self):
                view = getattr(self, "seen")
                t = sess.run(total, {x: view})
                self.seen.append([1, 2, 3])
                m = sess.run(largest, {x: view})

        model = Model()
        for i in range(9):
            model.step()
        """),
        reason="feed-changes",
        shapes=OWN,
    ),
    refuses(
        "a private attribute by the name that Python gives it",
        GRAPH
        + textwrap.dedent("""
        class Model:
            def __init__(self):
                self.__batch = data

            def step(self, other):
                t = sess.run(total, {x: self.__batch})
                other._Model__batch = data[:4]
                m = sess.run(largest, {x: self.__batch})

        model = Model()
        for i in range(9):
            model.step(model)
        """),
        reason="dynamic-code",
        shapes=OWN,
    ),
    refuses(
        "a thread of TensorFlow's own",
        fed("pass", "thread = tf.train.LooperThread.loop(coordinator, 1, work)\n"),
        reason="dynamic-code",
    ),
    refuses(
        "a function that a supervisor calls now and then",
        fed("pass", "tf.train.Supervisor().loop(1, work)\n"),
        reason="dynamic-code",
    ),
    refuses(
        "a function that the garbage collector calls",
        fed("pass", "gc.callbacks.append(work)\n"),
        reason="dynamic-code",
    ),
    refuses(
        "an interactive session under another session's with",
        GRAPH
        + textwrap.dedent("""
        with tf.Session() as one:
            other = tf.InteractiveSession()
            for batch in batches:
                t = total.eval({x: batch})
                m = one.run(largest, {x: batch})
        """),
        reason="session-unknown",
    ),
    refuses(
        "a global name that is read after the exception",
        caught(
            """
            global last
            for batch in batches:
                last = sess.run(count, {ids: batch})
                values = sess.run(looked_up, {ids: batch})
            """,
            after="print(last)\n",
        ),
        reason="inside-try",
        shapes=OWN,
    ),
    refuses(
        "a name of the function around it",
        GRAPH
        + textwrap.dedent("""
        def train(batches):
            last = None

            def steps():
                nonlocal last
                for batch in batches:
                    last = sess.run(count, {ids: batch})
                    values = sess.run(looked_up, {ids: batch})

            try:
                steps()
            except tf.errors.InvalidArgumentError:
                print(last)
        """),
        reason="inside-try",
        shapes=OWN,
    ),
    refuses(
        "an attribute within a target within a target",
        caught(
            """
            for batch in batches:
                n, (t, log.last) = 1, (2, sess.run(count, {ids: batch}))
                values = sess.run(looked_up, {ids: batch})
            """
        ),
        reason="inside-try",
        shapes=OWN,
    ),
    refuses(
        "what is taken from a list before the exception",
        caught(
            """
            for batch in batches:
                n = sess.run(count, {ids: batch})
                first = work.pop()
                values = sess.run(looked_up, {ids: batch})
            """,
            before="work = [1, 2, 3]\n",
            after="print(work)\n",
        ),
        reason="inside-try",
        shapes=OWN,
    ),
    refuses(
        "what is printed before the exception",
        caught(
            """
            for batch in batches:
                n = sess.run(count, {ids: batch})
                shown = print(n)
                values = sess.run(looked_up, {ids: batch})
            """
        ),
        reason="inside-try",
        shapes=OWN,
    ),
]

REWRITES = [
    rewrites(
        "a list that is gone through, and an array that is a copy",
        fed("seen.append(len(seen))", "seen = []\nfor one in seen:\n    print(one)\n"),
        fed("seen.append(len(seen))", "seen = []\nfor one in seen:\n    print(one)\n")
        .replace("t = sess.run(total, ", "t, m = sess.run([total, largest], ")
        .replace("    m = sess.run(largest, {x: batch})\n", ""),
        contract="exact",
    ),
    rewrites(
        "a list to which what was read is added, and a number",
        fed("seen += [t]\n        n += t", "seen = []\nn = 0\n"),
        fed("seen += [t]\n        n += t", "seen = []\nn = 0\n")
        .replace("t = sess.run(total, ", "t, m = sess.run([total, largest], ")
        .replace("    m = sess.run(largest, {x: batch})\n", ""),
        contract="exact",
    ),
    rewrites(
        "names of the function alone, where a caller catches what the second run raises",
        caught(
            """
            for batch in batches:
                xs = np.array(batch)
                n = sess.run(count, {ids: xs})
                values = sess.run(looked_up, {ids: xs})
            """
        ),
        caught(
            """
            for batch in batches:
                xs = np.array(batch)
                n, values = sess.run([count, looked_up], {ids: xs})
            """
        ),
        contract="exact",
        shapes=OWN,
    ),
]

test_merge_session_runs_unseen = bench(MergeSessionRuns, *TRAPS, *REWRITES)
