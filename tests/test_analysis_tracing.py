"""Whether functions can be traced and replayed in place of their calls."""

from __future__ import annotations

import pytest

from eager_samples import replayed, value
from tfrewrite.analysis.eager.abstract_values import Number, Tensor
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.traces.trace import Trace, TraceError
from tfrewrite.analysis.traces.trace_borders import returnable


@pytest.mark.parametrize(
    ("text", "literal"),
    [("not False", True), ("not 3", False), ("-2", -2), ("-0.5", -0.5), ("+2", None), ("~2", None)],
)
def test_signs_are_a_part_of_numbers(text: str, literal: object) -> None:
    found = value(f"v = {text}  # here")
    assert isinstance(found, Number)
    assert (found.literal.value if found.literal else None) == literal
    trace = replayed(f"def step():\n    return {text}\n")
    assert isinstance(trace, Trace)
    inside = trace.returned
    assert isinstance(inside, Number)
    assert (inside.literal.value if inside.literal else None) == literal


def test_a_trace_knows_what_it_uses_and_gives() -> None:
    found = replayed(
        """
def step(x):
    noise = tf.random.normal([16, 6])
    y = model(x + noise)
    weights.assign_sub(tf.reduce_mean(y) * weights)
    return {"y": y, "n": noise}
""",
        x=Tensor(),
    )
    assert isinstance(found, Trace)
    assert len(found.draws) == 1
    assert found.updates
    assert [thing.kind for thing in found.things] == ["model"]
    assert not returnable(found.returned)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("return x.numpy()", "reads-on-host"),
        ("return x if x > 1 else 2", "tensor-decides"),
        ("return tf.Variable(x)", "makes-variables"),
        ("return unseen(x)", "captured-not-fixed"),
        ("a, b = x\n    return a", "fails-when-traced"),
        ("return step(x)", "not-followed"),
        ("x.value = 3", "python-effect"),
        ("return tf.py_function(len, [x], tf.int32)", "python-effect"),
        ("return tf.no_such_thing(x)", "unknown-call"),
        ("return [v for v in range(500)]", "unrolls"),
    ],
)
def test_what_stops_a_trace(lines: str, reason: str) -> None:
    found = replayed(f"def step(x):\n    {lines}\n", x=Tensor())
    assert isinstance(found, Obstacle)
    assert found.reason == reason


def test_an_error_of_a_trace_is_an_obstacle() -> None:
    assert TraceError("not-followed", "words").obstacle == Obstacle("not-followed", "words")


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("x[:2]", ""),
        ("x[: tf.shape(x)[0]]", ""),
        ("x[: tf.argmax(x[0])]", "the part that line 9 takes"),
        ("x[tf.argmax(x[0]) :]", "the part that line 9 takes"),
        ("x[x > 0.0]", "the part that line 9 takes"),
        ("tf.where(x > 0.0)", "what `tf.where` gives in line 9"),
    ],
)
def test_what_has_a_shape_that_only_values_tell(part: str, words: str) -> None:
    found = replayed(f"def step(x):\n    y = {part}\n    return x\n", x=Tensor())
    assert isinstance(found, Trace)
    assert found.shapeless == words
