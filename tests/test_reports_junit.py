"""JUnit's XML, read back by junitparser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from junitparser import Error, Failure, JUnitXml, Skipped

from report_samples import ODD_RUNS, applied, everything
from tfrewrite.reports import junit
from tfrewrite.reports.remarks import Category, remarks
from tfrewrite.reports.summary import Run

Case = tuple[str, str, str, str, str]
KINDS = {Failure: "failure", Skipped: "skipped", Error: "error"}


def read(report: str) -> list[Case]:
    """Of each case: file, name, what is the matter, message, text."""
    document = JUnitXml.fromstring(report.encode("utf-8"))
    found: list[Case] = []
    for suite in document:
        counted = {"failure": 0, "skipped": 0, "error": 0}
        number = 0
        for case in suite:
            number += 1
            results = case.result
            assert len(results) <= 1
            for result in results:
                counted[KINDS[type(result)]] += 1
                kind, message, text = KINDS[type(result)], result.message, result.text
                found.append((case.classname, case.name, kind, message or "", text or ""))
            if not results:
                found.append((case.classname, case.name, "", "", ""))
        assert (suite.tests, suite.failures, suite.skipped, suite.errors) == (
            number,
            counted["failure"],
            counted["skipped"],
            counted["error"],
        )
    assert document.tests == len(found)
    return found


def test_everything() -> None:
    found = read(junit.render(everything()))
    assert [one[:3] for one in found] == [
        ("m/x.py", "TFR902 merge-pairs (rounding), line 1", "failure"),
        ("m/x.py", "TFR901 rename-old (exact), line 1", "failure"),
        ("m/x.py", "TFR901 rename-old refused (starred), line 3", "skipped"),
        ("m/x.py", "TFR901 rename-old (shifted), line 4", "skipped"),
        ("m/x.py", "TFR904 report-bug (report), line 5", "failure"),
        ("m/x.py", "unused exemption, line 6", "failure"),
        ("bad.py", "tfrewrite, line 7", "error"),
        ("clean.py", "nothing to do", ""),
        ("data.py", "not looked at", "skipped"),
    ]
    assert found[1][3:] == ("old -> new", "old -> new\nbecause they are the same")
    assert found[8][3] == "too large"


def test_what_is_done_passes() -> None:
    assert [one[2] for one in read(junit.render(applied()))][:2] == ["", ""]


def test_a_file_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    path.write_text(junit.render(everything()), encoding="utf-8")
    document = JUnitXml.fromfile(str(path))
    assert (document.tests, document.failures, document.errors, document.skipped) == (9, 4, 1, 3)
    assert document.time == pytest.approx(1.5)


def writable(text: str) -> str:
    """What XML 1.0 can hold of it."""
    return re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)


@given(ODD_RUNS)
def test_odd_text_comes_through(run: Run) -> None:
    found = [one for one in read(junit.render(run)) if one[1] != "nothing to do"]
    for case, remark in zip(found, remarks(run), strict=True):
        assert case[0] == writable(remark.path)
        assert case[1] == f"{remark.title}, line {remark.span.line}"
        if remark.category is not Category.DONE:
            assert case[3:] == (writable(remark.message), writable(remark.text))
