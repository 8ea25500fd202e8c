"""What each single rewrite would replace in the file on disk, for those who make it themselves.

An editor or a code host that shows a finding can offer it by itself. So its replacements are those
of the rewrite alone, and not a part of what all rewrites together make of the file. A rewrite that
was found in what others had made of the file has none.
"""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import SequenceMatcher
from functools import partial
from typing import TYPE_CHECKING

from tfrewrite import syntax
from tfrewrite.edits import EditError, apply_edits
from tfrewrite.model import Replacement, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfrewrite.model import Finding, Outcome

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def with_fixes(outcome: Outcome) -> Outcome:
    """The outcome with the replacements of each rewrite that can be made alone."""
    if not any(one.edits and not one.applied for one in outcome.findings):
        return outcome
    fix: Callable[[Finding], tuple[Replacement, ...]] = partial(_fix, outcome.before)
    if _is_notebook(outcome):
        fix = _of_notebook(outcome.before)
    return replace(
        outcome,
        findings=tuple(
            replace(one, fix=fix(one)) if one.edits and not one.applied else one
            for one in outcome.findings
        ),
    )


def _is_notebook(outcome: Outcome) -> bool:
    return any(one.cell is not None for one in outcome.findings)


def _fix(text: str, finding: Finding) -> tuple[Replacement, ...]:
    try:
        after = apply_edits(text, finding.edits)
        syntax.check_result(after)
    except (EditError, syntax.NotPython, RecursionError):
        return ()
    return tuple(replacements(text, after))


def _of_notebook(document: str) -> Callable[[Finding], tuple[Replacement, ...]]:
    """Makes the fixes of a notebook that was read before: edits name places of its code."""
    from tfrewrite.notebooks.notebook import Notebook  # noqa: PLC0415

    notebook = Notebook.read(document)

    def fix(finding: Finding) -> tuple[Replacement, ...]:
        try:
            after = apply_edits(notebook.text, finding.edits)
            syntax.check_result(after)
            notebook.require_fit(notebook.text, [finding.edits], after)
        except (EditError, syntax.NotPython, RecursionError):
            return ()
        return tuple(
            Replacement(Span(*notebook.position(start), *notebook.position(end)), new)
            for start, end, new in (
                _shortened(document, *change) for change in notebook.changes(after)
            )
        )

    return fix


def _shortened(document: str, start: int, end: int, new: str) -> tuple[int, int, str]:
    """The same change, without what stays as it is at its begin and its end."""
    old = document[start:end]
    head = _alike(old, new)
    tail = _alike(old[head:][::-1], new[head:][::-1])
    return start + head, end - tail, new[head : len(new) - tail]


def _alike(one: str, other: str) -> int:
    """With how many characters both begin."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def replacements(before: str, after: str) -> Iterator[Replacement]:
    """What turns one text into the other, line by line, from the top."""
    old, new = _LINE.findall(before), _LINE.findall(after)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag != "equal":
            span = Span(*_place(old, start), *_place(old, end))
            yield Replacement(span, "".join(new[new_start:new_end]))


def _place(lines: list[str], index: int) -> tuple[int, int]:
    """Where the line with this index begins; past the last one, where the text ends."""
    if index == len(lines) and lines and not lines[-1].endswith("\n"):
        return index, len(lines[-1])
    return index + 1, 0
