"""Which values are objects made anew, that nobody else has hold of."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts, marked
from tfrewrite.analysis.facts import Facts


def given(expression: str, before: str = "x = np.zeros(3)") -> tuple[Facts, ast.expr]:
    found = facts(f"import numpy as np\n{before}\nresult = {expression}  # here\n")
    statement = marked(found, "here")
    assert isinstance(statement, ast.Assign)
    return found, statement.value


@pytest.mark.parametrize(
    "expression",
    [
        "x",
        "x[1:]",
        "x.T",
        "x.reshape(3, 1)",
        "np.asarray(x)",
        "np.array(x, copy=False)",
        "np.ndarray((3,), float, x)",
        "np.ndarray((3,), buffer=x)",
        "np.add(x, x, out=x)",
        "make(x)",
    ],
)
def test_a_value_that_may_share_its_memory_is_not_new(expression: str) -> None:
    found, value = given(expression)
    assert not found.new_objects.is_new(value)


@pytest.mark.parametrize(
    "expression",
    ["[]", "{}", "[one for one in x]", "x + 1", "np.zeros(3)", "np.array(x)", "x.copy()"],
)
def test_a_value_made_where_it_stands_is_new(expression: str) -> None:
    found, value = given(expression)
    assert found.new_objects.is_new(value)


@pytest.mark.parametrize(
    "expression",
    [
        "[0, 0]",
        "np.zeros(3, object)",
        "np.zeros(3, dtype=kind)",
        "np.zeros(3, **more)",
        "np.full(3, x)",
        "np.zeros_like(x)",
        "np.array([1])",
    ],
)
def test_what_may_hold_any_object_is_not_of_numbers(expression: str) -> None:
    found, value = given(expression)
    assert not found.new_objects.is_of_numbers(value)


@pytest.mark.parametrize(
    "expression",
    [
        "np.zeros(3)",
        "np.zeros(3, 'float32')",
        "np.zeros(3, dtype=np.int64)",
        "np.zeros_like(x, dtype=float)",
        "np.ndarray((3,))",
    ],
)
def test_a_new_array_is_of_numbers(expression: str) -> None:
    found, value = given(expression)
    assert found.new_objects.is_of_numbers(value)


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("n = 0\nn = n + 1", True),
        ("n = 0\nn = x[0]", False),
        ("n = 0\nn = other()", False),
        ("n = x", False),
        ("n = None\nn = n + 1", False),
    ],
)
def test_what_counts_starts_as_a_number(text: str, *, counted: bool) -> None:
    found, _ = given("n", f"x = np.zeros(3)\n{text}")
    values: list[ast.expr | None] = [
        node.value
        for node in ast.walk(found.source.tree)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "n"
    ]
    assert found.new_objects.is_counted(values) == counted
