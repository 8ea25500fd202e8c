"""Which methods of models are called again and again."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts
from tfrewrite.analysis.keras.keras_calls import KerasCalls

HEAD = "from tensorflow import keras\nmodel = keras.Sequential()\n"


def lines(text: str) -> list[int]:
    found = facts(HEAD + text)
    calls = found.keras_calls.repeated("predict", "predict_on_batch")
    return [one.call.lineno - 2 for one in calls]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("model.predict(x)", []),
        ("for x in xs:\n    model.predict(x)", [2]),
        ("while a:\n    model.predict(x)", [2]),
        ("y = [model.predict(x) for x in xs]", [1]),
        ("for i in range(2):\n    model.predict(x)", []),
        ("for i in n:\n    if i % 9 == 0:\n        model.predict(x)", []),
        ("for i in n:\n    if not done:\n        model.predict(x)", [3]),
        ("for x in model.predict(xs):\n    pass", []),
        ("def f():\n    model.predict(x)\nfor i in n:\n    f()", [2]),
        ("def f():\n    model.predict(x)\nf()", []),
        ("def f():\n    model.predict(x)\ndef g():\n    f()\nwhile a:\n    g()", [2]),
        ("def f():\n    model.predict(x)\nfor i in n:\n    if i % 9 == 0:\n        f()", []),
        ("def f():\n    model.predict(x)\n    f()", []),
        ("for x in xs:\n    predict(x)", []),
    ],
)
def test_calls_in_loops(text: str, expected: list[int]) -> None:
    assert lines(text) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x_test", True),
        ("self.train_images", True),
        ("dataset", True),
        ("test_batch", False),
        ("state", False),
        ("contest", False),
        ("f(x_test)", False),
    ],
)
def test_names_of_whole_sets(name: str, *, expected: bool) -> None:
    assert KerasCalls.is_whole_set(ast.parse(name, mode="eval").body) is expected
