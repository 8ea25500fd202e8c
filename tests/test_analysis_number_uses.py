"""Where a tensor may take the place of a Python number. Most is tried with TFR203."""

import ast

import pytest

from analysis_helpers import expression, facts
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.number_sorts import Number
from tfrewrite.analysis.traces.number_uses import Swap

NUMBERS = """
import time
import numpy as np

class Agent:
    def __init__(self):
        self.steps = 0
        self.mixed = 0

    def act(self, given):
        self.steps += 1
        self.mixed = given
        {expression}  # here

rate = 1.0
rate = rate * 0.9
array = np.float32(1.0)
for number in range(3):
    pass
for index, (first, second) in enumerate(data):
    pass
"""


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        ("3", Number.SMALL),
        ("rate", Number.FLOAT),
        ("number", Number.SMALL),
        ("index", Number.SMALL),
        ("first", None),
        ("array", None),
        ("np.mean(array)", None),
        ("given", None),
        ("True", None),
        ("self.steps", Number.INT),
        ("self.mixed", None),
        ("float(given)", Number.FLOAT),
        ("time.time()", Number.FLOAT),
        ("0.1 * number", Number.FLOAT),
        ("max(0.1, rate)", Number.FLOAT),
    ],
)
def test_which_numbers_are_those_of_python(text: str, sort: Number | None) -> None:
    found = facts(NUMBERS.replace("{expression}", text))
    assert found.number_uses.sort(expression(found)) is sort


def swap(body: str, sort: Number) -> Swap | Obstacle:
    found = facts(f"""
        import tensorflow as tf

        weight = tf.Variable(1.0)

        @tf.function
        def step(x, number):
            {body}

        step(1, 2)
    """)
    (one,) = found.compiled_functions.all
    (call,) = [call for call in found.source.all(ast.Call) if found.compiled_functions.runs(call)]
    parameter = found.number_uses.parameter(one, call, call.args[1])
    assert parameter is not None and parameter.name == "number"
    return found.number_uses.swap(one, parameter, sort)


def test_the_type_that_the_tensor_gets() -> None:
    assert swap("return x", Number.INT) == Swap("", exact=True)
    assert swap("return tf.cast(number, tf.float32)", Number.INT) == Swap("", exact=False)
    assert swap("return weight * number", Number.INT) == Swap("float32", exact=False)
    assert swap("return weight * number", Number.FLOAT) == Swap("float32", exact=False)
    assert swap("tf.summary.scalar('a', x, step=number)", Number.INT) == Swap("int64", exact=True)
    assert isinstance(swap("return x[number]", Number.INT), Obstacle)
    assert isinstance(swap("tf.print(number)", Number.FLOAT), Obstacle)
