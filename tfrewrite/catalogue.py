"""The rules, for those who read about them."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING

from tfrewrite.registry import all_rules, rule_named
from tfrewrite.rule_texts import RuleText, rule_texts

if TYPE_CHECKING:
    from tfrewrite.rule import Rule


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
            "summary": _documentation(rule).partition("\n")[0],
            "contracts": [contract.value for contract in rule.contracts],
            "reasons": rule.reasons,
            "on_request": rule.on_request,
        }
        for rule in all_rules()
    ]
    return json.dumps({"schema_version": 1, "rules": rules}, indent=2)


def explained(selector: str) -> str:
    """All that is to be said about one rule."""
    rule = rule_named(selector)
    contracts = ", ".join(contract.value for contract in rule.contracts) or "none: it only reports"
    parts = [f"{rule.code} {rule.name}", f"Contracts: {contracts}"]
    if rule.on_request:
        parts.append(f"On request only: it runs where --select names {rule.code} outright.")
    parts.append(f"\n{_documentation(rule)}")
    if rule.reasons:
        width = max(len(reason) for reason in rule.reasons)
        parts.append("\n## Reasons of refusals\n")
        parts.extend(f"{reason:<{width}}  {said}" for reason, said in sorted(rule.reasons.items()))
    return "\n".join(parts)


def _line(rule: RuleText, width: int) -> str:
    contracts = "/".join(rule.contracts) or "report"
    request = ", on request" if rule.on_request else ""
    return f"{rule.code}  {rule.name:<{width}}  {rule.summary} [{contracts}{request}]"


def _documentation(rule: type[Rule]) -> str:
    return inspect.cleandoc(rule.__doc__ or "")
