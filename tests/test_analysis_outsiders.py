"""Who outside of the file calls a function of it."""

from __future__ import annotations

import ast
import textwrap

import pytest

from analysis_helpers import facts, inside, marked

FUNCTION = "def f():  # here\n    pass\n"


def calling(text: str) -> str:
    found = facts("import tensorflow as tf\n" + textwrap.dedent(text))
    statement = marked(found, "here")
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return found.outsiders.calling(statement)
    (function,) = inside(statement, ast.Lambda)
    return found.outsiders.calling(function)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import u\n@u.retry(3)\ndef f():  # here\n    pass\n", "the decorator `u.retry`"),
        ("@app.route('/')\ndef f():  # here\n    pass\n", "the decorator `app.route`"),
        ("from u import go\ndef f():  # here\n    pass\ngo(f)\n", "`go(...)` in line 5"),
        ("from u import go\ndef f():  # here\n    pass\ngo(k=f)\n", "`go(...)` in line 5"),
        ("def f():  # here\n    pass\nroot.after(10, f)\n", "`root.after(...)` in line 4"),
        (
            "from flask import Flask\napp = Flask()\n@app.route('/')\ndef f():  # here\n    pass\n",
            "the decorator `app.route`",
        ),
        ("root.after(10, lambda: 1)  # here\n", "`root.after(...)` in line 2"),
        (
            "from functools import partial\ndef f():  # here\n    pass\nw.to(1, partial(f))\n",
            "`w.to(...)` in line 5",
        ),
        (
            "class A:\n    def f(self):  # here\n        pass\nroot.after(10, A().f)\n",
            "`root.after(...)` in line 5",
        ),
        ("async def f():  # here\n    pass\n", "what runs the coroutine `f`"),
        (
            "class A(tf.test.TestCase):\n    def test_f(self):  # here\n        pass\n",
            "what runs the tests",
        ),
    ],
)
def test_an_outsider_has_a_name(text: str, words: str) -> None:
    assert calling(text) == words


@pytest.mark.parametrize(
    "text",
    [
        "def f():  # here\n    pass\nf()\n",
        "def f():  # here\n    pass\nsorted(v, key=f)\n",
        "def f():  # here\n    pass\ntf.app.run(main=f)\n",
        "def f():  # here\n    pass\nsteps.append(f)\n",
        "def g(h):\n    h()\ndef f():  # here\n    pass\ng(f)\n",
        "def g(h):\n    return h\n@g\ndef f():  # here\n    pass\n",
        "import click\n@click.command()\ndef f():  # here\n    pass\n",
        "import fire\ndef f():  # here\n    pass\nfire.Fire(f)\n",
        f"import sacred\nex = sacred.Experiment()\n@ex.automain\n{FUNCTION}",
        f"import click\n@click.group()\ndef g():\n    pass\n@g.command()\n{FUNCTION}",
        "class A:\n    @property\n    def f(self):  # here\n        pass\n",
        "class A:\n    @f.setter\n    def f(self, v):  # here\n        pass\n",
        "class A:\n    def go(self, h):\n        h()\ndef f():  # here\n    pass\nA().go(f)\n",
        "class A(tf.test.TestCase):\n    def go(self):  # here\n        pass\n",
        "f = lambda: 1  # here\n",
    ],
)
def test_who_is_of_the_file_or_lets_exceptions_pass_is_none(text: str) -> None:
    assert calling(text) == ""
