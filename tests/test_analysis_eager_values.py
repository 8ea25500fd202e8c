"""What the names of eager code stand for."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import use
from eager_samples import start, value
from tfrewrite.analysis.eager.abstract_values import Number, Unknown


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


def test_a_captured_name_is_bound_once() -> None:
    found = start("k = 1.0\nj = 1.0\nj = 2.0\n\ndef f():\n    return k + j  # here\n")
    assert isinstance(found.eager_values.captured(use(found, "k")), Number)
    assert isinstance(found.eager_values.captured(use(found, "j")), Unknown)


def test_a_captured_name_that_nothing_binds() -> None:
    found = start("def f():\n    return unseen  # here\n")
    captured = found.eager_values.captured(use(found, "unseen"))
    assert isinstance(captured, Unknown)
    assert captured.why == "`unseen` is not bound in this file"


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
