"""All that outcomes say, as one list of remarks: what most formats are written from."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from tfrewrite.model import Finding, Kind, Replacement, Span, Status
from tfrewrite.reports.paths import relative
from tfrewrite.reports.summary import is_available, ordered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.model import CellPlace, Notice, Outcome, Refused
    from tfrewrite.reports.summary import Run

WHOLE_FILE = Span(1, 0, 1, 0)
_LINES = re.compile(r"\blines? \d+")


class Category(str, Enum):
    """What there is to do about a remark."""

    REWRITE = "rewrite"
    DONE = "done"
    AVAILABLE = "available"
    REPORT = "report"
    REFUSAL = "refusal"
    EXEMPTION = "unused-exemption"
    FAILURE = "failure"


@dataclass(frozen=True)
class Remark:
    """One thing that is said of one place.

    `label` is the contract of a rewrite and the reason of a refusal. `more` is said below the
    message, in lines. `fingerprint` stays the same when the place moves to other lines.
    """

    category: Category
    path: str
    span: Span
    message: str
    rule: str = ""
    name: str = ""
    label: str = ""
    more: tuple[str, ...] = ()
    fix: tuple[Replacement, ...] = ()
    fingerprint: str = ""

    @property
    def title(self) -> str:
        if not self.rule:
            return "unused exemption" if self.category is Category.EXEMPTION else "tfrewrite"
        refused = " refused" if self.category is Category.REFUSAL else ""
        label = self.label or "report"
        return f"{self.rule} {self.name}{refused} ({label})"

    @property
    def text(self) -> str:
        """All that is said, over several lines."""
        return "\n".join([self.message, *self.more])


def remarks(run: Run, *, read: bool = False) -> list[Remark]:
    """In the order of the files and of their lines.

    What was `read` from a report has its names from there.
    """
    return [remark for outcome in run.outcomes for remark in remarks_on(outcome, read=read)]


def remarks_on(outcome: Outcome, *, read: bool = False) -> list[Remark]:
    seen: Counter[str] = Counter()
    path = outcome.path if read else relative(outcome.path)
    return [_told_apart(remark, seen) for remark in _remarks(outcome, path)]


def _remarks(outcome: Outcome, path: str) -> Iterator[Remark]:
    for one in ordered(outcome):
        yield _finding(path, one) if isinstance(one, Finding) else _refusal(path, one)
    for notice in outcome.notices:
        yield _notice(path, notice)
    if outcome.status is Status.FAILED:
        yield Remark(Category.FAILURE, path, _place(outcome.error), outcome.error)


def _finding(path: str, one: Finding) -> Remark:
    contract = one.contract.value if one.contract else ""
    more = [*_cell(one.cell), *([f"because {one.because}"] if one.because else [])]
    if is_available(one):
        category = Category.AVAILABLE
        more.append(f"available with --allow {contract}")
    elif one.kind is Kind.REPORT:
        category = Category.REPORT
    else:
        category = Category.DONE if one.applied else Category.REWRITE
    if one.changes:
        more.append(f"changes: {one.changes}")
    return Remark(
        category, path, one.span, one.message, one.rule, one.name, contract, tuple(more), one.fix
    )


def _refusal(path: str, one: Refused) -> Remark:
    return Remark(
        Category.REFUSAL,
        path,
        one.span,
        one.message,
        one.rule,
        one.name,
        label=one.reason,
        more=_cell(one.cell),
    )


def _notice(path: str, notice: Notice) -> Remark:
    more = _cell(notice.cell)
    return Remark(Category.EXEMPTION, path, notice.span, notice.message, more=more)


def _cell(place: CellPlace | None) -> tuple[str, ...]:
    """Where in a notebook it is, for those who see its cells and not its file."""
    return () if place is None else (f"in cell {place.number}, line {place.line}",)


def _place(error: str) -> Span:
    """The line that an error begins with, or the first one."""
    found = re.match(r"line (\d+):", error)
    line = max(1, int(found[1])) if found else 1
    return Span(line, 0, line, 0)


def _told_apart(remark: Remark, seen: Counter[str]) -> Remark:
    """The remark with a fingerprint: of what it says, and of how often that was said before."""
    said = _LINES.sub("line", remark.message)
    parts = (remark.category.value, remark.path, remark.rule, remark.label, said)
    if remark.category is Category.DONE:
        parts = (Category.REWRITE.value, *parts[1:])
    what = "\0".join(parts)
    seen[what] += 1
    digest = hashlib.sha256(f"{what}\0{seen[what]}".encode(errors="surrogatepass")).hexdigest()
    return replace(remark, fingerprint=digest[:32])
