"""Which places of a file are reached at most once while the program runs."""

from __future__ import annotations

import ast
from itertools import takewhile
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.scopes import COMPREHENSIONS

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts


class ReachedOnce:
    """Goes from a place to the loops around it, and to the callers of its function."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._flow = facts.flow
        self._own = facts.own_calls

    def holds(self, node: ast.AST) -> bool:
        """Whether a place of the file is reached at most once while the program runs."""
        return self._once(node, set())

    def in_turns(self, node: ast.AST) -> bool:
        """Whether a place is evaluated turn by turn, as seen from its function or module."""
        if self._flow.loop(node) is not None:
            return True
        around = takewhile(lambda one: not isinstance(one, ast.stmt), self._source.ancestors(node))
        return any(isinstance(one, COMPREHENSIONS) for one in around)

    def _once(self, node: ast.AST, seen: set[ast.AST]) -> bool:
        if self.in_turns(node):
            return False
        function = self._source.function(node)
        if function is None:
            return True
        if function in seen or not isinstance(function, ast.FunctionDef):
            return False
        calls = self._own.calls(function)
        if calls is None or len(calls) > 1:
            return self._starts_the_program(function)
        return all(self._once(call, {*seen, function}) for call in calls)

    def _starts_the_program(self, function: ast.FunctionDef) -> bool:
        """Whether a function is only handed to `app.run`."""
        uses = [n for n in self._source.all(ast.Name) if n.id == function.name]
        parents = [self._source.parent(use) for use in uses]
        return len(parents) == 1 and all(
            isinstance(call, ast.Call) and self._names.dotted(call.func) == "absl.app.run"
            for call in parents
        )
