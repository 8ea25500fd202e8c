"""What a rule is, and how the rules are found.

A rule is one class in one file of `tfrewrite.codemods`. Its docstring is its documentation: the
first line says what it does, and the sections (`## Why it is slow`, `## Before`, `## After`,
`## Contract`, `## Refuses`, `## When it does not help`) are what `tfrewrite explain` prints.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from tfrewrite.model import Contract, Site

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts


class Rule(ABC):
    """One anti-pattern, and what is done about it."""

    code: ClassVar[str]
    name: ClassVar[str]
    contracts: ClassVar[tuple[Contract, ...]]
    """Every contract that a site of this rule can carry; empty for a rule that only reports."""
    reasons: ClassVar[dict[str, str]]
    """Each refusal reason id with one sentence that explains it."""
    triggers: ClassVar[tuple[tuple[bytes, ...], ...]]
    """A byte prefilter: for each group at least one of its strings must stand in the file."""
    on_request: ClassVar[bool] = False
    may_lose: ClassVar[bool] = False
    """Whether what it makes is slower on some machines or data. `apply --verify` then keeps it only
    where it was seen to be faster."""
    judges_the_rest: ClassVar[bool] = False
    """Whether a site is sound because of all that the program still does, however far away. It is
    then rewritten only when no other rule has anything left to do."""
    judges_the_original: ClassVar[bool] = False
    """Whether a report is about what the owner wrote, also where another rule has written it anew
    since and nothing is seen of it any more."""

    @abstractmethod
    def sites(self, facts: Facts) -> Iterator[Site]:
        """Every place of the file where the outline of the pattern stands."""
