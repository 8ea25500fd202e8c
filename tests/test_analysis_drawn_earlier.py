"""What of a step may be drawn before it, traps first: what would be another draw there."""

from __future__ import annotations

import ast
import textwrap

import pytest

from analysis_helpers import facts
from tfrewrite.analysis.eager.drawn_earlier import DrawnEarlier

HEAD = """\
import random
import numpy as np
import tensorflow as tf

data = tf.data.Dataset.range(8)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
stream = np.random.default_rng(1)
rows = np.zeros((64, 4))
n = 8
for x in data:
"""
STEP = """\
with tf.GradientTape() as tape:
    LINES
    loss = tf.reduce_mean(model(x))
grads = tape.gradient(loss, model.trainable_variables)
optimizer.apply_gradients(zip(grads, model.trainable_variables))
"""


def drawn(lines: str) -> list[str]:
    body = STEP.replace("LINES", lines.replace("\n", "\n    "))
    found = facts(HEAD + textwrap.indent(body, "    "))
    loop = found.source.all(ast.For)[0]
    return [ast.unparse(one) for one in DrawnEarlier(found).of(loop.body, ())]


@pytest.mark.parametrize(
    "lines",
    [
        "z = tf.random.normal((8, 4))",
        "z = random.random()",
        "z = np.zeros((8, 4))",
        "np.random.seed(1)",
        "z = np.random.shuffle(rows)",
        "z = unknown(np.random.normal(size=4))",
        "z = np.random.normal(size=4, loc=model(x))",
        "z = np.random.normal(loss, size=4)",
        "z += np.random.normal(size=4)",
        "rows[0] = np.random.normal(size=4)",
        "a, b = np.random.normal(size=2)",
        "a = b = np.random.normal(size=2)",
        "print(z)\nz = np.random.normal(size=4)",
        "n = 4\nz = np.random.normal(size=n)",
        "z = np.random.normal(size=4)\nz = z * 2",
        "rows[0] = 1\nz = rows[np.random.randint(0, 64, size=8)]",
        "model.rate = 2.0\nz = np.random.normal(model.rate, size=4)",
        "if n > 4:\n    z = np.random.normal(size=4)",
        "z = np.random.normal(size=4); y = 1",
    ],
)
def test_what_is_not_drawn_before(lines: str) -> None:
    assert drawn(lines) == []


@pytest.mark.parametrize(
    ("lines", "earlier"),
    [
        ("z = np.random.normal(size=(n, 4)).astype(np.float32)", 1),
        ("z = stream.uniform(-1, 1, size=(8, 4))", 1),
        ("z = rows[np.random.randint(0, 64, size=8)]", 1),
        ("a = np.random.rand(8)\ny = x + 1\nz = np.reshape(a * 2, (8, 1))", 2),
    ],
)
def test_what_is_drawn_before(lines: str, earlier: int) -> None:
    assert len(drawn(lines)) == earlier


def test_a_tape_keeps_something_to_do() -> None:
    text = (
        HEAD + "    with tf.GradientTape() as tape:\n        z = np.random.rand(8)\n    print(z)\n"
    )
    found = facts(text)
    loop = found.source.all(ast.For)[0]
    assert DrawnEarlier(found).of(loop.body, ()) == ()
