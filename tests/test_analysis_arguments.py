"""Which argument is for which parameter."""

from __future__ import annotations

import ast

import pytest

from tfrewrite.analysis.program.arguments import arguments


def given(text: str) -> dict[str, str] | None:
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    found = arguments(call, ("a", "b"))
    return (
        {name: ast.unparse(value) for name, value in found.items()} if found is not None else None
    )


@pytest.mark.parametrize("text", ["f(1, 2)", "f(1, b=2)", "f(b=2, a=1)"])
def test_by_place_or_by_name(text: str) -> None:
    assert given(text) == {"a": "1", "b": "2"}


def test_those_that_are_left_out() -> None:
    assert given("f()") == {}
    assert given("f(b=x)") == {"b": "x"}


@pytest.mark.parametrize("text", ["f(*x)", "f(**x)", "f(1, 2, 3)", "f(c=1)", "f(1, a=2)"])
def test_what_is_hidden_or_for_another(text: str) -> None:
    assert given(text) is None
