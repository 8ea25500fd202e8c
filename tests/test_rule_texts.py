"""What is read from the files of the rules is what the rules say when they are imported."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from tfrewrite.registry import all_rules
from tfrewrite.rule_texts import RuleText, rule_texts

README = Path(__file__).resolve().parent.parent / "README.md"
KEEPING = README.parent / "docs" / "verify.md"


def test_rules_are_read_as_they_are() -> None:
    assert rule_texts() == tuple(
        RuleText(
            rule.code,
            rule.name,
            inspect.cleandoc(rule.__doc__ or "").partition("\n")[0],
            tuple(contract.value for contract in rule.contracts),
            rule.on_request,
        )
        for rule in all_rules()
    )


def test_the_readme_names_every_rule() -> None:
    rows = re.findall(
        r"^\| (TFR\d+) (\S+) \| .*?(\(on request\))? \|$", README.read_text(), re.MULTILINE
    )
    assert [(code, name, bool(asked)) for code, name, asked in rows] == [
        (rule.code, rule.name, rule.on_request) for rule in all_rules()
    ]


def test_the_page_on_keeping_names_the_rules_that_may_lose() -> None:
    losing = [rule for rule in all_rules() if rule.may_lose]
    assert all(rule.on_request for rule in losing)
    (row,) = re.findall(
        r"^\| dropped: gain too small \| (.*) \|$", KEEPING.read_text(), re.MULTILINE
    )
    assert re.findall(r"TFR\d+", row) == [rule.code for rule in losing]
