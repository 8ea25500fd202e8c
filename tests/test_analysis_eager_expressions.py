"""What the expressions of eager code give."""

from __future__ import annotations

import pytest

from eager_samples import value
from tfrewrite.analysis.eager.abstract_values import (
    Array,
    Dataset,
    Group,
    Number,
    Tensor,
    Thing,
    Value,
    group,
    parts,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("v = xs[0:16]  # here", Array()),
        ("for i in range(3):\n    v = xs[i:i + 16]  # here", Array()),
        ("for i in range(3):\n    v = xs[:i]  # here", Array(steady=False)),
        ("v = xs[xs > 1]  # here", Array(steady=False)),
        ("v = tf.matmul(weights, weights)  # here", Tensor()),
        ("v = weights * 2  # here", Tensor()),
        ("v = data.shuffle(10)  # here", Dataset()),
        ("v = next(iter(data))  # here", Tensor(nest=True)),
        ("for x, y in data:\n    v = x  # here", Tensor(nest=True)),
        ("for i, (x, y) in enumerate(data):\n    v = i  # here", Number(varies=True)),
        ("for i, (x, y) in enumerate(data):\n    v = y  # here", Tensor(nest=True)),
        ("(a, b), c = (xs, weights), 3\nv = a  # here", Array(shape=(64, 6))),
        ("v = model.trainable_variables  # here", Group(None, Thing("variable", "Variable"))),
        (
            "@tf.function\ndef f():\n    return weights * 2, 3\nv = f()  # here",
            group(Tensor(), Tensor()),
        ),
        ("v = np.random.RandomState(1).normal(size=3)  # here", Array(shape=(3,))),
    ],
)
def test_values_of_expressions(text: str, expected: Value) -> None:
    assert value(text) == expected


def test_two_lists_make_one() -> None:
    found = value("(model.trainable_variables + [weights])  # here\n")
    assert isinstance(found, Group)
    assert {one.kind for one in parts(found) if isinstance(one, Thing)} == {"variable"}
    known = value("([xs] + [1])  # here\n")
    assert isinstance(known, Group)
    assert known.items is not None
    assert [type(one) for one in known.items] == [Array, Number]
