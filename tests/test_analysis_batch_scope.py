"""Which names and objects are those of the code that makes a batch; traps first."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import expression, facts, function, marked, use
from tfrewrite.analysis.batches.batch_scope import BatchScope
from tfrewrite.analysis.facts import Facts

IMPORTS = "import numpy as np\n"


def target(found: Facts) -> ast.expr:
    """What the assignment on the line marked `here` writes to."""
    statement = marked(found, "here")
    assert isinstance(statement, (ast.Assign, ast.AugAssign))
    written = statement.target if isinstance(statement, ast.AugAssign) else statement.targets[0]
    assert isinstance(written, (ast.Subscript, ast.Attribute))
    return written.value


@pytest.mark.parametrize(
    ("made", "own", "of_numbers"),
    [
        ("kept", False, False),
        ("kept[1:]", False, False),
        ("np.asarray(kept)", False, False),
        ("unseen()", False, False),
        ("[]", True, False),
        ("np.array(kept)", True, False),
        ("np.zeros(3, dtype=object)", True, False),
        ("np.zeros(3)", True, True),
    ],
)
def test_what_is_made_in_this_turn(made: str, *, own: bool, of_numbers: bool) -> None:
    found = facts(f"{IMPORTS}kept = [1]\nfor i in kept:\n    a = {made}\n    a[0] = 1  # here\n")
    scope = BatchScope(found, frozenset({"a"}))
    assert scope.made_here(target(found)) is own
    assert scope.numbers_made_here(target(found)) is of_numbers
    assert not BatchScope(found, frozenset()).made_here(target(found))


@pytest.mark.parametrize(("first", "own"), [("global a", False), ("a = []", True)])
def test_what_a_function_makes_itself(first: str, *, own: bool) -> None:
    found = facts(f"a = []\ndef f():\n    {first}\n    a[0] = 1  # here\n")
    scope = BatchScope(found, frozenset({"a"}))
    with scope.within(function(found, "f"), None):
        assert scope.made_here(target(found)) is own


CLASS = """\
class Batches:
    def __init__(self):
        self.at = 0
        self.kept = []

    def next(self):
        self.at += 1  # counted
        return self.at

batches = Batches()
other = batches if batches else None
value = batches.next()  # here
"""


def test_the_object_whose_method_is_called() -> None:
    found = facts(CLASS)
    scope = BatchScope(found, frozenset())
    call = expression(found)
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Attribute)
    receiver = scope.object_of(call.func)
    assert receiver is call.func.value
    assert BatchScope(found, frozenset()).receiver is None
    with scope.within(function(found, "next"), receiver):
        assert scope.receiver is receiver
        counted = marked(found, "counted")
        assert isinstance(counted, ast.AugAssign)
        assert isinstance(counted.target, ast.Attribute)
        assert scope.is_receiver(counted.target.value)
        assert scope.counts(counted.target)
    assert not scope.is_receiver(counted.target.value)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return self.at\n", "return self\n"),
        ("batches = Batches()", "batches = find()"),
        ("batches = Batches()", "batches = Batches()\nbatches = Batches()"),
        ("other =", "class More(Batches):\n    pass\n\nother ="),
    ],
)
def test_an_object_that_may_go_by_other_names(old: str, new: str) -> None:
    found = facts(CLASS.replace(old, new))
    call = expression(found)
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Attribute)
    assert BatchScope(found, frozenset()).object_of(call.func) is None


def test_a_function_reads_what_the_loop_sets() -> None:
    text = "for i in range(3):\n    f()\n\ndef f():\n    return i  # here\n"
    found = facts(text)
    scope = BatchScope(found, frozenset({"i"}))
    name = use(found, "i")
    scope.begin(found.source.tree.body[0])
    assert not scope.of_turn(name)
    with scope.within(function(found, "f"), None):
        assert scope.of_turn(name)
        assert not scope.is_local(name)
