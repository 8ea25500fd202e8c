"""What a program may have done when a statement is done."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts, function, marked


def earlier(text: str) -> tuple[set[str], bool]:
    """The functions called until the marked statement is done, and whether there may be more."""
    found = facts(text)
    past = found.beforehand.past(marked(found, "here"))
    calls = [node for node in past.nodes if isinstance(node, ast.Call)]
    return {ast.unparse(call.func) for call in calls}, bool(past.unseen)


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("a()\nb()  # here\nc()\n", {"a", "b"}),
        ("while t():\n    a()\n    b()  # here\n    c()\nd()\n", {"t", "a", "b", "c"}),
        ("for k in t():\n    b()  # here\n    c()\n", {"t", "b", "c"}),
        ("with m():\n    a()\n    b()  # here\n    c()\n", {"m", "a", "b"}),
        ("if t():\n    a()\n    b()  # here\nelse:\n    d()\nc()\n", {"t", "a", "b"}),
        ("try:\n    a()\nexcept E:\n    b()  # here\nfinally:\n    d()\n", {"a", "b", "d"}),
        ("def f():\n    a()\nf()\nb()  # here\n", {"a", "b", "f"}),
        ("def f():\n    a()\nb()  # here\nf()\n", {"b"}),
        ("def f():\n    a()\ng(f)\nb()  # here\n", {"a", "b", "g"}),
        ("@d()\ndef f():\n    a()\nb()  # here\n", {"d", "b"}),
        ("def f(k=a()):\n    pass\nb()  # here\n", {"a", "b"}),
        ("class A:\n    def f(self):\n        a()\nx.f()\nb()  # here\n", {"a", "b", "x.f"}),
        ("class A:\n    def __init__(self):\n        a()\nA()\nb()  # here\n", {"a", "b", "A"}),
        ("class A:\n    def __iter__(self):\n        a()\nb()  # here\n", {"a", "b"}),
        ("def f():\n    a()\n    b()  # here\n    c()\nd()\nf()\ne()\n", {"a", "b", "d", "f"}),
        ("def f():\n    b()  # here\n    c()\nf()\nf()\n", {"b", "c", "f"}),
        ("def f():\n    b()  # here\n    c()\nfor k in y:\n    f()\n", {"b", "c", "f"}),
        ("def f():\n    b()  # here\n    c()\ng(a(), f())\n", {"b", "f", "g", "a"}),
        (
            "def f():\n    b()  # here\n    c()\ndef g():\n    a()\n    f()\n    d()\ng()\ne()\n",
            {"a", "b", "f", "g"},
        ),
        (
            "class A:\n    def __init__(self):\n        b()  # here\n        c()\na()\nA()\nd()\n",
            {"a", "b", "A"},
        ),
        (
            "class A:\n    def f(self):\n        b()  # here\n        c()\na()\nA().f()\nd()\n",
            {"a", "b", "A", "A().f"},
        ),
        (
            "import tensorflow as tf\ndef main(_):\n    b()  # here\n    c()\na()\ntf.app.run()\n",
            {"a", "b"},
        ),
        (
            "from absl import app\ndef f(_):\n    b()  # here\n    c()\na()\napp.run(main=f)\n",
            {"a", "b"},
        ),
    ],
)
def test_all_of_it_is_seen(text: str, calls: set[str]) -> None:
    assert earlier(text) == (calls, False)


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    b()  # here\n",
        "def f():\n    b()  # here\ng(f)\n",
        "@d\ndef f():\n    b()  # here\nf()\n",
        "def f():\n    yield\n    b()  # here\nf()\n",
        "class A:\n    def __init__(self):\n        b()  # here\n",
        "class A(B):\n    def __init__(self):\n        b()  # here\nA()\n",
        "class A:\n    def __init__(self):\n        b()  # here\nx = A\nA()\n",
        "class A:\n    def f(self):\n        b()  # here\nx = A().f\n",
        "import tensorflow as tf\ndef main(_):\n    b()  # here\ntf.app.run()\ng(main)\n",
    ],
)
def test_who_calls_a_function_may_be_unseen(text: str) -> None:
    _, unseen = earlier(text)
    assert unseen


@pytest.mark.parametrize(
    ("text", "once"),
    [
        ("def f():\n    pass\nf()\nf()\n", False),
        ("def f():\n    pass\nfor k in y:\n    f()\n", False),
        ("def f():\n    pass\n[f() for k in y]\n", False),
        ("def f():\n    pass\ng = lambda: f()\n", False),
        ("def f():\n    pass\ng(f)\n", False),
        ("def f():\n    pass\n", False),
        ("def f():\n    f()\n", False),
        ("def f():\n    pass\ndef g():\n    f()\ng()\ng()\n", False),
        ("import tensorflow as tf\ndef f(_):\n    pass\ntf.app.run(f)\nf(0)\n", False),
        ("class A:\n    def f(self):\n        pass\nx = A()\ny = A()\nx.f()\n", False),
        ("class A:\n    def f(self):\n        pass\nfor k in y:\n    x = A()\nx.f()\n", False),
        ("class A:\n    def f(self):\n        pass\nclass B(A):\n    pass\nB().f()\n", False),
        ("class A:\n    def f(self):\n        pass\ng(A).f()\nA()\n", False),
        ("class A:\n    def f(self):\n        pass\nx = A()\nx.f()\n", True),
        ("def f():\n    pass\nf()\n", True),
        ("def f():\n    pass\ndef g():\n    f()\ng()\n", True),
        ("import tensorflow as tf\ndef f(_):\n    pass\ntf.app.run(f)\n", True),
    ],
)
def test_what_runs_once(text: str, *, once: bool) -> None:
    found = facts(text)
    assert found.beforehand.once(function(found, "f")) is once
