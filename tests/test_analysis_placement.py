"""Where values are made, traps first: `with` statements that do more than naming, and loops."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import expression, function, inside, with_graph
from tfrewrite.analysis.graphs.nodes import Node, Surroundings


def around(text: str) -> Surroundings:
    """What stands around the expression of the marked line."""
    found = with_graph(text)
    return found.graph.placement.surroundings(expression(found), None)


def repeated(text: str) -> bool:
    found = with_graph(text)
    return found.graph.placement.repeated(expression(found), None)


@pytest.mark.parametrize(
    "manager", ["unknown()", "tf.contrib.slim.arg_scope([f], normalizer_fn=g)"]
)
def test_a_manager_that_is_not_known_may_change_what_is_made_under_it(manager: str) -> None:
    found = around(f"with {manager}:\n    v = x + 1  # here\n")
    assert "which may change it" in found.obstacle


def test_an_asynchronous_manager_is_not_known() -> None:
    text = "async def f():\n    async with tf.name_scope('a'):\n        v = x + 1  # here\n"
    assert around(text).obstacle


def test_control_dependencies_are_followed() -> None:
    found = around("with tf.control_dependencies([tf.assign(b, b)]):\n    v = x + 1  # here\n")
    assert [leaf.effect is not None and leaf.effect.writes for leaf in _leaves(found)] == [True]
    assert not found.obstacle


def test_what_stands_around_a_call_holds_in_the_function() -> None:
    text = """
        def make():
            return x + 1
        with tf.control_dependencies([tf.assign(b, b)]):
            v = make()
    """
    found = with_graph(text)
    (returned,) = inside(function(found, "make"), ast.Return)
    assert returned.value is not None
    assert found.graph.placement.surroundings(returned.value, None).controls


def test_a_function_that_calls_itself_is_looked_at_once() -> None:
    text = "def make(n):\n    return make(n - 1) if n else x\nwith unknown():\n    v = make(3)\n"
    found = with_graph(text)
    assert found.graph.placement.called_under(function(found, "make")).obstacle


@pytest.mark.parametrize(
    "text",
    [
        "v = x + 1  # here\n",
        "with tf.name_scope('a'):\n    v = x + 1  # here\n",
        "with tf.name_scope('a'), tf.device('/cpu:0'):\n    v = x + 1  # here\n",
        "with unknown():\n    pass\nv = x + 1  # here\n",
        "with open(path):\n    v = x + 1  # here\n",
    ],
)
def test_nothing_is_around(text: str) -> None:
    found = around(text)
    assert (found.controls, found.obstacle) == ([], "")


@pytest.mark.parametrize(
    ("text", "often"),
    [
        ("for i in range(3):\n    v = x + i  # here\n", True),
        ("v = [x + i for i in range(3)][0]  # here\n", False),
        ("v = x + 1  # here\n", False),
        ("if flag:\n    v = x + 1  # here\n", False),
    ],
)
def test_what_is_made_in_a_loop_is_made_more_than_once(text: str, *, often: bool) -> None:
    assert repeated(text) is often


def test_what_is_made_in_a_comprehension_is_made_more_than_once() -> None:
    found = with_graph("v = [x + i for i in range(3)]  # here\n")
    (element,) = inside(expression(found), ast.ListComp)
    assert found.graph.placement.repeated(element.elt, None)


def _leaves(found: Surroundings) -> list[Node]:
    return [leaf for control in found.controls for leaf in control.values]
