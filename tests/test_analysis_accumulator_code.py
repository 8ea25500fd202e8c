"""What single statements do with sums of gradients."""

import ast

import pytest

from analysis_helpers import facts, marked
from tfrewrite.analysis.eager.accumulator_code import AccumulatorCode, Deed, text_of

HEAD = """\
import operator
import numpy as np
import tensorflow as tf

def zeros():
    return [tf.zeros_like(v) for v in model.weights]

"""


def deed(text: str, *, many: bool = True) -> Deed:
    lines = text.splitlines()
    found = facts(HEAD + "\n".join([f"{lines[0]}  # here", *lines[1:]]) + "\n")
    return AccumulatorCode(found).deed(marked(found, "here"), "sums", many=many)


@pytest.mark.parametrize(
    "text",
    [
        "sums = [tf.zeros_like(v) for v in model.weights]",
        "sums: list = [tf.zeros(v.shape) for v in model.weights]",
        "sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.weights]",
        "sums = [tf.Variable(initial_value=np.zeros(3))]",
        "sums = [0.0] * len(model.weights)",
        "sums = tf.nest.map_structure(tf.zeros_like, model.weights)",
        "sums = list(map(lambda v: tf.zeros_like(v), model.weights))",
        "sums = zeros()",
        "for s in sums:\n    s.assign(tf.zeros_like(s))",
        "for i in range(len(sums)):\n    sums[i] = tf.zeros_like(sums[i])",
        "[s.assign(tf.zeros_like(s)) for s in sums]",
    ],
)
def test_zeros(text: str) -> None:
    assert deed(text) is Deed.RESET


@pytest.mark.parametrize(
    "text",
    [
        "sums = [s + g for s, g in zip(sums, gradients)]",
        "sums = [tf.add(g, s) for g, s in zip(gradients, sums)]",
        "sums = [s if g is None else s + g / 4 for s, g in zip(sums, gradients)]",
        "sums = [sums[i] + g for i, g in enumerate(gradients)]",
        "sums = [sums[i].assign_add(g) for i, g in enumerate(gradients)]",
        "sums = list(map(operator.add, sums, gradients))",
        "sums = tf.nest.map_structure(lambda s, g: s + g, sums, gradients)",
        "for s, g in zip(sums, gradients):\n    s.assign_add(g)",
        "for i, (s, g) in enumerate(zip(sums, gradients)):\n    sums[i] = s + g",
        "for i, g in enumerate(gradients):\n    if g is None:\n        continue\n    sums[i] += g",
        "[s.assign_add(g) for s, g in zip(sums, gradients)]",
    ],
)
def test_sums(text: str) -> None:
    assert deed(text) is Deed.SUM


@pytest.mark.parametrize(
    "text",
    [
        "sums = [0.9 * s + g for s, g in zip(sums, gradients)]",
        "sums = [s + s for s in sums]",
        "sums = [s + g for s, g in zip(sums, gradients) if g is not None]",
        "sums = gradients",
        "sums += gradients",
        "sums = [np.zeros(3), gradients]",
        "for s in sums:\n    print(s)",
        "for s, g in zip(sums, gradients):\n    s.assign(g)",
        "for s in other:\n    s.assign_add(1.0)",
        "for i in range(4):\n    sums[0] += gradient(i)",
        "for i in range(4):\n    sums = [s + g for s, g in zip(sums, gradients)]",
        "print(sums)",
    ],
)
def test_what_is_neither(text: str) -> None:
    assert deed(text) is Deed.OTHER


def test_multiples_and_what_is_lost() -> None:
    assert deed("sums = [s / 4 for s in sums]") is Deed.SCALE
    assert deed("sums = [tf.clip_by_norm(s, 1.0) for s in sums]") is Deed.SCALE
    assert deed("for s, g in zip(sums, gradients):\n    s += g") is Deed.NOTHING
    assert deed("for s, g in zip(sums, gradients):\n    s = s + g") is Deed.NOTHING


def test_single_tensors() -> None:
    assert deed("sums = tf.zeros_like(w)", many=False) is Deed.RESET
    assert deed("sums += gradient", many=False) is Deed.SUM
    assert deed("sums.assign_add(gradient)", many=False) is Deed.SUM
    assert deed("sums.assign(tf.zeros_like(w))", many=False) is Deed.RESET
    assert deed("sums = sums / 4", many=False) is Deed.SCALE
    assert deed("sums = [s + g for s, g in zip(sums, gradients)]", many=False) is Deed.OTHER


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("zip(sums, model.weights)", ["sums"]),
        ("zip(self.sums, model.weights)", ["self.sums"]),
        ("list(zip([s / 4 for s in sums], model.weights))", ["sums"]),
        ("[(s / 4, v) for s, v in zip(sums, model.weights)]", ["sums"]),
        ("[(sums[i], v) for i, v in enumerate(model.weights)]", []),
        ("[(sums[i], model.weights[0]) for i in range(3)]", ["sums"]),
        ("tf.clip_by_global_norm(sums, 1.0)[0]", ["sums"]),
        ("tf.nest.map_structure(lambda s: s / 4, sums)", ["sums"]),
        ("[(total / 4, w), (bias, b)]", ["total", "bias"]),
        ("[(g / tf.sqrt(s), v) for g, s, v in zip(gradients, sums, model.weights)]", []),
        ("other(sums)", []),
    ],
)
def test_what_gradients_are_made_of(text: str, names: list[str]) -> None:
    found = facts(HEAD + text + "  # here\n")
    statement = marked(found, "here")
    assert isinstance(statement, ast.Expr)
    made = AccumulatorCode(found).made_of(statement.value)
    assert [text_of(one) for one in made] == names
