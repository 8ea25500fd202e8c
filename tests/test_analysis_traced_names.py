"""What names hold while a function is traced."""

from __future__ import annotations

import pytest

from eager_samples import replayed
from tfrewrite.analysis.eager.abstract_values import Number, Tensor
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.traces.trace import Trace


@pytest.mark.parametrize(
    ("lines", "reason", "words"),
    [
        ("a, b = x\n    return a", "fails-when-traced", "unpacks what may be a tensor"),
        ("a, *b = (x, x)\n    return a", "not-followed", "with a star"),
        ("x.value = 3", "python-effect", "writes `x.value`"),
        ("weights[0] = x", "python-effect", "writes to `weights`"),
        ("weights += x\n    return x", "not-followed", "may have no value yet"),
        ("return x + y\n    y = 1", "not-followed", "may have no value yet"),
        ("return unseen(x)", "captured-not-fixed", "`unseen`"),
        ("return x * xs[0, 0]", "captured-not-fixed", "is a numpy array"),
    ],
)
def test_which_names_stop_a_trace(lines: str, reason: str, words: str) -> None:
    text = f"xs[0] = 1\ndef step(x):\n    {lines}\n"
    found = replayed(text, x=Tensor())
    assert isinstance(found, Obstacle)
    assert found.reason == reason
    assert words in found.message


@pytest.mark.parametrize(
    ("lines", "given"),
    [
        ("y = z = x\n    return z", Tensor()),
        ("(a, b), c = (x, 1), 2\n    return b + c", Number()),
        ("items = []\n    items.append(x)\n    return items[0]", Tensor()),
        ("items = [x]\n    items[0] = x\n    return items[0]", Tensor()),
        ("n = 1\n    n += 2\n    return n", Number()),
    ],
)
def test_what_names_hold_in_a_trace(lines: str, given: object) -> None:
    found = replayed(f"def step(x):\n    {lines}\n", x=Tensor())
    assert isinstance(found, Trace), found
    assert found.returned == given
