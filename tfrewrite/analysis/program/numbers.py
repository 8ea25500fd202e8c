"""Which sort of number a value surely is, as far as TensorFlow makes a difference.

A constant that is made of a value and a placeholder that is fed with it convert most numbers alike,
and some not: a float for an integer variable raises and is cut off, an integer too large wraps and
raises, `None` raises and becomes nan (measured on 1.15.5 and 2.21).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.nodes import Kind
from tfrewrite.analysis.graphs.variable_types import VariableTypes
from tfrewrite.analysis.program.number_sorts import (
    ARRAYS,
    Number,
    constant,
    held,
    joined,
    negative,
    operation,
)
from tfrewrite.analysis.program.python_calls import writes_to_argument
from tfrewrite.analysis.program.scopes import Binding, How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_MAX_DEPTH = 12

_FLOATS_OF_MATH = frozenset(
    "acos asin atan atan2 cos cosh degrees erf exp expm1 fabs fmod hypot ldexp log log10 log1p log2"
    " pow radians sin sinh sqrt tan tanh".split()
)
_FLOATS_OF_NUMPY = frozenset("float16 float32 float64".split())
_NEW_IN_NUMPY = frozenset(
    "abs absolute add array cos cumsum divide exp eye full log log10 log2 maximum mean minimum"
    " multiply ones power prod sin sqrt square std subtract sum tanh var zeros".split()
)
_DRAWN_BY_NUMPY = frozenset(
    "rand randn random uniform normal randint random_sample standard_normal".split()
)
_VIEWS_OF_NUMPY = frozenset(
    "asarray clip reshape squeeze transpose ravel expand_dims concatenate stack".split()
)
_CLOCKS = frozenset({"time.time", "time.perf_counter", "random.random", "random.uniform"})


class Numbers:
    """Finds the sort of an expression; None where it is not sure to be a number."""

    def __init__(self, facts: Facts) -> None:
        self._scopes = facts.scopes
        self._names = facts.names
        self._classes = facts.classes
        self._own = facts.own_calls
        self._sessions = facts.sessions
        self._tracer = facts.graph
        self._settings = facts.settings
        self.types = VariableTypes(facts.source, facts.names, self)
        self._known: dict[ast.expr, Number | None] = {}
        self._open: set[Binding] = set()

    def of(self, expr: ast.expr, depth: int = 0) -> Number | None:
        """The sort of number that an expression gives, whenever it is evaluated."""
        if expr in self._known or depth > _MAX_DEPTH:
            return self._known.get(expr)
        found = self._of(expr, depth + 1)
        if not self._open:
            self._known[expr] = found
        return found

    def _of(self, expr: ast.expr, depth: int) -> Number | None:
        match expr:
            case ast.Constant(value=value):
                return constant(value)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                return negative(self.of(operand, depth))
            case ast.UnaryOp(op=ast.Not()):
                return Number.BOOL
            case ast.BinOp(left=left, op=operator, right=right):
                values = (self.of(left, depth), self.of(right, depth))
                return operation(operator, expr, *values)
            case ast.Compare(left=left, comparators=others):
                sorts = [self.of(one, depth) for one in (left, *others)]
                python = all(one is not None and one not in ARRAYS for one in sorts)
                return Number.BOOL if python else None
            case ast.IfExp(body=body, orelse=orelse):
                return joined([self.of(body, depth), self.of(orelse, depth)])
            case ast.Name():
                return self._name(expr, depth)
            case ast.Attribute():
                return self._attribute(expr, depth)
            case ast.Subscript(value=value, slice=index):
                return self._element(value, index, depth)
            case ast.Call():
                return self._call(expr, depth)
        return None

    # Names and attributes

    def _name(self, name: ast.Name, depth: int) -> Number | None:
        bindings = self._scopes.bindings(name)
        followed = [one for one in bindings if one not in self._open]
        found = joined([self._binding(one, depth) for one in followed])
        # What is made of itself in each turn may become any integer.
        return Number.INT if found is Number.SMALL and followed != bindings else held(found)

    def _binding(self, binding: Binding, depth: int) -> Number | None:
        self._open.add(binding)
        try:
            return self._bound(binding, depth)
        finally:
            self._open.discard(binding)

    def _bound(self, binding: Binding, depth: int) -> Number | None:
        value = binding.value
        if binding.how is How.PARAMETER:
            given = self._own.given(binding) if isinstance(binding.node, ast.arg) else None
            return joined([self.of(one, depth) for one in given]) if given else None
        if value is None:
            return None
        if binding.how is How.ASSIGN:
            return self.of(value, depth)
        if binding.how is How.AUGMENT and isinstance(binding.node, ast.AugAssign):
            return self._augmented(binding, depth)
        if binding.how is How.LOOP:
            return self._looped(binding, value, depth)
        if binding.how is How.UNPACK and isinstance(value, (ast.Tuple, ast.List)):
            if binding.index is not None and not any(
                isinstance(one, ast.Starred) for one in value.elts
            ):
                return self.of(value.elts[binding.index], depth)
        if binding.how is How.UNPACK and binding.index is not None:
            return self._fetched(value, binding.index)
        return None

    def _augmented(self, binding: Binding, depth: int) -> Number | None:
        """What `name += value` leaves: an array stays the same array."""
        statement = binding.node
        assert isinstance(statement, ast.AugAssign)
        assert isinstance(statement.target, ast.Name)
        before = self._name(statement.target, depth)
        if before in ARRAYS or self.of(statement.value, depth) in ARRAYS:
            return Number.ARRAY
        after = operation(statement.op, statement, before, self.of(statement.value, depth))
        return Number.INT if after is Number.SMALL else after

    def _looped(self, binding: Binding, iterable: ast.expr, depth: int) -> Number | None:
        call = iterable if isinstance(iterable, ast.Call) else None
        path = self._names.dotted(call.func) if call is not None else None
        if call is not None and path == "builtins.enumerate":
            return Number.SMALL if binding.index == 0 and len(call.args) == 1 else None
        if call is not None and path in ("builtins.range", "builtins.xrange"):
            return self._counted(call, depth) if binding.index is None else None
        if isinstance(iterable, (ast.List, ast.Tuple)) and binding.index is None:
            return joined([self.of(one, depth) for one in iterable.elts])
        return None

    def _counted(self, call: ast.Call, depth: int) -> Number | None:
        """What a range counts; one from zero comes to no large number before the end of days."""
        if len(call.args) == 1:
            return Number.SMALL
        start, end = call.args[:2]
        small = self.of(end, depth) is Number.SMALL and len(call.args) == 2
        small = small and (self.of(start, depth) is Number.SMALL or self._of_int32(start))
        return Number.SMALL if small else Number.INT

    def _of_int32(self, expr: ast.expr) -> bool:
        """Whether a value is what a run read from a variable of 32-bit integers."""
        if isinstance(expr, ast.Name):
            bindings = self._scopes.bindings(expr)
            only = bindings[0] if len(bindings) == 1 else None
            if only is None or only.how is not How.ASSIGN or only.value is None:
                return False
            return self._of_int32(only.value)
        run = self._sessions.runs.get(expr) if isinstance(expr, ast.Call) else None
        read = self._tracer.trace(run.fetches) if run is not None else None
        return read is not None and read.kind is Kind.VARIABLE and self.types.of([read]) == "int32"

    def _attribute(self, expr: ast.Attribute, depth: int) -> Number | None:
        if self._names.dotted(expr) in ("math.pi", "math.e", "numpy.pi", "numpy.e"):
            return Number.FLOAT
        default = self._settings.value(expr)
        if default is not None:
            return {"float": Number.FLOAT, "int": Number.INT, "real": Number.REAL}.get(default)
        if not isinstance(expr.value, ast.Name):
            return None
        cls = self._classes.of_self(expr.value) or self._made(expr.value)
        if cls is None or self._classes.runs_code(expr):
            return None
        stores = self._classes.stores(cls, expr.attr)
        if not stores or any(one.value is None or one.index is not None for one in stores):
            return None
        if any(one.augmented for one in stores):
            sorts = [self.of(one.value, depth) for one in stores if one.value is not None]
            return Number.FLOAT if set(sorts) == {Number.FLOAT} else None
        return held(joined([self.of(one.value, depth) for one in stores if one.value is not None]))

    def _made(self, name: ast.Name) -> ast.ClassDef | None:
        """The class of the object that a name is bound to, if only to that."""
        bindings = self._scopes.bindings(name)
        value = bindings[0].value if len(bindings) == 1 else None
        if not isinstance(value, ast.Call) or bindings[0].how is not How.ASSIGN:
            return None
        return self._classes.defined(value.func)

    def _element(self, value: ast.expr, index: ast.expr, depth: int) -> Number | None:
        if isinstance(value, (ast.List, ast.Tuple)) and value.elts:
            return joined([self.of(one, depth) for one in value.elts])
        if isinstance(index, ast.Constant) and isinstance(index.value, int):
            found = self._fetched(value, index.value)
            if found is not None:
                return found
        return Number.ARRAY if self.of(value, depth) in ARRAYS else None

    # Calls

    def _call(self, call: ast.Call, depth: int) -> Number | None:
        if call in self._sessions.runs:
            return self._fetched(call, None)
        path = self._names.dotted(call.func)
        if path is not None:
            return self._library(call, path, depth)
        function = self._own.function(call)
        if function is not None:
            returned = self._own.returned(function)
            ends = bool(function.body) and isinstance(function.body[-1], ast.Return)
            sure = returned and (ends or _always_returns(function.body))
            return joined([self.of(one, depth) for one in returned]) if sure else None
        return None

    def _library(self, call: ast.Call, path: str, depth: int) -> Number | None:
        library, _, name = path.rpartition(".")
        sorts = [self.of(one, depth) for one in call.args]
        if library == "builtins":
            return _builtin(call, name, sorts)
        if path in _CLOCKS or (library == "math" and name in _FLOATS_OF_MATH):
            return Number.FLOAT
        if library == "math" and name in ("floor", "ceil"):
            return Number.INT
        if library == "numpy" and name in _FLOATS_OF_NUMPY:
            scalar = bool(sorts) and all(one is not None and one not in ARRAYS for one in sorts)
            return Number.FLOAT if scalar else Number.ARRAY if sorts and sorts[0] else None
        if library == "numpy.random" and name in _DRAWN_BY_NUMPY:
            return Number.FRESH
        if library == "numpy" and name in _NEW_IN_NUMPY | _VIEWS_OF_NUMPY:
            out = any(one.arg in ("out", "dtype", "copy") for one in call.keywords)
            out = out or writes_to_argument(call, path)
            made = name in ("zeros", "ones", "eye") or self._are_listed(call, depth)
            sure = made or (bool(sorts) and all(one is not None for one in sorts[:1]))
            if not sure or out:
                return None
            return Number.FRESH if name in _NEW_IN_NUMPY else Number.ARRAY
        return None

    def _are_listed(self, call: ast.Call, depth: int) -> bool:
        """Whether an array is made of a list of numbers, none too large for a type of numpy's."""
        listed = call.args[0] if call.args else None
        if not isinstance(listed, (ast.List, ast.Tuple)) or not listed.elts:
            return False
        return all(self.of(one, depth) in (Number.FLOAT, Number.SMALL) for one in listed.elts)

    def _fetched(self, value: ast.expr, index: int | None) -> Number | None:
        """What a run gives for one of the tensors that it fetches; for all, without an index."""
        run = self._sessions.runs.get(value) if isinstance(value, ast.Call) else None
        if run is None:
            return None
        fetched = run.fetches
        if isinstance(fetched, (ast.List, ast.Tuple)):
            if index is None or not 0 <= index < len(fetched.elts):
                return None
            fetched = fetched.elts[index]
        elif index is not None:
            return None
        node = self._tracer.trace(fetched)
        if node.kind is Kind.VARIABLE and self.types.is_one_float(node):
            return Number.FLOAT
        return Number.ARRAY if node.kind is Kind.VARIABLE or _is_numeric(node.symbol) else None


# What gives numbers when it is fetched: no texts, and no ops without a value.
_NUMERIC = frozenset(
    "add subtract multiply truediv divide matmul argmax argmin square sqrt exp log pow negative"
    " cast to_float to_int32 sigmoid tanh abs add_n norm".split()
)
_NUMERIC_FAMILIES = ("reduce_", "math.reduce_", "nn.", "losses.", "layers.dense")


def _is_numeric(symbol: str) -> bool:
    return symbol in _NUMERIC or symbol.startswith(_NUMERIC_FAMILIES)


def _builtin(call: ast.Call, name: str, sorts: list[Number | None]) -> Number | None:
    if name == "float" and len(call.args) == 1:
        return Number.FLOAT
    if name in ("int", "len") and len(call.args) == 1:
        return Number.INT
    if name == "bool":
        return Number.BOOL
    python = bool(sorts) and all(one is not None and one not in ARRAYS for one in sorts)
    if name in ("max", "min") and python and len(sorts) > 1 and not call.keywords:
        return joined(sorts)
    if name == "abs" and python:
        return sorts[0]
    if name == "round" and python:
        return Number.FLOAT if len(sorts) > 1 and sorts[0] is Number.FLOAT else Number.REAL
    return None


def _always_returns(body: list[ast.stmt]) -> bool:
    """Whether a block ends in a `return` whichever way it takes."""
    match body[-1] if body else None:
        case ast.Return(value=value):
            return value is not None
        case ast.Raise():
            return True
        case ast.If(body=first, orelse=other):
            return _always_returns(first) and _always_returns(other)
    return False
