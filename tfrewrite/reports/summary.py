"""What the outcomes of a run come to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.model import Contract, Finding, Kind, Outcome, Refused, Status

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

    def by_contract(self) -> list[tuple[str, int, int]]:
        """For each contract that a rewrite has: how many are to be made or done, and available."""
        rewrites = [one for one in self.findings if one.contract is not None]
        found = Counter(one.contract for one in rewrites if not is_available(one))
        available = Counter(one.contract for one in rewrites if is_available(one))
        return [
            (contract.value, found[contract], available[contract])
            for contract in Contract
            if contract in found or contract in available
        ]

    def by_reason(self) -> list[tuple[str, str, int]]:
        """For each rule and reason: how many refusals."""
        refused = Counter((one.rule, one.reason) for o in self.outcomes for one in o.refusals)
        return [(*reason, count) for reason, count in sorted(refused.items())]


def ordered(outcome: Outcome) -> list[Finding | Refused]:
    """What the rules say of a file, from its top to its end."""
    remarks: list[Finding | Refused] = [*outcome.findings, *outcome.refusals]
    return sorted(remarks, key=lambda one: (one.span, one.rule))


def headline(run: Run) -> str:
    """What a run comes to, in a line."""
    counts = run.counts()
    to_do = counts["applicable"] - counts["applied"]
    unused = counts["unused_exemptions"]
    parts = [
        plural(counts["applied"], "rewrite made", "rewrites made") if counts["applied"] else "",
        plural(to_do, "rewrite to make", "rewrites to make") if to_do else "",
        f"{counts['available']:,} available with --allow" if counts["available"] else "",
        plural(counts["reports"], "report") if counts["reports"] else "",
        plural(counts["refusals"], "refusal") if counts["refusals"] else "",
        plural(unused, "exemption without use", "exemptions without use") if unused else "",
        plural(counts["failed"], "file failed", "files failed") if counts["failed"] else "",
    ]
    found = listed(parts) or "nothing to do"
    skipped = f" ({counts['skipped']:,} skipped)" if counts["skipped"] else ""
    return f"{found} in {plural(counts['files'], 'file')}{skipped}"


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
