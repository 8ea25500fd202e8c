"""Which names code reads and binds."""

from __future__ import annotations

import ast

import pytest

from tfrewrite.analysis.program.statement_names import bound_in, names_in, read_in, surely_binds


@pytest.mark.parametrize(
    ("text", "bound", "read"),
    [
        ("a = b + c", {"a"}, {"b", "c"}),
        ("a[b] = c", set(), {"a", "b", "c"}),
        ("for a, b in c:\n    d = a", {"a", "b", "d"}, {"a", "c"}),
        ("a = [b for b in c]", {"a"}, {"b", "c"}),
        ("del a", {"a"}, set()),
        ("with b as a:\n    pass", {"a"}, {"b"}),
    ],
)
def test_names_of_a_statement(text: str, bound: set[str], read: set[str]) -> None:
    (statement,) = ast.parse(text).body
    assert bound_in([statement]) == bound
    assert read_in(statement) == read
    assert names_in(statement) >= bound | read


def test_nothing_has_no_names() -> None:
    assert names_in(None) == frozenset()


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("a = 1", True),
        ("a: int = 1", True),
        ("a: int", False),
        ("if b:\n    a = 1\nelse:\n    a = 2", True),
        ("if b:\n    a = 1", False),
        ("for b in c:\n    a = 1", False),
        ("with b:\n    a = 1", True),
        ("a[0] = 1", False),
    ],
)
def test_what_surely_binds_a_name(text: str, *, sure: bool) -> None:
    (statement,) = ast.parse(text).body
    assert surely_binds(statement, "a") == sure
