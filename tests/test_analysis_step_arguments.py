"""What steps are given at all of their calls; traps first."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import function
from eager_samples import start
from tfrewrite.analysis.eager.abstract_values import Number, Tensor, Value, group
from tfrewrite.analysis.eager.step_arguments import StepArguments, given_to
from tfrewrite.analysis.obstacle import Obstacle


def argument(text: str) -> Value | Obstacle:
    """What the parameter `a` of the function `step` is known to be."""
    found = start(f"def step(a, b=None):\n    return a\n\n{text}\n")
    step = found.step_functions.step(function(found, "step"))
    given = [one for one in given_to(step, ["a", "b"], "a") if one is not None]
    return StepArguments(found).of(step.function, "a", given)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("step(unseen)", "argument-not-known"),
        ("step(*both)", "argument-not-known"),
        ("step(**both)", "argument-not-known"),
        ("for i in range(9):\n    step(i)", "argument-varies"),
        ("step(1)\nstep(1.0)", "argument-varies"),
        ("for i in range(9):\n    step(xs[:i])", "shape-varies"),
        ("for i in range(9):\n    step(tf.keras.layers.Dense(3))", "two-objects"),
        ("step(data)", "argument-not-known"),
    ],
)
def test_what_may_not_be_given(text: str, reason: str) -> None:
    found = argument(text)
    assert isinstance(found, Obstacle), found
    assert found.reason == reason


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("step(xs)", Tensor(array=True)),
        ("step(xs)\nstep(a=xs)", Tensor(array=True)),
        ("for x, y in data:\n    step(x)", Tensor(nest=True)),
        ("step((xs, weights * 2))", group(Tensor(array=True), Tensor())),
        ("step(3)\nstep(4)", Number()),
    ],
)
def test_what_is_given(text: str, given: Value) -> None:
    assert argument(text) == given


def test_what_each_call_gives() -> None:
    found = start("def step(a, b=None):\n    return a\n\nstep(1, b=2)\nstep(3)\nstep(*xs)\n")
    step = found.step_functions.step(function(found, "step"))
    assert step.calls is not None
    for name, texts in (("a", {"1", "3", "*step"}), ("b", {"2", "None", "*step"})):
        given = given_to(step, ["a", "b"], name)
        assert {ast.unparse(one) if one else "None" for one in given} == texts
