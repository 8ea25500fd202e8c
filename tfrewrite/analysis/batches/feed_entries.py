"""What a dict that feeds a run holds, as it is written out in one place or piece by piece."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.batches.feed_helpers import MadeFeed


@dataclass(frozen=True, eq=False)
class Entry:
    """One placeholder and what it is fed with."""

    key: ast.expr
    value: ast.expr
    within: ast.Dict | ast.Call | ast.Assign
    """The dict that it is written in, the call that gives it, or the statement that fills it."""
    stays: bool = False
    """Whether it is left where it is: it was put there before the loop, or not in each turn."""


def fills(statement: ast.stmt, name: str) -> bool:
    """Whether a statement does no more than to put something into the dict that has a name."""
    match statement:
        case ast.If(test=test, body=body, orelse=orelse):
            inside = all(isinstance(one, ast.Pass) or fills(one, name) for one in (*body, *orelse))
            return inside and not _mentions(test, name)
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=target), slice=key)], value=value):
            parts = [key, value]
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=ast.Name(id=target), attr="update"),
                args=[ast.Dict(keys=keys) as written],
                keywords=[],
            )
        ) if None not in keys:
            parts = [written]
        case _:
            return False
    return target == name and not any(_mentions(part, name) for part in parts)


def conditions(statement: ast.stmt) -> Iterator[ast.expr]:
    """What decides whether a statement fills a dict."""
    if isinstance(statement, ast.If):
        yield statement.test
        for one in (*statement.body, *statement.orelse):
            yield from conditions(one)


def entries_of(
    feed: ast.Dict | ast.Call, filling: list[ast.stmt], helper: MadeFeed | None, *, earlier: bool
) -> list[Entry]:
    """All that a dict holds, in the order in which it is put there.

    `earlier` says that it is made before the loop, which then fills it.
    """
    if helper is not None:
        call = helper.call
        found = [Entry(key, call, call) for key in helper.made]
        found += [Entry(key, value, call) for key, value in helper.named]
    else:
        assert isinstance(feed, ast.Dict)
        found = list(_written(feed, stays=earlier))
    for statement in filling:
        found += put_by(statement)
    return found


def put_by(statement: ast.stmt, *, stays: bool = False) -> Iterator[Entry]:
    """What a statement that fills a dict puts there."""
    match statement:
        case ast.If(body=body, orelse=orelse):
            for one in (*body, *orelse):
                yield from put_by(one, stays=True)
        case ast.Assign(targets=[ast.Subscript(slice=key)], value=value):
            yield Entry(key, value, statement, stays)
        case ast.Expr(value=ast.Call(args=[ast.Dict() as written])):
            yield from _written(written, stays=stays)


def _written(written: ast.Dict, *, stays: bool) -> Iterator[Entry]:
    for key, value in zip(written.keys, written.values, strict=True):
        assert key is not None
        yield Entry(key, value, written, stays)


def _mentions(part: ast.AST, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(part))
