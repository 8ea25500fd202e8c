"""What a function finds in a module's variable, where it is known from when on it is called.

A function may run at any time, so a name of the module that it reads may have any of its values.
Where all calls of the function are seen, those values are out that another one replaces before the
first call.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.scopes import How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.scopes import Binding

_REPLACING = (How.ASSIGN, How.UNPACK)


class LateReads:
    """Goes from a read in a function to the first line of the module that may call it."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._flow = facts.flow
        self._own = facts.own_calls
        self._first_calls: dict[ast.AST, int | None] = {}

    def reaching(self, use: ast.Name) -> list[Binding]:
        """The bindings that a use of a name may see; all of them where that cannot be told."""
        found = self._flow.reaching(use)
        function = self._source.function(use)
        if len(found) < 2 or function is None:
            return found
        lines = [self._line(binding) for binding in found]
        called = self._first_call(function, set())
        if called is None or None in lines:
            return found
        before = [line for line in lines if line is not None and line < called]
        last = max(before, default=-1)
        return [b for b, line in zip(found, lines, strict=True) if line is None or line >= last]

    def _line(self, binding: Binding) -> int | None:
        """Which statement of the module's top a binding is; None for any other place."""
        if binding.how not in _REPLACING:
            return None
        statement = self._source.statement(binding.node)
        if not isinstance(self._source.parent(statement), ast.Module):
            return None
        return self._source.position(statement)[1]

    def _first_call(self, function: ast.AST, open_calls: set[ast.AST]) -> int | None:
        """The first statement of the module's top that may run a function."""
        if function not in self._first_calls:
            self._first_calls[function] = self._found_first(function, open_calls | {function})
        return self._first_calls[function]

    def _found_first(self, function: ast.AST, open_calls: set[ast.AST]) -> int | None:
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        calls = self._own.calls(function)
        if not calls:
            return None
        first: list[int] = []
        for call in calls:
            caller = self._source.function(call)
            if caller in open_calls:
                return None
            line = self._top(call) if caller is None else self._first_call(caller, open_calls)
            if line is None:
                return None
            first.append(line)
        return min(first)

    def _top(self, node: ast.AST) -> int:
        """The statement of the module's top that a node outside of functions stands in."""
        statement = self._source.statement(node)
        parent = self._source.parent(statement)
        while not isinstance(parent, ast.Module):
            assert parent is not None
            statement = self._source.statement(parent)
            parent = self._source.parent(statement)
        return self._source.position(statement)[1]
