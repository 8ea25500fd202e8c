"""Which values of eager code are tensors of one number: losses, sums, means, and what they make.

Such a tensor can be read at any time: nothing changes it, and reading it cannot fail. A variable is
none, and neither is a number of Python's.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import Thing
from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.scopes import Binding

_REDUCING = frozenset(
    f"{module}reduce_{name}"
    for module in ("", "math.")
    for name in ("mean", "sum", "max", "min", "prod", "std", "variance")
    if module or name not in ("std", "variance")
)
# Of a number they make a number.
_KEEPING = frozenset(
    "sqrt math.sqrt square math.square exp math.exp math.log abs math.abs identity stop_gradient"
    " negative sigmoid math.sigmoid tanh math.tanh".split()
)
_CASTING = frozenset({"cast"})
_SCALAR_TYPES = ("float16", "float32", "float64")
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
_MAX_DEPTH = 12


class ScalarTensors:
    """Asks whether an expression surely gives a tensor of one number."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._names = facts.names
        self._flow = facts.flow
        self._own = facts.own_calls
        self._classes = facts.classes
        self._values = facts.eager_values
        self._operands = facts.operands
        self._open: set[Binding] = set()

    def surely(self, expr: ast.expr) -> bool:
        """Whether an expression gives one, each time that it is evaluated."""
        return self._is_scalar(expr, 0)

    def _is_scalar(self, expr: ast.expr, depth: int) -> bool:
        if depth > _MAX_DEPTH:
            return False
        match expr:
            case ast.Name():
                bindings = self._flow.reaching(expr)
                return bool(bindings) and all(self._bound(one, depth) for one in bindings)
            case ast.Call():
                return self._call(expr, depth)
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _OPERATORS):
                found = [self._is_scalar(one, depth + 1) for one in (left, right)]
                plain = [self._operands.is_number(one) for one in (left, right)]
                return any(found) and all(a or b for a, b in zip(found, plain, strict=True))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._is_scalar(operand, depth + 1)
        return False

    def _bound(self, binding: Binding, depth: int) -> bool:
        if binding in self._open:
            return True  # what it was before, and that is asked of the others
        value = binding.value
        if value is None or binding.how not in (How.ASSIGN, How.UNPACK, How.AUGMENT):
            return False
        self._open.add(binding)
        try:
            if binding.how is How.UNPACK:
                return binding.index is not None and self._element(value, binding.index, depth)
            if binding.how is How.AUGMENT:
                return self._augmented(binding, value, depth)
            return self._is_scalar(value, depth + 1)
        finally:
            self._open.discard(binding)

    def _augmented(self, binding: Binding, value: ast.expr, depth: int) -> bool:
        """`loss += term`, where both are numbers and one of them is a tensor."""
        statement = binding.node
        if not isinstance(statement, ast.AugAssign) or not isinstance(statement.op, _OPERATORS):
            return False
        added = self._is_scalar(value, depth + 1) or self._operands.is_number(value)
        target = statement.target
        assert isinstance(target, ast.Name)
        before = [one for one in self._flow.reaching(target) if one is not binding]
        return added and bool(before) and all(self._bound(one, depth + 1) for one in before)

    def _element(self, value: ast.expr, index: int, depth: int) -> bool:
        """Whether a tuple has one at a position."""
        if isinstance(value, ast.Tuple):
            return index < len(value.elts) and self._is_scalar(value.elts[index], depth + 1)
        returned = self._returned(value) if isinstance(value, ast.Call) else []
        return bool(returned) and all(
            isinstance(one, ast.Tuple) and self._element(one, index, depth + 1) for one in returned
        )

    def _returned(self, call: ast.Call) -> list[ast.expr]:
        """What a function of the file gives back, compiled or not."""
        function = self._own.function(call)
        if not isinstance(function, ast.FunctionDef) or not self._own.is_plain(function):
            return []
        cls = self._source.parent(function)
        if isinstance(cls, ast.ClassDef) and self._classes.replaced(cls, function.name):
            return []
        return self._own.given_back(function) if _always_returns(function.body) else []

    def _call(self, call: ast.Call, depth: int) -> bool:
        symbol = self._names.tf(call.func)
        if symbol is not None:
            plain = len(call.args) == 1 and all(one.arg == "name" for one in call.keywords)
            if symbol in _REDUCING:
                return plain
            if symbol in _KEEPING:
                return plain and self._is_scalar(call.args[0], depth + 1)
            if symbol in _CASTING and len(call.args) == 2:
                path = self._names.dotted(call.args[1]) or ""
                kind = path.rpartition(".")[2]
                return kind in _SCALAR_TYPES and self._is_scalar(call.args[0], depth + 1)
            return False
        if self._names.dotted(call.func) is not None:
            return False
        if self._own.function(call) is not None:
            returned = self._returned(call)
            return bool(returned) and all(self._is_scalar(one, depth + 1) for one in returned)
        return self._is_loss(call) or self._is_result(call)

    def _is_loss(self, call: ast.Call) -> bool:
        """Whether a loss of Keras, which averages over the batch, is called."""
        found = self._values.value(call.func)
        return (
            isinstance(found, Thing)
            and found.kind == "loss"
            and not found.code
            and bool(found.made)
            and all(self._averages(one) for one in found.made)
        )

    def _averages(self, making: ast.AST) -> bool:
        return isinstance(making, ast.Call) and all(
            one.arg is not None and one.arg in ("from_logits", "name", "label_smoothing", "delta")
            for one in making.keywords
        ) and not making.args  # fmt: skip

    def _is_result(self, call: ast.Call) -> bool:
        """`metric.result()` of a mean of Keras'."""
        func = call.func
        if not isinstance(func, ast.Attribute) or func.attr != "result" or call.args:
            return False
        found = self._values.value(func.value)
        return (
            isinstance(found, Thing)
            and found.kind == "metric"
            and not found.code
            and found.symbol.rpartition(".")[2] in ("Mean", *_ACCURACIES)
        )


_ACCURACIES = (
    "Accuracy", "BinaryAccuracy", "CategoricalAccuracy", "SparseCategoricalAccuracy",
    "MeanSquaredError", "MeanAbsoluteError",
)  # fmt: skip


def _always_returns(body: list[ast.stmt]) -> bool:
    """Whether a block surely ends in a `return` of a value."""
    last = body[-1]
    match last:
        case ast.Return(value=value):
            return value is not None
        case ast.If(body=then, orelse=otherwise) if otherwise:
            return _always_returns(then) and _always_returns(otherwise)
        case ast.With(body=inner):
            return _always_returns(inner)
    return False
