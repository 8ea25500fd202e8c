"""What a function finds in a module's variable, where it is known from when on it is called.

A function may run at any time, so a name of the module that it reads may have any of its values.
Where all calls of the function are seen, those values are out that another one replaces before the
first call.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.scopes import Binding

_REPLACING = (How.ASSIGN, How.UNPACK)
Place = tuple[int, int]
"""A statement of the module, and one under its `if __name__ == "__main__":`, or -1."""


class LateReads:
    """Goes from a read in a function to the first line of the module that may call it."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._flow = facts.flow
        self._own = facts.own_calls
        self._first_calls: dict[ast.AST, Place | None] = {}

    def reaching(self, use: ast.Name) -> list[Binding]:
        """The bindings that a use of a name may see; all of them where that cannot be told."""
        found = self._flow.reaching(use)
        function = self._source.function(use)
        if len(found) < 2 or function is None:
            return found
        places = [self._bound_at(binding) for binding in found]
        called = self._first_call(function, set())
        if called is None or None in places:
            return found
        before = [place for place in places if place is not None and place < called]
        last = max(before, default=None)
        if last is None or (last[1] >= 0 and last[0] != called[0]):
            return found  # what is run as a script only may not have run
        return [b for b, place in zip(found, places, strict=True) if place and place >= last]

    def _bound_at(self, binding: Binding) -> Place | None:
        """Which of these statements a binding is; None where it is a part of one."""
        statement = self._source.statement(binding.node)
        parent = self._source.parent(statement)
        straight = isinstance(parent, ast.Module) or self._runs_script(parent, statement)
        return self._place(statement) if straight and binding.how in _REPLACING else None

    def _first_call(self, function: ast.AST, open_calls: set[ast.AST]) -> Place | None:
        """The first statement of the module that may run a function."""
        if function not in self._first_calls:
            self._first_calls[function] = self._found_first(function, open_calls | {function})
        return self._first_calls[function]

    def _found_first(self, function: ast.AST, open_calls: set[ast.AST]) -> Place | None:
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        calls = self._own.calls(function)
        if not calls:
            return None
        first: list[Place] = []
        for call in calls:
            caller = self._source.function(call)
            if caller in open_calls:
                return None
            place = self._place(call) if caller is None else self._first_call(caller, open_calls)
            if place is None:
                return None
            first.append(place)
        return min(first)

    def _place(self, node: ast.AST) -> Place:
        """The statement of the module that a node stands in."""
        statement = self._source.statement(node)
        inner = -1
        while not isinstance(parent := self._source.parent(statement), ast.Module):
            assert parent is not None
            main = self._runs_script(parent, statement)
            inner = self._source.position(statement)[1] if main else -1
            statement = self._source.statement(parent)
        return self._source.position(statement)[1], inner

    def _runs_script(self, parent: ast.AST | None, statement: ast.stmt) -> bool:
        """Whether a statement stands under the module's `if __name__ == "__main__":`."""
        return (
            isinstance(parent, ast.If)
            and ast.unparse(parent.test) == "__name__ == '__main__'"
            and statement in parent.body
            and isinstance(self._source.parent(parent), ast.Module)
        )
