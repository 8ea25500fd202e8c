"""Which values in traced code are surely tensors of type float32.

A Python number takes on the type of the tensor that it meets, and a tensor does not: where a tensor
is to stand in for a number, the type of what it meets must be known.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.scopes import Binding

# Without a type they make float32.
_MAKING = frozenset("zeros ones eye random.normal random.uniform random.truncated_normal".split())
# Their result has the type of what they are given first.
_KEEPING = frozenset(
    "reduce_mean reduce_sum reduce_max reduce_min reduce_prod square sqrt exp abs negative identity"
    " stop_gradient zeros_like ones_like reshape transpose expand_dims squeeze tanh sigmoid matmul"
    " add subtract multiply divide maximum minimum pow clip_by_value nn.relu nn.softmax nn.tanh"
    " nn.sigmoid nn.softplus math.log math.exp math.square math.sqrt math.abs math.reduce_mean"
    " math.reduce_sum math.tanh math.sigmoid math.multiply math.add math.subtract math.divide"
    " math.maximum math.minimum math.pow norm".split()
)
_FLOAT32 = "float32"
_MAX_DEPTH = 12


class FloatTensors:
    """Follows expressions to where their type is said."""

    def __init__(self, facts: Facts) -> None:
        self._scopes = facts.scopes
        self._names = facts.names
        self._classes = facts.classes
        self._open: set[Binding] = set()

    def sure(self, expr: ast.expr, depth: int = 0) -> bool:
        """Whether an expression surely gives a float32 tensor."""
        if depth > _MAX_DEPTH:
            return False
        match expr:
            case ast.BinOp(left=left, op=operator, right=right):
                arithmetic = isinstance(operator, (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow))
                return arithmetic and (self.sure(left, depth + 1) or self.sure(right, depth + 1))
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                return self.sure(operand, depth + 1)
            case ast.Name():
                bindings = self._scopes.bindings(expr)
                # Adding to a tensor, or multiplying it, leaves its type.
                begun = [one for one in bindings if one.how is not How.AUGMENT]
                return bool(begun) and all(self._bound(one, depth) for one in begun)
            case ast.Attribute(value=ast.Name() as owner):
                cls = self._classes.of_self(owner)
                stores = self._classes.stores(cls, expr.attr) if cls is not None else None
                return bool(stores) and all(
                    store.value is not None
                    and store.index is None
                    and self.sure(store.value, depth + 1)
                    for store in stores or ()
                )
            case ast.Call():
                return self._called(expr, depth)
        return False

    def _bound(self, binding: Binding, depth: int) -> bool:
        if binding in self._open or binding.value is None:
            return False
        if binding.how is not How.ASSIGN:
            return False
        self._open.add(binding)
        try:
            return self.sure(binding.value, depth + 1)
        finally:
            self._open.discard(binding)

    def _called(self, call: ast.Call, depth: int) -> bool:
        symbol = self._names.tf(call.func)
        if symbol is None:
            return False
        dtype = self._dtype(call, symbol)
        if dtype is not None:
            return self._names.tf(dtype) == _FLOAT32 or (
                isinstance(dtype, ast.Constant) and dtype.value == _FLOAT32
            )
        first = call.args[0] if call.args else None
        if symbol in _MAKING:
            return True
        if symbol in ("constant", "convert_to_tensor", "Variable") and first is not None:
            return _has_float(first) or self.sure(first, depth + 1)
        if symbol in _KEEPING and first is not None:
            others = [one for one in call.args[1:2] if symbol.rpartition(".")[2] in _OF_TWO]
            return any(self.sure(one, depth + 1) for one in (first, *others))
        return False

    def _dtype(self, call: ast.Call, symbol: str) -> ast.expr | None:
        """The type that a call asks for, wherever it may stand."""
        for keyword in call.keywords:
            if keyword.arg in ("dtype", None):
                return keyword.value
        place = {"cast": 1, "zeros": 1, "ones": 1, "constant": 1, "convert_to_tensor": 1}
        place |= {"zeros_like": 1, "ones_like": 1, "complex": 0}
        place |= {"random.normal": 3, "random.truncated_normal": 3, "random.uniform": 3, "eye": 3}
        position = place.get(symbol)
        if position is None and symbol == "Variable" and len(call.args) > 1:
            return call.args[-1]  # whatever it is
        return call.args[position] if position is not None and position < len(call.args) else None


_OF_TWO = frozenset("matmul add subtract multiply divide maximum minimum pow".split())


def _has_float(expr: ast.expr) -> bool:
    """A Python float, or a list that holds one and else numbers."""
    if isinstance(expr, ast.UnaryOp):
        return _has_float(expr.operand)
    if isinstance(expr, (ast.List, ast.Tuple)):
        return bool(expr.elts) and all(_has_float(one) for one in expr.elts)
    return isinstance(expr, ast.Constant) and isinstance(expr.value, float)
