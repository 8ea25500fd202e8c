"""Which loops of traced code are unrolled, and into how many copies.

AutoGraph makes an op of a loop over a tensor. A loop over Python's `range` is run by the trace, so
that each of its turns adds the ops of its body to the graph.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.program.python_calls import CallEffect, effect_of_method, effect_of_path
from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.traces.compiled_functions import Compiled

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_MAX_DEPTH = 6
_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: int.__add__,
    ast.Sub: int.__sub__,
    ast.Mult: int.__mul__,
}


@dataclass(frozen=True, eq=False)
class Unrolled:
    """A loop, and how many copies of its body the graph gets."""

    loop: ast.For
    copies: int


class UnrolledLoops:
    """Finds them, where the text says how many turns they make."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._classes = facts.classes
        self._traced = facts.traced_code

    def of(self, one: Compiled) -> Iterator[Unrolled]:
        """Each loop over a `range` of known length in what a function's trace runs."""
        for body in self._traced.bodies(one.code) if one.code is not None else ():
            for node in self._traced.nodes(body):
                if not isinstance(node, ast.For) or self._takes_objects(node):
                    continue
                if self._makes_ops(node):
                    copies = self._copies(node)
                    if copies is not None:
                        yield Unrolled(node, copies)

    def _copies(self, loop: ast.For) -> int | None:
        product = self.turns(loop)
        for outer in self._source.ancestors(loop):
            if product is None or isinstance(outer, _FUNCTIONS):
                break
            if isinstance(outer, ast.For):
                product *= self.turns(outer) or 1
        return product

    def turns(self, loop: ast.For) -> int | None:
        """How many turns a loop over a `range` of integers makes."""
        call = loop.iter
        if not isinstance(call, ast.Call) or self._names.dotted(call.func) != "builtins.range":
            return None
        bounds = [self._integer(argument) for argument in call.args]
        known = [bound for bound in bounds if bound is not None]
        if call.keywords or len(known) != len(bounds) or not 1 <= len(known) <= 3:
            return None
        return None if len(known) == 3 and known[2] == 0 else len(range(*known))

    def _integer(self, expr: ast.expr, depth: int = 0) -> int | None:
        """The value of an integer that is set once, in this file."""
        if depth > _MAX_DEPTH:
            return None
        match expr:
            case ast.Constant(value=int(value)):
                return value
            case ast.BinOp(left=left, op=operator, right=right):
                made = _OPERATORS.get(type(operator))
                one, other = self._integer(left, depth + 1), self._integer(right, depth + 1)
                return made(one, other) if made and one is not None and other is not None else None
            case ast.Name():
                bindings = self._scopes.bindings(expr)
                if len(bindings) == 1 and bindings[0].how is How.ASSIGN and bindings[0].value:
                    return self._integer(bindings[0].value, depth + 1)
            case ast.Attribute(value=ast.Name() as owner):
                cls = self._classes.of_self(owner)
                stores = self._classes.stores(cls, expr.attr) if cls is not None else None
                if stores and len(stores) == 1 and stores[0].value and not stores[0].augmented:
                    return self._integer(stores[0].value, depth + 1)
        return None

    def _takes_objects(self, loop: ast.For) -> bool:
        """Whether the counter takes layers or functions from a list, which a tensor cannot."""
        return any(
            isinstance(node, ast.Subscript)
            and isinstance(node.slice, ast.Name)
            and isinstance(loop.target, ast.Name)
            and node.slice.id == loop.target.id
            and isinstance(self._source.parent(node), (ast.Call, ast.Attribute))
            and getattr(self._source.parent(node), "func", node) is node
            for node in ast.walk(loop)
        )

    def _makes_ops(self, loop: ast.For) -> bool:
        """Whether the body calls anything that may make ops."""
        calls = [
            node
            for statement in loop.body
            for node in ast.walk(statement)
            if isinstance(node, ast.Call)
        ]
        return any(self._makes_op(call) for call in calls)

    def _makes_op(self, call: ast.Call) -> bool:
        symbol = self._names.tf(call.func)
        if symbol is not None:
            effect = effect_of(symbol, "2")
            return effect is None or effect.returns_tensor
        path = self._names.dotted(call.func)
        if path is not None:
            return effect_of_path(path) is CallEffect.UNKNOWN
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        return effect_of_method(method) is CallEffect.UNKNOWN
