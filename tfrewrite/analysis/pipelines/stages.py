"""What a tf.data pipeline is made of, as values that other rooms can read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator


@dataclass(frozen=True, eq=False)
class Stage:
    """One dataset made from others: a source, or a transformation of what is beneath it."""

    call: ast.Call
    """The whole call whose value is the dataset."""
    name: str
    """The method, class or function: `map`, `TFRecordDataset`, `map_and_batch` in an `apply`."""
    making: ast.Call
    """The call that has the arguments: the inner one of `ds.apply(map_and_batch(...))`."""
    beneath: tuple[Value, ...] = ()


@dataclass(frozen=True, eq=False)
class Ways:
    """One of several datasets, by the way that the program takes."""

    expr: ast.expr
    values: tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class Lost:
    """A dataset that this file does not show."""

    expr: ast.expr
    why: str


Value = Stage | Ways | Lost | None


class End(Enum):
    """How a pipeline ends."""

    OPEN = "open"
    AHEAD = "ahead"  # with a prefetch
    MIXED = "mixed"  # with one on some ways only


def stages(*roots: Value) -> Iterator[Stage | Lost]:
    """Everything that lies in and beneath some pipelines, each once."""
    seen: set[Value] = set()
    stack = list(roots)
    while stack:
        value = stack.pop()
        if value is None or value in seen:
            continue
        seen.add(value)
        if isinstance(value, Ways):
            stack.extend(value.values)
            continue
        yield value
        if isinstance(value, Stage):
            stack.extend(value.beneath)
