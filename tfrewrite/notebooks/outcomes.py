"""What was found in the text of a notebook, as its owner sees it: by cell, and by place on disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tfrewrite.model import CellChange, Finding, Outcome, Span
from tfrewrite.notebooks.notebook import Notebook
from tfrewrite.policy import Chooser


def of_notebook(notebook: Notebook, outcome: Outcome) -> Outcome:
    """The outcome of a notebook for that of its text; `before` and `after` are its JSON."""
    made = [one for one in outcome.findings if one.touched]
    refusals = []
    for refused in outcome.refusals:
        span, cell = notebook.on_disk(refused.span)
        refusals.append(replace(refused, span=span, cell=cell))
    notices = []
    for notice in outcome.notices:
        span, cell = notebook.on_disk(notice.span)
        notices.append(replace(notice, span=span, cell=cell))
    return replace(
        outcome,
        findings=tuple(_on_disk(notebook, one) for one in outcome.findings),
        refusals=tuple(refusals),
        notices=tuple(notices),
        before=notebook.document,
        after=notebook.rewritten(outcome.after),
        cells=tuple(_changes(notebook, notebook.text, outcome.after, made)),
    )


def by_cell(notebook: Notebook, choose: Chooser) -> Chooser:
    """Asks about a rewrite of the text as about one of cells."""

    def chosen(finding: Finding, before: str, after: str) -> bool:
        changes = list(_changes(notebook, before, after, [finding]))
        old, new = (
            "\n".join(getattr(one, side).rstrip("\n") + "\n" for one in changes)
            for side in ("before", "after")
        )
        return choose(_on_disk(notebook, finding), old, new)

    return chosen


def _on_disk(notebook: Notebook, finding: Finding) -> Finding:
    span, cell = notebook.on_disk(finding.span)
    lines = {notebook.on_disk(Span(line, 0, line, 0))[0].line for line in finding.touched}
    return replace(finding, span=span, cell=cell, touched=tuple(sorted(lines)))


def _changes(
    notebook: Notebook, before: str, after: str, made: Sequence[Finding]
) -> Iterator[CellChange]:
    old, new = notebook.sources(before), notebook.sources(after)
    for index, cell in enumerate(notebook.cells):
        if old[index] != new[index]:
            findings = tuple(_in_cell(notebook, index, made))
            yield CellChange(cell.number, old[index], new[index], findings)


def _in_cell(notebook: Notebook, index: int, made: Sequence[Finding]) -> Iterator[Finding]:
    """The findings whose edits touch a cell, with their places in it."""
    for finding in made:
        places = [notebook.place(line, 0) for line in finding.touched]
        lines = tuple(line for cell, line, _ in places if cell == index)
        if lines:
            yield replace(finding, span=Span(lines[0], 0, lines[0], 0), touched=lines)
