"""What a dict holds that a function of the file makes, seen from the call."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import with_graph
from tfrewrite.analysis.batches.feed_helpers import MadeFeed


def made(text: str) -> MadeFeed | None:
    """The dict that the last statement's call gives."""
    read = with_graph(text)
    last = read.source.tree.body[-1]
    assert isinstance(last, ast.Expr)
    return read.feed_helpers.made(last.value)


def texts(found: MadeFeed | None) -> tuple[list[str], list[str]]:
    assert found is not None
    named = [f"{ast.unparse(key)}: {ast.unparse(value)}" for key, value in found.named]
    return [ast.unparse(key) for key in found.made], named


def test_placeholders_that_both_see() -> None:
    assert texts(made("def f(i):\n    return {x: X[i], y: 1}\nf(3)")) == (["x"], ["y: 1"])


def test_placeholders_that_are_given() -> None:
    text = "def f(a, b, n=2):\n    feed = {a: X[0], b: n}\n    return feed\n"
    assert texts(made(f"{text}f(x, b=y)")) == (["x"], ["y: 2"])
    assert texts(made(f"{text}f(x, y, 5)")) == (["x"], ["y: 5"])
    assert texts(made(f"{text}size = 3\nf(x, y, n=size)")) == (["x"], ["y: size"])
    assert texts(made(f"{text}f(x, y, n=sizes())")) == (["x", "y"], [])


def test_placeholders_of_an_object() -> None:
    text = "model = Model()\ndef f(i):\n    return {model.x: X[i]}\nf(1)"
    assert texts(made(text)) == (["model.x"], [])


def test_values_that_are_given() -> None:
    text = "bx, by = X[0], X[1]\ndef f(a, b, n=2):\n    return {x: a, y: b}\n"
    assert texts(made(f"{text}f(bx, by)")) == ([], ["x: bx", "y: by"])
    assert texts(made(f"{text}f(by, b=bx[0])")) == ([], ["x: by", "y: bx[0]"])
    assert texts(made(f"{text}f(bx, rows())")) == (["y"], ["x: bx"])


_KEEP = "def f(i, train=True):\n    return {x: X[i], y: 0.5 if train else 1}\n"
_FILLED = """
def f(i, n=None):
    feed = {x: X[i]}
    if n is not None:
        feed[y] = n
    else:
        feed.update({y: 7})
    return feed
"""


def test_values_by_a_flag() -> None:
    assert texts(made(f"{_KEEP}f(3)")) == (["x"], ["y: 0.5"])
    assert texts(made(f"{_KEEP}f(3, train=False)")) == (["x"], ["y: 1"])
    assert texts(made(f"{_KEEP}f(3, now())")) == (["x", "y"], [])
    assert texts(made(_KEEP.replace("train else", "not train else") + "f(3)")) == (["x"], ["y: 1"])


def test_dicts_that_are_filled() -> None:
    assert texts(made(f"{_FILLED}f(3)")) == (["x"], ["y: 7"])
    assert texts(made(f"{_FILLED}f(3, 4)")) == (["x"], ["y: 4"])
    assert texts(made(f"{_FILLED}f(3, now())")) == (["x", "y"], [])
    later = (
        "def f(i):\n    feed = {x: X[i], y: 1}\n    feed[y] = 2\n    X[i] = 0\n    return feed\n"
    )
    assert texts(made(f"{later}f(3)")) == (["x"], ["y: 2"])


_MODEL = """
class Model:
    def __init__(self):
        self.x = x
        self.rate = 0.5
    def feed(self, i):
        return {self.x: X[i], y: self.rate}
    def fit(me, self):
        CALL
"""


def in_method(call: str, parameters: str) -> MadeFeed | None:
    """The dict that a call in a method with some parameters gives."""
    read = with_graph(_MODEL.replace("CALL", call).replace("me, self", parameters))
    (found,) = (one for one in read.source.all(ast.Call) if ast.unparse(one) == call)
    return read.feed_helpers.made(found)


def test_methods() -> None:
    assert in_method("me.feed(3)", "me") is None  # its `self` has another name there
    assert in_method("self.feed(3)", "me, self") is None  # and this is another object
    assert texts(in_method("self.feed(3)", "self")) == (["self.x"], ["y: self.rate"])


@pytest.mark.parametrize(
    "call",
    ["f(bx, by, 3)", "f(bx)", "f(bx, by, b=by)", "f(bx, by, c=1)", "f(bx, rows(), n=note())"],
)
def test_calls_that_are_not_left_out(call: str) -> None:
    text = "bx, by = X[0], X[1]\ndef f(a, b, *, n=2):\n    return {x: a, y: bx}\n"
    assert made(f"{text}{call}") is None


_PERHAPS = """
def f(i, n=None):
    feed = {x: X[i]}
    if n is None:
        feed[y] = 1
    return feed
"""
_IN_A_LOOP = """
def f(i):
    feed = {x: X[i]}
    for k in X:
        feed[k] = 1
    return feed
"""


@pytest.mark.parametrize(
    "text",
    [
        "f(3)",
        "def f():\n    return {}\nf()",
        "def f():\n    print(1)\n    return {x: 1}\nf()",
        "def f(i, n=2):\n    return {x: X[i], y: n}\nf(*numbers)",
        "def f(i, n=2):\n    return {x: X[i], y: n}\nf(1, **options)",
        _PERHAPS + "f(1, n=now())",
        _IN_A_LOOP + "f(1)",
        "def f(i):\n    feed, n = {x: X[i]}, 2\n    return feed\nf(1)",
        "def f(i):\n    feed = {x: X[i]}\n    log(feed)\n    return feed\nf(1)",
        "def f(i):\n    return {**other, x: X[i]}\nf(1)",
        "def f(i):\n    return dict(x=X[i])\nf(1)",
        "def f(i):\n    if i:\n        return {x: X[i]}\nf(1)",
        "def f(i):\n    if i:\n        return {y: X[i]}\n    return {x: X[i]}\nf(1)",
        "def f(a):\n    a = y\n    return {a: X[0]}\nf(x)",
        "def f(a):\n    b = a\n    return {b: X[0]}\nf(x)",
        "def f(a):\n    return {a.x: X[0]}\nf(model)",
        "def f(i):\n    yield {x: X[i]}\nf(1)",
        "@other\ndef f(i):\n    return {x: X[i]}\nf(1)",
        "def f(*a):\n    return {a: X[0]}\nf(x)",
    ],
)
def test_what_is_not_followed(text: str) -> None:
    assert made(text) is None
