"""Who may read the value that a statement stores under a name."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts, marked
from tfrewrite.analysis.facts import Facts


def target(found: Facts) -> ast.Name:
    """The last name that the marked statement stores under."""
    names = [node for node in ast.walk(marked(found, "here")) if isinstance(node, ast.Name)]
    return [name for name in names if isinstance(name.ctx, ast.Store)][-1]


def is_unread(text: str) -> bool:
    found = facts(text)
    return found.unread.unread(target(found))


READ = {
    "at once": "def f():\n    a = g()  # here\n    print(a)\n",
    "on the next turn": "def f(a):\n    for _ in x:\n        print(a)\n        a = g()  # here\n",
    "by a closure": "def f():\n    h = lambda: a\n    a = g()  # here\n    return h\n",
    "in an f-string": "def f():\n    a = g()  # here\n    return f'{a=}'\n",
    "added to": "def f():\n    a = g()  # here\n    a += 1\n",
    "deleted": "def f():\n    a = g()  # here\n    del a\n",
    "as an attribute of a class": "class C:\n    a = g()  # here\n",
    "before it has a value": "def f():\n    print(a)\n    a = g()  # here\n",
    "by a function, at the top level": "def f():\n    print(a)\na = g()  # here\n",
    "by a function that declares it": "def f():\n    global a\n    print(a)\na = g()  # here\n",
}
UNREAD = {
    "by nobody": "def f():\n    a = g()  # here\n",
    "after another value only": "def f():\n    a = g()  # here\n    a = 1\n    print(a)\n",
    "another variable": "a = 1\ndef f():\n    a = g()  # here\ndef h():\n    print(a)\n",
    "an attribute of that name": "def f(o):\n    a = g()  # here\n    print(o.a)\n",
}


@pytest.mark.parametrize("text", READ.values(), ids=READ)
def test_a_value_that_is_read(text: str) -> None:
    assert not is_unread(text)


@pytest.mark.parametrize("text", UNREAD.values(), ids=UNREAD)
def test_a_value_that_nobody_reads(text: str) -> None:
    assert is_unread(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = g()  # here\n", True),
        ("if True:\n    a = g()  # here\n", True),
        ("_a = g()  # here\n", False),
        ('if __name__ == "__main__":\n    a = g()  # here\n', False),
        ('if "__main__" == __name__:\n    a = g()  # here\n', False),
        ('if __name__ != "__main__":\n    a = g()  # here\n', True),
        ('if __name__ == "__main__":\n    pass\nelse:\n    a = g()  # here\n', True),
        ("def f():\n    a = g()  # here\n", False),
        ("def f():\n    global a\n    a = g()  # here\n", True),
    ],
)
def test_another_module_may_import_it(text: str, *, expected: bool) -> None:
    found = facts(text)
    assert found.unread.importable(target(found)) is expected


@pytest.mark.parametrize(
    "text",
    [
        "breakpoint()\n",
        "import pdb\npdb.set_trace()\n",
        "import sys\nsys._getframe(1)\n",
        "import numexpr as ne\nne.evaluate(formula)\n",
        "table.query('x > @a')\n",
        "table.eval(f'x * @{name}')\n",
    ],
)
def test_what_looks_at_any_variable(text: str) -> None:
    assert facts(text).unread.looked_at


@pytest.mark.parametrize(
    "text",
    [
        "print(a)\n",
        "import numpy as np\nnp.stack([a, b])\n",
        "model.evaluate(x, y)\n",
        "loss.eval(session=sess)\n",
    ],
)
def test_what_does_not(text: str) -> None:
    assert not facts(text).unread.looked_at
