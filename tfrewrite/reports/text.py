"""The report for people: one line for each finding, with its reasons indented below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrewrite.model import Finding, Kind, Outcome, Refused, Status
from tfrewrite.reports.places import place
from tfrewrite.reports.safe import printable
from tfrewrite.reports.summary import Run, listed, plural

if TYPE_CHECKING:
    from collections.abc import Iterator


def render(
    run: Run, *, quiet: bool = False, verbose: bool = False, statistics: bool = False
) -> str:
    """The whole report; each line ends in a newline."""
    lines: list[str] = []
    for outcome in run.outcomes:
        if not quiet:
            lines.extend(_outcome(outcome, verbose=verbose))
    if statistics:
        lines.extend(_statistics(run))
    if not quiet:
        lines.append(_summary(run))
    return "".join(f"{printable(line)}\n" for line in lines)


def problems(run: Run) -> Iterator[str]:
    """One line for each file that could not be handled."""
    for outcome in run.outcomes:
        if outcome.status is Status.FAILED:
            yield printable(f"{outcome.path}: error: {outcome.error}")


def _outcome(outcome: Outcome, *, verbose: bool) -> Iterator[str]:
    if verbose:
        reason = f": {outcome.error}" if outcome.error else ""
        yield f"{outcome.path}: {outcome.status.value}{reason}"
    remarks: list[Finding | Refused] = [*outcome.findings, *outcome.refusals]
    for remark in sorted(remarks, key=lambda one: (one.span, one.rule)):
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


def _statistics(run: Run) -> Iterator[str]:
    rows = run.by_rule()
    if rows:
        width = max(len(name) for _, name, *_ in rows)
        yield f"{'rule':<7} {'':<{width}} {'findings':>8} {'available':>9} {'refused':>7}"
    for code, name, found, available, refused in rows:
        yield f"{code:<7} {name:<{width}} {found:>8} {available:>9} {refused:>7}"


def _summary(run: Run) -> str:
    counts = run.counts()
    to_do = counts["applicable"] - counts["applied"]
    parts = [
        plural(counts["applied"], "rewrite made", "rewrites made") if counts["applied"] else "",
        plural(to_do, "rewrite to make", "rewrites to make") if to_do else "",
        f"{counts['available']:,} available with --allow" if counts["available"] else "",
        plural(counts["reports"], "report") if counts["reports"] else "",
        plural(counts["refusals"], "refusal") if counts["refusals"] else "",
        plural(counts["unused_exemptions"], "exemption without use", "exemptions without use")
        if counts["unused_exemptions"]
        else "",
        plural(counts["failed"], "file failed", "files failed") if counts["failed"] else "",
    ]
    found = listed(parts) or "nothing to do"
    return f"{found} in {plural(counts['files'], 'file')} ({run.elapsed_s:.2f} s)"
