"""Rules are found, and picked by code, prefix or name."""

from __future__ import annotations

import importlib
import pkgutil
from typing import ClassVar

import pytest

from tfrewrite.registry import PACKAGE, UnknownRule, _check_unique, all_rules, rule_named, selected
from toys import TOYS, HoistMake, MergePairs, RenameOld, ReportBug


class OnRequest(RenameOld):
    """Runs only where it is named."""

    code = "TFR950"
    name = "on-request"
    on_request: ClassVar[bool] = True


RULES = (*TOYS, OnRequest)


def names(*select: str, ignore: tuple[str, ...] = ()) -> set[str]:
    return {rule.name for rule in selected(select, ignore, RULES)}


def test_each_file_of_codemods_is_a_rule_that_is_found() -> None:
    package = importlib.import_module(PACKAGE)
    files = {f"{PACKAGE}.{one.name}" for one in pkgutil.iter_modules(package.__path__)}
    assert {rule.__module__ for rule in all_rules()} == files
    assert [rule.code for rule in all_rules()] == sorted(rule.code for rule in all_rules())


def test_each_rule_is_documented() -> None:
    for rule in all_rules():
        assert rule.code.startswith("TFR")
        assert len((rule.__doc__ or "").splitlines()[0]) > 10
        assert all(group and all(group) for group in rule.triggers)
        assert "cannot-edit" not in rule.reasons


def test_selection() -> None:
    toys = {rule.name for rule in TOYS}
    assert names() == toys
    assert names("TFR") == toys
    assert names("TFR901", "merge-pairs") == {RenameOld.name, MergePairs.name}
    assert names("TFR90", ignore=("TFR901",)) == toys - {RenameOld.name}
    assert names(ignore=("TFR9",)) == set()
    assert names("TFR903", "TFR904") == {HoistMake.name, ReportBug.name}


def test_rules_on_request_are_selected_outright() -> None:
    assert names("TFR9") == {rule.name for rule in TOYS}
    assert names("TFR950") == {"on-request"}
    assert names("on-request", "TFR901") == {"on-request", "rename-old"}
    assert names("TFR950", ignore=("TFR950",)) == set()


@pytest.mark.parametrize(
    ("selector", "said"),
    [
        ("TFR90l", "did you mean TFR9"),
        ("merge-pair", "did you mean merge-pairs"),
        ("tfr901", "did you mean TFR901"),
        ("zzz", "`tfrewrite rules` lists them"),
    ],
)
def test_unknown_selectors(selector: str, said: str) -> None:
    for select, ignore in (((selector,), ()), ((), (selector,))):
        with pytest.raises(UnknownRule, match=said):
            selected(select, ignore, RULES)


def test_rule_named() -> None:
    for rule in all_rules():
        assert rule_named(rule.code) is rule
        assert rule_named(rule.name) is rule
    with pytest.raises(UnknownRule):
        rule_named("TFR")


def test_codes_and_names_are_unique() -> None:
    class Twin(RenameOld):
        """The same code and name."""

    with pytest.raises(TypeError, match="TFR901 is both"):
        _check_unique([RenameOld, Twin])
