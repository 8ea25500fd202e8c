"""What each refusal reason means, and what the owner of the code can do: the text and its parts.

The text is `refusals.md` beside this file, for people to read from top to bottom: a heading of the
fourth level for each reason. `tfrewrite explain REASON` prints one, and the documentation has all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tfrewrite.model import CANNOT_EDIT
from tfrewrite.registry import all_rules

_HEADING = re.compile(r"^#### (\S+)\n", re.MULTILINE)
_NEXT_HEADING = re.compile(r"^##? ", re.MULTILINE)


@cache
def source() -> str:
    return Path(__file__).with_suffix(".md").read_text(encoding="utf-8")


@cache
def entries() -> dict[str, str]:
    """The text about each reason, in the order in which they stand."""
    return dict(_entries())


def rules_that_give(reason: str) -> tuple[str, ...]:
    """The codes of the rules; of all rules for what any rewrite may be refused for."""
    return tuple(
        rule.code
        for rule in all_rules()
        if reason in rule.reasons or (reason == CANNOT_EDIT and rule.contracts)
    )


def explained(reason: str) -> str:
    codes = ", ".join(rules_that_give(reason))
    return f"{reason}\nA reason for refusing, given by {codes}\n\n{entries()[reason]}"


def page() -> str:
    """The whole text as a page, with the rules that give each reason below it."""

    def with_rules(reason: str, text: str) -> str:
        if reason == CANNOT_EDIT:
            return f"#### {reason}\n\n{text}\n\nRules: all that rewrite.\n\n"
        links = ", ".join(f"[{code}](rules/{code}.md)" for code in rules_that_give(reason))
        return f"#### {reason}\n\n{text}\n\nRules: {links}\n\n"

    def parts() -> Iterator[str]:
        opening, *found = _HEADING.split(source())
        yield opening
        for reason, after in zip(found[::2], found[1::2], strict=True):
            text, rest = _divided(after)
            yield with_rules(reason, text)
            yield rest

    return "".join(parts()).rstrip() + "\n"


def _entries() -> Iterator[tuple[str, str]]:
    _, *found = _HEADING.split(source())
    for reason, after in zip(found[::2], found[1::2], strict=True):
        yield reason, _divided(after)[0]


def _divided(after: str) -> tuple[str, str]:
    """What belongs to a reason, and what begins with the next chapter."""
    chapter = _NEXT_HEADING.search(after)
    end = chapter.start() if chapter else len(after)
    return after[:end].strip(), after[end:]
