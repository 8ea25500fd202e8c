"""The page about findings: whole in itself, whatever the scripts have written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings

from report_samples import ODD_RUNS, applied, everything
from test_verification_page import ATTRIBUTES, TAGS, Structure, frame, measured
from tfrewrite.reports import html
from tfrewrite.reports.merged import Merged, Verified
from tfrewrite.reports.remarks import remarks
from tfrewrite.reports.safe import printable
from tfrewrite.reports.summary import Run
from tfrewrite.verify.model import Ratio


def shown(page: str) -> str:
    return " ".join(" ".join(Structure(page).text).split())


def test_everything() -> None:
    text = shown(html.render(everything()))
    for said in (
        "2 rewrites to make, 1 available with --allow, 1 report, 1 refusal",
        "Files 4 Rewrites 2 Available 1 Reports 1 Refusals 1 Failed 1",
        "Could not be handled 1 place",
        "bad.py:7 line 7: Python 2 syntax",
        "Rewrites and reports 3 places",
        "m/x.py:1 TFR901 rename-old exact old -> new because they are the same",
        "m/x.py:5 TFR904 report-bug report this is a bug",
        "m/x.py:4 TFR901 rename-old shifted old -> new because same available with --allow shifted",
        "m/x.py:3 TFR901 rename-old starred an argument is starred; write them out",
        "Reasons of refusals Rule Reason Places TFR901 starred 1",
    ):
        assert said in text
    assert "done, exact" in shown(html.render(applied()))


def test_nothing() -> None:
    assert "nothing to do in 0 files" in shown(html.render(Run(())))


def test_more_than_a_page_holds() -> None:
    (one, *_) = everything().outcomes
    many = tuple(replace(one, path=f"{number}.py") for number in range(2_000))
    page = html.render(Run(many))
    assert page.count("<tr>") < html.MOST_ROWS + 20
    assert "2,000 more" in page or "more are in the JSON report" in page


def test_it_is_made_of_nothing_else() -> None:
    found = Structure(html.render(everything()))
    assert found.tags <= TAGS
    assert {attribute for attribute, _ in found.attributes} <= ATTRIBUTES


@pytest.mark.browser
def test_it_fits_every_width(chromium: str, tmp_path: Path) -> None:
    long_name = replace(everything().outcomes[0], path="a/very/long/" + "name" * 40 + ".py")
    run = Run((*everything().outcomes, long_name))
    one = Verified("2026-11-19.json", "train.py", "pass", "Same numbers", "exact", "faster")
    history = tuple(replace(one, ratio=Ratio(by, by - 0.1, by + 0.1)) for by in (0.9, 1.2, 2.5))
    named = tuple(
        replace(each, script="b.py", source=f"reports/{name * 9}-{number}.json")
        for number, (each, name) in enumerate(zip(history, "Wi7", strict=True))
    )
    page = html.page(Merged(run, (history, named, (one, one))))
    page = page.replace("<details>", "<details open>")
    frames = [frame(f"at {width}", page, width) for width in (320, 700, 1_200)]
    for found in measured(chromium, tmp_path, frames):
        assert found["needs"] <= found["width"], found["name"]
        assert found["cut"] == [], found["name"]
        assert found["height"] > 900, found["name"]


@given(ODD_RUNS)
@settings(max_examples=40)
def test_odd_text_comes_through(run: Run) -> None:
    page = html.render(run)
    page.encode("utf-8")
    found = Structure(page)
    assert found.tags <= TAGS
    assert not any(ord(char) < 32 and char not in "\n\t" for char in page)
    for remark in remarks(run):
        assert any(printable(remark.message) in text for text in found.text)
        assert any(f"{printable(remark.path)}:{remark.span.line}" in text for text in found.text)
