"""TFR101: who goes on after an exception between the runs, or after one of the second run."""

from __future__ import annotations

import textwrap

from rulebench import Case, bench, refuses, rewrites
from tfrewrite.codemods.merge_session_runs import MergeSessionRuns

GRAPH = """\
import asyncio
import atexit
import functools
import unittest
import numpy as np
import rospy
from retrying import retry
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 3])
y = tf.placeholder(tf.float32, [None])
w = tf.Variable(tf.zeros([3, 1]))
mean = tf.reduce_mean(x)
loss = tf.reduce_mean(tf.square(tf.squeeze(tf.matmul(x, w), 1) - y))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
sess = tf.Session()
seen = []
"""

STEP = """
m = sess.run(mean, {x: a, y: b})
seen.append(m)
l = sess.run(loss, {x: a, y: b})
print(l)
"""
INDENTED = textwrap.indent(STEP, "    ")
MERGED = """
m, l = sess.run([mean, loss], {x: a, y: b})
seen.append(m)
print(l)
"""
LOOP = f"for a, b in batches:\n{textwrap.indent(STEP.removeprefix(chr(10)), '    ')}"


def of(step: str, head: str = "def step(a, b):", before: str = "", after: str = "") -> str:
    """A function that makes a step, and who calls it."""
    indented = textwrap.indent(step.removeprefix("\n"), "    ")
    return GRAPH + textwrap.dedent(before) + f"{head}\n{indented}" + textwrap.dedent(after)


UPDATE = """
l = sess.run(loss, {x: a, y: b})
weight = 1.0 / len(b)
_ = sess.run(train_op, {x: a, y: b})
return l * weight
"""
CAUGHT = """
for a, b in batches:
    try:
        step(a, b)
    except ZeroDivisionError:
        continue
"""
TOLD = """
try:
    for a, b in batches:
        step(a, b)
except tf.errors.InvalidArgumentError as error:
    print("failed", error)
    raise
"""
# A module is no method, and what is bound in a method has another name.
OWN = ("crlf", "tabs")


def seen(name: str, text: str) -> Case:
    """A script in which somebody could see that an exception came at another moment."""
    return refuses(name, text, reason="inside-try", shapes=OWN)


TRAPS = [
    # who looks at what was done
    seen(
        "a function at the exit",
        of(LOOP, "if True:", "def report():\n    print(len(seen))\natexit.register(report)\n"),
    ),
    seen(
        "a decorated function at the exit",
        of(LOOP, "if True:", "@atexit.register\ndef report():\n    print(sess.run(w))\n"),
    ),
    seen(
        "an object of the file at the exit",
        of(LOOP, "if True:", "atexit.register(lambda: print(seen))\n"),
    ),
    # who goes on
    seen(
        "a decorator of others",
        of(STEP, "@retry(attempts=3)\ndef step(a, b):", after="step(*batch)\n"),
    ),
    seen(
        "somebody who is given the function",
        of(STEP, after="rospy.Subscriber('/image', step)\n"),
    ),
    seen(
        "somebody who is given a part of the function",
        of(STEP, after="rospy.Subscriber('/image', callback=functools.partial(step, a))\n"),
    ),
    seen(
        "somebody who is given a lambda",
        of(STEP, after="rospy.Subscriber('/image', lambda a: step(a, a))\n"),
    ),
    seen(
        "somebody who is given a method",
        GRAPH
        + textwrap.dedent("""
        class Node:
            def __init__(self):
                rospy.Subscriber("/image", self.on_image)

            def on_image(self, a, b):
                m = sess.run(mean, {x: a, y: b})
                seen.append(m)
                l = sess.run(loss, {x: a, y: b})
                print(l)
        """),
    ),
    seen(
        "what runs the tests",
        GRAPH
        + textwrap.dedent("""
        class TestSteps(unittest.TestCase):
            def test_one(self):
                m = sess.run(mean, {x: a, y: b})
                seen.append(m)
                l = sess.run(loss, {x: a, y: b})
                print(l)
        """),
    ),
    seen(
        "what runs a coroutine",
        of(LOOP, "async def steps():", after="asyncio.run(main())\n"),
    ),
    # handlers that end the work, and look at how far it came
    seen(
        "a handler around a caller that shows what a function did",
        of(
            STEP,
            after="""
            try:
                for a, b in batches:
                    step(a, b)
            except tf.errors.InvalidArgumentError:
                print(len(seen))
                raise
            """,
        ),
    ),
    seen(
        "a handler that calls what shows it",
        of(
            STEP,
            before="def report():\n    print(len(seen))\n",
            after="""
            try:
                for a, b in batches:
                    step(a, b)
            except tf.errors.InvalidArgumentError:
                report()
                raise
            """,
        ),
    ),
    seen(
        "the last block of a try whose other block has the runs",
        of(
            f"try:\n    f()\nexcept OSError:\n    pass\nelse:{INDENTED}finally:\n    show(seen)\n",
            "for a, b in batches:",
            "from others import f, show\n",
        ),
    ),
    seen(
        "the last block of a try in a decorator",
        of(
            STEP,
            "@logged\ndef step(a, b):",
            """
            def logged(function):
                def inner(*given):
                    try:
                        return function(*given)
                    finally:
                        print(len(seen))
                return inner
            """,
            "for a, b in batches:\n    step(a, b)\n",
        ),
    ),
    # what is done before an exception
    seen(
        "an update that comes before what raises",
        of(UPDATE, after=CAUGHT),
    ),
    seen(
        "an update among what is given back",
        of(
            "l = sess.run(loss, {x: a, y: b})\nweight = 1.0 / len(b)\n"
            "return l, weight, sess.run([train_op, mean], {x: a, y: b})\n",
            after=CAUGHT,
        ),
    ),
]

REWRITES = [
    rewrites(
        "a handler around a caller that tells what went wrong",
        of(STEP, after=TOLD),
        of(MERGED, after=TOLD),
        contract="exact",
        shapes=OWN,
    ),
    rewrites(
        "a session that is closed at the exit",
        of(STEP, after="step(*batch)\natexit.register(sess.close)\n"),
        of(MERGED, after="step(*batch)\natexit.register(sess.close)\n"),
        contract="exact",
        shapes=OWN,
    ),
    rewrites(
        "a decorator that lets exceptions pass",
        of(STEP, "@functools.lru_cache()\ndef step(a, b):", after="step(*batch)\n"),
        of(MERGED, "@functools.lru_cache()\ndef step(a, b):", after="step(*batch)\n"),
        contract="exact",
        shapes=OWN,
    ),
    rewrites(
        "a list of functions that the file calls",
        of(STEP, after="steps = []\nsteps.append(step)\nsteps[0](*batch)\n"),
        of(MERGED, after="steps = []\nsteps.append(step)\nsteps[0](*batch)\n"),
        contract="exact",
        shapes=OWN,
    ),
    rewrites(
        "an update that nobody goes on after",
        of(UPDATE, after=CAUGHT.replace("ZeroDivisionError", "KeyboardInterrupt")),
        of(
            UPDATE.replace("l = sess.run(loss, {x", "l, _ = sess.run([loss, train_op], {x").replace(
                "_ = sess.run(train_op, {x: a, y: b})\n", ""
            ),
            after=CAUGHT.replace("ZeroDivisionError", "KeyboardInterrupt"),
        ),
        contract="rounding",
        shapes=OWN,
    ),
]

test_merge_session_runs_endings = bench(MergeSessionRuns, *TRAPS, *REWRITES)
