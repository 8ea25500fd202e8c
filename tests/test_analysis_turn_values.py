"""What a turn of a loop has of its own."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts


@pytest.mark.parametrize(
    ("value", "varies"),
    [
        ("rows[i:i + 3]", True),
        ("load(3)", True),
        ("part", True),
        ("rows", False),
        ("0.5", False),
        ("i", False),
        ("np.zeros(3)", False),
    ],
)
def test_what_varies(value: str, *, varies: bool) -> None:
    read = facts(f"import numpy as np\nfor i in range(9):\n    part = rows[i]\n    use({value})\n")
    loop = read.source.tree.body[-1]
    assert isinstance(loop, ast.For) and isinstance(loop.body[1], ast.Expr)
    used = loop.body[1].value
    assert isinstance(used, ast.Call)
    assert read.turn_values.varies(used.args[0], loop) == varies


@pytest.mark.parametrize(
    ("line", "arithmetic"),
    [
        ("start = i * 3", True),
        ("start = len(rows) // 3", True),
        ("start = rows.shape[0] - 1", True),
        ("start = rows[0]", False),
        ("start = load()", False),
        ("start, end = 1, 2", False),
        ("start += 1", False),
    ],
)
def test_arithmetic(line: str, *, arithmetic: bool) -> None:
    read = facts(line)
    (statement,) = read.source.tree.body
    assert read.turn_values.is_arithmetic(statement) == arithmetic
