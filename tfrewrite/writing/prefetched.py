"""Writes `.prefetch(...)` at the end of a pipeline, in the words and the layout of the file."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.edits import ReplaceExpression
from tfrewrite.writing.autotune import autotune

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_ONE_BATCH = "1"


def prefetched(facts: Facts, place: ast.expr) -> ReplaceExpression:
    """The edit that makes a pipeline read ahead at its end."""
    text = facts.source.segment(place)
    if not isinstance(place, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
        text = f"({text})"
    suffix = f".prefetch({autotune(facts, place) or _ONE_BATCH})"
    return ReplaceExpression(facts.source.span(place), f"{text}{_break(facts, place)}{suffix}")


def _break(facts: Facts, place: ast.expr) -> str:
    """What stands before the dot: a new line, where the last method stands on one of its own."""
    if not isinstance(place, ast.Call) or not isinstance(place.func, ast.Attribute):
        return ""
    source = facts.source
    last = source.span(place.func)
    line = source.line(last.end_line)
    before = line[: last.end_column - len(place.func.attr)].rstrip()
    if not before.endswith(".") or before[:-1].strip():
        return ""
    end = source.span(place)
    if "#" in source.line(end.end_line)[end.end_column :]:
        return ""  # the comment is the last method's, and stays beside it
    above = source.line(last.end_line - 1).rstrip()
    continued = " \\" if above.endswith("\\") else ""
    return f"{continued}\n{before[:-1]}"
