"""Writes that functions give back one more value, and that their callers take it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.edits import Edit, ReplaceExpression
from tfrewrite.writing.hoisted import text_of

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.ways import Way


def handed_on(facts: Facts, way: Way, name: str) -> list[Edit]:
    """What goes by a name where it is made goes by that name in each function on its way."""
    edits: list[Edit] = []
    given = way.start + name
    for one in way.returned:
        taken = one.owner + name
        for parts, more in ((one.given, given), (one.taken, taken)):
            text = _with_one_more(facts, parts, more)
            edits.append(ReplaceExpression(facts.source.span(parts), text))
        given = taken
    return edits


def _with_one_more(facts: Facts, parts: ast.expr, more: str) -> str:
    """A tuple, or a single value, with another value at its end, laid out as it is."""
    source = facts.source
    whole = source.segment(parts)
    if not isinstance(parts, ast.Tuple):
        return f"{whole}, {more}"
    begin = source.offsets(parts)[0]
    places = [source.offsets(one) for one in parts.elts]
    ends = [begin, *(end for _, end in places)]
    starts = [*(start for start, _ in places), begin + len(whole)]
    head, *between, tail = (
        "".join(source.text[end:start].split()) for end, start in zip(ends, starts, strict=True)
    )
    if set(between) <= {","} and (head, tail.strip(",")) in (("", ""), ("(", ")")):
        return f"{whole[: ends[-1] - begin]}, {more}{whole[ends[-1] - begin :]}"
    return ", ".join([*(_plainly(facts, one) for one in parts.elts), more])


def _plainly(facts: Facts, part: ast.expr) -> str:
    text = text_of(facts, part)
    return f"({text})" if isinstance(part, (ast.NamedExpr, ast.Yield, ast.Lambda)) else text
