"""What keeps a loop from evaluating a part of it, and what catches its exception."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import marked, with_graph


def reason(body: str) -> str:
    text = "for i in y:\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    found = with_graph(text)
    statement = marked(found, "here")
    call = next(node for node in ast.walk(statement) if isinstance(node, ast.Call))
    obstacle = found.conditions.obstacle(call, found.hoisting.loops(call)[-1])
    return obstacle.reason if obstacle else ""


@pytest.mark.parametrize(
    "body",
    [
        "if debug:\n    f()  # here",
        "if not debug:\n    continue\nf()  # here",
        "if debug:\n    raise ValueError\nf()  # here",
        "if i > 5:\n    f()  # here",
        "if i < 5:\n    continue\nf()  # here",
        "if i % 2 == 0 and debug:\n    f()  # here",
        "if i % 2 == 0:\n    pass\nelif debug:\n    f()  # here",
        "try:\n    g()\nexcept OSError:\n    f()  # here",
        "if k % 2 == 0:\n    f()  # here",
        "[f(j) for j in z if debug]  # here",
        "i % 2 == 0 and debug and f()  # here",
        "match i:\n    case 1:\n        f()  # here",
    ],
)
def test_perhaps_never(body: str) -> None:
    assert reason(body) == "conditional"


def test_caught_in_some_cases() -> None:
    handler = "except ValueError:\n    if i:\n        continue\n    raise"
    assert reason(f"try:\n    f()  # here\n{handler}") == "may-be-caught"


@pytest.mark.parametrize(
    "handler",
    [
        "except:",
        "except ValueError:",
        "except (OSError, Exception):",
        "except tf.Oops:",
        "except ZeroDivisionError:",
    ],
)
def test_caught(handler: str) -> None:
    assert reason(f"try:\n    f()  # here\n{handler}\n    pass") == "may-be-caught"


@pytest.mark.parametrize(
    "body",
    [
        "f()  # here",
        "if i % 10 == 0:\n    f()  # here",
        "if not (i + 1) % k or debug:\n    f()  # here",
        "if i % 10:\n    continue\nf()  # here",
        "if i > 5:\n    break\nf()  # here",
        "for j in z:\n    f()  # here",
        "try:\n    f()  # here\nexcept tf.errors.OutOfRangeError:\n    break",
        "try:\n    f()  # here\nexcept KeyboardInterrupt:\n    break\nfinally:\n    g()",
        "def g():\n    if debug:\n        return\nf()  # here",
        "try:\n    f()  # here\nexcept Exception:\n    print('no')\n    raise",
    ],
)
def test_in_some_turn(body: str) -> None:
    assert reason(body) == ""


def test_a_try_around_a_caller() -> None:
    text = "def g():\n    for i in y:\n        f()  # here\ntry:\n    g()\nexcept {}:\n    pass\n"
    for caught, expected in (("Exception", True), ("KeyboardInterrupt", False)):
        found = with_graph(text.format(caught))
        statement = marked(found, "here")
        obstacle = found.conditions.obstacle(statement, found.hoisting.loops(statement)[0])
        assert (obstacle is not None) is expected


def test_a_try_around_the_loop() -> None:
    text = "try:\n    for i in y:\n        f()  # here\nexcept Exception:\n    pass\n"
    found = with_graph(text)
    statement = marked(found, "here")
    obstacle = found.conditions.obstacle(statement, found.hoisting.loops(statement)[0])
    assert obstacle is not None and obstacle.reason == "may-be-caught"
