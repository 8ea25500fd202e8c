"""The pages of the rules are those that their docstrings make, and have a place in the index."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from own_programs import ROOT, program
from tfrewrite import catalogue
from tfrewrite.registry import all_rules
from tfrewrite.rule import Rule

rule_pages = program("tools/rule_pages.py")
RULES = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)


def test_the_pages_are_current() -> None:
    assert rule_pages.out_of_date() == []


def test_what_is_not_current_is_found_and_mended(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs" / "rules", tmp_path / "rules")
    shutil.copy(ROOT / "docs" / "refusals.md", tmp_path)
    (tmp_path / "rules" / "TFR101.md").write_text("# old\n")
    (tmp_path / "rules" / "TFR999.md").write_text("# no more\n")
    (tmp_path / "rules" / "index.md").unlink()
    stale = ["rules/TFR101.md", "rules/TFR999.md", "rules/index.md"]
    assert rule_pages.out_of_date(tmp_path) == stale
    rule_pages.write(tmp_path)
    assert rule_pages.out_of_date(tmp_path) == []
    assert not (tmp_path / "rules" / "TFR999.md").exists()


@RULES
def test_a_page_says_all_that_explain_says(rule: type[Rule]) -> None:
    page = catalogue.page(rule)
    assert page.startswith(f"# {rule.code} {rule.name}\n\n{catalogue.summary(rule)}")
    _, _, told = catalogue.documentation(rule).partition("\n\n")
    assert told in re.sub(r"\[(`[a-z-]+`)\]\(\.\./refusals\.md#[a-z-]+\)", r"\1", page)
    for contract in rule.contracts:
        assert f"`{contract.value}`" in page
    for reason, said in rule.reasons.items():
        assert f"| [`{reason}`](../refusals.md#{reason}) | {said} |" in page
        assert f"(`{reason}`" not in page
    assert ("On request only" in page) == rule.on_request


@RULES
def test_a_docstring_reads_as_a_page(rule: type[Rule]) -> None:
    text = catalogue.documentation(rule)
    lines = text.split("\n")
    titles = [line for line in lines if line.startswith("#") and not line.startswith("# ")]
    expected = ["## Why it is slow", "## Before", "## After", "## Contract"]
    assert [title for title in titles if title in expected] == expected
    assert text.count("```") % 2 == 0
    for number, line in enumerate(lines):
        if line.startswith("- ") and number and lines[number - 1]:
            # Without a blank line before it, Markdown takes a list for the end of the paragraph.
            before = lines[number - 1]
            assert before.startswith(("- ", "  ", "## ")), f"{rule.code}: {line}"


def test_the_index_has_every_rule_once() -> None:
    index = rule_pages.pages()["rules/index.md"]
    for rule in all_rules():
        assert index.count(f"[{rule.code}]({rule.code}.md) {rule.name} |") == 1
