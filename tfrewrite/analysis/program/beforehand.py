"""What a program may have done before it comes to a certain statement."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.scopes import COMPREHENSIONS

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_WAITING = (ast.Yield, ast.YieldFrom, ast.Await)


@dataclass(frozen=True, eq=False)
class Past:
    """All that may have been evaluated when a statement is done."""

    nodes: list[ast.AST]
    unseen: str = ""
    """The words for what may have gone on outside of the file."""


class Beforehand:
    """Follows a program from a statement back to its start, and out of functions to their calls."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._flow = facts.flow
        self._classes = facts.classes
        self._own = facts.own_calls
        self._afterwards = facts.afterwards

    def past(self, statement: ast.stmt) -> Past:
        """All that may have been evaluated when a statement is done, whoever called for it."""
        return _Way(self).to(statement)

    def callers(self, function: ast.AST) -> list[ast.Call] | None:
        """The calls of a function in this file; None where not all of them are seen."""
        if not isinstance(function, _FUNCTIONS):
            return None
        cls = self._source.parent(function)
        if function.name == "__init__" and isinstance(cls, ast.ClassDef):
            known = self._classes.family(cls) is not None and not self._classes.extended(cls)
            return (self._classes.instantiations(cls) or None) if known else None
        return self._own.calls(function) or None

    def once(self, function: ast.AST | None) -> bool:
        """Whether a function runs once at most, as the code outside of functions does.

        A method does so only if there is one object of its class.
        """
        return self._once(function, ())

    def _once(self, function: ast.AST | None, inside: tuple[ast.AST, ...]) -> bool:
        if function is None:
            return True
        if function in inside or not isinstance(function, _FUNCTIONS):
            return False
        inside = (*inside, function)
        starts = self._afterwards.starts(function)
        if self._afterwards.returns_to(function) == []:
            return self._one_of(starts, inside)
        cls = self._source.parent(function)
        if isinstance(cls, ast.ClassDef) and function.name != "__init__":
            made = [] if self._classes.extended(cls) else self._classes.instantiations(cls)
            if not self._one_of(made, inside):
                return False
        return not starts and self._one_of(self.callers(function) or [], inside)

    def _one_of(self, calls: list[ast.Call], inside: tuple[ast.AST, ...]) -> bool:
        if len(calls) != 1 or self._repeated(calls[0]):
            return False
        return self._once(self._source.function(calls[0]), inside)

    def _repeated(self, call: ast.Call) -> bool:
        within = self._source.ancestors(call)
        return self._flow.loop(call) is not None or any(
            isinstance(outer, COMPREHENSIONS) for outer in within
        )


class _Way:
    def __init__(self, beforehand: Beforehand) -> None:
        self._source = beforehand._source
        self._flow = beforehand._flow
        self._afterwards = beforehand._afterwards
        self._callers = beforehand.callers
        self._taken: list[ast.AST] = []
        self._on_the_way: set[ast.AST] = set()
        """How the functions are called that the statement stands in: not done when it is."""
        self._left: set[ast.AST] = set()
        self._unseen = ""

    def to(self, statement: ast.stmt) -> Past:
        self._taken.append(statement)
        self._go_back(statement)
        self._taken += self._afterwards.unnamed
        nodes = self._afterwards.within_all(self._taken, frozenset(self._on_the_way))
        return Past(nodes, self._unseen)

    def _go_back(self, statement: ast.stmt) -> None:
        while True:
            block, index = self._source.position(statement)
            self._taken += block[:index]
            owner = self._source.parent(statement)
            while owner is not None and not isinstance(owner, (ast.stmt, ast.Module)):
                owner = self._source.parent(owner)  # a handler, a match case
            if isinstance(owner, _FUNCTIONS):
                self._leave(owner)
                return
            if owner is None or isinstance(owner, ast.Module):
                return
            assert isinstance(owner, ast.stmt)
            if isinstance(owner, ast.If):
                self._taken.append(owner.test)
            elif isinstance(owner, (ast.With, ast.AsyncWith)):
                self._taken += owner.items
            else:
                self._taken.append(owner)  # a loop may have had its turns
            statement = owner

    def _leave(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if function in self._left:
            return
        self._left.add(function)
        if any(isinstance(node, _WAITING) for node in ast.walk(function)):
            self._unseen = self._unseen or f"`{function.name}` is left and entered again"
            return
        starts = self._afterwards.starts(function)
        only_started = self._afterwards.returns_to(function) == []
        called = [] if only_started else self._callers(function)
        if called is None:
            self._unseen = self._unseen or f"who calls `{function.name}` is not all seen"
            return
        calls = [*starts, *called]
        if len(calls) > 1 or any(self._flow.loop(call) is not None for call in calls):
            self._taken += function.body  # another call may have come to its end
        cls = self._source.parent(function)
        if function.name == "__init__" and isinstance(cls, ast.ClassDef):
            self._taken += [one for one in cls.body if one is not function]
            for other in cls.body:
                if isinstance(other, _FUNCTIONS) and other is not function:
                    self._taken += other.body if other.name.startswith("__") else []
        for call in calls:
            if call not in starts:
                self._on_the_way.add(call.func)
                self._taken.append(self._source.statement(call))
            self._go_back(self._source.statement(call))
