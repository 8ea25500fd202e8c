"""The shapes of numpy arrays, as far as the calls that make them say it."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import Array, Group, Number, Value, group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Shape = tuple[int, ...]

# Where the shape is given: by position, and by name.
_WHOLE = {
    "zeros": (0, "shape"), "ones": (0, "shape"), "empty": (0, "shape"), "full": (0, "shape"),
    "normal": (2, "size"), "uniform": (2, "size"), "randint": (2, "size"),
    "integers": (2, "size"), "standard_normal": (0, "size"), "random": (0, "size"),
    "random_sample": (0, "size"),
}  # fmt: skip
_MOST_ROWS = 16
_BY_SIZES = frozenset({"rand", "randn"})
_KEEPING = frozenset({"astype", "copy"})


def of_call(call: ast.Call, name: str, value: Callable[[ast.expr], Value]) -> Shape | None:
    """The shape of what a function of numpy makes; None where the call does not say it."""
    if any(isinstance(one, ast.Starred) for one in call.args):
        return None
    if name in _BY_SIZES:
        return _all(map(value, call.args)) if call.args and not call.keywords else None
    if name == "linspace":
        return _all([value(call.args[2])]) if len(call.args) == 3 and not call.keywords else None
    if name not in _WHOLE:
        return None
    position, keyword = _WHOLE[name]
    given = [one.value for one in call.keywords if one.arg == keyword]
    given = given or call.args[position : position + 1]
    return _written(value(given[0])) if given else None


def after_method(shape: Shape | None, method: str) -> Shape | None:
    """The shape of what a method makes of an array."""
    return shape if method in _KEEPING else None


def of_part(shape: Shape | None, index: Value) -> Shape | None:
    """The shape of what an index takes of an array."""
    is_one = isinstance(index, Number) and not index.tensors
    return shape[1:] if shape and is_one else None


def rows(value: Value) -> Group | None:
    """What a list of the rows of an array holds; None where they may be many, or numbers."""
    if not isinstance(value, Array) or value.shape is None or len(value.shape) < 2:
        return None
    count, *rest = value.shape
    return group(*[replace(value, shape=tuple(rest))] * count) if count <= _MOST_ROWS else None


def _written(value: Value) -> Shape | None:
    if isinstance(value, Group) and value.items is not None and not value.lazy:
        return _all(value.items)
    return _all([value])


def _all(sizes: Iterable[Value]) -> Shape | None:
    found = []
    for size in sizes:
        literal = size.literal if isinstance(size, Number) and not size.varies else None
        if literal is None or type(literal.value) is not int or literal.value < 0:
            return None
        found.append(literal.value)
    return tuple(found)
