"""A part of the analysis of one file, made when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

Made = TypeVar("Made")


class Part(Generic[Made]):
    """An attribute of `Facts`: what is made of the facts stands in its place from then on."""

    def __init__(self, make: Callable[[Facts], Made]) -> None:
        self._make = make
        self._name = ""

    def __set_name__(self, owner: type[Facts], name: str) -> None:
        self._name = name

    def __get__(self, facts: Facts, owner: type[Facts]) -> Made:
        made = vars(facts)[self._name] = self._make(facts)
        return made
