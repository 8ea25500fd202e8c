"""Writes a function in front of a loop that defined it in each turn."""

from __future__ import annotations

import ast
import io
import tokenize
from typing import TYPE_CHECKING

from tfrewrite.edits import Edit, InsertBefore, RemoveStatement

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_TEXTS = {"FSTRING_START": 1, "FSTRING_END": -1, "TSTRING_START": 1, "TSTRING_END": -1}


def hoisted_function(
    facts: Facts, function: ast.FunctionDef, before: ast.stmt
) -> tuple[Edit, ...] | None:
    """Its definition, with decorators and comments, goes in front of a loop.

    None where it shares its lines with other code.
    """
    first = min([function.lineno, *(one.lineno for one in function.decorator_list)])
    last = function.end_lineno or first
    opening, closing = facts.source.line(first), facts.source.line(last)
    end = facts.source.span(function).end_column
    margin = opening[: len(opening) - len(opening.lstrip())]
    rest = closing[end:].strip()
    if opening.strip()[:1] not in ("@", "d") or (rest and not rest.startswith("#")):
        return None
    within = _lines_within_texts(facts.source.text)
    lines = [
        line if number in within else line.removeprefix(margin)
        for number in range(first, last + 1)
        for line in [facts.source.line(number)]
    ]
    place = facts.source.span(before)
    return (
        InsertBefore(place, "\n".join(lines) + "\n\n"),
        RemoveStatement(facts.source.span(function), place, moved=True),
    )


def _lines_within_texts(text: str) -> set[int]:
    """The lines that begin within a string, where indentation is text."""
    found: set[int] = set()
    opened: list[int] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = _TEXTS.get(tokenize.tok_name[token.type], 0)
        if token.type == tokenize.STRING:
            found.update(range(token.start[0] + 1, token.end[0] + 1))
        elif kind > 0:
            opened.append(token.start[0])
        elif kind < 0:
            found.update(range(opened.pop() + 1, token.end[0] + 1))
    return found
