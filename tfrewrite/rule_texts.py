"""What rules say of themselves in a line, read from their files.

To import a rule is to import the analysis that it asks, which takes longer than all else that a
list of the rules needs. What a list shows stands in each file as plain text and constants.
"""

from __future__ import annotations

import ast
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tfrewrite import codemods
from tfrewrite.model import Contract

_FIRST_METHOD = "\n    def sites(self"
"""What a rule says of itself stands above; to parse all of the file takes twice as long."""


@dataclass(frozen=True)
class RuleText:
    """A rule in a line."""

    code: str
    name: str
    summary: str
    contracts: tuple[str, ...]
    on_request: bool


def rule_texts() -> tuple[RuleText, ...]:
    """Of every rule of `tfrewrite.codemods`, in the order of their codes."""
    found = [
        text
        for one in pkgutil.iter_modules(codemods.__path__)
        for text in _texts(Path(codemods.__path__[0], f"{one.name}.py"))
    ]
    return tuple(sorted(found, key=lambda text: text.code))


def _texts(path: Path) -> Iterator[RuleText]:
    head, _, _ = path.read_text(encoding="utf-8").partition(_FIRST_METHOD)
    for statement in ast.parse(head).body:
        if isinstance(statement, ast.ClassDef) and _is_rule(statement):
            yield _text(statement)


def _is_rule(defined: ast.ClassDef) -> bool:
    return any(isinstance(base, ast.Name) and base.id == "Rule" for base in defined.bases)


def _text(rule: ast.ClassDef) -> RuleText:
    values = {
        target.id: one.value
        for one in rule.body
        if isinstance(one, ast.Assign)
        for target in one.targets
        if isinstance(target, ast.Name)
    }
    contracts = ast.walk(values["contracts"])
    on_request = values.get("on_request")
    return RuleText(
        code=ast.literal_eval(values["code"]),
        name=ast.literal_eval(values["name"]),
        summary=(ast.get_docstring(rule) or "").partition("\n")[0],
        contracts=tuple(
            Contract[one.attr].value for one in contracts if isinstance(one, ast.Attribute)
        ),
        on_request=on_request is not None and ast.literal_eval(on_request),
    )
