"""Markdown for a comment below a pull request, or for the summary of a job.

A comment may have 65,536 characters. What does not fit is counted, refusals first to go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrewrite.reports import diff
from tfrewrite.reports.formats import PLAIN, View
from tfrewrite.reports.markup import code, folded, prose, table, that_fit
from tfrewrite.reports.merged import Merged, Verified
from tfrewrite.reports.remarks import Category, Remark, remarks
from tfrewrite.reports.summary import Run, plural
from tfrewrite.reports.verification import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LIMIT = 60_000
SHORTEST_DIFF = 400
_RATIO = "A ratio is the time of a step in the original / in the rewritten script.\n"

_PARTS = (
    ("Could not be handled", (Category.FAILURE,)),
    ("Rewrites and reports", (Category.REWRITE, Category.DONE, Category.REPORT)),
    ("Available with `--allow`", (Category.AVAILABLE,)),
    ("Exemptions without use", (Category.EXEMPTION,)),
    ("Refused", (Category.REFUSAL,)),
)
_FOLDED = {Category.AVAILABLE, Category.EXEMPTION, Category.REFUSAL}
_MARKS = {Category.DONE: "done", Category.REPORT: "report", Category.REFUSAL: "refused"}


def render(run: Run, view: View = PLAIN, *, limit: int = LIMIT) -> str:
    """A headline, a table for each kind of remark, and the diff where there is one."""
    return comment(Merged(run), statistics=view.statistics, limit=limit)


def comment(merged: Merged, *, statistics: bool = False, limit: int = LIMIT) -> str:
    """The same of several results, with their verifications first."""
    parts = [f"### {prose('tfrewrite: ' + merged.headline())}\n"]
    parts.extend(_verifications(merged, limit // 2))
    run = merged.run or Run(())
    parts.extend(_statistics(run) if statistics else ())
    found = remarks(run, read=merged.read)
    for title, categories in _PARTS:
        group = [one for one in found if one.category in categories]
        if group:
            left = limit - sum(len(part) + 1 for part in parts)
            parts.append(_part(title, group, left, hidden=categories[0] in _FOLDED))
    left = limit - sum(len(part) + 1 for part in parts)
    if left > SHORTEST_DIFF:
        parts.extend(_diff(run, left))
    return "\n".join(parts)


def _part(title: str, group: Sequence[Remark], room: int, *, hidden: bool) -> str:
    """A table of as many as there is room for."""
    make = _hidden if hidden else _shown
    rows = [_row(one) for one in group]
    count = len(rows)
    while count and len(text := make(title, rows[:count], len(rows))) > room:
        # Halves at least the excess each time; a table of thousands is cut in a few turns.
        count = min(count - 1, count * max(room, 0) // len(text))
    return text if count else make(title, [], len(rows))


def _shown(title: str, rows: Sequence[Sequence[str]], total: int) -> str:
    return "\n".join([f"**{title}**\n", *_table(rows, total)])


def _hidden(title: str, rows: Sequence[Sequence[str]], total: int) -> str:
    head = f"<details><summary>{title.replace('`', '')}: {total:,}</summary>\n"
    return "\n".join([head, *_table(rows, total), "</details>\n"])


def _table(rows: Sequence[Sequence[str]], total: int) -> Iterator[str]:
    if rows:
        yield from table(("Place", "Rule", "", "What and why"), rows)
    if len(rows) < total:
        more = plural(total - len(rows), "more line", "more lines")
        yield f"and {more}, in the other reports\n"


def _row(one: Remark) -> tuple[str, ...]:
    label = ": ".join(part for part in (_MARKS.get(one.category, ""), one.label) if part)
    return (
        code(f"{one.path}:{one.span.line}"),
        f"{code(one.rule)} {prose(one.name)}" if one.rule else "",
        prose(label),
        "; ".join(prose(part) for part in (one.message, *one.more)),
    )


def _verifications(merged: Merged, room: int) -> Iterator[str]:
    """The latest result of each script; below it, where there are several, all of them."""
    shown = ("Script", "Verdict", "Contract", "Speed", "Ratio", "95% interval", "Result")
    latest = [
        [code(one[-1].script), *_point(one[-1]), prose(one[-1].headline)] for one in merged.verified
    ]
    if latest:
        yield "\n".join([*_that_fit(shown, latest, room), _RATIO])
    for history in merged.verified:
        if len(history) > 1:
            rows = [[code(one.source), *_point(one)] for one in history]
            lines = _that_fit(("Report", *shown[1:-1]), rows, room // 4)
            title = f"<details><summary>History of {code(history[-1].script)}</summary>\n"
            text = "\n".join([title, *lines, "</details>\n"])
            room -= len(text)
            if room > 0:
                yield text


def _that_fit(titles: Sequence[str], rows: Sequence[Sequence[str]], room: int) -> Iterator[str]:
    """A table of the last rows, as many as there is room for."""
    kept = list(rows)
    while kept and sum(len(cell) + 3 for row in kept for cell in row) > room:
        del kept[: max(1, len(kept) // 8)]
    yield from table(titles, kept)
    if len(kept) < len(rows):
        yield f"and {plural(len(rows) - len(kept), 'more line', 'more lines')}, in the page\n"


def _point(one: Verified) -> tuple[str, ...]:
    ratio = one.ratio
    return (
        prose(one.verdict),
        prose(one.contract),
        prose(one.speed.replace("-", " ")),
        words.factor(ratio.value) if ratio else "",
        words.interval(ratio) if ratio else "",
    )


def _statistics(run: Run) -> Iterator[str]:
    counted: list[tuple[tuple[str, ...], list[tuple[object, ...]]]] = [
        (("Rule", "Name", "Findings", "Available", "Refusals"), [*run.by_rule()]),
        (("Contract", "Rewrites", "Available"), [*run.by_contract()]),
        (("Rule", "Reason", "Refusals"), [*run.by_reason()]),
    ]
    for titles, rows in counted:
        if rows:
            yield "\n".join(table(titles, [[prose(str(cell)) for cell in row] for row in rows]))


def _diff(run: Run, room: int) -> Iterator[str]:
    """The change as a whole, where the outcomes hold the texts."""
    whole = b"".join(diff.render(one) for one in run.outcomes if one.before != one.after)
    lines = whole.decode("utf-8", "replace").removesuffix("\n").split("\n")
    if whole:
        yield "\n".join(folded("Diff", "diff", that_fit(lines, room)))
