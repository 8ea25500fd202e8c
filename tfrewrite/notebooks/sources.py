r"""The source of a cell as it is written in JSON, line by line, and how to write another one.

A line that stays keeps the characters that it is written with: `\u003c` and `<` are the same to
JSON, and not to a diff. A new line is written as the notebook writes others.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise

from tfrewrite.notebooks.scanning import Value, elements

_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|\\u[0-9a-fA-F]{4}|\\.|[^\\]",
    re.DOTALL,
)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_NOT_ASCII_ESCAPED = re.compile(r"(?<!\\)(?:\\\\)*\\u(?!00[0-7])[0-9a-fA-F]{4}")
_FOR_HTML = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "'": "\\u0027"}


@dataclass(frozen=True)
class Spelling:
    """How a notebook writes characters that JSON leaves a choice for."""

    ascii_only: bool
    for_html: frozenset[str]
    between: str = ",\n    "
    """What stands between two lines of a list."""

    @classmethod
    def of(cls, text: str, between: str) -> Spelling:
        escaped = text.isascii() and _NOT_ASCII_ESCAPED.search(text) is not None
        html = {letter for letter, code in _FOR_HTML.items() if code in text.lower()}
        return cls(escaped, frozenset(html), between)

    def written(self, line: str) -> str:
        """A text between the quotes of a JSON string."""
        found = json.dumps(line, ensure_ascii=self.ascii_only)[1:-1]
        for letter in self.for_html:
            found = found.replace(letter, _FOR_HTML[letter])
        return found


@dataclass(frozen=True)
class _Line:
    """A line with its end, and the characters of the notebook that stand for each of its own."""

    text: str
    raw: tuple[str, ...] = field(repr=False)
    offset: int
    """Where in the notebook it begins."""

    @property
    def written(self) -> str:
        return "".join(self.raw)


class Source:
    """The value of a cell's `source`."""

    def __init__(self, document: str, value: Value) -> None:
        self.start, self.end = value.start, value.end
        self.is_list = isinstance(value.value, list)
        self.text = "".join(value.value)
        self._document = document

    @staticmethod
    def can_be(value: object) -> bool:
        """Whether a value is what nbformat allows for a source."""
        if isinstance(value, list):
            return all(isinstance(one, str) for one in value)
        return isinstance(value, str)

    @property
    def between(self) -> str | None:
        """What stands between the lines of this list, if it has several."""
        for (_, end), (start, _) in pairwise(self._places):
            return self._document[end:start]
        return None

    def place(self, line: int, column: int) -> int:
        """Where in the notebook a character of the source stands; lines from 1, columns from 0."""
        if not self._lines:
            return self.start
        found = self._lines[min(line, len(self._lines)) - 1]
        return found.offset + len("".join(found.raw[:column]))

    def rewritten(self, text: str, spelling: Spelling) -> str:
        """What is to stand in the place of this value for it to say `text`."""
        written = self._reused(_LINE.findall(text), spelling)
        if not self.is_list:
            return '"' + "".join(written) + '"'
        quoted = [f'"{line}"' for line in written]
        if not self._places:
            return "[" + spelling.between.join(quoted) + "]"
        head = self._document[self.start : self._places[0][0]]
        tail = self._document[self._places[-1][1] : self.end]
        return head + (self.between or _between(head, spelling)).join(quoted) + tail

    def _reused(self, lines: list[str], spelling: Spelling) -> list[str]:
        old = [line.text for line in self._lines]
        matcher = SequenceMatcher(None, old, lines, autojunk=False)
        written: list[str] = []
        for tag, start, end, new_start, new_end in matcher.get_opcodes():
            if tag == "equal":
                written += [line.written for line in self._lines[start:end]]
            else:
                written += [spelling.written(line) for line in lines[new_start:new_end]]
        return written

    @cached_property
    def _places(self) -> list[tuple[int, int]]:
        """Where the strings stand."""
        if self.is_list:
            return elements(self._document, self.start)
        return [(self.start, self.end)]

    @cached_property
    def _lines(self) -> list[_Line]:
        """The lines, however the strings of a list divide them."""
        lines: list[_Line] = []
        text: list[str] = []
        raw: list[str] = []
        begun = -1
        for start, end in self._places:
            for match in _CHARACTER.finditer(self._document, start + 1, end - 1):
                begun = match.start() if begun < 0 else begun
                written = match[0]
                letter = json.loads(f'"{written}"') if written[0] == "\\" else written
                text.append(letter)
                raw.append(written)
                if letter == "\n":
                    lines.append(_Line("".join(text), tuple(raw), begun))
                    text, raw, begun = [], [], -1
        if text:
            lines.append(_Line("".join(text), tuple(raw), begun))
        return lines


def _between(head: str, spelling: Spelling) -> str:
    """What goes between the lines of a list that had but one: as the list begins."""
    space = head[1:]
    if "\n" in space:
        return f",{space}"
    return ", " if "\n" in spelling.between else spelling.between
