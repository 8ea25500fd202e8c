"""Findings as a page; with verifications beside them where several results are put together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from tfrewrite.reports import pages
from tfrewrite.reports.formats import PLAIN, View
from tfrewrite.reports.merged import Merged, Verified
from tfrewrite.reports.remarks import Category, Remark, remarks
from tfrewrite.reports.verification import charts, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfrewrite.reports.summary import Run

MOST_ROWS = 5_000
MOST_BARS = 40
LABELS = 180.0
"""The most room beside the bars of a chart."""

_PARTS = (
    ("Could not be handled", (Category.FAILURE,)),
    ("Rewrites and reports", (Category.REWRITE, Category.DONE, Category.REPORT)),
    ("Available with --allow", (Category.AVAILABLE,)),
    ("Exemptions without use", (Category.EXEMPTION,)),
    ("Refused", (Category.REFUSAL,)),
)
_KINDS = {Category.DONE: "done", Category.REPORT: "report"}


def render(run: Run, view: View = PLAIN) -> str:
    del view  # a page has room for everything
    return page(Merged(run))


def page(merged: Merged) -> str:
    """The page, to be written as UTF-8."""
    run = merged.run
    return pages.template("findings.html.jinja").render(
        style=pages.style(),
        policy=pages.policy(),
        headline=merged.headline(),
        facts=list(_facts(run)) if run else [],
        parts=list(_parts(run, read=merged.read)) if run else [],
        rules=run.by_rule() if run else [],
        reasons=run.by_reason() if run else [],
        verified=[_latest(history) for history in merged.verified],
        histories=[
            (history[-1].script, _chart(f"h{number}", history), [*map(_point, history)])
            for number, history in enumerate(merged.verified, 1)
            if len(history) > 1
        ],
    )


def _facts(run: Run) -> Iterator[tuple[str, str]]:
    counts = run.counts()
    names = {
        "files": "Files",
        "applicable": "Rewrites",
        "available": "Available",
        "reports": "Reports",
        "refusals": "Refusals",
        "failed": "Failed",
    }
    for key, title in names.items():
        yield title, f"{counts[key]:,}"


def _parts(run: Run, *, read: bool) -> Iterator[tuple[str, int, bool, list[tuple[str, ...]]]]:
    """Title, number, whether it is open, and the rows that are shown."""
    found = remarks(run, read=read)
    room = MOST_ROWS
    for title, categories in _PARTS:
        group = [one for one in found if one.category in categories]
        if group:
            rows = [_row(one) for one in group[:room]]
            room -= len(rows)
            yield title, len(group), categories[0] is not Category.REFUSAL, rows


def _row(one: Remark) -> tuple[str, ...]:
    kind = _KINDS.get(one.category, "")
    label = ", ".join(part for part in (kind, one.label) if part)
    place = f"{one.path}:{one.span.line}"
    return (place, one.rule, one.name, label, one.message, *one.more)


def _latest(history: Sequence[Verified]) -> tuple[str, ...]:
    return (history[-1].script, *_point(history[-1])[1:], history[-1].headline)


def _point(one: Verified) -> tuple[str, ...]:
    ratio = words.factor(one.ratio.value) if one.ratio else ""
    interval = words.interval(one.ratio) if one.ratio else ""
    return (one.source, one.verdict, one.contract, one.speed.replace("-", " "), ratio, interval)


def _chart(identity: str, history: Sequence[Verified]) -> Markup:
    rows = [(_label(one.source), one.ratio) for one in history[-MOST_BARS:] if one.ratio]
    if not rows:
        return Markup()
    names = max(charts.NAMES, *(_width(label) for label, _ in rows))
    title = "Original / rewritten in each report: right of 1 is faster"
    # The charts escape what they write themselves.
    return Markup(charts.intervals(identity, title, rows, names=names))  # noqa: S704


def _label(source: str) -> str:
    """The end of a report's name, which tells days apart, as far as there is room."""
    name = label = source.rpartition("/")[2].removesuffix(".json")
    while _width(label) > LABELS:
        name = name[1:]
        label = f"\u2026{name}"
    return label


def _width(label: str) -> float:
    """What a name takes on a small screen, in the units of a chart; rather too much."""
    return sum(
        10.0 if one.isascii() and not one.isupper() and one not in "mw@%" else 15.5 for one in label
    )
