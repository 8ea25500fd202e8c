"""What outcomes say, as one list."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given

from report_samples import ODD_RUNS, SOURCE, applied, everything
from tfrewrite.engine import rewrite_text
from tfrewrite.model import Outcome, Status
from tfrewrite.reports.remarks import Remark, remarks
from tfrewrite.reports.summary import Run, headline
from toys import TOYS


def said(run: Run) -> list[tuple[str, str, int, str, str]]:
    return [(r.category.value, r.path, r.span.line, r.rule, r.label) for r in remarks(run)]


def test_everything_in_order() -> None:
    assert said(everything()) == [
        ("rewrite", "m/x.py", 1, "TFR902", "rounding"),
        ("rewrite", "m/x.py", 1, "TFR901", "exact"),
        ("refusal", "m/x.py", 3, "TFR901", "starred"),
        ("available", "m/x.py", 4, "TFR901", "shifted"),
        ("report", "m/x.py", 5, "TFR904", ""),
        ("unused-exemption", "m/x.py", 6, "", ""),
        ("failure", "bad.py", 7, "", ""),
    ]
    assert [category for category, *_ in said(applied())][:2] == ["done", "done"]


def test_titles_and_texts() -> None:
    found = remarks(everything())
    assert [one.title for one in found] == [
        "TFR902 merge-pairs (rounding)",
        "TFR901 rename-old (exact)",
        "TFR901 rename-old refused (starred)",
        "TFR901 rename-old (shifted)",
        "TFR904 report-bug (report)",
        "unused exemption",
        "tfrewrite",
    ]
    assert found[3].text == (
        "old -> new\nbecause same\navailable with --allow shifted\n"
        "changes: `shift` is read one step late"
    )


def test_the_headline() -> None:
    assert headline(everything()) == (
        "2 rewrites to make, 1 available with --allow, 1 report, 1 refusal, 1 exemption without "
        "use, 1 file failed in 4 files (1 skipped)"
    )
    assert headline(Run(())) == "nothing to do in 0 files"
    passed_over = Outcome("old.ipynb", Status.SKIPPED, error="its kernel is Python 2")
    assert headline(Run((passed_over,))) == "nothing to do in 1 file (1 skipped)"


def fingerprints(source: str, path: str = "m/x.py") -> list[str]:
    return [one.fingerprint for one in remarks(Run((rewrite_text(source, TOYS, path=path),)))]


def test_fingerprints_stay_where_lines_move() -> None:
    before = fingerprints(SOURCE)
    assert len(set(before)) == len(before) == 6
    assert fingerprints("import os\n\n\n" + SOURCE) == before
    assert not set(fingerprints(SOURCE, "other.py")) & set(before)
    twice = fingerprints("old(1)\nold(1)\n")
    assert len(set(twice)) == 2
    assert fingerprints("old(1)\n") == twice[:1]


def test_numbers_of_lines_in_a_message_do_not_count() -> None:
    (outcome,) = everything().outcomes[:1]
    both = [
        replace(outcome, findings=(replace(outcome.findings[0], message=f"as in line {number}"),))
        for number in (3, 14)
    ]
    first, second = (remarks(Run((one,)))[0] for one in both)
    assert first.message != second.message
    assert first.fingerprint == second.fingerprint


def test_a_rewrite_keeps_its_fingerprint_once_made() -> None:
    todo = [one.fingerprint for one in remarks(everything())]
    assert [one.fingerprint for one in remarks(applied())] == todo[:6]


@given(ODD_RUNS)
def test_all_are_told_apart(run: Run) -> None:
    found: list[Remark] = remarks(Run(run.outcomes[:1]))
    assert len({one.fingerprint for one in found}) == len(found)
