"""What looks into an exception, traps first."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts, marked

IMPORTS = "import tensorflow as tf\n"


def looking(text: str) -> str:
    found = facts(IMPORTS + text)
    return found.handlers.looking(marked(found, "here"))


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    f()  # here\nexcept E as e:\n    print(e)\n",
        "try:\n    f()  # here\nexcept E as e:\n    if a:\n        b = [str(e)]\n",
        (
            "try:\n    try:\n        f()  # here\n    except F:\n        pass\n"
            "except E as e:\n    print(e)\n"
        ),
        "import traceback\ntry:\n    f()  # here\nexcept E:\n    traceback.print_exc()\n",
        "try:\n    f()  # here\nexcept E:\n    log.exception('no')\n",
        "try:\n    f()  # here\nexcept E:\n    log.error('no', exc_info=True)\n",
        "with manager:\n    f()  # here\n",
        "def g():\n    f()  # here\ntry:\n    g()\nexcept E as e:\n    print(e)\n",
        (
            "def g():\n    f()  # here\ndef h(k):\n    try:\n        k()\n"
            "    except E as e:\n        print(e)\nh(g)\n"
        ),
        "def g():\n    f()  # here\nh = g\ntry:\n    h()\nexcept E as e:\n    print(e)\n",
        *(
            f"class A:\n    def {method}(self):\n        f()  # here\n"
            f"try:\n    {call}\nexcept E as e:\n    print(e)\n"
            for method, call in (
                ("__init__", "A()"),
                ("__call__", "A()()"),
                ("__len__", "len(A())"),
                ("__enter__", "with A() as a: pass"),
                ("go", "getattr(A(), 'go')()"),
                ("go", "getattr(A(), 'g' + 'o')()"),
                ("go", "operator.methodcaller('go')(A())"),
            )
        ),
    ],
)
def test_what_looks(text: str) -> None:
    assert looking(text)


def test_errors_of_the_graph() -> None:
    def reading(text: str) -> str:
        found = facts(IMPORTS + text)
        return found.handlers.reading(marked(found, "here"))

    attempt = "try:\n    f()  # here\nexcept {}:\n    {}\n"
    assert reading(attempt.format("Exception as e", "print(e)"))
    assert reading(attempt.format("tf.errors.OpError as e", "print(e)"))
    assert not reading(attempt.format("KeyboardInterrupt as e", "print(e)"))
    assert not reading(attempt.format("Exception", "print('no')"))
    assert not reading("with manager:\n    f()  # here\n")


@pytest.mark.parametrize(
    "text",
    [
        "f()  # here\n",
        "try:\n    f()  # here\nexcept E as e:\n    coord.request_stop(e)\n",
        "try:\n    f()  # here\nexcept E:\n    print('no')\n",
        "try:\n    f()  # here\nexcept E as e:\n    raise\n",
        "try:\n    g()\nexcept E as e:\n    print(e)\nelse:\n    f()  # here\n",
        "try:\n    g()\nexcept E as e:\n    f()  # here\n",
        "with tf.Session() as sess:\n    f()  # here\n",
        "def main(_):\n    f()  # here\ntf.app.run(main)\n",
    ],
)
def test_what_does_not(text: str) -> None:
    assert looking(text) == ""


@pytest.mark.parametrize(
    ("handler", "expected"),
    [
        ("tf.errors.OutOfRangeError", ""),
        ("(tf.errors.OutOfRangeError, tf.errors.AbortedError)", ""),
        ("KeyboardInterrupt", ""),
        ("Exception", "catches more"),
        ("(tf.errors.OutOfRangeError, ValueError)", "catches more"),
        ("()", "catches more"),
        ("chosen", "catches more"),
    ],
)
def test_what_a_handler_in_a_loop_catches(handler: str, expected: str) -> None:
    text = f"while a:\n    try:\n        f()  # here\n    except {handler}:\n        break\n"
    found = facts(IMPORTS + text)
    node = marked(found, "here")
    loop = found.source.all(ast.While)[0]
    words = found.handlers.catching_more_than_the_graph(node, loop)
    assert expected in words and bool(expected) == bool(words)
    assert found.handlers.catching(node) == bool(expected)


@pytest.mark.parametrize("error", ["tf.errors.CancelledError", "tf.errors.OpError"])
def test_what_tells_a_closed_session_by_its_callable(error: str) -> None:
    found = facts(f"{IMPORTS}try:\n    f()  # here\nexcept {error}:\n    pass\n")
    assert found.handlers.catching(marked(found, "here"))


@pytest.mark.parametrize(
    ("last", "goes_on"),
    [
        ("pass", True),
        ("save()", True),
        ("raise", False),
        ("sys.exit(1)", False),
        ("os._exit(1)", False),
        ("exit()", False),
    ],
)
def test_a_handler_goes_on_unless_it_ends_the_program(last: str, *, goes_on: bool) -> None:
    text = "import os, sys\ndef g():\n    f()  # here\ntry:\n    g()\nexcept KeyboardInterrupt:\n"
    found = facts(f"{text}    print(1)\n    {last}\n")
    assert bool(found.handlers.going_on(marked(found, "here"))) is goes_on
