"""Which loops take the first element of a dataset in each turn."""

from __future__ import annotations

import pytest

from analysis_helpers import facts
from tfrewrite.analysis.program.hoisting import Place

HEAD = "import tensorflow as tf\nds = tf.data.Dataset.range(9){}\n"
LOOP = "for i in range(9):\n    next(iter(ds))"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (LOOP, 1),
        ("print([next(iter(ds)) for i in range(9)])", 1),
        ("for i in range(9):\n    iter(ds).get_next()", 1),
        ("next(iter(ds))", 0),
        ("for i in range(9):\n    next(iter(ds), None)", 0),
        ("for i in range(9):\n    next(iter([1]))", 0),
        ("for i in range(9):\n    model.fit(ds)\n    next(iter(ds))", 0),
    ],
)
def test_what_is_found(text: str, found: int) -> None:
    assert len(facts(HEAD.format("") + text).first_elements.all) == found


@pytest.mark.parametrize(
    ("pipeline", "endless"),
    [
        ("", False),
        (".repeat(3)", False),
        (".repeat().take(3)", False),
        (".repeat()", True),
        (".repeat(-1).batch(3)", True),
        (".repeat(count=None).shuffle(3)", True),
        (".repeat().repeat(2)", True),
    ],
)
def test_what_never_ends(pipeline: str, *, endless: bool) -> None:
    asked = facts(HEAD.format(pipeline) + LOOP).first_elements
    (first,) = asked.all
    assert asked.endless(first) is endless


@pytest.mark.parametrize(
    ("pipeline", "even"),
    [
        (".batch(2)", False),
        (".batch(2, drop_remainder=False)", False),
        (".batch(2).repeat()", False),
        (".batch(2, True)", True),
        (".repeat().batch(2)", True),
        ("", True),
    ],
)
def test_batches_of_one_size(pipeline: str, *, even: bool) -> None:
    asked = facts(HEAD.format(pipeline) + LOOP).first_elements
    (first,) = asked.all
    assert isinstance(asked.place(first), Place) is even
