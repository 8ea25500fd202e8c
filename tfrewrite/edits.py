"""How a rule says what to change, and how that is done to a LibCST tree.

A rule reads the program as an `ast` tree and names places in it by their span; it writes new code
as source text. Turning that into a changed LibCST tree, with every untouched byte, comment and
blank line kept, is done here and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfrewrite.model import Span


@dataclass(frozen=True)
class ReplaceExpression:
    """Puts the expression `text` where the expression at `span` stands."""

    span: Span
    text: str


@dataclass(frozen=True)
class RemoveStatement:
    """Takes a statement out; its comments go above the statement at `comments_to`."""

    span: Span
    comments_to: Span


@dataclass(frozen=True)
class InsertBefore:
    """Puts the statements of `text` before the statement at `span`, in its indentation."""

    span: Span
    text: str


@dataclass(frozen=True)
class ReplaceStatement:
    """Puts the statements of `text` where the simple statement at `span` stands, comments kept."""

    span: Span
    text: str


Edit = ReplaceExpression | RemoveStatement | InsertBefore | ReplaceStatement
