"""SARIF 2.1.0, for code scanning and editors: results with the help of their rules, and fixes.

A refusal is informational: nothing is wrong at its place. What only `--allow` would rewrite is a
note. Files that could not be handled are notifications of the run, as the format wants it.
"""

from __future__ import annotations

import inspect
import json
import re
from typing import TYPE_CHECKING, Any

from tfrewrite import registry
from tfrewrite.reports import paths
from tfrewrite.reports.formats import PLAIN, View
from tfrewrite.reports.remarks import Category, Remark, remarks
from tfrewrite.reports.safe import sound
from tfrewrite.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfrewrite.model import Span
    from tfrewrite.reports.summary import Run
    from tfrewrite.rule import Rule

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {
    Category.REWRITE: "warning",
    Category.REPORT: "warning",
    Category.EXEMPTION: "note",
    Category.AVAILABLE: "note",
}
_LINK = re.compile(r"\[(?=[^\[\]]*\]\()")
_EXEMPTION_HELP = "A comment exempts what no rule finds; remove it."


def render(run: Run, view: View = PLAIN) -> str:
    """One run; regions count characters, from 1."""
    del view
    found = remarks(run)
    results = [one for one in found if one.category is not Category.FAILURE]
    failures = [one for one in found if one.category is Category.FAILURE]
    ids = sorted({_rule_id(one) for one in results})
    document = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "tfrewrite",
                        "version": __version__,
                        "rules": _rules(ids),
                    }
                },
                "invocations": [
                    {
                        "executionSuccessful": not failures,
                        "toolExecutionNotifications": [_notification(one) for one in failures],
                    }
                ],
                "columnKind": "unicodeCodePoints",
                "results": [_result(one, ids) for one in results],
            }
        ],
    }
    return json.dumps(document, indent=2) + "\n"


def _rule_id(remark: Remark) -> str:
    return sound(remark.rule) if remark.rule else remark.category.value


def _rules(ids: Sequence[str]) -> list[dict[str, Any]]:
    known = {rule.code: rule for rule in registry.all_rules()}
    return [_rule(known[one]) if one in known else _unknown(one) for one in ids]


def _rule(rule: type[Rule]) -> dict[str, Any]:
    documentation = inspect.cleandoc(rule.__doc__ or rule.name)
    summary = documentation.partition("\n")[0]
    reasons = [f"- `{reason}`: {said}" for reason, said in sorted(rule.reasons.items())]
    help_text = "\n".join(
        [documentation, *(["", "## Reasons of refusals", "", *reasons] if reasons else [])]
    )
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": _plain(summary)},
        "fullDescription": {"text": _plain(summary)},
        "help": {"text": _plain(help_text), "markdown": sound(help_text)},
        "defaultConfiguration": {"level": "warning"},
        "properties": {
            "contracts": [contract.value for contract in rule.contracts],
            "tags": ["performance"],
        },
    }


def _unknown(identity: str) -> dict[str, Any]:
    said = _EXEMPTION_HELP if identity == Category.EXEMPTION.value else identity
    return {"id": identity, "shortDescription": {"text": _plain(said)}}


def _result(remark: Remark, ids: Sequence[str]) -> dict[str, Any]:
    level = _LEVELS.get(remark.category)
    result: dict[str, Any] = {
        "ruleId": _rule_id(remark),
        "ruleIndex": ids.index(_rule_id(remark)),
        # The format allows no level but "none" for what is not a failure.
        "kind": "fail" if level else "informational",
        "level": level or "none",
        "message": {"text": _plain(_said(remark))},
        "locations": [_location(remark)],
        "partialFingerprints": {"tfrewrite/v1": remark.fingerprint},
        "properties": {"category": remark.category.value},
    }
    if remark.label:
        key = "reason" if remark.category is Category.REFUSAL else "contract"
        result["properties"][key] = sound(remark.label)
    if remark.fix:
        result["fixes"] = [_fix(remark)]
    return result


def _said(remark: Remark) -> str:
    refused = f"refused ({remark.label}): " if remark.category is Category.REFUSAL else ""
    return refused + remark.text


def _notification(remark: Remark) -> dict[str, Any]:
    return {
        "level": "error",
        "message": {"text": _plain(remark.message)},
        "locations": [_location(remark)],
    }


def _location(remark: Remark) -> dict[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": paths.uri(remark.path)},
            "region": _region(remark.span),
        }
    }


def _region(span: Span) -> dict[str, int]:
    region = {"startLine": span.line, "startColumn": span.column + 1}
    # A place in what other rewrites have made can end before it begins in the file on disk.
    if (span.end_line, span.end_column) > (span.line, span.column):
        region |= {"endLine": span.end_line, "endColumn": span.end_column + 1}
    return region


def _fix(remark: Remark) -> dict[str, Any]:
    return {
        "description": {"text": _plain(remark.message)},
        "artifactChanges": [
            {
                "artifactLocation": {"uri": paths.uri(remark.path)},
                "replacements": [
                    {
                        "deletedRegion": {
                            "startLine": one.span.line,
                            "startColumn": one.span.column + 1,
                            "endLine": one.span.end_line,
                            "endColumn": one.span.end_column + 1,
                        },
                        "insertedContent": {"text": sound(one.text)},
                    }
                    for one in remark.fix
                ],
            }
        ],
    }


def _plain(text: str) -> str:
    """A plain text message: only brackets before a parenthesis mean something else, a link.

    Braces stand for arguments where there are some; where there are none, readers show them.
    """
    return _LINK.sub(r"\\[", sound(text))
