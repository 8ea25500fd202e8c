"""What a text is a part of, as far as a rewrite of it has to fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tfrewrite.edits import Edit


class Frame:
    """A text that is a file of its own: whatever a rewrite makes of it fits."""

    @property
    def obstacle(self) -> str:
        """Why nothing in it is to be rewritten, in words; empty where there is no such reason."""
        return ""

    def require_fit(self, before: str, rewrites: Iterable[Sequence[Edit]], after: str) -> None:
        """Raises `EditError` where the edits of rewrites cannot be made in their surroundings."""

    def said(self, words: str, text: str) -> str:
        """A message about places of a text, in the words of who sees the surroundings."""
        del text
        return words
