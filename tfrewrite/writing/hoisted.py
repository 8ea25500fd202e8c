"""Writes a statement in front of a loop, in place of what was evaluated in each turn of it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.edits import Edit, InsertBefore, RemoveStatement, ReplaceExpression

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.built_values import Built


def hoisted(
    facts: Facts, built: Built, before: ast.stmt, title: str, taken: set[str], text: str = ""
) -> tuple[Edit, ...]:
    """What is built in a loop is built in front of it, under its own names where that can be.

    Else it gets the name `title` there, or one like it that is not taken. With `text` it is built
    in other words.
    """
    statement = facts.source.statement(built.expr)
    if _moves_whole(facts, built, statement, before):
        name = f"{built.names[0].id} = {text}" if text else ""
        return hoisted_statement(facts, statement, before, name)
    name = facts.names.fresh(title, taken)
    taken.add(name)
    return hoisted_value(facts, built.expr, before, name, text)


def made_before(
    facts: Facts, value: ast.expr, before: ast.stmt, name: str, text: str
) -> tuple[Edit, ...]:
    """What `text` makes gets a name in front of a loop, and is called where the value was."""
    return (
        InsertBefore(facts.source.span(before), f"{name} = {text}"),
        ReplaceExpression(facts.source.span(value), f"{name}()"),
    )


def text_of(facts: Facts, node: ast.expr) -> str:
    """The text of an expression; written anew where it goes over several lines."""
    span = facts.source.span(node)
    return facts.source.segment(node) if span.line == span.end_line else ast.unparse(node)


def indentation_of(facts: Facts, loop: ast.For | ast.AsyncFor | ast.While) -> str:
    """By how much the body of a loop is indented."""
    outer = facts.source.line(loop.lineno)[: facts.source.span(loop).column]
    inner = facts.source.line(loop.body[0].lineno)[: facts.source.span(loop.body[0]).column]
    return inner.removeprefix(outer) if inner.isspace() else "    "


def _moves_whole(facts: Facts, built: Built, statement: ast.stmt, place: ast.stmt) -> bool:
    """Whether the names that a value is bound to can be bound before the loop instead."""
    if not isinstance(statement, ast.Assign) or statement.value is not built.expr:
        return False
    if not is_movable(facts, statement):
        return False
    if any(_seen_beside(facts, name, statement, place) for name in built.names):
        return False
    if not built.names or len({name.id for name in built.names}) != len(built.names):
        return False
    block, index = facts.source.position(statement)
    later = block[index + 1 :]
    return bool(later) and all(
        any(one in facts.source.ancestors(use) for one in later) for use in built.uses
    )


def _seen_beside(facts: Facts, name: ast.Name, statement: ast.stmt, place: ast.stmt) -> bool:
    """Whether a name has other values in the loop, or ones that may be read together with this."""
    others = [one for one in facts.scopes.bindings(name) if one.node is not statement]
    if any(place is one.node or place in facts.source.ancestors(one.node) for one in others):
        return True
    for use in facts.scopes.uses(name) if others else ():
        seen = facts.flow.reaching(use)
        if len(seen) > 1 and any(one.node is statement for one in seen):
            return True
    return False


def hoisted_value(
    facts: Facts, value: ast.expr, before: ast.stmt, name: str, text: str
) -> tuple[Edit, ...]:
    """The value gets a name in front of a loop, and the name stands where it was."""
    return (
        InsertBefore(facts.source.span(before), f"{name} = {text or text_of(facts, value)}"),
        ReplaceExpression(facts.source.span(value), name),
    )


def hoisted_statement(
    facts: Facts, statement: ast.stmt, before: ast.stmt, text: str = ""
) -> tuple[Edit, ...]:
    """The whole statement goes in front of a loop, with its comments."""
    place = facts.source.span(before)
    return (
        InsertBefore(place, text or _without_margin(facts, statement)),
        RemoveStatement(facts.source.span(statement), place, moved=True),
    )


def is_movable(facts: Facts, statement: ast.Assign) -> bool:
    """Whether a statement stands alone on its lines, which its margin can be taken off."""
    span = facts.source.span(statement)
    if span.line == span.end_line:
        return True
    margin = facts.source.line(span.line)[: span.column]
    return (
        not margin.strip()
        and statement.targets[0].end_lineno == span.line
        and not any(_spans_lines(node) for node in ast.walk(statement))
        and "#" not in facts.source.segment(statement)
        and "\\" not in facts.source.segment(statement)
    )


def _without_margin(facts: Facts, statement: ast.stmt) -> str:
    """The text of a statement, with the indentation of its block taken off its further lines."""
    margin = facts.source.line(statement.lineno)[: facts.source.span(statement).column]
    first, *rest = facts.source.segment(statement).splitlines(keepends=True)
    return first + "".join(line.removeprefix(margin) for line in rest)


def _spans_lines(node: ast.AST) -> bool:
    """Whether a node is a string over several lines, in which indentation is text."""
    return isinstance(node, (ast.Constant, ast.JoinedStr)) and node.lineno != node.end_lineno
