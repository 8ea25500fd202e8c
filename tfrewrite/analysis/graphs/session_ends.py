"""Whether a session that is left open keeps Python from ending."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.nodes import Kind, plain
from tfrewrite.analysis.program.scopes import Binding, How
from tfrewrite.analysis.symbols import SESSIONS

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.sessions import SessionRun


class SessionEnds:
    """Asks what becomes of sessions where an exception ends the program.

    A session that is an object's or a function's is closed by its destructor then, when Python is
    half gone. It waits for the pipelines in it, and a thread that is at work on a batch in Python
    may not go on any more: the program never ends. A `with` closes the session before. What a
    variable of a module holds was not seen to be destroyed at all.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._asked: set[Binding] = set()

    def is_safe(self, run: SessionRun) -> bool:
        """Whether the session of a run is closed in time, or not destroyed."""
        func = run.call.func
        if run.direct and isinstance(func, ast.Attribute):
            return self._is_kept(func.value)
        opened = self._opened_around(run.call) or self._opened
        return bool(opened) and all(map(self._is_opened_well, opened))

    @cached_property
    def all_safe(self) -> bool:
        """Whether that holds for each session of the file, and there is one."""
        return bool(self._opened) and all(map(self._is_opened_well, self._opened))

    @cached_property
    def _opened(self) -> list[ast.Call]:
        return [call for call in self._source.all(ast.Call) if self._opens(call)]

    def _opened_around(self, node: ast.AST) -> list[ast.Call]:
        """The sessions that the `with` statements around a place open."""
        return [
            item.context_expr
            for one in self._source.ancestors(node)
            if isinstance(one, ast.With)
            for item in one.items
            if isinstance(item.context_expr, ast.Call) and self._opens(item.context_expr)
        ]

    def _opens(self, call: ast.Call) -> bool:
        return self._facts.names.tf(call.func) in SESSIONS

    def _is_opened_well(self, call: ast.Call) -> bool:
        """Whether a `with` opens a session, or a variable of the module holds it or its object."""
        holder = self._source.parent(call)
        if isinstance(holder, ast.withitem):
            return holder.context_expr is call
        target = holder.targets[0] if isinstance(holder, ast.Assign) else None
        match target:
            case ast.Name():
                return self._is_of_module(target)
            case ast.Attribute(value=ast.Name() as this):
                cls = self._facts.classes.of_self(this)
                return cls is not None and self._is_held_by_module(cls)
        return False

    def _is_held_by_module(self, cls: ast.ClassDef) -> bool:
        """Whether variables of the module hold all objects of a class."""
        classes = self._facts.classes
        made = [self._source.parent(call) for call in classes.instantiations(cls)]
        return (
            bool(made)
            and not classes.extended(cls)
            and all(
                isinstance(holder, ast.Assign)
                and isinstance(holder.targets[0], ast.Name)
                and self._is_of_module(holder.targets[0])
                for holder in made
            )
        )

    def _is_of_module(self, name: ast.Name) -> bool:
        scopes = self._facts.scopes
        return scopes.of(name).owner(name.id) is scopes.module

    def _is_kept(self, session: ast.expr) -> bool:
        made = plain(self._facts.graph.trace(session))
        if made.kind is Kind.OBJECT and isinstance(made.expr, ast.Call):
            return self._is_opened_well(made.expr)
        if not isinstance(session, ast.Name):
            return False
        if self._is_of_module(session):
            return True
        bindings = self._facts.scopes.bindings(session)
        if len(bindings) != 1 or bindings[0].how is not How.PARAMETER or bindings[0] in self._asked:
            return False
        self._asked.add(bindings[0])  # a function that calls itself passes its parameter on
        given = self._facts.sessions.given(bindings[0])
        kept = bool(given) and all(map(self._is_kept, given))
        self._asked.remove(bindings[0])
        return kept
