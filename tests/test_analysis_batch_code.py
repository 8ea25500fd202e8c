"""What the code that makes a batch does, beside making it; traps first."""

from __future__ import annotations

import ast
import textwrap

import pytest

from analysis_helpers import facts
from tfrewrite.analysis.batches.batch_effects import BatchEffects

HEAD = """
import cv2
import numpy as np

X = np.zeros([64, 3])
stream = np.random.RandomState(1)
at = 0


class Batches:
    def __init__(self):
        self.at = 0

    def next(self):
        self.at += 1
        return X[self.at]


def rows(i):
    return X[i : i + 3]


def following():
    global at
    at += 1
    return X[at]


def given():
    yield X


batches = Batches()
one = given()
"""


def effects(code: str) -> BatchEffects:
    """What code does in the turns of a loop, of which `i` and `batch` are its own."""
    found = facts(f"{HEAD}\nfor i in range(9):\n{textwrap.indent(code, '    ')}\n")
    loop = found.source.tree.body[-1]
    assert isinstance(loop, ast.For)
    return found.batch_code.effects(loop.body, frozenset({"i", "batch"}))


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("batch = unseen(i)", "batch-code-not-seen"),
        ("batch = open('rows').read()", "batch-code-not-seen"),
        ("batch = X.unseen()", "batch-code-not-seen"),
        ("batch = given()", "batch-code-not-seen"),
        ("X[i] = 3", "batch-changes-state"),
        ("X += 1", "batch-changes-state"),
        ("np.random.shuffle(X)", "batch-changes-state"),
        ("batch = cv2.resize(X, (3, 3), dst=X)", "batch-code-not-seen"),
        ("with X:\n    batch = X", "batch-code-not-seen"),
    ],
)
def test_what_may_not_be_done_ahead(code: str, reason: str) -> None:
    obstacle = effects(code).obstacle
    assert obstacle is not None
    assert obstacle.reason == reason


def test_what_is_only_read() -> None:
    found = effects("batch = X[i] * 2 + 1")
    assert found.obstacle is None
    assert [ast.unparse(one) for one in found.reads] == ["X"]
    assert not found.goes_on
    assert not found.files
    assert not found.own_code


def test_what_goes_on_from_batch_to_batch() -> None:
    assert effects("batch = np.random.choice(3)").streams == {"numpy.random"}
    assert [ast.unparse(one) for one in effects("batch = stream.normal(3)").states] == ["stream"]
    assert [ast.unparse(one) for one in effects("batch = batches.next()").states] == ["batches"]
    assert [ast.unparse(one) for one in effects("batch = next(one)").states] == ["one"]
    assert effects("batch = following()").variables == {"at"}
    for code in ("np.random.rand()", "stream.rand()", "batches.next()", "following()"):
        found = effects(f"batch = {code}")
        assert found.obstacle is None
        assert found.goes_on


def test_what_takes_time() -> None:
    assert effects("batch = np.load('rows.npy')").files
    assert effects("batch = rows(i)").own_code
    assert effects("batch = [X[j] for j in range(3)]").own_code
