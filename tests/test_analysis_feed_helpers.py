"""What a dict holds that a function of the file makes, seen from the call."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import with_graph
from tfrewrite.analysis.feed_helpers import MadeFeed


def made(text: str) -> MadeFeed | None:
    """The dict that the last statement's call gives."""
    read = with_graph(text)
    last = read.source.tree.body[-1]
    assert isinstance(last, ast.Expr)
    return read.feed_helpers.made(last.value)


def texts(found: MadeFeed | None) -> tuple[list[str], list[str]]:
    assert found is not None
    numbers = [f"{ast.unparse(key)}: {ast.unparse(value)}" for key, value in found.numbers]
    return [ast.unparse(key) for key in found.made], numbers


def test_placeholders_that_both_see() -> None:
    assert texts(made("def f(i):\n    return {x: X[i], y: 1}\nf(3)")) == (["x"], ["y: 1"])


def test_placeholders_that_are_given() -> None:
    text = "def f(a, b, n=2):\n    feed = {a: X[0], b: n}\n    return feed\n"
    assert texts(made(f"{text}f(x, b=y)")) == (["x"], ["y: 2"])
    assert texts(made(f"{text}f(x, y, 5)")) == (["x"], ["y: 5"])
    assert texts(made(f"{text}f(x, y, n=size)")) == (["x", "y"], [])


def test_placeholders_of_an_object() -> None:
    text = "model = Model()\ndef f(i):\n    return {model.x: X[i]}\nf(1)"
    assert texts(made(text)) == (["model.x"], [])


@pytest.mark.parametrize(
    "text",
    [
        "f(3)",
        "def f():\n    return {}\nf()",
        "def f():\n    return {x: 1}\nf()",
        "def f(i):\n    return {**other, x: X[i]}\nf(1)",
        "def f(i):\n    return dict(x=X[i])\nf(1)",
        "def f(i):\n    if i:\n        return {x: X[i]}\nf(1)",
        "def f(i):\n    if i:\n        return {y: X[i]}\n    return {x: X[i]}\nf(1)",
        "def f(i):\n    feed = {x: X[i]}\n    feed[y] = 1\n    return feed\nf(1)",
        "def f(i):\n    feed = {x: X[i]}\n    X[i] = 0\n    return feed\nf(1)",
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
