"""What the call of a model says about training."""

from __future__ import annotations

import ast

import pytest

from tfrewrite.analysis.eager.abstract_values import Number, Unknown, Value
from tfrewrite.analysis.keras.keras_training import by_default, told


def value(expr: ast.expr) -> Value:
    return Number(expr) if isinstance(expr, ast.Constant) else Unknown("")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("m(x)", None),
        ("m(x, training=None)", None),
        ("m(x, training=False)", False),
        ("m(x, training=True)", True),
        ("m(x, training=flag)", True),
        ("m(x, False)", True),
        ("m(x, **options)", True),
        ("m.call(x, training=False)", True),
    ],
)
def test_what_a_call_says(text: str, says: bool | None) -> None:  # noqa: FBT001
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    assert told(call, value) is says


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def call(self, x): pass", None),
        ("def call(self, x, training=None): pass", None),
        ("def call(self, x, training=False): pass", False),
        ("def call(self, x, training=True): pass", True),
        ("def call(self, x, *, training=True): pass", True),
        ("def call(self, x, training): pass", None),
    ],
)
def test_what_a_method_takes_it_for(text: str, says: bool | None) -> None:  # noqa: FBT001
    (method,) = ast.parse(text).body
    assert isinstance(method, ast.FunctionDef)
    assert by_default(method, value) is says
