"""JUnit's XML, which most CI systems show: a suite for each file, a case for each remark.

What is to be done fails; what is refused or only available is skipped, with the reason; a file that
could not be handled is an error, and one with nothing to do passes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from tfrewrite.model import Status
from tfrewrite.reports.formats import PLAIN, View
from tfrewrite.reports.paths import relative
from tfrewrite.reports.remarks import Category, Remark, remarks_on

if TYPE_CHECKING:
    from tfrewrite.model import Outcome
    from tfrewrite.reports.summary import Run

_ELEMENTS = {
    Category.REWRITE: "failure",
    Category.REPORT: "failure",
    Category.EXEMPTION: "failure",
    Category.AVAILABLE: "skipped",
    Category.REFUSAL: "skipped",
    Category.FAILURE: "error",
    Category.DONE: "",
}
# XML 1.0 has no way to write these.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class _Case:
    """A case; `element` tells what is the matter with it, and is empty where it passes."""

    name: str
    line: int = 1
    element: str = ""
    kind: str = ""
    message: str = ""
    text: str = ""


def render(run: Run, view: View = PLAIN) -> str:
    """The document; counts stand at each level."""
    del view
    suites = [(relative(outcome.path), _cases(outcome)) for outcome in run.outcomes]
    counts = _counts([case for _, cases in suites for case in cases])
    lines = ['<?xml version="1.0" encoding="utf-8"?>']
    lines.append(f'<testsuites name="tfrewrite" {counts} time="{run.elapsed_s:.3f}">')
    for path, cases in suites:
        lines.append(f'  <testsuite name="{_text(path)}" {_counts(cases)}>')
        lines.extend(line for case in cases for line in _lines(_text(path), case))
        lines.append("  </testsuite>")
    lines.append("</testsuites>")
    return "\n".join(lines) + "\n"


def _cases(outcome: Outcome) -> list[_Case]:
    if outcome.status is Status.SKIPPED:
        return [_Case("not looked at", element="skipped", kind="skipped", message=outcome.error)]
    cases = [_case(remark) for remark in remarks_on(outcome)]
    return cases or [_Case("nothing to do")]


def _case(remark: Remark) -> _Case:
    return _Case(
        f"{remark.title}, line {remark.span.line}",
        remark.span.line,
        _ELEMENTS[remark.category],
        remark.label or remark.category.value,
        remark.message,
        remark.text,
    )


def _lines(path: str, case: _Case) -> Iterator[str]:
    place = f'classname="{path}" file="{path}" line="{case.line}"'
    head = f'    <testcase name="{_text(case.name)}" {place}'
    if not case.element:
        yield f"{head}/>"
        return
    said = f'message="{_text(case.message)}" type="{_text(case.kind)}"'
    yield f"{head}>"
    yield f"      <{case.element} {said}>{_text(case.text)}</{case.element}>"
    yield "    </testcase>"


def _counts(cases: Sequence[_Case]) -> str:
    number = Counter(case.element for case in cases)
    return (
        f'tests="{len(cases)}" failures="{number["failure"]}" errors="{number["error"]}" '
        f'skipped="{number["skipped"]}"'
    )


def _text(text: str) -> str:
    """In an attribute or an element. White space is numbered, for readers would change it."""
    escaped = escape(_UNWRITABLE.sub("\ufffd", text))
    return escaped.replace("\r", "&#13;").replace("\n", "&#10;").replace("\t", "&#9;")
