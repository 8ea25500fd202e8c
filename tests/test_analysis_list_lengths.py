"""Which lists of tensors have the same length each time."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts

HEAD = """\
import tensorflow as tf

net = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(1)])


@tf.function
def both(sums):
    return 1.0, [s + 1.0 for s in sums]


def use(given):
    show(given)


zeros = [tf.zeros_like(v) for v in net.trainable_variables]
use(zeros)
sums = zeros
while more():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(net(x))
    gradients = tape.gradient(loss, net.trainable_variables)
    sums = [s + g for s, g in zip(sums, gradients)]
    grown = grown + gradients
    clipped, norm = tf.clip_by_global_norm(sums, 1.0)
    loss, given = both(sums)
"""


@pytest.mark.parametrize(
    ("text", "steady"),
    [
        ("zeros", True),
        ("sums", True),
        ("gradients", True),
        ("clipped", True),
        ("given", True),
        ("net.trainable_variables", True),
        ("[x, y]", True),
        ("list(zip(sums, zeros))", True),
        ("tf.clip_by_global_norm(sums, 1.0)[0]", True),
        ("tape.gradient(loss, unknown)", False),
        ("grown", False),
        ("norm", False),
        ("loss", False),
        ("unknown", False),
        ("sums[:n]", False),
        ("[*sums, x]", False),
        ("[s for s in sums if s is not None]", False),
        ("[s for s in unknown]", False),
        ("net.layers", False),
        ("unknown(sums)", False),
    ],
)
def test_lists_keep_the_length_of_what_they_are_made_of(text: str, steady: bool) -> None:  # noqa: FBT001
    found = facts(HEAD + f"print({text})\n")
    call = found.source.tree.body[-1]
    assert isinstance(call, ast.Expr)
    assert isinstance(call.value, ast.Call)
    assert found.list_lengths.is_steady(call.value.args[0]) is steady


def test_a_parameter_is_as_long_as_what_its_callers_give() -> None:
    found = facts(HEAD)
    (given,) = [
        one
        for one in found.source.all(ast.Name)
        if one.id == "given" and isinstance(one.ctx, ast.Load)
    ]
    assert found.list_lengths.is_steady(given)
