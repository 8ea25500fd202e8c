"""What a dict that feeds a run holds, as it is written out in one place or piece by piece."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfrewrite.analysis.feed_helpers import MadeFeed


@dataclass(frozen=True, eq=False)
class Entry:
    """One placeholder and what it is fed with."""

    key: ast.expr
    value: ast.expr
    within: ast.Dict | ast.Call | ast.Assign
    """The dict that it is written in, the call that gives it, or the statement that fills it."""


def fills(statement: ast.stmt, name: str) -> bool:
    """Whether a statement does no more than to put something into the dict that has a name."""
    match statement:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=target), slice=key)], value=value):
            pass
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=ast.Name(id=target), attr="update"),
                args=[ast.Dict(keys=keys) as value],
                keywords=[],
            )
        ) if None not in keys:
            key = value
        case _:
            return False
    parts = [node for part in (key, value) for node in ast.walk(part)]
    return target == name and not any(
        isinstance(node, ast.Name) and node.id == name for node in parts
    )


def entries_of(
    feed: ast.Dict | ast.Call, filling: list[ast.stmt], helper: MadeFeed | None
) -> list[Entry]:
    """All that a dict holds, in the order in which it is put there."""
    if helper is not None:
        call = helper.call
        numbers = [Entry(key, value, call) for key, value in helper.numbers]
        return [*(Entry(key, call, call) for key in helper.made), *numbers]
    assert isinstance(feed, ast.Dict)
    found: list[Entry] = []
    for part in (feed, *filling):
        match part:
            case ast.Assign(targets=[ast.Subscript(slice=key)], value=value):
                found.append(Entry(key, value, part))
                continue
            case ast.Expr(value=ast.Call(args=[ast.Dict() as written])):
                pass
            case _:
                written = feed
        for one, value in zip(written.keys, written.values, strict=True):
            assert one is not None
            found.append(Entry(one, value, written))
    return found
