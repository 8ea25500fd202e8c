"""Values of the graph and what lies beneath them, traps first: rings, and values that choose."""

from __future__ import annotations

import ast

from tfrewrite.analysis.effects import Effect
from tfrewrite.analysis.graphs.nodes import Kind, Node, beneath, flags, plain

PLACE = ast.Constant(1)


def node(kind: Kind = Kind.OP, *inputs: Node, effect: str = "") -> Node:
    described = Effect(frozenset(effect.split())) if effect else None
    return Node(kind, PLACE, inputs=[("", value) for value in inputs], effect=described)


# ---- traps -----------------------------------------------------------------------------------


def test_a_choice_of_two_values_is_no_value() -> None:
    choice = node(Kind.CHOICE, node(), node())
    assert plain(choice) is choice


def test_a_choice_of_nothing_is_no_value() -> None:
    choice = node(Kind.CHOICE)
    assert plain(choice) is choice


def test_a_choice_between_itself_and_one_other_is_that_other() -> None:
    # A name that is rebound in a loop leads to itself.
    value = node()
    choice = node(Kind.CHOICE, value, value)
    choice.inputs.append(("", choice))
    assert plain(choice) is value


def test_choices_that_lead_to_each_other_do_not_hang() -> None:
    first, second = node(Kind.CHOICE), node(Kind.CHOICE)
    first.inputs.append(("", second))
    second.inputs.append(("", first))
    assert plain(first).kind is Kind.CHOICE
    assert set(beneath(first)) == {first, second}


def test_only_choices_are_looked_through() -> None:
    outer = node(Kind.STRUCTURE, node())
    assert plain(outer) is outer


def test_what_is_controlled_by_lies_beneath_too() -> None:
    noise = node(effect="random")
    value = node()
    value.controls.append(noise)
    assert noise in beneath(value)
    assert flags(value) == {"random"}


def test_reading_a_variable_counts_without_any_effect() -> None:
    assert flags(node(Kind.OP, node(Kind.VARIABLE))) == {"reads"}


# ---- the rest --------------------------------------------------------------------------------


def test_choices_of_one_are_looked_through_to_the_end() -> None:
    value = node()
    assert plain(node(Kind.CHOICE, node(Kind.CHOICE, value))) is value


def test_everything_beneath_comes_once_and_the_stops_are_not_entered() -> None:
    deep = node()
    shared = node(Kind.OP, deep)
    root = node(Kind.OP, shared, shared)
    assert list(beneath(root)).count(shared) == 1
    assert set(beneath(root, stop=frozenset({shared}))) == {root, shared}
    assert set(beneath(shared, node())) > {shared, deep}


def test_all_effects_beneath_are_gathered() -> None:
    root = node(Kind.OP, node(effect="random writes"), node(effect="host"), effect="assert")
    assert flags(root) == {"random", "writes", "host", "assert"}


def test_an_argument_by_its_name() -> None:
    value = node()
    call = Node(Kind.OP, PLACE, "f", [("labels", value), ("logits", node())])
    assert call.argument("labels") is value
    assert call.argument("other") is None
    assert len(call.values) == 2


def test_a_node_says_what_and_where_it_is() -> None:
    place = ast.parse("\n\nf()").body[0]
    assert repr(Node(Kind.OP, place, "nn.relu")) == "<op nn.relu in line 3>"
