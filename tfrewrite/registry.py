"""Finds the rules, and picks those that selectors name."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from abc import ABCMeta
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING

from tfrewrite.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


PACKAGE = "tfrewrite.codemods"


class UnknownRule(Exception):  # noqa: N818
    """A selector that no rule answers to."""


@cache
def all_rules() -> tuple[type[Rule], ...]:
    """Every rule of `tfrewrite.codemods`, in the order of their codes."""
    package = importlib.import_module(PACKAGE)
    names = sorted(f"{PACKAGE}.{one.name}" for one in pkgutil.iter_modules(package.__path__))
    rules = [
        member
        for name in names
        for member in vars(importlib.import_module(name)).values()
        if _is_rule_of(member, name)
    ]
    _check_unique(rules)
    return tuple(sorted(rules, key=lambda rule: rule.code))


def rule_named(selector: str) -> type[Rule]:
    """The one rule with this code or name."""
    for rule in all_rules():
        if selector in {rule.code, rule.name}:
            return rule
    raise UnknownRule(_unknown(selector, all_rules()))


def selected(
    select: Iterable[str], ignore: Iterable[str], rules: Collection[type[Rule]] | None = None
) -> tuple[type[Rule], ...]:
    """The rules that are to run.

    A selector is a code, the beginning of one (`TFR1`) or a name. Without any, all rules run but
    those on request; these run where their whole code or name is selected.
    """
    rules = all_rules() if rules is None else rules
    wanted = _matching(select, rules)
    unwanted = _matching(ignore, rules)
    outright = set(select)
    return tuple(
        rule
        for rule in rules
        if (rule in wanted if outright else not rule.on_request)
        and rule not in unwanted
        and (not rule.on_request or outright & {rule.code, rule.name})
    )


def _matching(selectors: Iterable[str], rules: Collection[type[Rule]]) -> set[type[Rule]]:
    matching: set[type[Rule]] = set()
    for selector in selectors:
        named = {rule for rule in rules if selector == rule.name or _begins(selector, rule)}
        if not named and selector != "TFR":
            raise UnknownRule(_unknown(selector, rules))
        matching |= named
    return matching


def _begins(selector: str, rule: type[Rule]) -> bool:
    return selector.startswith("TFR") and rule.code.startswith(selector)


def _unknown(selector: str, rules: Collection[type[Rule]]) -> str:
    answers = [name for rule in rules for name in (rule.code, rule.name)]
    near = get_close_matches(selector.strip(), answers, n=1, cutoff=0.5)
    near = near or get_close_matches(selector.strip().upper(), answers, n=1)
    hint = f"; did you mean {near[0]}?" if near else "; `tfrewrite rules` lists them"
    return f"there is no rule {selector!r}{hint}"


def _is_rule_of(member: object, module: str) -> bool:
    return (
        inspect.isclass(member)
        and isinstance(member, ABCMeta)  # on 3.10 `list[int]` passes for a class
        and issubclass(member, Rule)
        and member.__module__ == module
        and not inspect.isabstract(member)
    )


def _check_unique(rules: Iterable[type[Rule]]) -> None:
    seen: dict[str, type[Rule]] = {}
    for rule in rules:
        for label in (rule.code, rule.name):
            if label in seen:
                raise TypeError(f"{label} is both {seen[label].__module__} and {rule.__module__}")
            seen[label] = rule
