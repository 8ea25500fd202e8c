"""The shapes of numpy arrays, where calls say them."""

from __future__ import annotations

import pytest

from analysis_helpers import expression, facts
from tfrewrite.analysis.eager.abstract_values import Array, Group, Number, Tensor
from tfrewrite.analysis.eager.array_shapes import rows

START = """\
import numpy as np
n = 3
rng = np.random.RandomState(1)
xs = np.zeros((4, 5))
"""


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("np.zeros(4)", (4,)),
        ("np.ones((n, 2), np.float32)", (3, 2)),
        ("np.full(shape=[2, 2], fill_value=1)", (2, 2)),
        ("np.linspace(0, 1, 9)", (9,)),
        ("np.linspace(0, 1, 9, endpoint=False)", None),
        ("np.linspace(0, 1)", None),
        ("np.random.rand(2, 3)", (2, 3)),
        ("np.random.rand()", None),
        ("rng.randn(2)", (2,)),
        ("rng.normal(size=(4, 2))", (4, 2)),
        ("rng.normal(0, 1, (4, 2))", (4, 2)),
        ("rng.normal(0, 1)", None),
        ("rng.uniform(size=int(input()))", None),
        ("rng.permutation(4)", None),
        ("np.zeros(*sizes)", None),
        ("np.zeros(-1)", None),
        ("np.zeros(True)", None),
        ("np.zeros(xs.shape)", None),
        ("xs.astype(int)", (4, 5)),
        ("xs.copy()", (4, 5)),
        ("xs.reshape(5, 4)", None),
        ("xs.T", None),
        ("xs[0]", (5,)),
        ("xs[1:3]", None),
        ("xs[:, 0]", None),
        ("xs[xs > 0]", None),
        ("xs * 2", (4, 5)),
        ("xs + np.zeros(5)", None),
        ("np.sqrt(xs)", None),
    ],
)
def test_shapes(text: str, shape: tuple[int, ...] | None) -> None:
    found = facts(f"{START}v = {text}  # here\n")
    given = found.eager_values.value(expression(found))
    assert getattr(given, "shape", None) == shape


def test_what_a_loop_gives() -> None:
    found = facts(f"{START}for row in xs:\n    v = row  # here\n")
    assert found.eager_values.value(expression(found)) == Array(shape=(5,))


@pytest.mark.parametrize("text", ["list(xs)", "tuple(xs)"])
def test_lists_of_rows(text: str) -> None:
    found = facts(f"{START}v = {text}  # here\n")
    row = Array(shape=(5,))
    assert found.eager_values.value(expression(found)) == Group((row,) * 4, row)


def test_rows_that_are_many_or_numbers_or_no_rows() -> None:
    assert rows(Array(shape=(100, 2))) is None
    assert rows(Array(shape=(4,))) is None
    assert rows(Array()) is None
    assert rows(Tensor()) is None
    assert rows(Number()) is None
