"""Generators of Python behind `tf.data` pipelines, which run in a thread of their own."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.classes import Method


class RunningPipelines:
    """Tells which of them some code may take elements of, or start."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._flow = facts.flow
        self._names = facts.names
        self._own = facts.own_calls
        self._sessions = facts.sessions

    def behind(self, pieces: list[ast.AST]) -> list[tuple[ast.Call, Method | None]]:
        """The pipelines that some code may run, with their generators where the file has them."""
        return [
            (call, self._own.named(call.args[0]) if call.args else None)
            for call in self._source.all(ast.Call)
            if isinstance(call.func, ast.Attribute) and call.func.attr == "from_generator"
            if self._among(pieces, self._carriers(call))
        ]

    def _carriers(self, call: ast.Call) -> set[ast.AST | str]:
        """What may hold a pipeline, or what is made of it: bindings of names, and attributes."""
        found = self._beginning(call)
        while True:
            more = found | self._bound_to(found) | self._handed(found)
            if more == found:
                return found
            found = more

    def _beginning(self, call: ast.Call) -> set[ast.AST | str]:
        """What the statement of a pipeline binds, and the iterator that it is made for."""
        found: set[ast.AST | str] = set()
        for outer in self._source.ancestors(call):
            if isinstance(outer, ast.Call) and isinstance(outer.func, ast.Attribute):
                if outer.func.attr == "make_initializer":
                    found |= self._held(outer.func.value)
            if isinstance(outer, ast.Assign):
                found |= {outer, *self._attributes(outer.targets)}
            if isinstance(outer, ast.Return):
                found |= self._function(outer)
            if isinstance(outer, ast.stmt):
                break
        return found

    def _bound_to(self, carriers: set[ast.AST | str]) -> set[ast.AST | str]:
        """What binds something that carries a pipeline, or gives it back."""
        found: set[ast.AST | str] = set()
        for assign in self._source.all(ast.Assign):
            if self._carries(assign.value, carriers):
                found |= {assign, *self._attributes(assign.targets)}
        for added in self._source.all(ast.AugAssign):
            if self._carries(added.value, carriers):
                found |= {added, *self._attributes([added.target])}
        for loop in self._source.all(ast.For):
            if self._carries(loop.iter, carriers):
                found.add(loop)
        for returned in self._source.all(ast.Return):
            if returned.value is not None and self._carries(returned.value, carriers):
                found |= self._function(returned)
        return found

    def _handed(self, carriers: set[ast.AST | str]) -> set[ast.AST | str]:
        """The parameters that it is given for, and the objects whose methods it is given to."""
        found: set[ast.AST | str] = set()
        for call in self._source.all(ast.Call):
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            if call in self._sessions.runs or not any(
                self._carries(one, carriers) for one in given
            ):
                continue
            function = self._own.function(call)
            if function is not None:
                found |= {one for one in ast.walk(function.args) if isinstance(one, ast.arg)}
            elif isinstance(call.func, ast.Attribute) and self._names.dotted(call.func) is None:
                found |= self._held(call.func.value)
        return found

    def _carries(self, value: ast.expr, carriers: set[ast.AST | str]) -> bool:
        """Whether a value may be a pipeline; what comes out of a run is data."""
        taken = any(node in self._sessions.runs for node in ast.walk(value))
        return not taken and self._among([value], carriers)

    def _among(self, roots: Iterable[ast.AST], carriers: set[ast.AST | str]) -> bool:
        return any(
            bool(self._held(node) & carriers)
            for root in roots
            for node in ast.walk(root)
            if isinstance(node, ast.expr)
        )

    def _held(self, value: ast.expr) -> set[ast.AST | str]:
        """What a name is bound by; the attribute of whatever object; nothing of a module."""
        if isinstance(value, ast.Name) and isinstance(value.ctx, ast.Load):
            return {binding.node for binding in self._flow.reaching(value)}
        if isinstance(value, ast.Attribute) and self._names.dotted(value) is None:
            return {value.attr}
        return set()

    def _attributes(self, targets: list[ast.expr]) -> set[str]:
        parts = (part for target in targets for part in ast.walk(target))
        return {part.attr for part in parts if isinstance(part, ast.Attribute)}

    def _function(self, returned: ast.Return) -> set[ast.AST | str]:
        function = self._source.function(returned)
        return {function, getattr(function, "name", "")} if function is not None else set()
