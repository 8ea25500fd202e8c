"""What the names that traced code reads hold."""

import ast

import pytest

from analysis_helpers import expression, facts
from tfrewrite.analysis.traces.held_values import Held

PROGRAM = """
import numpy as np
import tensorflow as tf
from mylib import Block, build

rate = 0.1
name = "x"
pair = (1, -2)
values = [1, 2]
weight = tf.Variable(1.0)
fixed = tf.ones([2])
scaled = 2.0 * fixed
dense = tf.keras.layers.Dense(1)
array = np.ones(3)

class Net:
    def __init__(self):
        self.rate = 0.5
        self.dense = tf.keras.layers.Dense(1)

    def run(self):
        pass

net = Net()

def given(layer, either):
    layer, either

given(dense, rate)

inputs = tf.keras.Input((2,))
hidden = tf.keras.layers.Dense(3)(inputs)
hidden = tf.keras.layers.Dense(3, activation="relu")(hidden)
functional = tf.keras.Model(inputs, hidden)
block = Block()
mixed = tf.keras.Model(inputs, block(hidden))

def inner():
    taken = tf.keras.Sequential([block, dense])
    plain = tf.keras.Sequential([dense, tf.keras.layers.Dense(1)])
    acting = tf.keras.layers.Dense(1, activation=block)
    handing = tf.keras.layers.Dense(1, build)

def foreign():
    model = tf.keras.Sequential([Block()])
    {expression}  # here

def plain():
    pass

for turn in range(3):
    pass
for part in (0.1, 0.2):
    pass
"""


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("rate", Held.CONSTANT),
        ("pair", Held.CONSTANT),
        ("turn", Held.CONSTANT),
        ("part", Held.CONSTANT),
        ("values", Held.UNKNOWN),
        ("array", Held.UNKNOWN),
        ("weight", Held.VARIABLE),
        ("fixed", Held.TENSOR),
        ("scaled", Held.TENSOR),
        ("dense", Held.LIBRARY),
        ("dense.kernel", Held.LIBRARY),
        ("net", Held.OWN),
        ("net.rate", Held.CONSTANT),
        ("net.dense", Held.LIBRARY),
        ("net.run", Held.CODE),
        ("plain", Held.CODE),
        ("tf.float32", Held.CODE),
        ("hidden", Held.LIBRARY),
        ("functional", Held.LIBRARY),
        ("mixed", Held.UNKNOWN),
        ("model", Held.UNKNOWN),
        ("build()", Held.UNKNOWN),
    ],
)
def test_what_a_name_holds(text: str, held: Held) -> None:
    found = facts(PROGRAM.replace("{expression}", text))
    assert found.held_values.of(expression(found)) is held


def test_what_a_parameter_holds_is_what_is_given() -> None:
    found = facts("""
        import tensorflow as tf

        def step(model, x):
            model  # here

        net = tf.keras.Sequential()
        compiled = tf.function(step)
        compiled(net, 1)
    """)
    assert found.held_values.of(expression(found)) is Held.LIBRARY
    assert [ast.unparse(one) for one in found.held_values.origins(expression(found)) or []] == [
        "net"
    ]


@pytest.mark.parametrize(
    ("name", "held"),
    [
        ("taken", Held.UNKNOWN),
        ("clean", Held.LIBRARY),
        ("acting", Held.UNKNOWN),
        ("handing", Held.UNKNOWN),
    ],
)
def test_models_are_looked_into(name: str, held: Held) -> None:
    found = facts(PROGRAM.replace("plain = ", "clean = ").replace("{expression}", "pass"))
    (use,) = [
        statement.value
        for statement in found.source.all(ast.Assign)
        if ast.unparse(statement.targets[0]) == name
    ]
    assert found.held_values.of(use) is held


def test_a_functional_model() -> None:
    found = facts("""
        import tensorflow as tf

        inputs = tf.keras.Input((2,))
        hidden = tf.keras.layers.Dense(3)(inputs)
        hidden = tf.keras.layers.Dense(3)(hidden)
        model = tf.keras.Model(inputs=inputs, outputs=[hidden])
        model  # here
    """)
    assert found.held_values.of(expression(found)) is Held.LIBRARY


def test_a_model_that_code_of_another_file_is_added_to() -> None:
    found = facts("""
        import tensorflow as tf
        from mylib import Block

        model = tf.keras.Sequential()
        model.add(Block())
        model  # here
    """)
    assert found.held_values.of(expression(found)) is Held.UNKNOWN
