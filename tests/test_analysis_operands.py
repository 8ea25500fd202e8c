"""Values that are the same before a loop and in each turn of it."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import expression, facts


def reason(body: str, before: str) -> str:
    head = "import numpy as np\nimport tensorflow as tf\nw = tf.Variable(1.0)\n"
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    found = facts(f"{head}{before}\nfor i in range(3):\n{lines}")
    call = expression(found)
    assert isinstance(call, ast.Call)
    operand = call.args[0]
    assert isinstance(operand, (ast.Name, ast.Attribute))
    obstacle = found.operands.obstacle(operand, found.hoisting.loops(call)[0])
    return obstacle.reason if obstacle else ""


@pytest.mark.parametrize(
    ("before", "operand"),
    [
        ("k = 3", "k"),
        ("k = -3.5 * 2", "k"),
        ("k = len(names)", "k"),
        ("k = 'a'", "k"),
        ("h = w + 1", "h"),
        ("h = w if deep else w + 1", "h"),
        ("parts = [w, w + 1]", "parts"),
        ("parts = {}\nparts['a'] = w", "parts"),
        ("a, b = tf.split(w, 2)", "b"),
        ("", "tf.float32"),
        ("", "np.pi"),
        ("FLAGS = tf.app.flags.FLAGS", "FLAGS.rate"),
    ],
)
def test_stays(before: str, operand: str) -> None:
    assert reason(f"tf.stack({operand})  # here", before) == ""


@pytest.mark.parametrize(
    ("before", "body", "expected"),
    [
        ("k = np.zeros(3)", "f(k)  # here", "operand-unknown"),
        ("from settings import k", "f(k)  # here", "operand-unknown"),
        ("k = load()", "f(k)  # here", "operand-unknown"),
        ("parts = [w]", "f(parts)  # here\nparts.append(w)", "operand-unknown"),
        ("parts = [w]\nother = parts", "f(parts)  # here", "operand-unknown"),
        ("parts = [[w]]", "f(parts)  # here", "operand-unknown"),
        ("k = 3", "f(k)  # here\nk = 4", "rebound-in-loop"),
        ("k = 3", "f(k)  # here\ndel k", "rebound-in-loop"),
        ("", "f(i)  # here", "rebound-in-loop"),
        ("if deep:\n    k = 3", "f(k)  # here", "operand-not-sure"),
        ("def g():\n    global k\n    k = 4\nk = 3", "f(k)  # here", "operand-not-sure"),
        ("import settings", "f(settings.k)  # here", "operand-not-sure"),
        ("", "import numpy as npy\nf(npy.pi)  # here", "rebound-in-loop"),
        (
            "FLAGS = tf.app.flags.FLAGS",
            "f(FLAGS.rate)  # here\nFLAGS(['', a])",
            "rebound-in-loop",
        ),
        (
            "FLAGS = tf.app.flags.FLAGS",
            "f(FLAGS.rate)  # here\nFLAGS.set_default('rate', i)",
            "rebound-in-loop",
        ),
    ],
)
def test_may_change(before: str, body: str, expected: str) -> None:
    assert reason(body, before) == expected


def test_the_counter_of_an_outer_loop_is_a_number() -> None:
    head = "import tensorflow as tf\nfor k in range(3):\n    for i in range(4):\n"
    found = facts(f"{head}        tf.stack(k)  # here\n")
    call = expression(found)
    assert isinstance(call, ast.Call) and isinstance(call.args[0], ast.Name)
    inner, outer = found.hoisting.loops(call)
    assert found.operands.obstacle(call.args[0], inner) is None
    assert found.operands.obstacle(call.args[0], outer) is not None
