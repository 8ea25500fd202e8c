"""Which functions without a tape are looked at, and what of them is told."""

from __future__ import annotations

import textwrap

import pytest

from analysis_helpers import facts
from tfrewrite.analysis.traces.trace import Trace

START = """\
import numpy as np
import tensorflow as tf
tf.random.set_seed(1)
data = tf.data.Dataset.from_tensor_slices(np.zeros((64, 6), np.float32)).batch(16)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
error = tf.keras.losses.MeanSquaredError()
def judged(x):
    return error(x, model(x))
"""


def told(text: str) -> dict[str, str]:
    """What is told of each function: the reason of a refusal, or nothing where it is compiled."""
    known = facts(START + textwrap.dedent(text))
    return {
        one.step.function.name: "" if isinstance(one.found, Trace) else one.found.reason
        for one in known.forward_steps.all
    }


@pytest.mark.parametrize(
    "loop",
    [
        "while True:\n    judged(tf.ones([4, 6]))\n",
        "for x in data:\n    judged(x)\n",
        "seen = [judged(x) for x in data]\n",
        "for x in data:\n    if len(x):\n        judged(x)\n    [v for v in model.variables]\n",
    ],
)
def test_it_is_called_turn_by_turn(loop: str) -> None:
    assert told(loop) == {"judged": ""}


@pytest.mark.parametrize(
    "loop",
    [
        "judged(tf.ones([4, 6]))\n",
        "for turn in range(50):\n    judged(tf.ones([4, 6]))\n",
        "for turn in range(99):\n    for x in data:\n        pass\n    judged(tf.ones([4, 6]))\n",
        "for i, x in enumerate(data):\n    if i % 9 == 0:\n        judged(x)\n",
        "for x in data:\n    try:\n        pass\n    except ValueError:\n        judged(x)\n",
    ],
)
def test_it_is_called_seldom(loop: str) -> None:
    assert told(loop) == {}


def test_of_what_is_called_by_another_the_outer_one_is_compiled() -> None:
    outer = "def outer(x):\n    return judged(x) + {}\nfor x in data:\n    outer(x)\n"
    assert told(outer.format("1.0")) == {"outer": ""}
    assert told(outer.format("judged(x).numpy()")) == {"judged": ""}


def test_a_loop_of_few_turns_is_traced_with_it_where_another_loop_is_around() -> None:
    few = "def run():\n    for turn in range(10):\n        judged(tf.ones([4, 6]))\n"
    assert told(few + "run()\n") == {}
    assert told(few + "while True:\n    run()\n") == {"run": ""}


def test_what_a_loop_in_a_trace_counts_for() -> None:
    text = "def many(x):\n    for turn in range({}):\n        x = tf.tanh(x)\n    return x\n"
    loop = "for x in data:\n    many(x)\n"
    assert told(text.format(15) + loop) == {}
    assert told(text.format(16) + loop) == {"many": ""}
