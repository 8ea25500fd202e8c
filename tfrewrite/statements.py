"""Which statements a finding spans, so that a comment on any of their lines can exempt it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfrewrite.model import Span


def statement_lines(tree: ast.Module, span: Span) -> tuple[int, int]:
    """The first and the last line of the statements that a span begins and ends in.

    Of a compound statement that the span ends in before its body, only the header counts.
    """
    start, end = _innermost(tree, span.line), _innermost(tree, span.end_line)
    first = min(span.line, start.lineno) if start else span.line
    last = max(span.end_line, _last_line(end)) if end else span.end_line
    return first, last


def _last_line(statement: ast.stmt) -> int:
    body: list[ast.stmt] = getattr(statement, "body", [])
    if body:
        return max(statement.lineno, body[0].lineno - 1)
    return statement.end_lineno or statement.lineno


def _innermost(tree: ast.Module, line: int) -> ast.stmt | None:
    """The last and innermost statement that begins at or before a line and reaches it."""
    found: ast.stmt | None = None
    stack: list[ast.AST] = [tree]
    while stack:
        for child in ast.iter_child_nodes(stack.pop()):
            if isinstance(child, ast.expr):
                continue
            if isinstance(child, ast.stmt):
                if not child.lineno <= line <= (child.end_lineno or child.lineno):
                    continue
                if found is None or child.lineno >= found.lineno:
                    found = child
            stack.append(child)
    return found
