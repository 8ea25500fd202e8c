"""The sorts of numbers that a value can be, and what operators make of them."""

from __future__ import annotations

import ast
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_SMALL = 2**31


class Number(Enum):
    """A sort of number."""

    FLOAT = "float"  # Python's, or one float of numpy's
    SMALL = "small"  # Python's integer, too small to overflow 32 bits
    INT = "int"  # Python's integer
    REAL = "real"  # Python's integer or float
    BOOL = "bool"
    FRESH = "fresh"  # numpy's numbers, in memory that nobody else holds
    ARRAY = "array"  # numpy's numbers


INTEGERS = (Number.SMALL, Number.INT)
ARRAYS = (Number.FRESH, Number.ARRAY)


def constant(value: object) -> Number | None:
    if isinstance(value, bool):
        return Number.BOOL
    if isinstance(value, int):
        return Number.SMALL if value < _SMALL else Number.INT
    return Number.FLOAT if isinstance(value, float) else None


def negative(sort: Number | None) -> Number | None:
    if sort is Number.ARRAY:
        return Number.FRESH
    return Number.INT if sort is Number.BOOL else sort


def operation(
    operator: ast.operator, node: ast.AST, left: Number | None, right: Number | None
) -> Number | None:
    if left is None or right is None or Number.BOOL in (left, right):
        return None
    if left in ARRAYS or right in ARRAYS:
        return Number.FRESH
    integers = left in INTEGERS and right in INTEGERS
    match operator:
        case ast.Div():
            return Number.FLOAT
        case ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv() | ast.Mod() if integers:
            return _small_or_int(operator, node, left, right)
        case ast.Pow():
            positive = isinstance(node, ast.BinOp) and _is_positive(node.left)
            if left is Number.FLOAT and (positive or right in INTEGERS):
                return Number.FLOAT
            # A negative number to the power of a fraction is complex: `float` refuses that.
            return Number.REAL
        case ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv() | ast.Mod():
            return Number.FLOAT if Number.FLOAT in (left, right) else Number.REAL
    return None


def _small_or_int(
    operator: ast.operator, node: ast.AST, left: Number, right: Number
) -> Number | None:
    """What stays small: a counter with a small constant added, or divided."""
    if isinstance(operator, (ast.FloorDiv, ast.Mod)) and left is right is Number.SMALL:
        return Number.SMALL
    step = node.right if isinstance(node, ast.BinOp) else None
    small = isinstance(step, ast.Constant) and isinstance(step.value, int) and step.value < 2**16
    if isinstance(operator, (ast.Add, ast.Sub)) and left is Number.SMALL and small:
        return Number.SMALL
    return Number.INT


def _is_positive(expr: ast.expr) -> bool:
    return isinstance(expr, ast.Constant) and isinstance(expr.value, float) and expr.value > 0


def joined(sorts: Iterable[Number | None]) -> Number | None:
    """What holds whichever of several values it is."""
    found = set(sorts)
    if not found or None in found:
        return None
    if len(found) == 1:
        return found.pop()
    if found <= set(INTEGERS):
        return Number.INT
    if found <= set(ARRAYS):
        return Number.ARRAY
    return Number.REAL if not found & {*ARRAYS, Number.BOOL} else None


def held(sort: Number | None) -> Number | None:
    """What a value is once it has a name: somebody holds its memory."""
    return Number.ARRAY if sort is Number.FRESH else sort
