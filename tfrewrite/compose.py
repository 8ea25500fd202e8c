"""Chooses, of the rewrites found in one text, those that can be made at once."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.edits import Decorate, Edit, InsertBefore, RemoveStatement, ReplaceExpression
from tfrewrite.model import Rewrite, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfrewrite.rule import Rule


@dataclass(frozen=True)
class Candidate:
    """A rewrite, and the rule that offers it."""

    rule: type[Rule]
    rewrite: Rewrite

    @property
    def order(self) -> tuple[bool, str, Span]:
        return (self.rule.judges_the_rest, self.rule.code, self.rewrite.span)


def together(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Those that do not touch each other, the first in (code, position) order winning.

    A rule that judges the rest of the program comes last, and alone.

    Each rewrite was found sound on the text as it stands. Where the stretches that two of them
    reach over overlap, or both bring in the same new name, the second is left for the next round,
    which looks at the text as the first has made it.
    """
    chosen: list[Candidate] = []
    reaches: list[Span] = []
    names: set[str] = set()
    for candidate in sorted(candidates, key=lambda one: one.order):
        if candidate.rule.judges_the_rest and chosen and chosen[0].rule is not candidate.rule:
            break
        reach = _reach(candidate.rewrite)
        bound = {name for edit in candidate.rewrite.edits for name in _bound_names(edit)}
        if bound & names or any(reach.overlaps(other) for other in reaches):
            continue
        chosen.append(candidate)
        reaches.append(reach)
        names |= bound
    return chosen


def _reach(rewrite: Rewrite) -> Span:
    """From the first to the last place that a rewrite names."""
    spans = [rewrite.span]
    for edit in rewrite.edits:
        spans.append(
            _first_character(edit.span) if isinstance(edit, (InsertBefore, Decorate)) else edit.span
        )
        if isinstance(edit, RemoveStatement):
            spans.append(_first_character(edit.comments_to))
    line, column = min((span.line, span.column) for span in spans)
    end_line, end_column = max((span.end_line, span.end_column) for span in spans)
    return Span(line, column, end_line, end_column)


def _first_character(span: Span) -> Span:
    return Span(span.line, span.column, span.line, span.column + 1)


def _bound_names(edit: Edit) -> Iterator[str]:
    """The names that the new statements of an edit bind."""
    if isinstance(edit, (RemoveStatement, ReplaceExpression, Decorate)):
        return
    try:
        tree = ast.parse(edit.text)
    except SyntaxError:
        return  # the surgery says so, with the edit
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
