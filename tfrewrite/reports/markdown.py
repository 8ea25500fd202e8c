"""Markdown for a comment below a pull request, or for the summary of a job.

A comment may have 65,536 characters. What does not fit is counted, refusals first to go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrewrite.reports import diff
from tfrewrite.reports.formats import PLAIN, View
from tfrewrite.reports.markup import code, folded, prose, table, that_fit
from tfrewrite.reports.remarks import Category, Remark, remarks
from tfrewrite.reports.summary import headline, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfrewrite.reports.summary import Run

LIMIT = 60_000
SHORTEST_DIFF = 400

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
    parts = [f"### {prose('tfrewrite: ' + headline(run))}\n"]
    parts.extend(_statistics(run) if view.statistics else ())
    found = remarks(run)
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
