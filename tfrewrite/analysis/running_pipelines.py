"""Generators of Python behind `tf.data` pipelines, which run in a thread of their own."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfrewrite.analysis.classes import Method
    from tfrewrite.analysis.facts import Facts


class RunningPipelines:
    """Tells by names which of them some code may take elements of, or start.

    What comes out of a run is data, and carries no pipeline on.
    """

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._own = facts.own_calls
        self._sessions = facts.sessions

    def behind(self, pieces: list[ast.AST]) -> list[tuple[ast.Call, Method | None]]:
        """The pipelines that some code may run, with their generators where the file has them."""
        used = self._identifiers(pieces)
        return [
            (call, self._own.named(call.args[0]) if call.args else None)
            for call in self._source.all(ast.Call)
            if isinstance(call.func, ast.Attribute) and call.func.attr == "from_generator"
            if self._carriers(call) & used
        ]

    def _carriers(self, call: ast.Call) -> set[str]:
        """The names and attributes that may stand for a pipeline, or for what is made of it."""
        found = self._beginning(call)
        while True:
            more = found | self._bound_to(found) | self._handed(found)
            if more == found:
                return found
            found = more

    def _bound_to(self, names: set[str]) -> set[str]:
        """What is bound to something that names stand for, or gives it back."""
        found: set[str] = set()
        for assign in self._source.all(ast.Assign):
            if self._carries(assign.value, names):
                found |= self._identifiers(map(_last, assign.targets))
        for loop in self._source.all(ast.For):
            if self._carries(loop.iter, names):
                found |= self._identifiers([_last(loop.target)])
        for returned in self._source.all(ast.Return):
            if returned.value is not None and self._carries(returned.value, names):
                found.add(getattr(self._source.function(returned), "name", ""))
        return found

    def _handed(self, names: set[str]) -> set[str]:
        """The parameters that it is given for, and the objects whose methods it is given to."""
        found: set[str] = set()
        for call in self._source.all(ast.Call):
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            if call in self._sessions.runs or not any(self._carries(one, names) for one in given):
                continue
            function = self._own.function(call)
            if function is not None:
                parameters = (one for one in ast.walk(function.args) if isinstance(one, ast.arg))
                found |= {one.arg for one in parameters}
            elif isinstance(call.func, ast.Attribute) and self._names.dotted(call.func) is None:
                found |= self._identifiers([_last(call.func.value)])
        return found

    def _beginning(self, call: ast.Call) -> set[str]:
        """What the statement of a pipeline gives a name, and the iterator that it is made for."""
        found: set[str] = set()
        for outer in self._source.ancestors(call):
            if isinstance(outer, ast.Call) and isinstance(outer.func, ast.Attribute):
                if outer.func.attr == "make_initializer":
                    found |= self._identifiers([_last(outer.func.value)])
            if isinstance(outer, ast.Assign):
                found |= self._identifiers(map(_last, outer.targets))
            if isinstance(outer, ast.Return):
                found.add(getattr(self._source.function(outer), "name", ""))
            if isinstance(outer, ast.stmt):
                break
        return found

    def _carries(self, value: ast.expr, names: set[str]) -> bool:
        inside = set(ast.walk(value))
        return bool(self._identifiers([value]) & names) and not inside & set(self._sessions.runs)

    def _identifiers(self, roots: Iterable[ast.AST]) -> set[str]:
        """The names and attributes in some code, but not those of modules, as in `tf.data`."""
        nodes = [node for root in roots for node in ast.walk(root)]
        names = {node.id for node in nodes if isinstance(node, ast.Name)}
        attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
        return names | {one.attr for one in attributes if self._names.dotted(one) is None}


def _last(target: ast.expr) -> ast.expr:
    """The part of a target that tells it from others: `x` of `model.x`."""
    return ast.Name(target.attr, ast.Load()) if isinstance(target, ast.Attribute) else target
