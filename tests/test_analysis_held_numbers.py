"""Which attributes of an object are numbers that a step can be given, traps first."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts
from tfrewrite.analysis.eager.held_numbers import HeldNumbers

AGENT = """\
class Agent:
    def __init__(self):
        self.rate = 1.0
        self.count = 0
        self.fixed = 0.5

    @property
    def shown(self):
        return self.count

    def run(self, other):
        CHANGE
        return USE
"""


def held(use: str, change: str) -> list[tuple[str, str]]:
    found = facts(AGENT.replace("CHANGE", change).replace("USE", use))
    (result,) = [one for one in found.source.all(ast.Return) if one.lineno > 10]
    numbers = HeldNumbers(found).of(ast.walk(result))
    return sorted((ast.unparse(one), name) for one, name in numbers)


@pytest.mark.parametrize(
    ("use", "change"),
    [
        ("self.fixed", "pass"),
        ("self.rate", "pass"),
        ("self.shown", "self.count += 1"),
        ("self.rate", "self.rate = other"),
        ("self.rate", "self.rate = max(0, self.rate - 0.1)"),
        ("self.rate", "self.rate = 1"),
        ("self.rate", "self.rate += other"),
        ("self.rate", "self.rate = None"),
        ("self.rate", "self.rate, self.count = 0.5, 1"),
        ("self.count", "self.count += other"),
        ("other.count", "self.count += 1"),
        ("f'{self.count}'", "self.count += 1"),
        ("(self\n            .count)", "self.count += 1"),
    ],
)
def test_what_is_not_handed_over(use: str, change: str) -> None:
    assert held(use, change) == []


@pytest.mark.parametrize(
    "change",
    [
        "self.rate *= 0.9",
        "self.rate = self.rate * 2",
        "self.rate = max(0.1, self.rate / 2)",
        "self.rate = 0.5",
    ],
)
def test_floats_that_change(change: str) -> None:
    assert held("self.rate + self.rate", change) == [("self.rate", "rate")] * 2


def test_what_counts() -> None:
    assert held("self.count", "self.count += 1") == [("self.count", "count")]


def test_a_name_that_is_taken() -> None:
    ((_, name),) = held("self.count", "count = other\n        self.count += 1")
    assert name != "count"
