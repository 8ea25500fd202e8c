"""Which lists of tensors have the same length each time: a trace holds for one length alone."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import Group, Thing, parts
from tfrewrite.analysis.program.scopes import How, path_in

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.scopes import Binding

_OF_ALL = frozenset(f"builtins.{name}" for name in "zip enumerate list tuple reversed".split())


class ListLengths:
    """Follows a list to the variables, or other lists, that it has a tensor for each of."""

    def __init__(self, facts: Facts) -> None:
        self._names = facts.names
        self._flow = facts.flow
        self._own = facts.own_calls
        self._values = facts.eager_values

    def is_steady(self, expr: ast.expr) -> bool:
        """Whether an expression gives lists of a few lengths at most."""
        return self._is_steady(expr, set())

    def _is_steady(self, expr: ast.expr, seen: set[ast.AST]) -> bool:
        if expr in seen:
            return True  # all that it comes from has been, or is being, asked for
        seen.add(expr)
        match expr:
            case ast.Name():
                bindings = self._flow.reaching(expr)
                return bool(bindings) and all(self._is_bound(one, seen) for one in bindings)
            case ast.Attribute():
                return self._is_of_variables(expr)
            case ast.ListComp(generators=[ast.comprehension(iter=over, ifs=[])]):
                return self._is_steady(over, seen)
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return not any(isinstance(one, ast.Starred) for one in elements)
            case ast.Call():
                return self._is_given(expr, (), seen)
            case ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=int(position))):
                return self._is_given(call, (position,), seen)
        return False

    def _is_bound(self, binding: Binding, seen: set[ast.AST]) -> bool:
        value = binding.value
        match binding.how:
            case How.ASSIGN if value is not None:
                return self._is_steady(value, seen)
            case How.UNPACK if isinstance(value, ast.Call):
                return self._is_given(value, path_in(binding), seen)
            case How.PARAMETER:
                given = self._own.given(binding)
                return bool(given) and all(self._is_steady(one, seen) for one in given or ())
        return False

    def _is_given(self, call: ast.Call, path: tuple[int, ...], seen: set[ast.AST]) -> bool:
        """Whether a call, or a part of what it gives, is a list of a few lengths."""
        if not path and self._names.dotted(call.func) in _OF_ALL:
            return bool(call.args) and all(self._is_steady(one, seen) for one in call.args)
        if path == (0,) and self._names.tf(call.func) == "clip_by_global_norm":
            return self._is_steady(call.args[0], seen) if call.args else False
        if not path and self._is_gradient(call):
            return self._is_steady(call.args[1], seen)
        function = self._own.function(call)
        returned = self._own.given_back(function) if function is not None else []
        found = [_at(one, path) for one in returned]
        return bool(found) and all(one is not None and self._is_steady(one, seen) for one in found)

    def _is_gradient(self, call: ast.Call) -> bool:
        match call:
            case ast.Call(func=ast.Attribute(value=tape, attr="gradient"), args=[_, _, *_]):
                found = self._values.value(tape)
                return isinstance(found, Thing) and found.kind == "tape"
        return False

    def _is_of_variables(self, attribute: ast.Attribute) -> bool:
        """Whether an attribute is a list of the variables of a model or layer."""
        found = self._values.value(attribute)
        return isinstance(found, Group) and all(
            isinstance(part, Thing) and part.kind == "variable" for part in parts(found)
        )


def _at(expr: ast.expr, path: tuple[int, ...]) -> ast.expr | None:
    """A part of what an expression writes out; None where it does not."""
    for position in path:
        if not isinstance(expr, (ast.Tuple, ast.List)) or position >= len(expr.elts):
            return None
        if any(isinstance(one, ast.Starred) for one in expr.elts):
            return None
        expr = expr.elts[position]
    return expr
