"""How what is made beside a placeholder gets to a loop that feeds it."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts
from tfrewrite.analysis.program.ways import Way

MADE = "tf.placeholder(tf.float32)"
MODEL = f"class Model:\n    def __init__(self):\n        self.x = {MADE}\n"
BUILT = f"class Model:\n    def build(self):\n        self.x = {MADE}\nm = Model()\n"


def way(text: str, use: str = "x") -> Way | str:
    """The way to a loop at the end of a script that reads `use`."""
    source = f"import tensorflow as tf\n{text}\nfor i in range(9):\n    print({use})\n"
    read = facts(source)
    loop = read.source.tree.body[-1]
    turn = loop.body[0] if isinstance(loop, ast.For) else None
    assert isinstance(turn, ast.Expr)
    assert isinstance(turn.value, ast.Call)
    (call,) = (one for one in read.source.all(ast.Call) if read.names.tf(one.func) == "placeholder")
    made = read.source.statement(call)
    assert isinstance(made, ast.Assign)
    return read.ways.to(turn.value.args[0], made, loop)


def test_one_variable() -> None:
    assert way(f"x = {MADE}") == Way()
    assert way(f"x = 1\nx = {MADE}\n") == Way()


def test_an_attribute_of_one_object() -> None:
    found = way(f"{MODEL}m = Model()", "m.x")
    assert isinstance(found, Way)
    assert (found.start, found.end, found.returned) == ("self.", "m.", ())
    assert [ast.unparse(one) for one in found.calls] == ["m = Model()"]
    assert not found.direct


def test_an_attribute_that_is_set_before_the_loop() -> None:
    found = way(f"{BUILT}m.build()", "m.x")
    assert isinstance(found, Way)
    assert [ast.unparse(one) for one in found.calls] == ["m = Model()", "m.build()"]


def test_functions_that_give_it_back() -> None:
    inner = f"def inner():\n    a = {MADE}\n    return a\n"
    outer = "def outer():\n    b = inner()\n    return 1, b\n"
    found = way(f"{inner}{outer}n, x = outer()")
    assert isinstance(found, Way)
    handed = [(ast.unparse(one.given), ast.unparse(one.taken)) for one in found.returned]
    assert handed == [("a", "b"), ("(1, b)", "(n, x)")]
    assert (found.start, found.end) == ("", "")


def test_an_object_that_takes_it_from_a_function() -> None:
    inner = f"def inner():\n    a = {MADE}\n    return a\n"
    model = "class Model:\n    def __init__(self):\n        self.x = inner()\nm = Model()"
    found = way(inner + model, "m.x")
    assert isinstance(found, Way)
    assert [one.owner for one in found.returned] == ["self."]
    assert (found.start, found.end) == ("", "m.")


@pytest.mark.parametrize(
    ("text", "use", "why"),
    [
        (f"x = {MADE}\nif x:\n    x = 1", "x", "not only the placeholder"),
        (f"def f():\n    global x\n    x = {MADE}\nf()", "x", "another function"),
        (f"def f():\n    x = {MADE}\n    return x\nx = f()\nf()", "x", "called or used elsewhere"),
        (f"def f():\n    x = {MADE}\n    return x\nfor _ in 1, 2:\n    x = f()", "x", "in a loop"),
        (f"def f():\n    x = {MADE}\n    return [x]\n[x] = f()", "x", "by its name"),
        (f"{MODEL}m = Model()\nn = Model()", "m.x", "in 2 places"),
        (f"{MODEL}class N(Model):\n    pass\nm = Model()", "m.x", "has subclasses"),
        (f"{MODEL}m = Model()\nm.x = 1", "m.x", "not set once for all"),
        (f"{MODEL}m = Model()\nprint(dir(m))", "m.x", "lists the attributes"),
        (f"{MODEL}if 1:\n    m = Model()", "m.x", "may not be there"),
        (BUILT, "m.x", "may not be there"),
        (f"{BUILT}if 1:\n    m.build()", "m.x", "may not be there"),
        (f"{BUILT}m.build()\nm.build()", "m.x", "may not be there"),
        (f"{BUILT}for _ in 1, 2:\n    m.build()", "m.x", "may not be there"),
    ],
)
def test_what_is_in_the_way(text: str, use: str, why: str) -> None:
    found = way(text, use)
    assert isinstance(found, str)
    assert why in found
