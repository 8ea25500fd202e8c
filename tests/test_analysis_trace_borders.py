"""What a trace can give back."""

from __future__ import annotations

import ast

import pytest

from tfrewrite.analysis.eager.abstract_values import (
    Dataset,
    Done,
    Group,
    Number,
    Tensor,
    Thing,
    Value,
    group,
)
from tfrewrite.analysis.traces.trace_borders import returnable


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (Tensor(), ""),
        (Number(ast.Constant(None)), ""),
        (group(Tensor(), group(Tensor())), ""),
        (Number(), "Python value"),
        (Thing("variable", "Variable"), "variable"),
        (Tensor(array=True), "numpy"),
        (Done("`assign`"), "`assign`"),
        (Group(None, Tensor(), lazy=True), "only once"),
        (Dataset(), "no tensor"),
    ],
)
def test_what_a_trace_can_give(given: Value, words: str) -> None:
    assert (words in returnable(given)) if words else not returnable(given)
