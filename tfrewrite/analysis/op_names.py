"""Where a script shows the names of its ops.

TensorFlow numbers ops of one name: `Exp`, `Exp_1`, `Exp_2`. Where fewer are made, those that are
made later have lower numbers.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.obstacle import Obstacle

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_NAMING = frozenset({"name", "op"})
_SHOWING = frozenset(f"builtins.{name}" for name in ("print", "str", "repr", "format"))


class OpNames:
    """Questions about names of ops."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._tracer = facts.graph
        self._op_making = facts.op_making
        self._afterwards = facts.afterwards

    def shown(self, statement: ast.stmt) -> Obstacle | None:
        """What shows, or keeps, the name of an op that is made in a statement or after it."""
        nodes = self._afterwards.rest(statement).nodes
        made = set(nodes)
        for node in nodes:
            for value in self._named(node):
                if self._op_making.is_tensor(value) and self._tracer.trace(value).expr in made:
                    return _seen(node, "shows the name of an op, which has a number")
            if isinstance(node, ast.Call) and self._keeps_a_scope(node):
                return _seen(node, "makes a variable, whose name has the number of its scope")
        return None

    def _named(self, node: ast.AST) -> list[ast.expr]:
        """The values whose name a piece of code gets."""
        match node:
            case ast.Attribute(value=value, attr=attribute) if attribute in _NAMING:
                return [value]
            case ast.Call(func=func, args=arguments) if self._names.dotted(func) in _SHOWING:
                return list(arguments)
            case ast.Call(func=ast.Attribute(value=ast.Constant(), attr="format"), args=arguments):
                return list(arguments)
            case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod(), right=value):
                return value.elts if isinstance(value, ast.Tuple) else [value]
            case ast.FormattedValue(value=value):
                return [value]
        return []

    def _keeps_a_scope(self, call: ast.Call) -> bool:
        """Whether a call makes a variable under a scope that only gives names."""
        symbol = self._names.tf(call.func)
        effect = effect_of(symbol) if symbol is not None else None
        if effect is None or not effect.creates:
            return False
        managers = [
            item.context_expr
            for outer in self._source.ancestors(call)
            if isinstance(outer, ast.With)
            for item in outer.items
        ]
        return any(
            isinstance(one, ast.Call) and self._names.tf(one.func) == "name_scope"
            for one in managers
        )


def _seen(node: ast.AST, what: str) -> Obstacle:
    return Obstacle("graph-read", f"line {getattr(node, 'lineno', 0)} {what}")
