"""What the outcomes of a run come to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.model import Finding, Kind, Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Run:
    """The outcomes of all files, and how long they took."""

    outcomes: tuple[Outcome, ...]
    elapsed_s: float = 0.0

    @property
    def findings(self) -> list[Finding]:
        return [finding for outcome in self.outcomes for finding in outcome.findings]

    def counts(self) -> dict[str, int]:
        """The numbers that every report ends in."""
        statuses = Counter(outcome.status for outcome in self.outcomes)
        findings = self.findings
        return {
            "files": len(self.outcomes),
            **{status.value.replace("-", "_"): statuses[status] for status in Status},
            "findings": len(findings),
            "applicable": sum(finding.applicable for finding in findings),
            "applied": sum(finding.applied for finding in findings),
            "available": sum(is_available(finding) for finding in findings),
            "reports": sum(finding.kind is Kind.REPORT for finding in findings),
            "refusals": sum(len(outcome.refusals) for outcome in self.outcomes),
            "unused_exemptions": sum(len(outcome.notices) for outcome in self.outcomes),
        }

    def by_rule(self) -> list[tuple[str, str, int, int, int]]:
        """For each rule that had anything to say: code, name, findings, available, refusals."""
        found = Counter((one.rule, one.name) for one in self.findings if not is_available(one))
        available = Counter((one.rule, one.name) for one in self.findings if is_available(one))
        refused = Counter((one.rule, one.name) for o in self.outcomes for one in o.refusals)
        return [
            (*rule, found[rule], available[rule], refused[rule])
            for rule in sorted({*found, *available, *refused})
        ]


def is_available(finding: Finding) -> bool:
    """Whether it is a rewrite that would be made, were its contract allowed."""
    return finding.kind is Kind.REWRITE and not finding.applicable


def exit_code(run: Run, *, pending_matters: bool) -> int:
    """0 where nothing is to do; 1 for findings or pending changes; 2 for a file that failed."""
    if any(outcome.status is Status.FAILED for outcome in run.outcomes):
        return 2
    pending = any(not is_available(finding) for finding in run.findings)
    return 1 if pending_matters and pending else 0


def plural(count: int, word: str, words: str = "") -> str:
    return f"{count:,} {word if count == 1 else words or word + 's'}"


def listed(words: Sequence[str]) -> str:
    return ", ".join(word for word in words if word)
