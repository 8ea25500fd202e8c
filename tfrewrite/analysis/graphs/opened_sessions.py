"""The places that open a session, and what is done in it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.source import LOOPS
from tfrewrite.analysis.symbols import PLAIN_SESSIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.sessions import SessionRun

# Many steps, whoever does them.
_STEPS = ("train", "fit", "learn", "evaluate", "predict_generator", "main", "experiment")


@dataclass(frozen=True, eq=False)
class OpenedSession:
    """One place that opens a session."""

    call: ast.Call
    statement: ast.stmt
    block: list[ast.stmt]
    """The statements that the session is there for."""
    name: str
    """What it is called; empty where it has no name."""
    uses: tuple[ast.Name, ...]
    """The places that read this name while it means this session."""

    @property
    def managed(self) -> ast.With | None:
        """The `with` statement that closes it, if that does nothing else."""
        single = isinstance(self.statement, ast.With) and len(self.statement.items) == 1
        return self.statement if isinstance(self.statement, ast.With) and single else None


class OpenedSessions:
    """Finds where sessions are opened."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._flow = facts.flow
        self._sessions = facts.sessions
        self._own = facts.own_calls
        self._afterwards = facts.afterwards

    def all(self) -> list[OpenedSession]:
        """Every session that is opened and kept under a name or by a `with`, by its place."""
        calls = [
            call
            for call in self._source.all(ast.Call)
            if self._names.tf(call.func) in PLAIN_SESSIONS
        ]
        calls.sort(key=self._source.span)
        found = (self._opened(call) for call in calls)
        return [one for one in found if one is not None]

    def _opened(self, call: ast.Call) -> OpenedSession | None:
        statement = self._source.statement(call)
        match statement:
            case ast.With(items=items, body=body):
                for item in items:
                    if item.context_expr is call:
                        name = item.optional_vars
                        if name is not None and not isinstance(name, ast.Name):
                            return None
                        return self._of(call, statement, body, name)
            case ast.Assign(targets=[ast.Name() as name], value=value) if value is call:
                block, index = self._source.position(statement)
                return self._of(call, statement, block[index + 1 :], name)
        return None

    def _of(
        self, call: ast.Call, statement: ast.stmt, block: list[ast.stmt], name: ast.Name | None
    ) -> OpenedSession:
        uses = tuple(
            use
            for use in (self._scopes.uses(name) if name is not None else ())
            if any(binding.node is statement for binding in self._flow.reaching(use))
        )
        return OpenedSession(call, statement, block, name.id if name is not None else "", uses)

    def reached(self, statements: Iterable[ast.AST]) -> list[ast.AST]:
        """All that statements evaluate, also in the functions of the file that they lead into."""
        seen: set[ast.AST] = set()
        stack = list(statements)
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    stack += self._source.children(node)
                if isinstance(node, ast.Attribute) and self._names.dotted(node) is not None:
                    continue  # `tf.train` is no method
                for function in self._afterwards.entered(node):
                    stack += getattr(function, "body", [])
        return list(seen)

    def runs(self, opened: OpenedSession) -> list[SessionRun]:
        """The runs that are written in the block of a session."""
        return [
            run
            for call, run in self._sessions.runs.items()
            if any(statement in (call, *self._source.ancestors(call)) for statement in opened.block)
        ]

    def may_work_long(self, opened: OpenedSession) -> bool:
        """Whether there may be so many steps in a session that opening it is nothing next to them.

        That is so where a loop stands in it, or where it is given to somebody who is not seen.
        """
        for node in self.reached(opened.block):
            if isinstance(node, LOOPS) and self._may_run(node):
                return True
            if isinstance(node, ast.Call) and self._hands_on(node, opened):
                return True
        return False

    def steps_within(self, statements: Iterable[ast.AST]) -> bool:
        """Whether a loop that runs the graph stands in statements, or in what they call."""
        return any(
            isinstance(node, LOOPS) and self._may_run(node) for node in self.reached(statements)
        )

    def works_otherwise(self, loop: ast.AST) -> bool:
        """Whether a loop holds many steps, or waits, so that all else in it is rare."""
        if self.steps_within(self._source.children(loop)):
            return True
        return any(
            self._is_step(node) or getattr(node.func, "attr", "") == "sleep"
            for node in self.reached([loop])
            if isinstance(node, ast.Call)
        )

    def _may_run(self, loop: ast.AST) -> bool:
        """Whether a loop may run the graph: it does, or calls what is not known not to."""
        return any(
            node in self._sessions.runs or self._is_step(node)
            for node in self.reached([loop])
            if isinstance(node, ast.Call)
        )

    def _hands_on(self, call: ast.Call, opened: OpenedSession) -> bool:
        if self._is_step(call):
            return True
        if self._own.function(call) is not None or self._names.tf(call.func) is not None:
            return False
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("restore", "save"):
            return False
        return call not in self._sessions.runs and any(
            any(outer is call for outer in self._handed_to(use)) for use in opened.uses
        )

    def _handed_to(self, use: ast.Name) -> Iterator[ast.AST]:
        """The calls that a name is an argument of, by itself or in a list or dict."""
        parent = self._source.parent(use)
        while isinstance(parent, (ast.keyword, ast.Tuple, ast.List, ast.Dict, ast.Starred)):
            parent = self._source.parent(parent)
        if isinstance(parent, ast.Call) and use is not parent.func:
            yield parent

    def _is_step(self, call: ast.Call) -> bool:
        """Whether a call is, by its name, one of many steps."""
        if self._names.tf(call.func) is not None:
            return False
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        return self._own.function(call) is None and any(word in name.lower() for word in _STEPS)
