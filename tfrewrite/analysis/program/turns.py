"""How often something in a loop is evaluated, as far as the text says it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfrewrite.analysis.program.flow import Flow


def turns(loops: Sequence[ast.AST], count: Callable[[ast.expr], int | None] | None = None) -> float:
    """How many turns loops make together, at most; infinite where the text does not say it.

    `count` may know more numbers than those that stand in the loops themselves.
    """
    product = 1.0
    for loop in loops:
        product *= _turns(loop, count or _written)
    return product


def _turns(loop: ast.AST, count: Callable[[ast.expr], int | None]) -> float:
    match loop:
        case ast.For(iter=over) | ast.ListComp(generators=[ast.comprehension(iter=over)]):
            pass
        case _:
            return float("inf")
    match over:
        case ast.Call(func=ast.Name("range") | ast.Attribute(attr="take"), args=[number]):
            found = count(number)
            return found if found is not None and found >= 0 else float("inf")
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return len(elements)
    return float("inf")


def _written(number: ast.expr) -> int | None:
    match number:
        case ast.Constant(value=int(value)):
            return value
    return None


def in_most_turns(flow: Flow, node: ast.AST, loop: ast.AST) -> bool:
    """Whether what a loop holds is not for some turns only, as a report at each tenth step is."""
    child = node
    for outer in flow.enclosing(node):
        if outer is loop:
            return True
        if isinstance(outer, (ast.IfExp, ast.BoolOp, ast.ExceptHandler)):
            return False
        if isinstance(outer, ast.If) and child is not outer.test:
            rest = any(isinstance(part, ast.Mod) for part in ast.walk(outer.test))
            if not (rest and child in outer.orelse):
                return False
        child = outer
    return True
