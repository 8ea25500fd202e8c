"""What of a step may be done after it, traps first: what would see another value there."""

from __future__ import annotations

import ast
import textwrap

import pytest

from analysis_helpers import facts
from tfrewrite.analysis.eager.deferred import Deferred

HEAD = """\
import sys
import time
import numpy as np
import tensorflow as tf

data = tf.data.Dataset.range(8)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
mean = tf.keras.metrics.Mean()
weight = tf.Variable(1.0)
seen = []
other = given(seen)
n = 0
for step, x in enumerate(data):
"""
STEP = """\
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(model(x))
    UNDER
BETWEEN
grads = tape.gradient(loss, model.trainable_variables)
optimizer.apply_gradients(zip(grads, model.trainable_variables))
"""


def deferred(between: str = "pass", under: str = "pass", step: str = STEP) -> list[str]:
    body = step.replace("UNDER", under.replace("\n", "\n    ")).replace("BETWEEN", between)
    found = facts(HEAD + textwrap.indent(body, "    "))
    loop = found.source.all(ast.For)[0]
    return [ast.unparse(one) for one in Deferred(found).of(loop.body)]


# ---- traps -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "print(model.trainable_variables)",
        "print(weight.numpy())",
        "print(optimizer.iterations)",
        "print(mean.result())",
        "print(time.time())",
        "print(np.random.normal())",
        "print(tf.random.normal([]))",
        "print(loss, file=sys.stderr)",
        "print(unknown(loss))",
        "print(model(x))",
        "print(*map(str, seen))",
        "other.append(loss)",
        "seen.extend([loss])",
        "seen.append(weight)",
        "seen[0] = float(loss)",
        "n += weight",
        "weight.assign(float(loss))",
        "twice = loss * 2",
        "low = high = float(loss)",
        "if loss > 3:\n    break",
        "if mean.result() > 3:\n    print(1)",
        "if loss > 3:\n    weight.assign(1.0)",
        "assert float(loss) < 3",
        "del n",
        "with open('a') as log:\n    print(loss)",
        "for one in [loss]:\n    print(one)",
        "print(loss); print(x)",
        "print(lambda: loss)",
    ],
)
def test_what_must_stay(statement: str) -> None:
    assert deferred(statement) == []


@pytest.mark.parametrize(
    "rest",
    [
        "loss = loss * 2",
        "del loss",
        "loss += 1.0",
        "grads.append(loss)",
        "grads[0] = loss",
        "total = low * loss",
        "x, loss = loss, x",
    ],
)
def test_what_comes_after_it_takes_part(rest: str) -> None:
    step = STEP.replace("optimizer.apply", f"{rest}\noptimizer.apply")
    assert deferred("low = float(loss)", step=step) == []
    assert deferred("low = float(loss)") == ["low = float(loss)"]


def test_a_tape_keeps_something() -> None:
    text = STEP.replace("    loss = tf.reduce_mean(model(x))\n", "").replace("(loss,", "(x,")
    assert deferred("pass", "print(step)", text) == []


# ---- what may wait ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "print('loss', float(loss), loss.numpy(), x.shape, step, n, end='')",
        "print('%d: %.3f' % (step, loss), '{}'.format(float(loss)), f'{loss:.3f}')",
        "tf.print(step, loss)",
        "sys.stdout.write('.')",
        "seen.append(float(loss))",
        "seen.append((step, loss.numpy().tolist()))",
        "n += 1",
        "n += float(tf.reduce_sum(loss))",
        "low = np.mean(loss.numpy())",
        "if step % 10 == 0:\n    print(float(loss))\nelse:\n    n += 1",
        "tf.summary.scalar('loss', loss, step=step)",
        "with writer.as_default():\n    tf.summary.scalar('loss', loss, step=step)",
    ],
)
def test_what_may_wait(statement: str) -> None:
    plain = ast.unparse(ast.parse(statement))
    assert deferred(statement) == [plain]
    assert deferred(under=statement) == [plain]


@pytest.mark.parametrize(
    ("setting", "waits"),
    [
        ("pass", True),
        ("tf.summary.experimental.set_step(0)", True),
        ("tf.summary.experimental.set_step(optimizer.iterations)", False),
        ("tf.summary.experimental.set_step(step=weight)", False),
        ("tf.summary.record_if(lambda: optimizer.iterations % 2 == 0)", False),
    ],
)
def test_a_step_that_all_summaries_share(setting: str, *, waits: bool) -> None:
    for statement in ("tf.summary.scalar('loss', loss)", "tf.summary.scalar('a', loss, step=None)"):
        found = facts(
            f"{HEAD}{textwrap.indent(STEP.replace('BETWEEN', statement), '    ')}"
            f"{setting}\n".replace("UNDER", "pass")
        )
        loop = found.source.all(ast.For)[0]
        assert bool(Deferred(found).of(loop.body)) is waits


def test_a_step_of_its_own_does_not_ask_for_the_shared_one() -> None:
    said = "tf.summary.scalar('loss', loss, step=step)"
    for setting, count in (("set_step(weight)", 1), ("record_if(unknown)", 0)):
        text = STEP.replace("BETWEEN", said).replace("UNDER", "pass")
        found = facts(f"{HEAD}{textwrap.indent(text, '    ')}tf.summary.{setting}\n")
        assert len(Deferred(found).of(found.source.all(ast.For)[0].body)) == count


def test_one_after_the_other() -> None:
    found = deferred("low = float(loss)\nseen.append(low)\nprint(len(seen))", "n += 1")
    assert found == ["n += 1", "low = float(loss)", "seen.append(low)", "print(len(seen))"]


# ---- what an object keeps ---------------------------------------------------------------------


OBJECT = """\
import tensorflow as tf

class Agent:
    def __init__(self, given):
        self.count = 0
        self.total = 0.0
        self.seen = []
        self.given = given
        self.last = None

    @property
    def shown(self):
        return 1

    def run(self, data):
        for x in data:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(self.model(x))
                STATEMENT
            grads = tape.gradient(loss, self.model.trainable_variables)
            REST
"""


def kept(statement: str, rest: str = "pass") -> bool:
    found = facts(OBJECT.replace("STATEMENT", statement).replace("REST", rest))
    (loop,) = found.source.all(ast.For)
    return [ast.unparse(one) for one in Deferred(found).of(loop.body)] == [statement]


@pytest.mark.parametrize(
    ("statement", "rest"),
    [
        ("self.given += 1", "pass"),
        ("self.given.append(float(loss))", "pass"),
        ("self.seen.append(self.model)", "pass"),
        ("self.shown = float(loss)", "pass"),
        ("self.model.rate = float(loss)", "pass"),
        ("self.count += 1", "loss = loss * self.count"),
        ("print(self.count)", "self.count += float(tf.reduce_sum(x))\n            loss = loss * 2"),
        ("print(self.given)", "pass"),
        ("self.last = float(loss)", "tf.print(self.last, self.model)"),
    ],
)
def test_what_an_object_must_keep_at_once(statement: str, rest: str) -> None:
    assert not kept(statement, rest)


@pytest.mark.parametrize(
    "statement",
    [
        "self.count += 1",
        "self.total += loss.numpy()",
        "self.seen.append(float(loss))",
        "self.last = float(loss)",
        "print(self.count, float(loss))",
    ],
)
def test_what_an_object_may_keep_later(statement: str) -> None:
    assert kept(statement)
