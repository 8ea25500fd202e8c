"""Runs that stand alone in a function of the file, seen from the steps that call it.

`print(loss_of(sess, batch), accuracy_of(sess, batch))` runs the graph twice with one feed. No run
stands there, and in each of the two functions there is but one.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.fetches import Fetch, fetch_of
from tfrewrite.analysis.graphs.sessions import SessionKind
from tfrewrite.analysis.graphs.step_runs import surely_evaluates
from tfrewrite.analysis.program.python_calls import CallEffect
from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.nodes import Frame
    from tfrewrite.analysis.graphs.sessions import SessionRun
    from tfrewrite.analysis.program.scopes import Scope

_ANEW = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda)
_MAX_NAMES = 8


@dataclass(frozen=True, eq=False)
class RunInStep:
    """A run that a statement of a step makes, itself or by a function that it calls."""

    call: ast.Call
    """What stands in the step: the run, or the call of the function that makes it."""
    statement: ast.stmt
    session: str
    feed: str
    """The feed in words of the step; two runs of one step with equal words are fed alike."""
    words: frozenset[str]
    """The names and attributes that session and feed are made of."""
    fetch: Fetch
    helper: ast.FunctionDef | None
    """The function that makes it; none where the run itself stands there."""


class HelperRuns:
    """Goes from a function with a single run to the steps that call it."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._tracer = facts.graph
        self._sessions = facts.sessions
        self._own = facts.own_calls
        self._classes = facts.classes
        self._afterwards = facts.afterwards

    def beside(self) -> list[tuple[RunInStep, RunInStep]]:
        """Two runs of a block with one feed, of which at least one is made by a function.

        One pair of each block and feed, of reading runs if there are such, and never two updates.
        """
        groups: dict[tuple[int, str, str], list[RunInStep]] = {}
        for one in self._all():
            block, _ = self._source.position(one.statement)
            groups.setdefault((id(block), one.session, one.feed), []).append(one)
        pairs = [self._pair(group) for group in groups.values()]
        return [pair for pair in pairs if pair is not None]

    def _all(self) -> list[RunInStep]:
        """The runs that functions with a single one make, and those that stand beside them."""
        helped = list(self._by_functions())
        blocks = {id(self._source.position(one.statement)[0]) for one in helped}
        runs = self._sessions.runs.values() if blocks else ()
        direct = [
            found
            for run in runs
            if id(self._source.position(self._source.statement(run.call))[0]) in blocks
            and (found := self._seen(run, run.call, None)) is not None
        ]
        return sorted([*helped, *direct], key=lambda one: self._source.span(one.call))

    def _by_functions(self) -> Iterator[RunInStep]:
        inside: dict[ast.FunctionDef, list[SessionRun]] = {}
        for run in self._sessions.runs.values():
            function = self._source.function(run.call)
            if isinstance(function, ast.FunctionDef) and not function.decorator_list:
                inside.setdefault(function, []).append(run)
        for function, runs in inside.items():
            if len(runs) > 1 or not self._is_made_once(runs[0].call, function):
                continue
            for call in self._classes.calls(function.name):
                if self._own.function(call) is function:
                    found = self._seen(runs[0], call, function)
                    if found is not None:
                        yield found

    def _is_made_once(self, run: ast.Call, function: ast.AST) -> bool:
        """Whether each call of a function makes a run once."""
        statement = self._source.statement(run)
        owner = self._source.parent(statement)
        while isinstance(owner, ast.With):
            owner = self._source.parent(owner)
        return owner is function and surely_evaluates(self._source, statement, run)

    def _seen(
        self, run: SessionRun, call: ast.Call, function: ast.FunctionDef | None
    ) -> RunInStep | None:
        """A run in the words of the step that it is made in, where it can be put so."""
        statement = self._source.statement(call)
        if run.kind is SessionKind.HOOKED or run.options or run.feed is None:
            return None
        if not surely_evaluates(self._source, statement, call):
            return None
        words = _Words(self._facts, call, function)
        func = run.call.func
        session: ast.expr | None = ast.Name(run.session, ast.Load())
        if run.direct and isinstance(func, ast.Attribute):
            session = words.of(func.value)
        feed = words.of(run.feed)
        if session is None or feed is None:
            return None
        frame = self._frame(call, function)
        title = self._source.in_one_line(run.fetches)
        fetch = fetch_of(self._tracer.trace(run.fetches, frame), title)
        if fetch.trouble:
            return None
        return RunInStep(
            call, statement, ast.dump(session), ast.dump(feed), _words_in(session, feed), fetch,
            function,
        )  # fmt: skip

    def _frame(self, call: ast.Call, function: ast.FunctionDef | None) -> Frame | None:
        if function is None:
            return None
        method = isinstance(self._source.parent(function), ast.ClassDef)
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        receiver = self._tracer.trace(owner) if method and owner is not None else None
        return self._tracer.inlining.frame(call, function, None, receiver)

    def _pair(self, group: list[RunInStep]) -> tuple[RunInStep, RunInStep] | None:
        pairs = [
            (first, second)
            for first, second in pairwise(group)
            if (first.helper or second.helper)
            and not (first.fetch.update and second.fetch.update)
            and all(self._count(one.call) == 1 for one in (first, second))
            and not self._is_fed_otherwise(first, second)
            and not self._runs_between(first, second)
        ]
        reading = [pair for pair in pairs if all(one.fetch.reads_only for one in pair)]
        return next(iter([*reading, *pairs]), None)

    def _is_fed_otherwise(self, first: RunInStep, second: RunInStep) -> bool:
        """Whether what is fed may get another value between two runs."""
        block, start = self._source.position(first.statement)
        _, end = self._source.position(second.statement)
        parts: list[ast.AST] = [*block[start:end]]
        parts += [one.helper for one in (first, second) if one.helper is not None]
        return any(_sets(node, first.words) for part in parts for node in ast.walk(part))

    def _runs_between(self, first: RunInStep, second: RunInStep) -> bool:
        """Whether the graph is run between two runs of a step, here or in a function."""
        block, start = self._source.position(first.statement)
        _, end = self._source.position(second.statement)
        span = self._source.span
        around = set(self._source.ancestors(second.call))
        calls = [
            node
            for statement in block[start : end + 1]
            for node in ast.walk(statement)
            if isinstance(node, ast.Call)
            and node not in around
            and span(first.call) < span(node) < span(second.call)
        ]
        return any(map(self._count, calls))

    def _count(self, call: ast.Call) -> int:
        """How many runs of the file a call may lead into."""
        return sum(node in self._sessions.runs for node in self._afterwards.within(call))


class _Words:
    """Puts what a function is made of into the words of one of its calls."""

    def __init__(self, facts: Facts, call: ast.Call, function: ast.FunctionDef | None) -> None:
        self._scopes = facts.scopes
        self._moves = facts.moves
        self._own = facts.own_calls
        self._call = call
        self._inside = facts.scopes.inside(function) if function is not None else None
        self._depth = 0

    def of(self, expr: ast.expr) -> ast.expr | None:
        """The same expression as the caller would write it; none where it cannot be put so."""
        if not self._is_read(expr):
            return None
        if self._inside is None:
            return expr
        found: dict[str, ast.expr] = {}
        for node in ast.walk(expr):
            if isinstance(node, ast.Name):
                value = self._name(node, self._inside)
                if value is None:
                    return None
                found[node.id] = value
        renamed: ast.expr = _Renamed(found).visit(copy.deepcopy(expr))
        return renamed

    def _is_read(self, expr: ast.expr) -> bool:
        """Whether evaluating an expression calls nothing that may give something else each time."""
        return not any(
            isinstance(node, _ANEW)
            or (isinstance(node, ast.Call) and self._moves.effect(node) is not CallEffect.PURE)
            for node in ast.walk(expr)
        )

    def _name(self, name: ast.Name, inside: Scope) -> ast.expr | None:
        owner = self._scopes.of(name).owner(name.id)
        if owner is not inside:
            same = self._scopes.of(self._call).owner(name.id) is owner
            return name if same and owner is not None else None
        bindings = self._scopes.bindings(name)
        if len(bindings) != 1 or self._depth > _MAX_NAMES:
            return None
        if bindings[0].how is How.PARAMETER:
            default = bindings[0].value
            given = self._own.argument(self._call, bindings[0])
            if given is None and isinstance(default, ast.Constant):
                given = default
            return given if given is not None and self._is_read(given) else None
        value = bindings[0].value if bindings[0].how is How.ASSIGN else None
        self._depth += 1
        return self.of(value) if value is not None else None


class _Renamed(ast.NodeTransformer):
    """Puts expressions in the place of names."""

    def __init__(self, values: dict[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._values[node.id]


def _words_in(*exprs: ast.expr) -> frozenset[str]:
    """The names and attributes that expressions are made of."""
    nodes = [node for expr in exprs for node in ast.walk(expr)]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return frozenset(names | {node.attr for node in nodes if isinstance(node, ast.Attribute)})


def _sets(node: ast.AST, words: frozenset[str]) -> bool:
    """Whether a piece of code gives a variable or an attribute of these names another value."""
    if isinstance(node, ast.Name):
        return not isinstance(node.ctx, ast.Load) and node.id in words
    if isinstance(node, ast.Attribute):
        return not isinstance(node.ctx, ast.Load) and node.attr in words
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return bool(_words_in(node.value) & words)
    return False
