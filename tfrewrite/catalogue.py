"""The rules, for those who read about them."""

from __future__ import annotations

import inspect
import json
import re
from typing import TYPE_CHECKING

from tfrewrite import refusals
from tfrewrite.registry import UnknownRule, all_rules, rule_named
from tfrewrite.rule_texts import RuleText, rule_texts

if TYPE_CHECKING:
    from tfrewrite.rule import Rule

_REASONS = "## Reasons of refusals"
_QUOTED = re.compile(r"`([a-z]+(?:-[a-z]+)*)`")


def as_text() -> str:
    """One line for each rule."""
    rules = rule_texts()
    width = max((len(rule.name) for rule in rules), default=0)
    return "\n".join(_line(rule, width) for rule in rules)


def as_json() -> str:
    """The same for programs."""
    rules = [
        {
            "code": rule.code,
            "name": rule.name,
            "summary": summary(rule),
            "contracts": [contract.value for contract in rule.contracts],
            "reasons": rule.reasons,
            "on_request": rule.on_request,
        }
        for rule in all_rules()
    ]
    return json.dumps({"schema_version": 1, "rules": rules}, indent=2)


def explained(selector: str) -> str:
    """All that is to be said about one rule, or about one reason for refusing."""
    try:
        rule = rule_named(selector)
    except UnknownRule:
        if selector not in refusals.entries():
            raise
        return refusals.explained(selector)
    parts = [f"{rule.code} {rule.name}", *_standing(rule), f"\n{documentation(rule)}"]
    if rule.reasons:
        width = max(len(reason) for reason in rule.reasons)
        parts.append(f"\n{_REASONS}\n")
        parts.extend(f"{reason:<{width}}  {said}" for reason, said in sorted(rule.reasons.items()))
        parts.append("\n`tfrewrite explain REASON` says what can be done about one.")
    if selector in refusals.entries():  # a name of a rule may be a reason of others, too
        parts.append(f"\n{refusals.explained(selector)}")
    return "\n".join(parts)


def page(rule: type[Rule]) -> str:
    """The same as a page of the documentation, in docs/rules/."""
    opening, _, rest = _with_links(rule).partition("\n\n")
    standing = "".join(f"{line}  \n" for line in _standing(rule, mark="`"))
    parts = [f"# {rule.code} {rule.name}", opening, standing.rstrip(), rest]
    if rule.reasons:
        rows = [f"| {_linked(reason)} | {said} |" for reason, said in sorted(rule.reasons.items())]
        parts += [_REASONS, "\n".join(["| reason | what it says here |", "|---|---|", *rows])]
    return "\n\n".join(parts) + "\n"


def summary(rule: type[Rule]) -> str:
    """What it does, in a sentence."""
    return documentation(rule).partition("\n")[0]


def documentation(rule: type[Rule]) -> str:
    return inspect.cleandoc(rule.__doc__ or "")


def _with_links(rule: type[Rule]) -> str:
    """What it says of itself, where each reason leads to what can be done about it."""
    parts = documentation(rule).split("```")
    for place in range(0, len(parts), 2):
        parts[place] = _QUOTED.sub(
            lambda found: _linked(found[1]) if found[1] in rule.reasons else found[0], parts[place]
        )
    return "```".join(parts)


def _linked(reason: str) -> str:
    return f"[`{reason}`](../refusals.md#{reason})"


def _standing(rule: type[Rule], mark: str = "") -> list[str]:
    """What it promises, and when it runs."""
    contracts = ", ".join(f"{mark}{contract.value}{mark}" for contract in rule.contracts)
    said = [f"Contracts: {contracts or 'none: it only reports'}"]
    if rule.on_request:
        select = f"{mark}--select{mark}"
        said.append(f"On request only: it runs where {select} names {rule.code} outright.")
    return said


def _line(rule: RuleText, width: int) -> str:
    contracts = "/".join(rule.contracts) or "report"
    request = ", on request" if rule.on_request else ""
    return f"{rule.code}  {rule.name:<{width}}  {rule.summary} [{contracts}{request}]"
