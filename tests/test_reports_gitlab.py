"""GitLab's code quality report."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given

from report_samples import ODD_RUNS, applied, everything
from tfrewrite.reports import gitlab
from tfrewrite.reports.remarks import remarks
from tfrewrite.reports.safe import sound
from tfrewrite.reports.summary import Run

SEVERITIES = {"info", "minor", "major", "critical", "blocker"}


def read(report: str) -> list[dict[str, Any]]:
    """What GitLab asks of a report, checked."""
    issues: list[dict[str, Any]] = json.loads(report)
    for issue in issues:
        assert issue["severity"] in SEVERITIES
        for name in ("description", "check_name", "fingerprint"):
            assert isinstance(issue[name], str) and issue[name]
        assert isinstance(issue["location"]["path"], str)
        assert issue["location"]["lines"]["begin"] >= 1
        assert issue["location"]["lines"]["end"] >= issue["location"]["lines"]["begin"]
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    return issues


def test_everything() -> None:
    issues = read(gitlab.render(everything()))
    assert [
        (one["check_name"], one["severity"], one["location"]["lines"]["begin"]) for one in issues
    ] == [
        ("TFR902", "minor", 1),
        ("TFR901", "minor", 1),
        ("TFR901/starred", "info", 3),
        ("TFR901", "info", 4),
        ("TFR904", "minor", 5),
        ("unused-exemption", "info", 6),
        ("failure", "major", 7),
    ]
    assert issues[1]["description"] == "TFR901 rename-old (exact): old -> new"
    assert issues[1]["content"]["body"] == "old -> new\nbecause they are the same"
    assert issues[1]["location"]["path"] == "m/x.py"


def test_what_is_done_is_no_issue() -> None:
    assert [one["check_name"] for one in read(gitlab.render(applied()))][:1] == ["TFR901/starred"]


def test_nothing_is_an_empty_list() -> None:
    assert json.loads(gitlab.render(Run(()))) == []


@given(ODD_RUNS)
def test_odd_text_comes_through(run: Run) -> None:
    one_file = Run(run.outcomes[:1])
    report = gitlab.render(one_file)
    assert report.isascii()
    issues = read(report)
    for issue, meant in zip(issues, remarks(one_file), strict=True):
        assert issue["content"]["body"] == sound(meant.text)
        assert issue["location"]["path"] == sound(meant.path)
        issue["content"]["body"].encode("utf-8")
