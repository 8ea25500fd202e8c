"""How many rows an array has: the first number of its shape."""

from __future__ import annotations

import ast
import re
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.python_calls import NUMPY_STREAMS
from tfrewrite.analysis.program.scopes import Binding, How

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfrewrite.analysis.facts import Facts

_EXPANDING = frozenset({"numpy.expand_dims", "tensorflow.expand_dims"})
_RESHAPING = frozenset({"numpy.reshape", "tensorflow.reshape"})
_LISTING = frozenset({"numpy.array", "numpy.asarray", "numpy.stack"})
_FILLING = frozenset(
    f"numpy.{name}" for name in "zeros ones empty full random.random random.random_sample".split()
) | {"tensorflow.zeros", "tensorflow.ones", "tensorflow.random.normal", "tensorflow.random.uniform"}
_DRAWING = frozenset(f"numpy.random.{name}" for name in "normal uniform randint choice".split())
_COUNTING = frozenset({"numpy.random.rand", "numpy.random.randn"})
_SAME_SHAPE = frozenset(
    f"numpy.{name}" for name in "float32 float64 copy abs clip exp log sqrt tanh round".split()
)
_AS_TENSOR = frozenset({"tensorflow.constant", "tensorflow.convert_to_tensor", "tensorflow.cast"})
_SAME_SHAPE_METHODS = frozenset({"astype", "copy", "clip", "round"})
_UNUSUAL = re.compile(r"""['"][>!][a-z]\d|newbyteorder|byteswap|longdouble|float128""")
_MAX_DEPTH = 12

Rows = frozenset[int] | None
_ONE = frozenset({1})


class BatchRows:
    """Reads numbers of rows off what arrays are made by."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._names = facts.names
        self._scopes = facts.scopes
        self._own = facts.own_calls
        self._open: set[object] = set()

    def of(self, expr: ast.expr) -> int | None:
        """The most rows that an array or tensor can have; None where that is not known."""
        if any(node.attr == "shape" for node in self._stored) or self._unusual_numbers:
            return None
        return max(self._rows(expr, 0) or (), default=None)

    def exactly(self, expr: ast.expr) -> int | None:
        """The number of rows of an array or tensor, where it can have no other."""
        most = self.of(expr)
        rows = self._rows(expr, 0) or frozenset()
        return most if len(rows) == 1 else None

    @cached_property
    def _unusual_numbers(self) -> bool:
        """Whether the file has to do with numbers that TensorFlow does not know."""
        return _UNUSUAL.search(self._facts.source.text) is not None

    @cached_property
    def _stored(self) -> list[ast.Attribute]:
        attributes = self._facts.source.all(ast.Attribute)
        return [node for node in attributes if not isinstance(node.ctx, ast.Load)]

    def _rows(self, expr: ast.expr, depth: int) -> Rows:
        """All numbers of rows; none for a value that is made of itself, which adds nothing."""
        if depth > _MAX_DEPTH:
            return None
        depth += 1
        match expr:
            case ast.Call():
                return self._call(expr, depth)
            case ast.Subscript(slice=index):
                return self._subscript(index)
            case ast.BinOp(left=left, right=right):
                if _is_number(right):
                    return self._rows(left, depth)
                return self._rows(right, depth) if _is_number(left) else None
            case ast.IfExp(body=body, orelse=orelse):
                return _joined([self._rows(body, depth), self._rows(orelse, depth)])
            case ast.Name():
                return self._followed(self._facts.flow.reaching(expr), depth)
        return None

    def _followed(self, bindings: Iterable[Binding], depth: int) -> Rows:
        return _joined([self._binding(one, depth) for one in bindings])

    def _binding(self, binding: Binding, depth: int) -> Rows:
        if binding in self._open:
            return frozenset()
        self._open.add(binding)
        try:
            if binding.how is How.PARAMETER and isinstance(binding.node, ast.arg):
                given = self._own.given(binding)
                return _joined([self._rows(one, depth) for one in given or ()])
            if binding.how is How.ASSIGN and binding.value is not None:
                return self._rows(binding.value, depth)
            return None
        finally:
            self._open.discard(binding)

    def _call(self, call: ast.Call, depth: int) -> Rows:
        path = self._names.dotted(call.func) or self._drawn(call.func)
        first = call.args[0] if call.args else None
        starred = any(isinstance(one, ast.Starred) for one in call.args)
        if starred or any(one.arg is None for one in call.keywords):
            return None
        if path in _EXPANDING:
            axis = _argument(call, 1, "axis")
            return _ONE if isinstance(axis, ast.Constant) and axis.value == 0 else None
        if path in _RESHAPING:
            shape = _argument(call, 1, "newshape") or _argument(call, 1, "shape")
            return self._first_of(shape)
        if path in _LISTING and first is not None:
            if any(keyword.arg == "axis" for keyword in call.keywords) or len(call.args) > 2:
                return None
            return _length(first)
        if path == "numpy.concatenate" and isinstance(first, (ast.Tuple, ast.List)) and first.elts:
            axis = _argument(call, 1, "axis")
            beside = isinstance(axis, ast.Constant) and axis.value == 1
            return self._rows(first.elts[0], depth) if beside else None
        if path in _FILLING:
            return self._first_of(_argument(call, 0, "shape") or _argument(call, 0, "size"))
        if path in _DRAWING:
            position = 1 if path.endswith("choice") else 2
            return self._first_of(_argument(call, position, "size"))
        if path in _COUNTING and len(call.args) > 1:
            return self._integer(call.args[0])
        if path in _SAME_SHAPE and first is not None:
            return self._rows(first, depth)
        if path in _AS_TENSOR and first is not None:
            other = len(call.args) > 2 or _argument(call, 2, "shape") is not None
            return None if other else self._rows(first, depth)
        if path is not None:
            return None
        return self._method(call, depth)

    def _drawn(self, func: ast.expr) -> str | None:
        """The function of `numpy.random` that a method of an own stream of numbers is like."""
        if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name):
            return None
        bindings = self._scopes.bindings(func.value)
        made = bindings[0].value if len(bindings) == 1 else None
        stream = isinstance(made, ast.Call) and self._names.dotted(made.func) in NUMPY_STREAMS
        return f"numpy.random.{func.attr}" if stream else None

    def _method(self, call: ast.Call, depth: int) -> Rows:
        function = self._own.function(call)
        if function is not None:
            returned = self._own.returned(function)
            ends = bool(function.body) and isinstance(function.body[-1], ast.Return)
            if not ends or function in self._open or self._is_replaced(call.func):
                return None
            self._open.add(function)
            found = _joined([self._rows(one, depth) for one in returned])
            self._open.discard(function)
            return found
        if not isinstance(call.func, ast.Attribute):
            return None
        if call.func.attr == "reshape" and call.args:
            shape = call.args[0]
            return self._first_of(shape) if _is_listed(shape) else self._integer(shape, call.args)
        if call.func.attr in _SAME_SHAPE_METHODS:
            return self._rows(call.func.value, depth)
        return None

    def _is_replaced(self, func: ast.expr) -> bool:
        """Whether a subclass may have another method of that name."""
        if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name):
            return False
        cls = self._facts.classes.of_self(func.value)
        return cls is not None and self._facts.classes.replaced(cls, func.attr)

    def _subscript(self, index: ast.expr) -> Rows:
        """What a new first axis makes: `x[None]`, `x[np.newaxis, :]`."""
        first = index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index
        if isinstance(first, ast.Constant) and first.value is None:
            return _ONE
        return (
            _ONE if self._names.dotted(first) in ("numpy.newaxis", "tensorflow.newaxis") else None
        )

    def _first_of(self, shape: ast.expr | None) -> Rows:
        if isinstance(shape, (ast.Tuple, ast.List)) and len(shape.elts) > 1:
            return self._integer(shape.elts[0], shape.elts)
        return None

    def _integer(self, expr: ast.expr, shape: list[ast.expr] | None = None) -> Rows:
        """A positive number, written out or in a name that is bound to nothing else."""
        if shape is not None and len(shape) < 2:
            return None
        return self._number(expr, 0)

    def _kept_number(self, expr: ast.Attribute) -> Rows:
        """A number that an object is given once, as in `self.batch_size = 32`."""
        classes = self._facts.classes
        cls = classes.of_self(expr.value) if isinstance(expr.value, ast.Name) else None
        if cls is None or classes.runs_code(expr) or classes.replaced(cls, expr.attr):
            return None
        stores = classes.stores(cls, expr.attr)
        if not stores or len(stores) > 1 or stores[0].augmented or stores[0].index is not None:
            return None
        value = stores[0].value
        return self._number(value, 0) if isinstance(value, ast.Constant) else None

    def _number(self, expr: ast.expr, depth: int) -> Rows:
        if isinstance(expr, ast.Constant) and type(expr.value) is int and expr.value > 0:
            return frozenset({expr.value})
        if isinstance(expr, ast.Attribute):
            return self._kept_number(expr)
        if not isinstance(expr, ast.Name) or depth > _MAX_DEPTH:
            return None
        bindings = self._scopes.bindings(expr)
        if len(bindings) != 1:
            return None
        binding = bindings[0]
        if binding.how is How.ASSIGN and binding.value is not None:
            return self._number(binding.value, depth + 1)
        if binding.how is How.PARAMETER and isinstance(binding.node, ast.arg):
            given = self._own.given(binding)
            return _joined([self._number(one, depth + 1) for one in given or ()])
        return None


def _joined(found: list[Rows]) -> Rows:
    known = [one for one in found if one is not None]
    return frozenset().union(*known) if known and len(known) == len(found) else None


def _argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    return call.args[position] if position < len(call.args) else None


def _length(expr: ast.expr) -> Rows:
    if not isinstance(expr, (ast.List, ast.Tuple)) or not expr.elts:
        return None
    starred = any(isinstance(one, ast.Starred) for one in expr.elts)
    return None if starred else frozenset({len(expr.elts)})


def _is_listed(shape: ast.expr) -> bool:
    return isinstance(shape, (ast.Tuple, ast.List))


def _is_number(expr: ast.expr) -> bool:
    return isinstance(expr, ast.Constant) and isinstance(expr.value, (int, float))
