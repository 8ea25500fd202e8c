"""Which uses of a list in eager code leave it as it is."""

from __future__ import annotations

import pytest

from analysis_helpers import use
from eager_samples import start


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("kept = items  # here", False),
        ("items.append(2)  # here", False),
        ("items[0] = 2  # here", False),
        ("unseen(items)  # here", False),
        ("model.fit(items)  # here", False),
        ("v = [items]  # here", False),
        ("v = items[0]  # here", True),
        ("v = len(items)  # here", True),
        ("v = items.index(1)  # here", True),
        ("v = items == [1]  # here", True),
        ("v = items + [2]  # here", True),
        ("v = tf.constant(value=items)  # here", True),
        ("v = tf.keras.layers.Add()\nv(items)  # here", True),
        ("for v in items:  # here\n    pass", True),
    ],
)
def test_what_leaves_a_list_as_it_is(text: str, *, leaves: bool) -> None:
    found = start(f"items = [1]\n{text}\n")
    assert found.list_uses.leaves(use(found, "items")) is leaves


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("v = len(items)  # here", True),
        ("v = len(items[0])  # here", True),
        ("v = items[0]  # here", False),
        ("for v in items:  # here\n    pass", False),
        ("v = tf.constant(items)  # here", False),
    ],
)
def test_lists_in_a_list_may_be_got_hold_of(text: str, *, leaves: bool) -> None:
    found = start(f"items = [[1]]\n{text}\n")
    assert found.list_uses.leaves(use(found, "items"), nested=True) is leaves


@pytest.mark.parametrize(("decorator", "leaves"), [("@tf.function\n", True), ("", False)])
def test_a_compiled_function_gets_a_list_of_its_own(decorator: str, *, leaves: bool) -> None:
    found = start(f"{decorator}def f(a):\n    return a\n\nitems = [1]\nf(items)  # here\n")
    assert found.list_uses.leaves(use(found, "items")) is leaves
