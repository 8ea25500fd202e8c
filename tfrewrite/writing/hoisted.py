"""Writes a statement in front of a loop, in place of what was evaluated in each turn of it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.edits import Edit, InsertBefore, RemoveStatement, ReplaceExpression

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts


def hoisted_value(facts: Facts, value: ast.expr, before: ast.stmt, name: str) -> tuple[Edit, ...]:
    """The value gets a name in front of a loop, and the name stands where it was."""
    text = text_of(facts, value)
    return (
        InsertBefore(facts.source.span(before), f"{name} = {text}"),
        ReplaceExpression(facts.source.span(value), name),
    )


def made_before(
    facts: Facts, value: ast.expr, before: ast.stmt, name: str, text: str
) -> tuple[Edit, ...]:
    """What `text` makes gets a name in front of a loop, and is called where the value was."""
    return (
        InsertBefore(facts.source.span(before), f"{name} = {text}"),
        ReplaceExpression(facts.source.span(value), f"{name}()"),
    )


def hoisted_statement(facts: Facts, statement: ast.stmt, before: ast.stmt) -> tuple[Edit, ...]:
    """The whole statement goes in front of a loop, with its comments."""
    place = facts.source.span(before)
    return (
        InsertBefore(place, text_of(facts, statement)),
        RemoveStatement(facts.source.span(statement), place, moved=True),
    )


def other_draws(facts: Facts, place: ast.stmt) -> str:
    """What other draws there may be, because fewer ops are made before random ones; or nothing."""
    if not facts.seeds.depend_on_ops_before:
        return ""
    rest = facts.afterwards.rest(place)
    draw = facts.building.first_draw(rest.nodes)
    if draw is None and not rest.unseen:
        return ""
    where = f"line {draw.lineno}" if draw is not None else "the rest of the program"
    return (
        f"draws of ops without a seed of their own, which {where} may make in the loop or after it:"
        " TensorFlow 1.15 derives their seeds from the number of ops made before"
    )


def on_one_line(facts: Facts, statement: ast.stmt) -> bool:
    span = facts.source.span(statement)
    return span.line == span.end_line


def text_of(facts: Facts, node: ast.expr | ast.stmt) -> str:
    """The text of a node; written anew where it goes over several lines."""
    span = facts.source.span(node)
    return facts.source.segment(node) if span.line == span.end_line else ast.unparse(node)
