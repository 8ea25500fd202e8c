"""A call with one more argument, laid out as it was."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts
from tfrewrite.edits import apply_edits
from tfrewrite.writing.with_argument import with_argument


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f()", "f(n=2)"),
        ("f(a)", "f(a, n=2)"),
        ("f(a,)", "f(a, n=2)"),
        ("f(a, b=(1, 2))", "f(a, b=(1, 2), n=2)"),
        ("f((a))", "f((a), n=2)"),
        ("f(a, (b + c))", "f(a, (b + c), n=2)"),
        ("f((a), )", "f((a), n=2)"),
        ("f(*a)", "f(*a, n=2)"),
        ("g(1)(a)", "g(1)(a, n=2)"),
        ("f(\n    a,\n    b=1,\n)", "f(\n    a,\n    b=1,\n    n=2,\n)"),
        ("f(\n    a,\n    b=1\n)", "f(\n    a,\n    b=1,\n    n=2\n)"),
        ("f(\n    a,  # why\n)", "f(\n    a,  # why\n    n=2,\n)"),
        ("f(\n    a  # why\n)", "f(\n    a,  # why\n    n=2\n)"),
        ("f(a,  # why\n)", "f(a, n=2  # why\n)"),
        ("f(a, b  # why\n)", "f(a, b, n=2  # why\n)"),
        ("f(\n    a, b=1\n)", "f(\n    a, b=1, n=2\n)"),
        ("f(\n    a, b=1,\n)", "f(\n    a, b=1, n=2\n)"),
        ("f(\n    *a,\n    **b,\n)", "f(\n    *a,\n    **b,\n    n=2,\n)"),
        ("f(a,\n  b=1)", "f(a,\n  b=1, n=2)"),
        ("f(a,\n  b=[\n    1,\n  ])", "f(a,\n  b=[\n    1,\n  ], n=2)"),
        ("f('a)', b)", "f('a)', b, n=2)"),
    ],
)
def test_where_it_goes(before: str, after: str) -> None:
    found = facts(before)
    (statement,) = found.source.tree.body
    assert isinstance(statement, ast.Expr)
    call = statement.value
    assert isinstance(call, ast.Call)
    assert apply_edits(before, [with_argument(found, call, "n=2")]) == after
