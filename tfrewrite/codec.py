"""Outcomes as JSON and back, for the cache; positions and words only, never a file's text."""

from __future__ import annotations

import json
from typing import Any

from tfrewrite.model import (
    CellPlace,
    Contract,
    Finding,
    Kind,
    Notice,
    Outcome,
    Refused,
    Span,
    Status,
)

_NEW_CODE = {"edits", "fix"}


def encode(outcome: Outcome) -> str:
    """An outcome without its path and texts; the commonest, where nothing was found, is empty."""
    body = {
        "findings": [_finding(one) for one in outcome.findings],
        "refusals": [
            [one.rule, one.name, _span(one.span), one.reason, one.message, _cell(one.cell)]
            for one in outcome.refusals
        ],
        "notices": [[_span(one.span), one.message, _cell(one.cell)] for one in outcome.notices],
    }
    if outcome.status is Status.UNCHANGED and not any(body.values()):
        return ""
    return json.dumps({"status": outcome.status.value, **body}, ensure_ascii=False)


def decode(text: str, path: str) -> Outcome:
    """The outcome for the file at `path`; `ValueError` and its like where the text is damaged."""
    if not text:
        return Outcome(path, Status.UNCHANGED)
    body = json.loads(text)
    return Outcome(
        path,
        Status(body["status"]),
        tuple(_to_finding(one) for one in body["findings"]),
        tuple(
            Refused(rule, name, Span(*span), reason, message, _to_cell(cell))
            for rule, name, span, reason, message, cell in body["refusals"]
        ),
        tuple(
            Notice(Span(*span), message, _to_cell(cell)) for span, message, cell in body["notices"]
        ),
    )


def _span(span: Span) -> list[int]:
    return [span.line, span.column, span.end_line, span.end_column]


def _cell(cell: CellPlace | None) -> list[int] | None:
    return None if cell is None else [cell.number, cell.line, cell.column]


def _to_cell(cell: list[int] | None) -> CellPlace | None:
    return None if cell is None else CellPlace(*cell)


def _finding(finding: Finding) -> dict[str, Any]:
    kept = {name: value for name, value in vars(finding).items() if name not in _NEW_CODE}
    return {
        **kept,
        "span": _span(finding.span),
        "kind": finding.kind.value,
        "contract": finding.contract.value if finding.contract else None,
        "cell": _cell(finding.cell),
    }


def _to_finding(body: dict[str, Any]) -> Finding:
    contract = body["contract"]
    return Finding(
        **{
            **body,
            "span": Span(*body["span"]),
            "kind": Kind(body["kind"]),
            "contract": Contract(contract) if contract else None,
            "touched": tuple(body["touched"]),
            "cell": _to_cell(body["cell"]),
        }
    )
