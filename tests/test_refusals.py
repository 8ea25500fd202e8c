"""Every reason for refusing has an entry, and every entry is about a reason that there is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import tfrewrite
from tfrewrite import catalogue, codemods, refusals, verify
from tfrewrite.model import CANNOT_EDIT
from tfrewrite.registry import UnknownRule, all_rules

REASONS = {reason for rule in all_rules() for reason in rule.reasons} | {CANNOT_EDIT}
_MAKING = frozenset({"Refusal", "Refused", "Obstacle"})
# Obstacles that no rule refuses for: TFR303 reports what has the first, and where no loop is,
# nothing is said.
_NO_REFUSALS = frozenset({"last-batch-smaller", "not-in-loop"})


def test_every_reason_has_an_entry_and_every_entry_a_reason() -> None:
    missing = sorted(REASONS - refusals.entries().keys())
    assert not missing, f"tfrewrite/refusals.md has nothing about {', '.join(missing)}"
    unknown = sorted(refusals.entries().keys() - REASONS)
    assert not unknown, f"tfrewrite/refusals.md tells of {', '.join(unknown)}, which no rule gives"


def test_no_entry_stands_twice() -> None:
    titles = [line for line in refusals.source().splitlines() if line.startswith("#### ")]
    assert len(titles) == len(set(titles)) == len(refusals.entries())


def given(path: Path) -> Iterator[str]:
    """The reasons that a module writes out where it makes a refusal or an obstacle."""
    for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in _MAKING:
            for argument in call.args[:2]:
                match argument:
                    case ast.Constant(value=str(reason)):
                        yield reason
                    case ast.IfExp(
                        body=ast.Constant(value=str(one)), orelse=ast.Constant(value=str(other))
                    ):
                        yield from (one, other)


def test_what_the_code_gives_is_declared_by_a_rule() -> None:
    homes = [Path(codemods.__file__).parent, Path(tfrewrite.__file__).parent]
    modules = [path for home in homes for path in home.rglob("*.py")]
    words = {word for path in modules for word in given(path)}
    ids = {word for word in words if " " not in word and word.replace("-", "").isalpha()}
    assert len(ids) > 100
    assert ids - _NO_REFUSALS <= REASONS


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_an_entry_is_text_that_can_be_read(reason: str) -> None:
    text = refusals.entries()[reason]
    assert 40 < len(text) < 1200
    assert "#" not in text.partition("```")[0]
    assert text.count("```") in {0, 2}


def test_a_reason_is_explained_at_the_terminal() -> None:
    said = catalogue.explained("call-between")
    first = "call-between\nA reason for refusing, given by TFR101, TFR102\n\nA call stands"
    assert said.startswith(first)
    assert refusals.entries()["call-between"] in said
    both = catalogue.explained("steps-per-execution")
    assert both.startswith("TFR403 steps-per-execution\n")
    assert both.endswith(refusals.entries()["steps-per-execution"])
    with pytest.raises(UnknownRule, match="call-betwixt"):
        catalogue.explained("call-betwixt")


def test_the_page_names_the_rules_of_each_reason() -> None:
    page = refusals.page()
    for reason, text in refusals.entries().items():
        entry = page.partition(f"\n#### {reason}\n")[2].partition("\n#### ")[0]
        assert text in entry
        for code in refusals.rules_that_give(reason) if reason != CANNOT_EDIT else ():
            assert f"[{code}](rules/{code}.md)" in entry
    assert page.count("\n## ") == refusals.source().count("\n## ")


def test_what_a_verification_says_is_what_the_page_says() -> None:
    home = Path(verify.__file__).parent
    code = "\n".join(path.read_text(encoding="utf-8") for path in sorted(home.glob("*.py")))
    told = refusals.source().partition("## Where a verification cannot tell")[2]
    for words in (
        "which this interpreter does not have",
        "asks for input, and there is none",
        "writes elsewhere",
        "was stopped after",
        "differs between runs of the original, too",
        "the random stream changed",
        "the steps are as promised, but",
        "nothing was seen that could be compared",
        "was changed, and the script did not execute it",
        "a GPU was asked for, and TensorFlow saw",
    ):
        assert words in code
        assert words in told
