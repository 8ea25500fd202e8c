"""The report for programs: one JSON document, whose `schema_version` grows when it changes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tfrewrite.reports.formats import PLAIN, View
from tfrewrite.reports.paths import relative

if TYPE_CHECKING:
    from tfrewrite.model import CellPlace, Finding, Outcome, Refused
    from tfrewrite.reports.summary import Run

SCHEMA_VERSION = 1


def render(run: Run, view: View = PLAIN) -> str:
    """Lines and columns are those of the file, and count from 1.

    What is in a notebook also has `cell` (of all its cells, from 1), `cell_line` and `cell_column`.
    """
    del view
    outcomes = [replace(one, path=relative(one.path)) for one in run.outcomes]
    document = {
        "schema_version": SCHEMA_VERSION,
        "findings": [_finding(one.path, finding) for one in outcomes for finding in one.findings],
        "refusals": [_refusal(one.path, refused) for one in outcomes for refused in one.refusals],
        "unused_exemptions": [notice for one in outcomes for notice in _notices(one)],
        "files": [
            {"path": one.path, "status": one.status.value, "error": one.error} for one in outcomes
        ],
        "statistics": _statistics(run),
        "summary": {**run.counts(), "elapsed_s": round(run.elapsed_s, 3)},
    }
    # Escaped to ASCII, so that no file name and no stray surrogate can make it invalid.
    return json.dumps(document, indent=2) + "\n"


def _finding(path: str, finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "name": finding.name,
        "path": path,
        "line": finding.span.line,
        "column": finding.span.column + 1,
        "end_line": finding.span.end_line,
        **_cell(finding.cell),
        "message": finding.message,
        "because": finding.because,
        "changes": finding.changes,
        "contract": finding.contract.value if finding.contract else None,
        "applicable": finding.applicable,
        "applied": finding.applied,
        "kind": finding.kind.value,
    }


def _refusal(path: str, refused: Refused) -> dict[str, Any]:
    return {
        "rule": refused.rule,
        "name": refused.name,
        "path": path,
        "line": refused.span.line,
        "column": refused.span.column + 1,
        "end_line": refused.span.end_line,
        **_cell(refused.cell),
        "reason": refused.reason,
        "message": refused.message,
    }


def _cell(cell: CellPlace | None) -> dict[str, int]:
    if cell is None:
        return {}
    return {"cell": cell.number, "cell_line": cell.line, "cell_column": cell.column + 1}


def _notices(outcome: Outcome) -> list[dict[str, Any]]:
    return [
        {
            "path": outcome.path,
            "line": notice.span.line,
            "column": notice.span.column + 1,
            **_cell(notice.cell),
            "message": notice.message,
        }
        for notice in outcome.notices
    ]


def _statistics(run: Run) -> dict[str, Any]:
    return {
        "rules": [
            {"rule": code, "name": name, "findings": found, "available": more, "refusals": refused}
            for code, name, found, more, refused in run.by_rule()
        ],
        "contracts": [
            {"contract": contract, "rewrites": found, "available": more}
            for contract, found, more in run.by_contract()
        ],
        "reasons": [
            {"rule": code, "reason": reason, "refusals": count}
            for code, reason, count in run.by_reason()
        ],
    }
