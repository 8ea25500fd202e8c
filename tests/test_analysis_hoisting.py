"""The way out of loops, traps first: operands that are not there yet, or not there to stay."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import expression, facts
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.hoisting import Place


def place(text: str) -> Place | Obstacle:
    """Where the argument of the marked statement's call can be evaluated once."""
    found = facts(text)
    call = expression(found)
    assert isinstance(call, ast.Call)
    return found.hoisting.place(call.args[0], [call.args[0]])


def reason(text: str) -> str:
    found = place(text)
    assert isinstance(found, Obstacle)
    return found.reason


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = 1\nf(a)  # here\n", "not-in-loop"),
        ("for a in b:\n    f(a)  # here\n", "rebound-in-loop"),
        ("a = 1\nwhile c:\n    f(a)  # here\n    a += 1\n", "rebound-in-loop"),
        ("a = 1\nwhile c:\n    f(a)  # here\n    del a\n", "rebound-in-loop"),
        ("while c:\n    a = 1\n    f(a)  # here\n", "rebound-in-loop"),
        ("if d:\n    a = 1\nwhile c:\n    f(a)  # here\n", "operand-not-sure"),
        ("try:\n    a = 1\nexcept E:\n    pass\nwhile c:\n    f(a)  # here\n", "operand-not-sure"),
        ("while c:\n    f(a)  # here\na = 1\n", "operand-not-sure"),
        ("while c:\n    f(a)  # here\n", "operand-not-sure"),
        ("a = [1]\nwhile c:\n    f(a[0])  # here\n", "operand-not-sure"),
        (
            "def g():\n    global a\n    a = 1\nwhile c:\n    f(a)  # here\n",
            "operand-not-sure",
        ),
        (
            "if d:\n    a = 1\ndef g():\n    while c:\n        f(a)  # here\n",
            "operand-not-sure",
        ),
        ("a = 1\nwhile c:\n    with d:\n        f(a)  # here\n", "scope-in-loop"),
        (
            "import os\nwhile c:\n    a = 'x'\n    f(os.path.join('m', a))  # here\n",
            "rebound-in-loop",
        ),
        ("import os\nwhile c:\n    f(os.path.join('m', b()))  # here\n", "operand-not-sure"),
        ("import os\nwhile c:\n    f(os.path.abspath('m'))  # here\n", "operand-not-sure"),
        ("os = d()\nwhile c:\n    f(os.path.join('m'))  # here\n", "operand-not-sure"),
    ],
)
def test_what_must_stay_in_the_loop(text: str, expected: str) -> None:
    assert reason(text) == expected


CLASS = """
class A:
    def __init__(self):
        {init}

    def build(self):
        self.a = 1

    def run(self):
        while c:
            f(self.a)  # here
"""


@pytest.mark.parametrize(
    "init", ["pass", "self.a = 2", "if d:\n            self.build()", "self.build(); self.build()"]
)
def test_attributes_that_may_change_or_come_too_late(init: str) -> None:
    assert reason(CLASS.format(init=init)) == "operand-not-sure"


def test_an_attribute_that_the_constructor_sets_once_is_there() -> None:
    assert isinstance(place(CLASS.format(init="self.build()")), Place)


@pytest.mark.parametrize(
    ("text", "line", "all_loops"),
    [
        ("a = 1\nfor b in c:\n    while d:\n        f(a)  # here\n", 2, True),
        ("for b in c:\n    a = 1\n    while d:\n        f(a)  # here\n", 3, False),
        ("if d:\n    a = 1\nelse:\n    a = 2\nwhile c:\n    f(a)  # here\n", 5, True),
        ("with open(p) as q:\n    a = 1\nwhile c:\n    f(a)  # here\n", 3, True),
        ("import os\na = 'x'\nwhile c:\n    f(os.path.join('m', a))  # here\n", 3, True),
        ("def g(a):\n while c:\n  try:\n   f(a)  # here\n  finally:\n   b\n", 2, True),
        ("a = 1\nfor b in c:\n    with d:\n        while e:\n            f(a)  # here\n", 4, False),
        ("a = 1\ndef g():\n    while c:\n        f(a)  # here\n", 3, True),
    ],
)  # fmt: skip
def test_just_before_the_outermost_loop_and_within_the_with(
    text: str, line: int, all_loops: object
) -> None:
    found = place(text)
    assert isinstance(found, Place)
    assert (found.before.lineno, found.all_loops) == (line, all_loops)


def test_a_list_comprehension_is_a_loop_but_not_out_of_a_lambda() -> None:
    found = facts("a = 1\nx = [f(a) for _ in b]\ny = lambda: [f(a) for _ in b]\n")
    inner, outer = sorted((c for c in found.source.all(ast.Call)), key=lambda c: -c.lineno)
    assert isinstance(found.hoisting.place(inner, [inner.args[0]]), Obstacle)
    there = found.hoisting.place(outer, [outer.args[0]])
    assert isinstance(there, Place)
    assert there.before.lineno == 2


def test_what_comes_first() -> None:
    found = facts("a = 1\nif b:\n    c = 2\nwith open(p):\n    d = 3\ne = 4\n")
    a, _, with_, e = found.source.tree.body
    c, d = found.source.tree.body[1].body[0], with_.body[0]  # type: ignore[attr-defined]
    first = found.hoisting.comes_first
    assert first(a, e) and first(a, d) and first(d, e)
    assert not first(c, e) and not first(e, a)


@pytest.mark.parametrize(
    ("init", "is_set"),
    [
        ("self.a = 1", True),
        ("self.build()", True),
        ("pass", False),
        ("self.a = 2; self.build()", False),
    ],
)
def test_an_attribute_that_the_constructor_sets_for_good(init: str, *, is_set: bool) -> None:
    found = facts(CLASS.format(init=init))
    call = expression(found)
    assert isinstance(call, ast.Call)
    attribute = call.args[0]
    assert isinstance(attribute, ast.Attribute)
    # `build` is called by nobody where the constructor does not call it, and may be at any time.
    assert (found.hoisting.set_when_made(attribute) is not None) == (is_set and "build" in init)


def test_a_function_that_is_left_and_resumed() -> None:
    found = facts("def f():\n    a  # here\n    yield\ndef g():\n    a  # there\n")
    assert found.hoisting.resumed(expression(found)) is not None
    assert found.hoisting.resumed(expression(found, "there")) is None


BUILT = """
class A:
    def __init__(self, b):
        self.b = b

    def _set(self):
        {stored}

    def build(self):
        {setting}

    def work(self):
        while c:
            f(self.a)  # here
            {inside}

    def start(self):
        self.work()


def main():
    a = A(1)
    {before}
    {start}
"""


def built(**parts: str) -> Place | Obstacle:
    usual = {
        "stored": "self.a = 1",
        "setting": "self._set()",
        "inside": "pass",
        "before": "a.build()",
        "start": "a.start()",
    }
    return place(BUILT.format(**(usual | parts)))


@pytest.mark.parametrize(
    "parts",
    [
        {"stored": "if d: self.a = 1"},
        {"stored": "self.a = 1; self.a = 2"},
        {"setting": "if d: self._set()"},
        {"setting": "for d in e: self._set()"},
        {"inside": "self.build()"},
        {"inside": "self._set()"},
        {"inside": "self.a = 2"},
        {"before": "pass"},
        {"before": "if d: a.build()"},
        {"before": "other.build()"},
        {"before": "a.build(); a = A(2)"},
        {"before": "g(a.build)"},
        {"before": "a.start(); a.build()"},
        {"start": "a.start()\n\ndef again(a):\n    a.build()"},
        {"start": "a.start()\n\ndef again(a):\n    a.start()"},
        {"start": "g(a.start)"},
        {"start": "a.work()"},  # who calls `start`?
    ],
)
def test_an_attribute_that_may_not_be_set_before_the_call(parts: dict[str, str]) -> None:
    assert isinstance(built(**parts), Obstacle)


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"before": "a._set()"},
        {"setting": "self._set(); print(self.b)"},
        {"start": "for d in e: a.start()"},
        {"start": "a.start(); a.work()"},
    ],
)
def test_an_attribute_that_is_set_before_the_call(parts: dict[str, str]) -> None:
    assert isinstance(built(**parts), Place)


MODELS = """
class Net:
    def __init__(self):
        self.out = 1
        self.late = 1

    def grow(self):
        self.late = 2

class Trainer:
    def __init__(self):
        self.net = Net()

    def train(self):
        while c:
            f(self.net.out)  # here
"""


def test_objects_in_objects() -> None:
    assert isinstance(place(MODELS), Place)
    assert reason(MODELS.replace("net.out", "net.late")) == "operand-not-sure"
    assert reason(MODELS.replace("net.out", "other.out")) == "operand-not-sure"
    again = MODELS + "    def again(self):\n        self.net = Net()\n"
    assert reason(again) == "operand-not-sure"


def test_objects_that_callers_give() -> None:
    text = (
        MODELS.replace("  # here", "") + "def go(net):\n    while c:\n        f(net.out)  # here\n"
    )
    assert reason(text) == "operand-not-sure"
    assert isinstance(place(text + "n = Net()\ngo(n)\ngo(Net())\n"), Place)
    assert reason(text + "go(Net())\ngo(Trainer())\n") == "operand-not-sure"
    assert reason(text + "go(Net())\nhand_on(go)\n") == "operand-not-sure"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("for a in b:\n    f(a)  # here\n", 1),
        ("while c:\n    for a in b:\n        f(a)  # here\n", 1),
        ("for d in e:\n    if c:\n        for a in b:\n            f(a)  # here\n", 1),
        ("for d in e:\n    def g():\n        for a in b:\n            f(a)  # here\n", 3),
        ("for d in e:\n    pass\nelse:\n    for a in b:\n        f(a)  # here\n", 4),
    ],
)
def test_the_outermost_loop(text: str, line: int) -> None:
    found = facts(text)
    loop = found.flow.loop(expression(found))
    assert loop is not None
    assert found.hoisting.outermost(loop).lineno == line
