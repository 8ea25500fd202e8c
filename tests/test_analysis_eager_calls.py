"""What calls in eager code give."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import expression
from eager_samples import start, value
from tfrewrite.analysis.eager.abstract_values import Tensor, Thing, Unknown, group


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
