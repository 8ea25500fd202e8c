"""Comments exempt statements and files, and are reported where they exempt nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tfrewrite.engine import rewrite_text
from toys import TOYS, RenameOld, ReportBug

if TYPE_CHECKING:
    from tfrewrite.model import Outcome


def rewritten(text: str) -> Outcome:
    return rewrite_text(text, TOYS)


@pytest.mark.parametrize(
    "text",
    [
        "x = old(1)  # tfrewrite: ignore[TFR901]\n",
        "x = old(1)  # tfrewrite: ignore[rename-old]\n",
        "x = old(1)  # tfrewrite: ignore[TFR904, TFR901]; bug()\n".replace("; bug()", ""),
        "x = old(1)  # tfrewrite: ignore\n",
        "x = old(1)  #tfrewrite:ignore because it is slow\n",
        "x = old(1)  # noqa: E501  # tfrewrite: ignore[TFR901]\n",
        "x = f(\n    old(1),\n)  # tfrewrite: ignore[TFR901]\n",
        "x = f(  # tfrewrite: ignore[TFR901]\n    old(1),\n)\n",
        "a = one(1)\nb = one(2)  # tfrewrite: ignore\n".replace("one(1)", "1").replace(
            "one", "old"
        ),
        "# tfrewrite: ignore-file\nold(1)\n",
        "old(1)\n# tfrewrite: ignore-file[TFR901]\n",
        "if old(1):  # tfrewrite: ignore\n    pass\n",
    ],
)
def test_an_exempted_finding_is_not_made(text: str) -> None:
    outcome = rewritten(text)
    assert outcome.after == text
    assert not outcome.findings
    assert not outcome.notices


@pytest.mark.parametrize(
    "text",
    [
        "x = old(1)  # tfrewrite: ignore[TFR904]\n",
        's = "# tfrewrite: ignore-file"\nx = old(1)\n',
        "# tfrewrite: ignore\nx = old(1)\n",
        "if old(1):\n    pass  # tfrewrite: ignore\n",
        "# tfrewrite: ignore-file[TFR902]\nold(1)\n",
        "x = old(1)  # tfrewrite: ignored\n",
    ],
)
def test_other_comments_exempt_nothing(text: str) -> None:
    assert "new(1)" in rewritten(text).after


def test_refusals_and_reports_are_exempted_too() -> None:
    outcome = rewritten("old(*x)  # tfrewrite: ignore\nbug()  # tfrewrite: ignore\n")
    assert not outcome.refusals
    assert not outcome.findings
    assert not outcome.notices


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("ignore[TFR901]", "exempts nothing; remove it"),
        ("ignore", "exempts nothing"),
        ("ignore-file", "exempts nothing"),
        ("ignore[TFR999]", "exempts TFR999, and there is no such rule"),
        ("ignore[TFR901, old-rename]", "exempts old-rename, and there is no such rule"),
        ("ignore[]", "no rule is named"),
        ("ignor[TFR901]", "is not understood; write"),
        ("", "`tfrewrite: nothing` is not understood"),
    ],
)
def test_an_exemption_without_use_is_reported(comment: str, said: str) -> None:
    (notice,) = rewritten(f"y = 1\nx = 1  # tfrewrite: {comment}\n").notices
    assert said in notice.message
    assert (notice.span.line, notice.span.column) == (2, 7)


def test_an_exemption_from_a_rule_that_did_not_run_is_not_judged() -> None:
    text = "x = 1  # tfrewrite: ignore[TFR901]\ny = 1  # tfrewrite: ignore-file[TFR904]\n"
    assert len(rewrite_text(text, [RenameOld, ReportBug]).notices) == 2
    known = tuple((rule.code, rule.name) for rule in TOYS)
    from tfrewrite.engine import handle_bytes  # noqa: PLC0415
    from tfrewrite.policy import Policy  # noqa: PLC0415

    outcome = handle_bytes(text.encode(), "x.py", Policy((ReportBug,), known=known))
    assert [notice.span.line for notice in outcome.notices] == [2]


def test_an_exemption_below_a_rewrite_keeps_its_line() -> None:
    text = "a = one(1)\nb = one(2)\nx = old(1)  # tfrewrite: ignore\ny = 1  # tfrewrite: ignore\n"
    outcome = rewritten(text)
    assert outcome.after.startswith("a, b = many(1, 2)\nx = old(1)")
    assert [notice.span.line for notice in outcome.notices] == [4]
