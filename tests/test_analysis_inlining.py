"""What calls of the file's own functions give, traps first: what must not be followed."""

from __future__ import annotations

import pytest

from analysis_helpers import expression, with_graph
from tfrewrite.analysis.graphs.nodes import Kind, Node, beneath, plain


def value(text: str) -> Node:
    """The value of the marked line's expression."""
    found = with_graph(text)
    return plain(found.graph.trace(expression(found)))


@pytest.mark.parametrize(
    "text",
    [
        "@wrapped\ndef f(z):\n    return z + 1\nv = f(x)  # here\n",
        "async def f(z):\n    return z + 1\nv = f(x)  # here\n",
        "def f(z):\n    yield z + 1\nv = f(x)  # here\n",
        "def f(z):\n    return f(z) + 1\nv = f(x)  # here\n",
        "def f(z):\n    return g(z)\ndef g(z):\n    return f(z)\nv = f(x)  # here\n",
        "def f(z):\n    return z + 1\nv = f(*pair)  # here\n",
        "def f(z):\n    return z + 1\nv = f(**named)  # here\n",
        "def f(*z):\n    return z[0] + 1\nv = f(x)  # here\n",
    ],
)
def test_a_call_that_is_not_followed_is_unknown(text: str) -> None:
    assert any(node.kind is Kind.UNKNOWN for node in beneath(value(text)))


def test_too_many_calls_in_each_other_are_not_followed() -> None:
    functions = "".join(f"def f{i}(z):\n    return f{i + 1}(z)\n" for i in range(20))
    text = f"{functions}def f20(z):\n    return z\nv = f0(x)  # here\n"
    assert value(text).kind is Kind.UNKNOWN


@pytest.mark.parametrize(
    "call",
    [
        "f(x, w)",
        "f(x, second=w)",
        "f(second=w, first=x)",
        "f(x)",
        "f(x, factor=3)",
    ],
)
def test_arguments_by_position_by_name_and_by_default(call: str) -> None:
    text = "def f(first, second=w, *, factor=2):\n    return tf.matmul(first, second) * factor\n"
    found = value(f"{text}v = {call}  # here\n")
    product = next(node for node in beneath(found) if node.symbol == "matmul")
    assert [plain(node).symbol for node in product.values] == ["placeholder", "Variable"]
    assert not any(node.kind is Kind.UNKNOWN for node in beneath(found))


def test_a_function_with_several_returns_gives_one_of_them() -> None:
    text = "def f(z):\n    if flag:\n        return z + 1\n    return z * 2\nv = f(x)  # here\n"
    found = value(text)
    assert found.kind is Kind.CHOICE
    assert [plain(node).symbol for node in found.values] == ["add", "multiply"]


def test_a_function_without_a_return_gives_no_tensor() -> None:
    assert value("def f(z):\n    z + 1\nv = f(x)  # here\n").kind is Kind.CONSTANT


def test_two_calls_make_two_values() -> None:
    text = "def f(z):\n    return z + 1\nfirst = f(x)\nsecond = f(x)\nv = [first, second]  # here\n"
    first, second = map(plain, value(text).values)
    assert first is not second
