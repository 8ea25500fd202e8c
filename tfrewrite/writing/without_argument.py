"""Writes a call without one of its keyword arguments."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.edits import ReplaceExpression

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts


def without_argument(facts: Facts, call: ast.Call, keyword: ast.keyword) -> ReplaceExpression:
    """The edit that leaves a keyword argument out of a call, together with one comma."""
    source = facts.source
    text = source.segment(call)
    offset = source.offsets(call)[0]

    def place(argument: ast.expr | ast.keyword) -> tuple[int, int]:
        named = ast.copy_location(ast.Name("_"), argument)
        start, end = source.offsets(named)
        return start - offset, end - offset

    start, end = place(keyword)
    places = [*map(place, call.args), *map(place, call.keywords)]
    later = [begins for begins, _ in places if begins > start]
    if later:
        return ReplaceExpression(source.span(call), text[:start] + text[min(later) :])
    before, after = text[:start].rstrip(), text[end:]
    if before.endswith(","):
        before = before[:-1]
    else:  # the first argument, or one behind a comment, whose comma may stay
        after = after.lstrip(" \t").removeprefix(",")
        if "#" in before.rpartition("\n")[2] and not after.startswith(("\n", "\r")):
            before += "\n"
    return ReplaceExpression(source.span(call), before + after)
