"""Markdown, read by a parser of it."""

from __future__ import annotations

from dataclasses import replace
from html import unescape

import pytest
from hypothesis import given
from markdown_it import MarkdownIt

from report_samples import ODD_RUNS, applied, everything
from tfrewrite.engine import rewrite_text
from tfrewrite.model import Outcome, Status
from tfrewrite.reports import markdown
from tfrewrite.reports.formats import View
from tfrewrite.reports.remarks import remarks
from tfrewrite.reports.safe import printable
from tfrewrite.reports.summary import Run
from toys import TOYS


def rows(report: str) -> list[list[str]]:
    """The cells of all tables, as text."""
    tokens = MarkdownIt("commonmark").enable("table").parse(report)
    found: list[list[str]] = []
    for index, token in enumerate(tokens):
        if token.type == "tr_open":
            found.append([])
        elif token.type == "td_open":
            inline = tokens[index + 1]
            parts = [one.content for one in inline.children or [] if one.type != "html_inline"]
            found[-1].append("".join(parts).replace("\u200b", ""))
    return [row for row in found if row]


def test_everything() -> None:
    report = markdown.render(everything())
    late = "changes: `shift` is read one step late"
    assert report.startswith("### tfrewrite&#58; 2 rewrites to make, 1 available")
    assert rows(report) == [
        ["bad.py:7", "", "", "line 7: Python 2 syntax"],
        ["m/x.py:1", "TFR902 merge-pairs", "rounding", "two into one; because nothing between"],
        ["m/x.py:1", "TFR901 rename-old", "exact", "old -> new; because they are the same"],
        ["m/x.py:5", "TFR904 report-bug", "report", "this is a bug"],
        [
            "m/x.py:4",
            "TFR901 rename-old",
            "shifted",
            f"old -> new; because same; available with --allow shifted; {late}",
        ],
        ["m/x.py:6", "", "", "this exemption from anything exempts nothing; remove it"],
        [
            "m/x.py:3",
            "TFR901 rename-old",
            "refused: starred",
            "an argument is starred; write them out",
        ],
    ]
    assert "<details><summary>Refused: 1</summary>" in report


def test_what_is_done() -> None:
    assert rows(markdown.render(applied()))[0][2] == "done: rounding"


def test_statistics() -> None:
    found = rows(markdown.render(everything(), View(statistics=True)))
    assert ["TFR901", "rename-old", "1", "1", "1"] in found
    assert ["rounding", "1", "0"] in found
    assert ["TFR901", "starred", "1"] in found


def test_the_diff_where_there_is_one() -> None:
    outcome = rewrite_text("old(1)\n", TOYS, path="x.py")
    report = markdown.render(Run((outcome,)))
    assert "```diff\n# TFR901 rename-old [exact]: old -&gt; new" in report or "-old(1)\n" in report
    assert "-old(1)\n+new(1)\n```" in report
    assert "```" not in markdown.render(Run((replace(outcome, before="", after=""),)))


@pytest.mark.parametrize("count", [1, 200, 3_000])
def test_it_fits_into_a_comment(count: int) -> None:
    one = everything().outcomes[0]
    many = tuple(replace(one, path=f"folder/{number}.py") for number in range(count))
    many += tuple(Outcome(f"{n}.py", Status.FAILED, error="x" * 300) for n in range(count))
    report = markdown.render(Run(many))
    assert len(report) < 62_000
    assert ("in the other reports" in report) == (count > 1)
    assert len(rows(report)) > 5
    assert report.count("<details>") == report.count("</details>")


@given(ODD_RUNS)
def test_odd_text_comes_through(run: Run) -> None:
    report = markdown.render(run)
    assert not any(ord(char) < 32 and char not in "\n\t" for char in report)
    found = sorted(row[3] for row in rows(report))
    meant = sorted(
        "; ".join(printable(part).strip() for part in (one.message, *one.more))
        for one in remarks(run)
    )
    assert [" ".join(one.split()) for one in found] == [
        " ".join(unescape(one).split() if "&" not in one else one.split()) for one in meant
    ]
