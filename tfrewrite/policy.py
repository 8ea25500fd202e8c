"""What is asked of a file: which rules, which contracts, which TensorFlow."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.model import DEFAULT_CONTRACTS, Contract, Finding

if TYPE_CHECKING:
    from tfrewrite.rule import Rule

Chooser = Callable[[Finding, str, str], bool]
"""Asked at each rewrite, with the text before and after it, whether to make it."""


@dataclass(frozen=True)
class Policy:
    """What is asked of a file. Rules are classes, never instances: nothing outlives a file."""

    rules: tuple[type[Rule], ...]
    allowed: frozenset[Contract] = DEFAULT_CONTRACTS
    target_tf: tuple[int, ...] | None = None
    known: tuple[tuple[str, str], ...] = ()
    """Code and name of every rule there is; exemptions name them."""
    write: bool = False
    """Whether files are rewritten in place."""


def asked(data: bytes, rules: Iterable[type[Rule]]) -> list[type[Rule]]:
    """The rules that a file with these bytes can concern."""
    stands = _Strings(data)
    return [
        rule
        for rule in rules
        if all(any(map(stands.__getitem__, group)) for group in rule.triggers)
    ]


class _Strings(dict[bytes, bool]):
    """Whether each string stands in a file, which is looked for once: rules share many."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self._data = data

    def __missing__(self, string: bytes) -> bool:
        found = self[string] = string in self._data
        return found
