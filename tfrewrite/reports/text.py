"""The report for people: one line for each finding, with its reasons indented below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrewrite.model import Finding, Kind, Outcome, Status
from tfrewrite.reports.formats import PLAIN, View
from tfrewrite.reports.places import place
from tfrewrite.reports.safe import printable
from tfrewrite.reports.summary import Run, headline, ordered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def render(run: Run, view: View = PLAIN) -> str:
    """The whole report; each line ends in a newline."""
    return _lines([*_said(run, view), *_counts(run, view)])


def news(changed: Run, whole: Run, view: View = PLAIN) -> str:
    """What is said now of some files that changed, and what it comes to with all the others."""
    clean = [
        f"{outcome.path}: nothing to do"
        for outcome in changed.outcomes
        if outcome.status is Status.UNCHANGED and not (view.quiet or any(_outcome(outcome)))
    ]
    return _lines([*_said(changed, view), *clean, *_counts(whole, view)])


def _said(run: Run, view: View) -> Iterator[str]:
    for outcome in run.outcomes:
        if not view.quiet:
            yield from _outcome(outcome, verbose=view.verbose)


def _counts(run: Run, view: View) -> Iterator[str]:
    if view.statistics:
        yield from statistics(run)
    if not view.quiet:
        yield f"{headline(run)} ({run.elapsed_s:.2f} s)"


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{printable(line)}\n" for line in lines)


def problems(run: Run) -> Iterator[str]:
    """One line for each file that could not be handled."""
    for outcome in run.outcomes:
        if outcome.status is Status.FAILED:
            yield printable(f"{outcome.path}: error: {outcome.error}")


def _outcome(outcome: Outcome, *, verbose: bool = False) -> Iterator[str]:
    if verbose:
        reason = f": {outcome.error}" if outcome.error else ""
        yield f"{outcome.path}: {outcome.status.value}{reason}"
    for remark in ordered(outcome):
        if isinstance(remark, Finding):
            yield from _finding(outcome.path, remark)
        else:
            where = place(outcome.path, remark, column=False)
            yield f"{where}: {remark.rule} refused ({remark.reason}): {remark.message}"
    for notice in outcome.notices:
        where = place(outcome.path, notice)
        yield f"{where}: warning: {notice.message}"


def _finding(path: str, finding: Finding) -> Iterator[str]:
    where = place(path, finding)
    kind = finding.contract.value if finding.contract else "report"
    done = " (done)" if finding.applied else ""
    yield f"{where}: {finding.rule} [{kind}] {finding.message}{done}"
    if finding.because:
        yield f"    because {finding.because}"
    if finding.kind is Kind.REWRITE and not finding.applicable:
        changes = f": {finding.changes}" if finding.changes else ""
        yield f"    available with --allow {kind}{changes}"
    elif finding.changes:
        yield f"    changes: {finding.changes}"


def statistics(run: Run) -> Iterator[str]:
    """Counts for each rule, contract and reason."""
    rules = run.by_rule()
    if rules:
        width = max(len(name) for _, name, *_ in rules)
        yield f"{'rule':<7} {'':<{width}} {'findings':>8} {'available':>9} {'refused':>7}"
    for code, name, found, available, refused in rules:
        yield f"{code:<7} {name:<{width}} {found:>8} {available:>9} {refused:>7}"
    contracts = run.by_contract()
    if contracts:
        yield f"{'contract':<10} {'rewrites':>8} {'available':>9}"
    for contract, found, available in contracts:
        yield f"{contract:<10} {found:>8} {available:>9}"
    reasons = run.by_reason()
    if reasons:
        width = max(len(reason) for _, reason, _ in reasons)
        yield f"{'refused':<7} {'reason':<{width}} {'sites':>5}"
    for code, reason, count in reasons:
        yield f"{code:<7} {reason:<{width}} {count:>5}"
