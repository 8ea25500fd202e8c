"""Lines of a rewritten text are traced to the file on disk."""

from __future__ import annotations

from tfrewrite.line_map import LineMap, lines_of
from tfrewrite.model import Span


def test_lines_are_those_of_python() -> None:
    assert lines_of("a\r\nb\rc\nd\x0c\u2028e") == ["a", "b", "c", "d\x0c\u2028e"]


def test_lines_below_a_change_are_traced() -> None:
    lines = LineMap("a\nb\nc\nd\n")
    lines.advance("a\nX\nY\nc\nd\n")
    assert [lines.origin(number) for number in (1, 2, 3, 4, 5)] == [1, 2, 2, 3, 4]
    lines.advance("N\na\nX\nd\n")
    assert [lines.origin(number) for number in (1, 2, 3, 4)] == [1, 1, 2, 4]


def test_what_is_inserted_belongs_to_the_line_that_it_stands_before() -> None:
    lines = LineMap("a\nb\n")
    lines.advance("a\nnew\nnew\nb\n")
    assert [lines.origin(number) for number in (1, 2, 3, 4)] == [1, 2, 2, 2]


def test_spans_keep_their_columns() -> None:
    lines = LineMap("a\nb\n")
    lines.advance("new\na\nb\n")
    assert lines.original(Span(2, 3, 3, 4)) == Span(1, 3, 2, 4)


def test_everything_may_go() -> None:
    lines = LineMap("a\nb")
    lines.advance("")
    assert lines.origin(1) in {1, 2}
    assert lines.origin(99) in {1, 2}


def test_columns_end_where_the_lines_on_disk_end() -> None:
    lines = LineMap("a\nlonger\n")
    lines.advance("a much longer one\nlonger\n")
    assert lines.original(Span(1, 2, 1, 17)) == Span(1, 2, 1, 17)
    assert lines.on_disk(Span(1, 2, 1, 17)) == Span(1, 1, 1, 1)
    assert lines.on_disk(Span(1, 0, 2, 6)) == Span(1, 0, 2, 6)
