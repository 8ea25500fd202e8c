"""Finds where in the text of a notebook the source of each cell stands.

A JSON parser gives values and forgets how they were written; to write one cell back and leave
every other byte alone, the places are needed. Everything but the way to the cells is skipped by
the standard library's own parser, at its speed, so that large outputs cost next to nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from json import JSONDecodeError
from typing import Any

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


class NotJson(Exception):  # noqa: N818
    """The text is no JSON; says where, and what stands there."""


@dataclass(frozen=True)
class Value:
    """A value, and where it is written."""

    value: Any
    start: int
    end: int


@dataclass(frozen=True)
class Cell:
    """One cell: its members, but for its outputs, which nobody here needs."""

    members: dict[str, Value]

    def get(self, name: str) -> Any:
        found = self.members.get(name)
        return None if found is None else found.value


@dataclass(frozen=True)
class Document:
    """The members of a notebook, and its cells; None where there is no list of cells."""

    members: dict[str, Any]
    cells: tuple[Cell, ...] | None


def scan(text: str) -> Document:
    """The cells of a notebook with their places, or `NotJson`."""
    try:
        return _Scanner(text).document()
    except JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise NotJson(f"{where}: not valid JSON: {error.msg}") from error
    except RecursionError as error:
        raise NotJson("its JSON is nested too deeply to be read") from error


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._members: dict[str, Any] = {}
        self._cells: list[Cell] | None = None

    def document(self) -> Document:
        at = self._space(0)
        if self._text[at : at + 1] == "{":
            at = self._object(at, self._member)
        else:
            _, at = _DECODER.raw_decode(self._text, at)
        at = self._space(at)
        if at != len(self._text):
            raise JSONDecodeError("Extra data", self._text, at)
        return Document(self._members, None if self._cells is None else tuple(self._cells))

    def _member(self, name: str, at: int) -> int:
        if name == "cells" and self._text[at : at + 1] == "[":
            self._cells = []
            return self._list(at, self._cell)
        value, end = _DECODER.raw_decode(self._text, at)
        self._members[name] = value
        return end

    def _cell(self, at: int) -> int:
        assert self._cells is not None
        if self._text[at : at + 1] != "{":
            _, end = _DECODER.raw_decode(self._text, at)
            self._cells.append(Cell({}))
            return end
        members: dict[str, Value] = {}

        def member(name: str, at: int) -> int:
            value, end = _DECODER.raw_decode(self._text, at)
            if name != "outputs":
                members[name] = Value(value, at, end)
            return end

        end = self._object(at, member)
        self._cells.append(Cell(members))
        return end

    def _object(self, at: int, member: Callable[[str, int], int]) -> int:
        at = self._space(at + 1)
        if self._text[at : at + 1] == "}":
            return at + 1
        while True:
            if self._text[at : at + 1] != '"':
                message = "Expecting property name enclosed in double quotes"
                raise JSONDecodeError(message, self._text, at)
            name, at = _DECODER.raw_decode(self._text, at)
            at = self._after(":", at)
            at = self._space(member(name, at))
            if self._text[at : at + 1] == "}":
                return at + 1
            at = self._after(",", at)

    def _list(self, at: int, element: Callable[[int], int]) -> int:
        at = self._space(at + 1)
        if self._text[at : at + 1] == "]":
            return at + 1
        while True:
            at = self._space(element(at))
            if self._text[at : at + 1] == "]":
                return at + 1
            at = self._after(",", at)

    def _after(self, sign: str, at: int) -> int:
        at = self._space(at)
        if self._text[at : at + 1] != sign:
            raise JSONDecodeError(f"Expecting '{sign}' delimiter", self._text, at)
        return self._space(at + 1)

    def _space(self, at: int) -> int:
        found = _SPACE.match(self._text, at)
        assert found is not None
        return found.end()


def elements(text: str, start: int) -> list[tuple[int, int]]:
    """Where the elements of a list stand whose bracket is at `start`."""
    found: list[tuple[int, int]] = []

    def element(at: int) -> int:
        _, end = _DECODER.raw_decode(text, at)
        found.append((at, end))
        return end

    _Scanner(text)._list(start, element)
    return found
