"""How a rule says what to change.

A rule reads the program as an `ast` tree and names places in it by their span; it writes new code
as source text, in any indentation and with any line ending: both become the file's own. Turning
that into a changed file is done by `tfrewrite.surgery`, and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfrewrite.model import Span


@dataclass(frozen=True)
class ReplaceExpression:
    """Puts the expression `text` where the expression at `span` stands.

    Parentheses are added where the surroundings need them. Comments within the old expression
    that `text` does not repeat go above the statement. With `kept` they are in new code already.
    """

    span: Span
    text: str
    kept: bool = False


@dataclass(frozen=True)
class RemoveStatement:
    """Takes a statement out; its comments go above the statement at `comments_to`.

    With `moved` the statement is one that is inserted there, and its comments go above that. With
    `kept` its comments are in new code already.
    """

    span: Span
    comments_to: Span
    moved: bool = False
    kept: bool = False


@dataclass(frozen=True)
class InsertBefore:
    """Puts the statements of `text` before the statement at `span`, in its indentation.

    They go between the last blank line above it and the comments that stand right above it. Blank
    lines at the start and the end of `text` are kept.
    """

    span: Span
    text: str


@dataclass(frozen=True)
class ReplaceStatement:
    """Puts the statements of `text` where the simple statement at `span` stands, comments kept."""

    span: Span
    text: str


@dataclass(frozen=True)
class Decorate:
    """Puts `@text` above the function at `span`, below its comments and above other decorators."""

    span: Span
    text: str


Edit = ReplaceExpression | RemoveStatement | InsertBefore | ReplaceStatement | Decorate


class EditError(Exception):
    """An edit that cannot be made without touching more than it names.

    `edit` is the one that stands in the way, or None where it is the file itself.
    """

    def __init__(self, message: str, edit: Edit | None = None) -> None:
        super().__init__(message)
        self.edit = edit


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """The text with all edits made; raises `EditError` where one cannot be made cleanly."""
    if not edits:
        return text
    # LibCST takes 0.3 s to import, and most files have nothing to edit.
    from tfrewrite.surgery import operate  # noqa: PLC0415

    return operate(text, edits)
