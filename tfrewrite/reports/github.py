"""Annotations of GitHub Actions: one workflow command for each remark, then a line in words.

Written to the log of a step, they are shown beside the lines of a pull request; GitHub shows ten of
each level for a step. Everything is in the other reports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrewrite.reports.formats import PLAIN, View
from tfrewrite.reports.remarks import Category, Remark, remarks
from tfrewrite.reports.safe import printable
from tfrewrite.reports.summary import headline

if TYPE_CHECKING:
    from tfrewrite.reports.summary import Run

_LEVELS = {
    Category.REWRITE: "warning",
    Category.REPORT: "warning",
    Category.EXEMPTION: "warning",
    Category.DONE: "notice",
    Category.AVAILABLE: "notice",
    Category.REFUSAL: "notice",
    Category.FAILURE: "error",
}


def render(run: Run, view: View = PLAIN) -> str:
    """What is most urgent comes first, because the log shows only so many."""
    del view
    levels = ("error", "warning", "notice")
    found = sorted(remarks(run), key=lambda one: levels.index(_LEVELS[one.category]))
    return "".join(f"{line}\n" for line in [*map(_command, found), headline(run)])


def _command(remark: Remark) -> str:
    span = remark.span
    properties = {
        "file": remark.path,
        "line": str(span.line),
        "endLine": str(max(span.line, span.end_line)),
        "title": remark.title,
    }
    if span.line == span.end_line:  # GitHub takes columns only within one line
        properties["col"] = str(span.column + 1)
    said = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_LEVELS[remark.category]} {said}::{_data(remark.text)}"


def _property(value: str) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")


def _data(value: str) -> str:
    """The text as the runner reads it; what else a terminal would obey is not written at all."""
    lines = value.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "%0A".join(printable(line).replace("%", "%25") for line in lines)
