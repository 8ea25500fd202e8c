"""Writes a run without some of its fetches, and its targets without those of their results."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Collection
from dataclasses import dataclass

from tfrewrite.analysis.program.source import Source
from tfrewrite.edits import Edit, ReplaceExpression

Sequence_ = ast.List | ast.Tuple


@dataclass(frozen=True, eq=False)
class Unpacked:
    """A run of a list of fetches: the list, and what each result goes to, if taken apart."""

    fetches: Sequence_
    targets: Sequence_ | None

    def without(self, source: Source, dropped: Collection[int]) -> tuple[Edit, ...]:
        """The edits that take away the fetches at some positions, with their targets."""
        (*first, only) = [i for i in range(len(self.fetches.elts)) if i not in dropped]
        if self.targets is None:
            text = _shortened(source, self.fetches, dropped)
            return (ReplaceExpression(source.span(self.fetches), text),)
        if first:
            return tuple(
                ReplaceExpression(source.span(sequence), _shortened(source, sequence, dropped))
                for sequence in (self.targets, self.fetches)
            )
        return tuple(
            ReplaceExpression(source.span(sequence), source.segment(sequence.elts[only]))
            for sequence in (self.targets, self.fetches)
        )


def _shortened(source: Source, sequence: Sequence_, dropped: Collection[int]) -> str:
    """The text of a list or tuple without some of its elements."""
    start, end = source.offsets(sequence)
    places = [source.offsets(element) for element in sequence.elts]
    kept = [index for index in range(len(places)) if index not in dropped]
    gaps = [source.text[start : places[0][0]]]  # what stands before each element
    gaps += [source.text[one[1] : two[0]] for one, two in itertools.pairwise(places)]
    text, last = "", -1
    for index in kept:
        text += gaps[index] if index == last + 1 else _gap(gaps[last + 1], gaps[index])
        text += source.text[places[index][0] : places[index][1]]
        last = index
    tail = source.text[places[-1][1] : end]
    if kept[-1] + 1 < len(places):
        tail = _tail(source.text[places[kept[-1]][1] : places[kept[-1] + 1][0]], tail)
    if len(kept) == 1 and isinstance(sequence, ast.Tuple) and "," not in tail:
        tail = f",{tail}"
    if _has_elements(text + tail, len(kept)):
        return text + tail
    # A parenthesis around one element was cut in two; the elements stand without theirs.
    left, right = ("[", "]") if isinstance(sequence, ast.List) else ("(", ")")
    inner = ", ".join(source.segment(sequence.elts[index]) for index in kept)
    return left + inner + ("," if left == "(" and len(kept) == 1 else "") + right


def _has_elements(text: str, number: int) -> bool:
    """Whether a text is a list or tuple of so many elements."""
    try:
        parsed = ast.parse(f"({text}\n)", mode="eval").body
    except SyntaxError:
        return False
    return isinstance(parsed, (ast.List, ast.Tuple)) and len(parsed.elts) == number


def _gap(behind: str, before: str) -> str:
    """What stands between two elements: `behind` the one, and `before` the other.

    A comment on the line of an element is about that element, and so is one on the lines above.
    """
    line, newline, indent = behind.partition("\n")
    if not newline:
        return behind
    _, own_lines, above = before.partition("\n")
    return line + newline + (above if own_lines else indent.rpartition("\n")[2])


def _tail(behind: str, tail: str) -> str:
    """What ends a list whose last elements go: `behind` stands behind the last that is kept.

    A comment on the line of an element is about that element.
    """
    line, newline, indent = behind.partition("\n")
    last = tail.rpartition("\n")[2]
    if last == tail and "#" not in line:
        return tail
    comment = line.rstrip("\r") if newline else ""
    if "#" not in comment:
        comment = "," if "," in tail else ""
    ending = "\r\n" if "\r\n" in behind + tail else "\n"
    return comment + ending + (indent if last == tail else "") + last
