"""Where the lines of a rewritten text come from."""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfrewrite.model import Span

_NEWLINE = re.compile(r"\r\n|\r|\n")


def lines_of(text: str) -> list[str]:
    """The lines as Python counts them; `str.splitlines` also splits at form feeds."""
    return _NEWLINE.split(text)


class LineMap:
    """For every line of the current text, the line of the file on disk it stands for."""

    def __init__(self, text: str) -> None:
        self._text = text
        lines = lines_of(text)
        self._widths = [len(line) for line in lines]
        self._origins = list(range(1, len(lines) + 1))

    def advance(self, text: str) -> None:
        """Goes on to the next version of the text."""
        old, new = lines_of(self._text), lines_of(text)
        origins: list[int] = []
        for tag, start, end, new_start, new_end in _opcodes(old, new):
            if tag == "equal":
                origins.extend(self._origins[start:end])
                continue
            last = min(max(start, end - 1), len(self._origins) - 1)
            origins.extend(
                self._origins[min(start + index, last)] for index in range(new_end - new_start)
            )
        self._text, self._origins = text, origins

    def origin(self, line: int) -> int:
        return self._origins[min(line, len(self._origins)) - 1]

    def original(self, span: Span) -> Span:
        return replace(span, line=self.origin(span.line), end_line=self.origin(span.end_line))

    def on_disk(self, span: Span) -> Span:
        """The same, with columns that the lines on disk have: rewritten ones may be longer."""
        known = self.original(span)
        return replace(
            known,
            column=min(known.column, self._widths[known.line - 1]),
            end_column=min(known.end_column, self._widths[known.end_line - 1]),
        )


def _opcodes(old: list[str], new: list[str]) -> list[tuple[str, int, int, int, int]]:
    """As of `SequenceMatcher`, which is slow on what is the same at both ends."""
    shortest = min(len(old), len(new))
    top = next((i for i in range(shortest) if old[i] != new[i]), shortest)
    room = shortest - top
    bottom = next((i for i in range(room) if old[-1 - i] != new[-1 - i]), room)
    old_end, new_end = len(old) - bottom, len(new) - bottom
    matcher = SequenceMatcher(None, old[top:old_end], new[top:new_end], autojunk=False)
    middle = [(t, a + top, b + top, c + top, d + top) for t, a, b, c, d in matcher.get_opcodes()]
    return [
        ("equal", 0, top, 0, top),
        *middle,
        ("equal", old_end, len(old), new_end, len(new)),
    ]
