"""How often something in a loop is evaluated."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts, marked
from tfrewrite.analysis.program.turns import in_most_turns, turns


@pytest.mark.parametrize(
    ("loops", "expected"),
    [
        ("for i in range(7):", 7),
        ("for i in [1, 2]:", 2),
        ("for i in (1, 2, 3):", 3),
        ("for i in range(n):", float("inf")),
        ("for i in range(2, 9):", float("inf")),
        ("while True:", float("inf")),
    ],
)
def test_the_turns_that_the_text_tells(loops: str, expected: float) -> None:
    found = facts(f"for j in range(2):\n    {loops}\n        f()  # here\n")
    node = marked(found, "here")
    assert turns(found.hoisting.loops(node)) == 2 * expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("f()  # here", True),
        ("try:\n        f()  # here\n    except E:\n        pass", True),
        ("if i % 10:\n        g()\n    else:\n        f()  # here", True),
        ("if i % 10 == 0:\n        f()  # here", False),
        ("if a:\n        g()\n    else:\n        f()  # here", False),
        ("try:\n        g()\n    except E:\n        f()  # here", False),
    ],
)
def test_what_is_done_in_most_turns(body: str, *, expected: bool) -> None:
    found = facts(f"for i in n:\n    {body}\n")
    node = marked(found, "here")
    loop = next(one for one in found.source.all(ast.For))
    assert in_most_turns(found.flow, node, loop) is expected
