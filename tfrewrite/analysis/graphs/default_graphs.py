"""Which graph is the default one at two places: where a tensor is made, and where ops are added."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_RESETTING = frozenset({"reset_default_graph", "clear_session"})


class DefaultGraphs:
    """Decides whether it is surely the same."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._flow = facts.flow
        self._scopes = facts.scopes
        self._classes = facts.classes
        self._hoisting = facts.hoisting

    def same(self, maker: ast.stmt, place: ast.stmt) -> bool:
        """Whether what is made before `place` surely comes into the graph that `maker` adds to."""
        function = self._source.function(place)
        together = self._source.function(maker) is function
        if self._resets and (not together or self.may_be_replaced(maker)):
            return False
        here, there = self._entered(place), self._entered(maker)
        if here is None and not self._makes_graphs:
            return together or self._called_here(function or self._source.function(maker))
        return here is not None and there is not None and self._is_one(here, there)

    def may_be_replaced(self, maker: ast.stmt) -> bool:
        """Whether the default graph may become another one once `maker` has added to it."""
        return not all(self._sooner(one, maker) for one in self._resets)

    def _sooner(self, reset: ast.Call, maker: ast.stmt) -> bool:
        """Whether the default graph is surely replaced before an op is made, and not after it."""
        same = self._source.function(reset) is self._source.function(maker)
        first = same and self._hoisting.comes_first(self._source.statement(reset), maker)
        return first and not self._hoisting.loops(reset)

    @cached_property
    def _resets(self) -> list[ast.Call]:
        return [call for name in _RESETTING for call in self._classes.calls(name)]

    @cached_property
    def _makes_graphs(self) -> bool:
        return any(self._names.tf(call.func) == "Graph" for call in self._source.all(ast.Call))

    def _called_here(self, function: ast.AST | None) -> bool:
        name = getattr(function, "name", None)
        if name == "__init__" and function is not None:
            name = getattr(self._source.parent(function), "name", None)
        return name is not None and bool(self._classes.calls(name))

    def _entered(self, node: ast.AST) -> ast.expr | None:
        """The graph that the innermost `with` around a node makes the default one."""
        for outer in self._flow.enclosing(node):
            for item in reversed(outer.items) if isinstance(outer, ast.With) else ():
                manager = item.context_expr
                if not isinstance(manager, ast.Call):
                    continue
                if isinstance(manager.func, ast.Attribute) and manager.func.attr == "as_default":
                    return manager.func.value
                given = [one.value for one in manager.keywords if one.arg == "graph"]
                if self._names.tf(manager.func) == "Session" and given:
                    return given[0]
        return None

    def _is_one(self, first: ast.expr, second: ast.expr) -> bool:
        """Whether two expressions are the same one, or a name that has one value only."""
        if first is second:
            return True
        if not isinstance(first, ast.Name) or not isinstance(second, ast.Name):
            return False
        bound = self._scopes.bindings(first)
        return first.id == second.id and len(bound) == 1 and bound == self._scopes.bindings(second)
