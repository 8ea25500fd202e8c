"""GitLab's code quality report: a JSON list, which a merge request compares with its target's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tfrewrite.reports.formats import PLAIN, View
from tfrewrite.reports.remarks import Category, Remark, remarks
from tfrewrite.reports.safe import sound

if TYPE_CHECKING:
    from tfrewrite.reports.summary import Run

_SEVERITIES = {
    Category.REWRITE: "minor",
    Category.REPORT: "minor",
    Category.EXEMPTION: "info",
    Category.AVAILABLE: "info",
    Category.REFUSAL: "info",
    Category.FAILURE: "major",
}


def render(run: Run, view: View = PLAIN) -> str:
    """What was rewritten already is no issue of the code any more."""
    del view
    issues = [_issue(one) for one in remarks(run) if one.category is not Category.DONE]
    return json.dumps(issues, indent=2) + "\n"


def _issue(remark: Remark) -> dict[str, Any]:
    title = f"{remark.title}: " if remark.rule else ""
    return {
        "type": "issue",
        "description": sound(f"{title}{remark.message}"),
        "content": {"body": sound(remark.text)},
        "check_name": sound(_check(remark)),
        "categories": ["Performance"],
        "severity": _SEVERITIES[remark.category],
        "fingerprint": remark.fingerprint,
        "location": {
            "path": sound(remark.path),
            "lines": {
                "begin": remark.span.line,
                "end": max(remark.span.line, remark.span.end_line),
            },
        },
    }


def _check(remark: Remark) -> str:
    if not remark.rule:
        return remark.category.value
    return f"{remark.rule}/{remark.label}" if remark.category is Category.REFUSAL else remark.rule
