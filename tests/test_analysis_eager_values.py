"""What names and expressions of eager code stand for."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import expression, marked, use
from eager_samples import start, value
from tfrewrite.analysis.abstract_values import (
    Array,
    Dataset,
    Group,
    Number,
    Tensor,
    Thing,
    Unknown,
    Value,
    group,
    parts,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("v = xs[0:16]  # here", Array()),
        ("for i in range(3):\n    v = xs[i:i + 16]  # here", Array()),
        ("for i in range(3):\n    v = xs[:i]  # here", Array(steady=False)),
        ("v = xs[xs > 1]  # here", Array(steady=False)),
        ("v = tf.matmul(weights, weights)  # here", Tensor()),
        ("v = weights * 2  # here", Tensor()),
        ("v = data.shuffle(10)  # here", Dataset()),
        ("v = next(iter(data))  # here", Tensor(nest=True)),
        ("for x, y in data:\n    v = x  # here", Tensor(nest=True)),
        ("for i, (x, y) in enumerate(data):\n    v = i  # here", Number(varies=True)),
        ("for i, (x, y) in enumerate(data):\n    v = y  # here", Tensor(nest=True)),
        ("(a, b), c = (xs, weights), 3\nv = a  # here", Array(shape=(64, 6))),
        ("v = model.trainable_variables  # here", Group(None, Thing("variable", "Variable"))),
        (
            "@tf.function\ndef f():\n    return weights * 2, 3\nv = f()  # here",
            group(Tensor(), Tensor()),
        ),
        ("v = np.random.RandomState(1).normal(size=3)  # here", Array(shape=(3,))),
    ],
)
def test_values_of_expressions(text: str, expected: Value) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("v = something  # here", "not bound"),
        ("v = open('f')  # here", "open"),
        ("ragged = data.padded_batch(3)\nfor x in ragged:\n    v = x  # here", "differ in shape"),
        ("v = tf.keras.layers.Dense(4, activation=something)  # here", "something"),
        ("items = [1]\nitems.append(2)\nv = items  # here", "may be changed"),
    ],
)
def test_what_is_not_known_says_why(text: str, words: str) -> None:
    found = value(text)
    assert isinstance(found, Unknown)
    assert words in found.why


def test_a_functional_model_holds_the_code_of_its_layers() -> None:
    found = start("""
inputs = tf.keras.Input((6,))
h = tf.keras.layers.Lambda(lambda t: t)(inputs)
for _ in range(2):
    h = tf.keras.layers.Dropout(0.5)(h)
net = tf.keras.Model(inputs, h)  # here
""")
    net = found.eager_values.value(expression(found))
    assert isinstance(net, Thing)
    assert net.draws
    assert [type(node) for node in net.code] == [ast.Lambda]


def test_a_captured_name_is_bound_once() -> None:
    found = start("k = 1.0\nj = 1.0\nj = 2.0\n\ndef f():\n    return k + j  # here\n")
    assert isinstance(found.eager_values.captured(use(found, "k")), Number)
    assert isinstance(found.eager_values.captured(use(found, "j")), Unknown)


def test_places_that_are_reached_once() -> None:
    found = start("""
def once():
    pass  # once

def twice():
    pass  # twice

once()
twice()
twice()
for i in range(3):
    pass  # loop
""")
    assert found.eager_values.runs_once(marked(found, "once"))
    assert not found.eager_values.runs_once(marked(found, "twice"))
    assert not found.eager_values.runs_once(marked(found, "loop"))


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("k = 1\nk = 2\nfor x in data:\n    step(x)\nk = 3\n", True),
        ("k = 1\nfor x in data:\n    step(x)\n    k = 2\n", False),
        ("k = 1\nfor k in data:\n    step(x)\n", False),
        ("if xs:\n    k = 1\nelse:\n    k = 2\nfor x in data:\n    step(x)\n", False),
        ("def other():\n    global k\n    k = 1\nk = 2\nfor x in data:\n    step(x)\n", False),
    ],
)
def test_what_is_captured_during_a_loop(text: str, *, known: bool) -> None:
    found = start("def step(x):\n    return x * k  # here\n" + text)
    (loop,) = found.source.all(ast.For)
    value = found.eager_values.captured(use(found, "k"), loop)
    assert isinstance(value, Number) == known
    assert isinstance(found.eager_values.captured(use(found, "k")), Unknown)


def test_two_lists_make_one() -> None:
    found = value("(model.trainable_variables + [weights])  # here\n")
    assert isinstance(found, Group)
    assert {one.kind for one in parts(found) if isinstance(one, Thing)} == {"variable"}
    known = value("([xs] + [1])  # here\n")
    assert isinstance(known, Group)
    assert known.items is not None
    assert [type(one) for one in known.items] == [Array, Number]


def test_what_a_tape_gives() -> None:
    text = "with tf.GradientTape() as tape:\n    y = model(xs)\n"
    assert value(text + "tape.gradient(y, xs + weights)  # here\n") == Tensor()
    found = value(text + "tape.gradient(y, [weights, weights])  # here\n")
    assert found == group(Tensor(), Tensor())
    assert isinstance(value(text + "tape.gradient(y, other)  # here\n"), Unknown)


def test_what_a_loss_gives() -> None:
    text = "loss = tf.keras.losses.MeanSquaredError()\n"
    assert value(text + "loss(xs, model(xs))  # here\n") == Tensor()
    assert isinstance(value(text + "loss(xs, tf.keras.Input((3,)))  # here\n"), Unknown)


BLOCK = """
class Block(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = tf.keras.Sequential()
        self.inner.add(tf.keras.layers.Dense(1))

    def call(self, x):
        return self.inner(x)


"""

BLOCKS = """
class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.blocks = tf.keras.Sequential()
        self.blocks.add(Block())
"""


@pytest.mark.parametrize(
    ("text", "apart"),
    [
        ("net = tf.keras.Sequential()\nnet.add(Block())\n", True),
        ("net = tf.keras.Sequential([tf.keras.layers.Dense(1)])\nnet.add(Block())\n", True),
        ("net = other = tf.keras.Sequential()\nother.add(Block())\n", True),
        ("net = Block().inner\nnet.add(Block())\n", False),
        ("net = tf.keras.Sequential()\nnet = Block().inner\nnet.add(Block())\n", False),
        ("net = find()\nnet.add(Block())\n", False),
        (BLOCKS, True),
        (BLOCKS.replace("tf.keras.Sequential()", "Block().inner"), False),
        (BLOCKS + "Net().blocks = Block().inner\n", False),
    ],
)
def test_layers_are_added_to_one_model(text: str, *, apart: bool) -> None:
    found = start(BLOCK + text)
    inner = next(
        one.value
        for one in found.source.all(ast.Assign)
        if ast.unparse(one.targets[0]) == "self.inner"
    )
    made = found.eager_values.value(inner)
    assert isinstance(made, Thing)
    assert (not made.code) == apart
