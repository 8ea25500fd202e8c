"""What the values that a run gave are called in a verification."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tfrewrite.verify.probe.sessions import _flat

RATE = SimpleNamespace(name="rate:0")


def op(kind: str, name: str) -> SimpleNamespace:
    return SimpleNamespace(name=f"{name}:0", op=SimpleNamespace(type=kind, inputs=[RATE]))


def called(fetches: list[Any]) -> list[str]:
    return [name for name, _ in _flat(fetches, list(range(len(fetches))))]  # type: ignore[no-untyped-call]


def test_an_assignment_is_called_after_its_variable_and_not_by_its_number() -> None:
    fetches = [op("Assign", "Assign_7"), op("AssignAdd", "AssignAdd")]
    assert called(fetches) == ["Assign of rate:0", "AssignAdd of rate:0"]


def test_everything_else_has_its_own_name() -> None:
    fetches = [op("Add", "Add_1"), RATE, "loss:0"]
    assert called(fetches) == ["Add_1:0", "rate:0", "loss:0"]
