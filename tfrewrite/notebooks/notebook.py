"""A notebook as one Python text for the analysis, and a rewritten text as a notebook again.

    'tag cell 1'          the cells that are code, in order, a line between them
    import tensorflow as tf
    'tag cell 2'
    ...

What a rewrite does to one cell stays in that cell, and nothing but the `source` of the cells that
change is written anew.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tfrewrite import syntax
from tfrewrite.edits import Edit, EditError, RemoveStatement
from tfrewrite.frame import Frame
from tfrewrite.model import CellPlace, Span
from tfrewrite.notebooks.code import NOT_EDITED, Code, DoesNotFit, Reader
from tfrewrite.notebooks.obstacles import Asked, obstacle_in
from tfrewrite.notebooks.scanning import Cell, Document, NotJson, scan
from tfrewrite.notebooks.sources import Source, Spelling

_CONVERT = "convert it with `jupyter nbconvert --to notebook --inplace`"
_LINE = re.compile(r"\b([Ll]ines? )(\d+)((?:(?:, | and |, and )\d+)*)")


class NotANotebook(Exception):  # noqa: N818
    """A file that is no notebook that can be handled; says why and what to do."""


class LeftAlone(Exception):  # noqa: N818
    """A notebook that is none for this program; says why."""


@dataclass(frozen=True)
class _Found:
    number: int
    source: Source
    tags: tuple[str, ...]


@dataclass(frozen=True)
class CodeCell:
    """A cell of code. `number` counts all cells of the notebook, from 1."""

    number: int
    source: Source
    code: Code
    tags: tuple[str, ...] = ()


class Notebook(Frame):
    """A notebook that was read; `text` is what of it is analysed and rewritten."""

    def __init__(self, document: str, found: Sequence[_Found]) -> None:
        self.document = document
        self._tag = _unused_word(one.source.text for one in found)
        reader = Reader(self._tag)
        self.cells = [
            CodeCell(one.number, one.source, _code(reader, one.number, one.source), one.tags)
            for one in found
        ]
        self.text = "".join(
            f"{self._mark(index)}\n{cell.code.python}\n" for index, cell in enumerate(self.cells)
        )
        self._firsts = _starts(self.text, self._tag)

    @classmethod
    def read(cls, document: str) -> Notebook:
        """The notebook of a text; `NotANotebook`, `LeftAlone`, or `syntax.NotPython`."""
        try:
            scanned = scan(document)
        except NotJson as error:
            raise NotANotebook(f"{error}; it is no notebook, or a damaged one") from error
        _require_known(scanned)
        language = _language(scanned)
        if language != "python":
            raise LeftAlone(f"its kernel runs {language}, not Python")
        found = list(_sources(document, scanned))
        notebook = cls(document, found)
        if _is_python_2(scanned):
            raise LeftAlone("its kernel is Python 2; choose one of Python 3 to have it read")
        return notebook

    def _mark(self, index: int) -> str:
        return f"'{self._tag}cell {self.cells[index].number}'"

    # Back into cells.

    def split(self, text: str) -> list[str]:
        """The Python of each cell of a rewritten text; `DoesNotFit` where cells are mixed up."""
        parts: list[str] = []
        rest = text
        for index in range(len(self.cells) - 1, -1, -1):
            head, mark, part = rest.rpartition(f"{self._mark(index)}\n")
            if not mark or (head and not head.endswith("\n")):
                raise DoesNotFit("it would move code from one cell to another")
            parts.append(part.removesuffix("\n"))
            rest = head
        if rest:
            raise DoesNotFit("it would put code before the first cell")
        return parts[::-1]

    def sources(self, text: str) -> list[str]:
        """The source of each cell for a rewritten text, as its owner writes it."""
        parts = self.split(text)
        found = []
        for cell, part in zip(self.cells, parts, strict=True):
            try:
                new = cell.code.back(part)
            except DoesNotFit as error:
                raise DoesNotFit(f"cell {cell.number}: {error}") from error
            found.append(_with_ends_of(cell.source.text, _without_blank_top(cell.code, new)))
        return found

    def rewritten(self, text: str) -> str:
        """The whole notebook for a rewritten text: all but the changed sources as it was."""
        pieces: list[str] = []
        done = 0
        for start, end, new in self.changes(text):
            pieces += [self.document[done:start], new]
            done = end
        return "".join([*pieces, self.document[done:]])

    def changes(self, text: str) -> Iterator[tuple[int, int, str]]:
        """The sources that a rewritten text changes: from where to where, and what they are then.

        All is JSON as it stands in the document.
        """
        for cell, new in zip(self.cells, self.sources(text), strict=True):
            if new != cell.source.text:
                written = cell.source.rewritten(new, self._spelling)
                yield cell.source.start, cell.source.end, written

    @cached_property
    def _spelling(self) -> Spelling:
        lists = (cell.source.between for cell in self.cells if cell.source.is_list)
        return Spelling.of(self.document, next((one for one in lists if one is not None), ", "))

    # What `Rewriting` asks of it.

    def require_fit(self, before: str, rewrites: Iterable[Sequence[Edit]], after: str) -> None:
        """Raises `EditError` unless every edit stays in its cell."""
        starts = _starts(before, self._tag)
        for edits in rewrites:
            for edit in edits:
                cell = self.cells[_cell_of(starts, edit.span.line)[0]]
                if cell.code.frozen:
                    raise EditError(f"cell {cell.number}: {NOT_EDITED}", edit)
            _require_in_cell(starts, edits)
        try:
            self.sources(after)
        except DoesNotFit as error:
            raise EditError(str(error)) from error

    @cached_property
    def obstacle(self) -> str:
        cells = [Asked(cell.number, cell.code, cell.tags) for cell in self.cells]
        return obstacle_in(cells, self._tag)

    def said(self, words: str) -> str:
        """A message whose lines are those of the text, with cells and the lines in them."""

        def place(match: re.Match[str]) -> str:
            numbers = [int(number) for number in re.findall(r"\d+", match[0])]
            return " and ".join(self._place_in_words(number) for number in numbers)

        return _LINE.sub(place, self._by_name(words))

    def _by_name(self, words: str) -> str:
        """A message that names a magic where the analysis saw what stands for it."""
        if self._tag not in words and "`exec(...)`" not in words:
            return words
        for cell in self.cells:
            for python, original in cell.code.in_messages():
                words = words.replace(f"`{python}`", f"`{original}`")
            if cell.code.changes_names:
                words = words.replace("`exec(...)`", cell.code.changes_names)
        return words

    def _place_in_words(self, line: int) -> str:
        index, own = _cell_of(self._firsts, line)
        return f"line {own} of cell {self.cells[index].number}"

    # Places.

    def place(self, line: int, column: int) -> tuple[int, int, int]:
        """Which cell, by its index, and which line and column of it a place of the text is."""
        index, own = _cell_of(self._firsts, line)
        code = self.cells[index].code
        lines = code.original.split("\n")
        own = min(max(own, 1), len(lines))
        return index, own, min(code.column(own, column), len(lines[own - 1]))

    def on_disk(self, span: Span) -> tuple[Span, CellPlace]:
        """A stretch of the text as one of the file, and the place in its cell."""
        index, line, column = self.place(span.line, span.column)
        last, end_line, end_column = self.place(span.end_line, span.end_column)
        begin = self._position(index, line, column)
        end = self._position(last, end_line, end_column)
        cell = CellPlace(self.cells[index].number, line, column)
        return Span(*begin, *max(begin, end)), cell

    def _position(self, index: int, line: int, column: int) -> tuple[int, int]:
        return self.position(self.cells[index].source.place(line, column))

    def position(self, offset: int) -> tuple[int, int]:
        """Line, from 1, and column, from 0, of a place in the document."""
        number = bisect_right(self._newlines, offset - 1)
        start = self._newlines[number - 1] + 1 if number else 0
        return number + 1, offset - start

    @cached_property
    def _newlines(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self.document)]


def _code(reader: Reader, number: int, source: Source) -> Code:
    try:
        return reader.code(_plain(source.text))
    except syntax.NotPython as error:
        raise syntax.NotPython(f"cell {number}, {error}") from error


def _plain(text: str) -> str:
    """The text with line feeds, if all its lines end alike."""
    plain = text.replace("\r\n", "\n")
    return plain if text == plain.replace("\n", "\r\n") else text


def _without_blank_top(code: Code, new: str) -> str:
    """A function that is put first stands at the top of its cell, as nothing is above it."""
    return new if code.original.startswith("\n") else new.lstrip("\n")


def _with_ends_of(old: str, new: str) -> str:
    return new.replace("\n", "\r\n") if _plain(old) != old else new


def _unused_word(texts: Iterable[str]) -> str:
    """A word that is in none of the texts, for what stands between and in the place of cells."""
    word = "tfrewrite "
    found = "\n".join(texts)
    while word in found:
        word += "- "
    return word


def _sources(document: str, scanned: Document) -> Iterator[_Found]:
    for number, cell in enumerate(scanned.cells or (), 1):
        if cell.get("cell_type") == "code":
            value = cell.members.get("source")
            if value is None or not Source.can_be(value.value):
                raise NotANotebook(f"cell {number} has no source; it is no notebook, or damaged")
            yield _Found(number, Source(document, value), tuple(_tags(cell)))


def _tags(cell: Cell) -> Iterator[str]:
    metadata = cell.get("metadata")
    tags = metadata.get("tags") if isinstance(metadata, dict) else None
    if isinstance(tags, list):
        yield from (tag for tag in tags if isinstance(tag, str))


def _require_known(scanned: Document) -> None:
    major = scanned.members.get("nbformat")
    if (scanned.cells is None and "worksheets" in scanned.members) or major in {1, 2, 3}:
        raise NotANotebook(f"nbformat {major or 3}; {_CONVERT}")
    if scanned.cells is None or not isinstance(major, int):
        raise NotANotebook("it is JSON and no notebook: it has no cells, or no nbformat")
    if major != 4:
        raise NotANotebook(f"nbformat {major} is not known; {_CONVERT}")


def _metadata(scanned: Document, first: str, second: str) -> str:
    found: Any = scanned.members.get("metadata")
    for name in (first, second):
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, str) else ""


def _language(scanned: Document) -> str:
    """The language of the kernel, in small letters; Python where nothing is said."""
    said = _metadata(scanned, "language_info", "name") or _metadata(
        scanned, "kernelspec", "language"
    )
    found = said.lower() or "python"
    return "python" if found in {"python", "python2", "python3", "ipython"} else found


def _is_python_2(scanned: Document) -> bool:
    version = _metadata(scanned, "language_info", "version")
    return version.startswith("2") or _metadata(scanned, "kernelspec", "name") == "python2"


def _starts(text: str, tag: str) -> list[int]:
    """The lines on which the marks of the cells stand."""
    mark = f"'{tag}cell "
    return [number for number, line in enumerate(text.split("\n"), 1) if line.startswith(mark)]


def _cell_of(starts: Sequence[int], line: int) -> tuple[int, int]:
    """Which cell a line is in, by its index, and which of its lines it is."""
    index = max(bisect_right(starts, line) - 1, 0)
    return index, line - starts[index]


def _require_in_cell(starts: Sequence[int], edits: Sequence[Edit]) -> None:
    """An edit is made in one cell, and what is taken out of a cell stays in that cell.

    What a rewrite does in several cells, such as to a placeholder and to the loop that feeds it,
    is done to each of them by itself.
    """
    filled = set()
    emptied = set()
    for edit in edits:
        first, _ = _cell_of(starts, edit.span.line)
        if isinstance(edit, RemoveStatement):
            other, _ = _cell_of(starts, edit.comments_to.line)
            emptied |= {first, other}
        else:
            filled.add(first)
    if emptied - filled and len(emptied | filled) > 1:
        raise EditError("it would move code from one cell to another", edits[0])
