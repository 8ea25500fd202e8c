"""Which places of a file are reached at most once."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import marked
from eager_samples import start


def test_places_that_are_reached_once() -> None:
    found = start("""
def once():
    pass  # once

def twice():
    pass  # twice

once()
twice()
twice()
for i in range(3):
    pass  # loop
""")
    assert found.reached_once.holds(marked(found, "once"))
    assert not found.reached_once.holds(marked(found, "twice"))
    assert not found.reached_once.holds(marked(found, "loop"))


@pytest.mark.parametrize(
    ("text", "in_turns"),
    [
        ("f(x)", False),
        ("for i in some:\n    f(x)", True),
        ("while some:\n    f(x)", True),
        ("y = [f(x) for _ in some]", True),
        ("y = [1 for _ in some] + f(x)", False),
        ("for i in f(x):\n    pass", False),
        ("for i in some:\n    def g():\n        f(x)", False),
        ("y = [lambda: f(x) for _ in some]", True),
    ],
)
def test_what_is_evaluated_turn_by_turn(text: str, *, in_turns: bool) -> None:
    found = start(text)
    (call,) = (one for one in found.source.all(ast.Call) if ast.unparse(one) == "f(x)")
    assert found.reached_once.in_turns(call) is in_turns
