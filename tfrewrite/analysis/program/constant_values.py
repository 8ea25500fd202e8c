"""Values that the text gives outright, and whether a tensor can surely be made of them."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING

from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tfrewrite.analysis.facts import Facts


class Unknown:
    """A value that the text does not give."""


UNKNOWN = Unknown()
_OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
}  # fmt: skip
_MOST = 2**20
_INT32 = range(-(2**31), 2**31)
_LARGEST = 3e38  # of float32
_SMALL = range(128)  # it fits every type of number
_FLOATS = frozenset({"float16", "float32", "float64", "bfloat16"})
_INTS = frozenset({"int32", "int64"})
_NUMERIC = _FLOATS | _INTS | {"int8", "uint8", "int16", "uint16"}
# With a size alone they give float64.
_ARRAYS = frozenset(
    f"numpy.{name}"
    for name in "linspace zeros ones eye random.rand random.randn random.uniform random.normal"
    " random.random".split()
)


class ConstantValues:
    """Evaluates what is written out."""

    def __init__(self, facts: Facts) -> None:
        self._scopes = facts.scopes
        self._names = facts.names

    def of(self, expr: ast.expr | None, depth: int = 0) -> object:
        """The number, text or list that an expression gives; `UNKNOWN` if the text says none."""
        match expr:
            case ast.Constant(value=bool() | int() | float() | str() | None as value):
                return value
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                positive = self.of(operand, depth)
                return -positive if isinstance(positive, (int, float)) else UNKNOWN
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                values = [self.of(part, depth) for part in parts]
                return UNKNOWN if any(one is UNKNOWN for one in values) else values
            case ast.BinOp(left=left, op=op, right=right):
                first, second = self.of(left, depth), self.of(right, depth)
                if type(op) in _OPERATORS and _is_int(first) and _is_int(second):
                    assert isinstance(first, int) and isinstance(second, int)
                    return _OPERATORS[type(op)](first, second)
            case ast.Name() if depth < 4:
                bindings = self._scopes.bindings(expr)
                if len(bindings) == 1 and bindings[0].how is How.ASSIGN:
                    bound = self.of(bindings[0].value, depth + 1)
                    return UNKNOWN if isinstance(bound, list) else bound
        return UNKNOWN

    def has_elements(self, iterable: ast.expr) -> bool:
        """Whether what a loop runs over surely has an element."""
        match iterable:
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return any(not isinstance(part, ast.Starred) for part in parts)
            case ast.Call(func=func, args=args, keywords=[]):
                path = self._names.dotted(func)
                if path == "builtins.enumerate" and len(args) == 1:
                    return self.has_elements(args[0])
                if path == "builtins.range":
                    given = [self.of(one) for one in args]
                    whole = [one for one in given if isinstance(one, int)]
                    known = len(whole) == len(given) and 0 < len(given) < 4
                    return known and whole[2:] != [0] and len(range(*whole)) > 0
        return False

    def surely_made(self, call: ast.Call) -> bool:
        """Whether a call that makes a tensor cannot fail."""
        symbol = self._names.tf(call.func)
        effect = effect_of(symbol, "2") if symbol is not None else None
        if effect is None or any(isinstance(one, ast.Starred) for one in call.args):
            return False
        given = dict(zip(effect.parameters, call.args, strict=False))
        for keyword in call.keywords:
            if keyword.arg is None or keyword.arg not in effect.parameters:
                return False
            given[keyword.arg] = keyword.value
        if len(call.args) > len(effect.parameters):
            return False
        if "name" in given:
            return False  # not every text is the name of an op
        kind = self._type(given.pop("dtype", None))
        return kind is not None and self._is_made(symbol or "", given, kind)

    def _type(self, expr: ast.expr | None) -> str | None:
        """The name of a type; empty where none is given, None where it is not known."""
        if expr is None:
            return ""
        if isinstance(expr, ast.Constant) and isinstance(expr.value, str):
            return expr.value if expr.value in _NUMERIC else None
        name = (self._names.dotted(expr) or "").rpartition(".")
        return name[2] if name[0] in ("tensorflow", "numpy") and name[2] in _NUMERIC else None

    def _is_made(self, symbol: str, given: dict[str, ast.expr], kind: str) -> bool:
        values = {name: self.of(one) for name, one in given.items()}
        only = list(values)
        match symbol:
            case "constant" | "convert_to_tensor" if only == ["value"]:
                floats = kind in ("", "float32", "float64")
                return _fits(values["value"], kind) or (floats and self._is_array(given["value"]))
            case "constant" if sorted(only) == ["shape", "value"]:
                value = values["value"]
                plain = _fits(value, kind) and not isinstance(value, list)
                return plain and _is_shape(values["shape"])
            case "zeros" | "ones" if only == ["shape"]:
                return _is_shape(values["shape"])
            case "fill" if sorted(only) == ["dims", "value"]:
                value = values["value"]
                plain = _fits(value, kind) and not isinstance(value, list)
                return plain and isinstance(values["dims"], list) and _is_shape(values["dims"])
            case "eye" if only == ["num_rows"]:
                return _is_size(values["num_rows"])
            case "range" if only in (["start"], ["start", "limit"]):
                ends = [one for one in (0, *values.values()) if isinstance(one, int)][-2:]
                sizes = all(map(_is_size, values.values())) and ends == sorted(ends)
                return sizes and kind in ("", *_INTS)
            case "one_hot" if sorted(only) == ["depth", "indices"]:
                whole = _leaves(values["indices"])
                plain = bool(whole) and all(map(_is_int, whole)) and _fits(values["indices"], "")
                return plain and _is_size(values["depth"])
            case "cast" if only == ["x"] and kind:
                inner = given["x"]
                if isinstance(inner, ast.Call):
                    return self._is_number_tensor(inner) and self.surely_made(inner)
                if self._is_array(inner):
                    return kind in ("float32", "float64")
                return _fits(values["x"], "") and not _has(values["x"], str)
        return False

    def _is_array(self, expr: ast.expr) -> bool:
        """Whether a name stands for an array of float64, whatever its shape is."""
        bindings = self._scopes.bindings(expr) if isinstance(expr, ast.Name) else []
        value = bindings[0].value if len(bindings) == 1 else None
        if not isinstance(value, ast.Call) or bindings[0].how is not How.ASSIGN:
            return False
        plain = all(one.arg in ("size", "shape", "num") for one in value.keywords)
        path = self._names.dotted(value.func) or ""
        most = 1 if path.endswith((".zeros", ".ones", ".eye")) else 3
        return plain and path in _ARRAYS and len(value.args) <= most

    def _is_number_tensor(self, call: ast.Call) -> bool:
        texts = (one.value for one in ast.walk(call) if isinstance(one, ast.Constant))
        return not any(isinstance(text, str) and text not in _NUMERIC for text in texts)


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_size(value: object) -> bool:
    return isinstance(value, int) and _is_int(value) and 0 <= value < _MOST


def _is_shape(value: object) -> bool:
    if not isinstance(value, list):
        return _is_size(value)
    size = 1
    for one in value:
        if not isinstance(one, int) or not _is_size(one):
            return False
        size *= max(one, 1)
    return size < _MOST * 64


def _leaves(value: object) -> list[object]:
    """The values in a list of lists."""
    if isinstance(value, list):
        return [leaf for one in value for leaf in _leaves(one)]
    return [value]


def _has(value: object, kind: type) -> bool:
    return any(isinstance(leaf, kind) for leaf in _leaves(value))


def _shape(value: object) -> tuple[int, ...] | None:
    """The shape of a list of lists, where all of one level are alike."""
    if not isinstance(value, list):
        return ()
    shapes = {_shape(one) for one in value}
    if len(shapes) > 1 or None in shapes:
        return None
    inner = shapes.pop() if shapes else ()
    return (len(value), *(inner or ()))


def _fits(value: object, kind: str) -> bool:
    """Whether a tensor of a type can surely be made of a value."""
    leaves = _leaves(value)
    if _shape(value) is None or any(leaf is None or leaf is UNKNOWN for leaf in leaves):
        return False
    sorts = {type(leaf) for leaf in leaves}
    if sorts <= {bool} or sorts <= {str}:
        return not kind and bool(sorts)
    if not sorts <= {int, float}:
        return False
    whole = [leaf for leaf in leaves if isinstance(leaf, int)]
    parts = [leaf for leaf in leaves if isinstance(leaf, float)]
    if kind != "float64" and any(not abs(leaf) < _LARGEST for leaf in parts):
        return False
    if not kind:
        # Numbers of both sorts go by the first one.
        return len(sorts) < 2 and all(leaf in _INT32 for leaf in whole)
    if kind in _FLOATS:
        return all(leaf in _INT32 for leaf in whole) and kind in ("float32", "float64")
    if parts:
        return False
    return all(leaf in (_INT32 if kind in _INTS else _SMALL) for leaf in whole)


def is_of_constants(value: ast.expr | None) -> bool:
    """Whether a value is a constant, or a list, tuple, set or dict of nothing else."""
    match value:
        case ast.Constant():
            return True
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
            return _all_constant(elements)
        case ast.Dict(keys=keys, values=values):
            return _all_constant([*(key for key in keys if key is not None), *values])
    return False


def _all_constant(values: Sequence[ast.expr]) -> bool:
    return all(isinstance(value, ast.Constant) for value in values)
