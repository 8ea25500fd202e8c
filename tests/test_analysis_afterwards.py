"""What a program may still do from a statement on."""

from __future__ import annotations

import ast
import textwrap

import pytest

from analysis_helpers import facts, marked


def later(text: str) -> tuple[set[str], bool]:
    """The functions called from the marked statement on, and whether there may be more."""
    found = facts(text)
    rest = found.afterwards.rest(marked(found, "here"))
    calls = [node for node in rest.nodes if isinstance(node, ast.Call)]
    return {ast.unparse(call.func) for call in calls}, bool(rest.unseen)


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("a()\nb()  # here\nc()\n", {"b", "c"}),
        ("while t():\n    a()\n    b()  # here\nc()\n", {"t", "a", "b", "c"}),
        ("with m():\n    a()\n    b()  # here\nc()\n", {"b", "c"}),
        ("if t():\n    a()\n    b()  # here\nelse:\n    d()\nc()\n", {"b", "c"}),
        ("try:\n    b()  # here\nexcept E:\n    c()\nfinally:\n    d()\n", {"b", "c", "d"}),
        ("def f():\n    a()\nb()  # here\nf()\n", {"a", "b", "f"}),
        ("def f():\n    a()\nb()  # here\n", {"b"}),
        ("def f():\n    a()\nb(key=f)  # here\n", {"a", "b"}),
        ("class A:\n    def f(self):\n        a()\nb()  # here\nx.f()\n", {"a", "b", "x.f"}),
        ("class A:\n    def __init__(self):\n        a()\nb()  # here\nA()\n", {"a", "b", "A"}),
        ("b(lambda: a())  # here\n", {"a", "b"}),
        ("class A:\n    def __iter__(self):\n        a()\nx = A()\nb()  # here\n", {"a", "b"}),
        ("class A:\n    def __exit__(self, *e):\n        a()\nx = A()\nb()  # here\n", {"a", "b"}),
        ("class A:\n    def __call__(self):\n        a()\nx = A()\nb()  # here\n", {"b"}),
        (
            "class A:\n    def __getitem__(self, k):\n        a()\nx = A()\nb()  # here\n",
            {"a", "b"},
        ),
        (
            "class A:\n    def f(self):\n        a()\n    g = property(f)\nb()  # here\n",
            {"a", "b", "property"},
        ),
        (
            "def d(f):\n    return lambda: a()\n@d\ndef f():\n    c()\nb()  # here\nf()\n",
            {"a", "b", "c", "f"},
        ),
        (
            "def d(A):\n    return lambda: a()\n@d\nclass A:\n    pass\nb()  # here\nA()\n",
            {"a", "b", "A"},
        ),
        ("@d\ndef d(f):\n    a()\nb()  # here\nd()\n", {"a", "b", "d"}),
        ("@A\nclass A:\n    pass\nb()  # here\nA()\n", {"b", "A"}),
        ("b()  # here\ndef f(x: a(), *y: c()) -> e(): pass\n", {"a", "b", "c", "e"}),
        ("def f():\n    yield a()\nx = f()\nb()  # here\n", {"a", "b"}),
        ("def f():\n    yield a()\nb()  # here\n", {"b"}),
        ("x = (a() for k in y)\nb()  # here\n", {"a", "b"}),
        ("x = sum(a() for k in y)\nb()  # here\n", {"b"}),
        ("def f(k):\n    a()\nx = map(f, y)\nb()  # here\n", {"a", "b", "map"}),
        (
            "import atexit\n@atexit.register\ndef f():\n    a()\nb()  # here\n",
            {"a", "b"},
        ),
        (
            "from tensorflow import py_func\ndef f():\n    a()\npy_func(f, [c()])\nb()  # here\n",
            {"a", "b"},
        ),
        (
            textwrap.dedent("""
                from tensorflow import data
                def f():
                    yield a()
                data.Dataset.from_generator(generator=f, output_types=c())
                b()  # here
            """),
            {"a", "b"},
        ),
        ("def f():\n    a()\n    b()  # here\n    c()\nd()\nf()\ne()\n", {"b", "c", "e"}),
        ("def f():\n    a()\n    b()  # here\nfor x in y:\n    f()\n", {"a", "b", "f"}),
        ("def f():\n    a()\n    b()  # here\nf()\nf()\n", {"a", "b", "f"}),
        ("def f():\n    a()\n    return b()  # here\ng(f())\n", {"a", "b", "f", "g"}),
    ],
)
def test_all_of_it_is_seen(text: str, calls: set[str]) -> None:
    assert later(text) == (calls, False)


@pytest.mark.parametrize("end", ["", "g(f)\n", "x = f\n", "@d\ndef g():\n    f()\n"])
def test_a_function_that_anybody_may_call_returns_to_anywhere(end: str) -> None:
    _, unseen = later("a()\ndef f():\n    b()  # here\n" + end)
    assert unseen


@pytest.mark.parametrize("start", ["tf.app.run()", "tf.app.run(main)", "tf.app.run(main=main)"])
def test_nothing_comes_after_the_start_of_an_app(start: str) -> None:
    text = f"import tensorflow as tf\ndef main(_):\n    a()\n    b()  # here\n{start}\n"
    assert later(text) == ({"b"}, False)
