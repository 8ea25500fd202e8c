"""What calls in a traced function give."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eager_samples import replayed
from tfrewrite.analysis.eager.abstract_values import Number, Tensor, Value, parts
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.traces.gradient_flow import NO_FLOW
from tfrewrite.analysis.traces.trace import Trace


def test_what_a_trace_calls_of_tensorflow_is_noted() -> None:
    text = """\
generator = tf.random.Generator.from_seed(3)
def step(x):
    y = tf.reduce_mean(x)
    return y + generator.normal([3])
"""
    found = replayed(text, x=Tensor())
    assert isinstance(found, Trace)
    assert found.symbols == [("reduce_mean", 10)]
    assert found.generators


CALLS = """
class Scale:
    def __init__(self, rate):
        self.rate = 2.0

    def of(self, x):
        return x * self.rate


def twice(x, by=2):
    return x * by


scale = Scale(2.0)
"""


@pytest.mark.parametrize(
    ("call", "given"),
    [
        ("twice(x)", Tensor()),
        ("twice(by=3, x=x)", Tensor()),
        ("twice(1.0)", Number()),
        ("scale.of(x)", Tensor()),
        ("model(x)", Tensor(layered=True)),
    ],
)
def test_what_calls_give(call: str, given: Value) -> None:
    found = replayed(f"{CALLS}\ndef step(x):\n    return {call}\n", x=Tensor())
    assert isinstance(found, Trace), found
    (part,) = parts(found.returned)
    assert (replace(part, flow=NO_FLOW) if isinstance(part, Tensor) else part) == given


@pytest.mark.parametrize(
    ("call", "reason", "words"),
    [
        ("twice(*x)", "not-followed", "by a star"),
        ("twice(**x)", "not-followed", "by a star"),
        ("twice(x, 2, 3)", "not-followed", "too many arguments"),
        ("twice(x, of=3)", "not-followed", "not there"),
        ("scale(x)", "model-not-seen", "calling a `Scale`"),
        ("scale.unseen(x)", "captured-not-fixed", "unseen"),
        ("x(1)", "unknown-call", "is not known"),
        ("model(x[x > 0])", "fails-when-traced", "no shape in a trace"),
    ],
)
def test_which_calls_stop_a_trace(call: str, reason: str, words: str) -> None:
    found = replayed(f"{CALLS}\ndef step(x):\n    return {call}\n", x=Tensor())
    assert isinstance(found, Obstacle), found
    assert found.reason == reason
    assert words in found.message
