"""What does nothing but compute with tensors, and which variables it needs the values of."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts
from tfrewrite.analysis.eager.tensor_work import TensorWork

HEAD = """\
import tensorflow as tf

net = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
kept = [tf.Variable(tf.zeros_like(v)) for v in net.trainable_variables]
sums = [tf.zeros_like(v) for v in net.trainable_variables]
"""


@pytest.mark.parametrize(
    ("text", "makes"),
    [
        ("a = [s / 4 for s in sums]", True),
        ("a = [tf.add(s, t) for s, t in zip(sums, sums)]", True),
        ("a = [tf.zeros_like(v) for v in net.trainable_variables]", True),
        ("a, n = tf.clip_by_global_norm(sums, 1.0)", True),
        ("a = [(s, v) for s, v in zip(sums, net.trainable_variables)]", True),
        ("a = [2 * v for v in net.trainable_variables]", False),
        ("a = [s / 4 for s in sums if s is not None]", False),
        ("a = [show(s) for s in sums]", False),
        ("a = [tf.random.normal([2]) for s in sums]", False),
        ("a = b = [s / 4 for s in sums]", False),
        ("a[0] = [s / 4 for s in sums]", False),
        ("a, n = sums", False),
        ("a.b, n = tf.clip_by_global_norm(sums, 1.0)", False),
    ],
)
def test_lists_are_made_of_lists(text: str, makes: bool) -> None:  # noqa: FBT001
    found = facts(HEAD + text + "\n")
    assert TensorWork(found).gives_lists(found.source.tree.body[-1]) is makes


@pytest.mark.parametrize(
    ("text", "weights"),
    [
        ("optimizer.apply_gradients(zip(sums, net.variables))", [("net.variables", False)]),
        ("optimizer.apply(sums, net.variables)", [("net.variables", False)]),
        ("f([s for s in kept])", [("s", True)]),
        ("f([(1, s) for s in kept])", [("s", False)]),
        ("kept[0]", [("kept", True)]),
        ("f([2 * k for k in [s + 1 for s in kept]])", [("s", True)]),
    ],
)
def test_variables_are_read_or_handed_on(text: str, weights: list[tuple[str, bool]]) -> None:
    found = facts(HEAD + text + "\n")
    statement = found.source.tree.body[-1]
    assert isinstance(statement, ast.Expr)
    asked = TensorWork(found).weights(statement.value)
    assert [(ast.unparse(one), needed) for one, needed in asked] == weights
