"""A unified diff, line by line: what each line is, and which line of the files it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")


@dataclass(frozen=True)
class Line:
    """`kind` is `added`, `removed`, `same`, `hunk` or `about`; a number is 0 where none is."""

    kind: str
    text: str
    before: int = 0
    after: int = 0


def read(diff: str) -> Iterator[Line]:
    """The lines of a diff. Within a hunk its counts decide, for code may look like a header."""
    before = after = before_left = after_left = 0
    for text in diff.removesuffix("\n").split("\n") if diff else ():
        mark = text[:1]
        if before_left > 0 and mark == "-":
            yield Line("removed", text, before=before)
            before, before_left = before + 1, before_left - 1
        elif after_left > 0 and mark == "+":
            yield Line("added", text, after=after)
            after, after_left = after + 1, after_left - 1
        elif (before_left > 0 or after_left > 0) and mark in {" ", ""}:
            yield Line("same", text, before, after)
            before, after = before + 1, after + 1
            before_left, after_left = before_left - 1, after_left - 1
        elif found := _HUNK.match(text):
            before, after = int(found[1]), int(found[3])
            before_left, after_left = int(found[2] or 1), int(found[4] or 1)
            yield Line("hunk", text)
        else:
            yield Line("about", text)
