"""Which names some code reads, and which it binds."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def read_in(node: ast.AST) -> set[str]:
    return {
        one.id
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)
    }


def bound_in(roots: Iterable[ast.AST]) -> frozenset[str]:
    """The names that code binds or deletes, beside those that comprehensions keep to themselves."""
    nodes = [node for root in roots for node in ast.walk(root)]
    own = {
        part
        for node in nodes
        if isinstance(node, ast.comprehension)
        for part in ast.walk(node.target)
    }
    return frozenset(
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and node not in own
    )


def names_in(node: ast.AST | None) -> frozenset[str]:
    """All names that stand in some code, as in the target of a loop."""
    walked = ast.walk(node) if node is not None else ()
    return frozenset(one.id for one in walked if isinstance(one, ast.Name))


def surely_binds(statement: ast.stmt, name: str) -> bool:
    """Whether a statement that comes to its end has given a name a value."""
    match statement:
        case ast.Assign() | ast.AnnAssign(value=ast.expr()) | ast.AugAssign():
            return name in bound_in([statement])
        case ast.If(body=body, orelse=orelse):
            return all(any(surely_binds(one, name) for one in part) for part in (body, orelse))
        case ast.With(body=body):
            return any(surely_binds(one, name) for one in body)
    return False
