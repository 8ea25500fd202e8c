"""The elements that `get_next()` takes from iterators of a graph, and what is done with them."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from tfrewrite.analysis.nodes import Kind
from tfrewrite.analysis.scopes import How
from tfrewrite.analysis.symbols import GRAPH_ITERATORS

if TYPE_CHECKING:
    from tfrewrite.analysis.classes import Classes
    from tfrewrite.analysis.flow import Flow
    from tfrewrite.analysis.graph import Tracer
    from tfrewrite.analysis.names import Names
    from tfrewrite.analysis.own_calls import OwnCalls
    from tfrewrite.analysis.scopes import Binding, Scopes
    from tfrewrite.analysis.sessions import SessionRun, Sessions
    from tfrewrite.analysis.source import Source

_MAX_CALLERS = 8


class Origin(Enum):
    """Whether an object is an iterator over a dataset, made in a graph."""

    GRAPH = "graph"
    OTHER = "other"
    UNKNOWN = "unknown"


@dataclass(frozen=True, eq=False)
class Element:
    """One call of `get_next`, with the runs that fetch what it gives."""

    call: ast.Call
    iterator: ast.expr
    names: tuple[ast.Name, ...]
    """The names that it is bound to; none where it is fetched where it stands."""
    uses: tuple[ast.expr, ...]
    runs: tuple[SessionRun, ...]
    elsewhere: ast.AST | None
    """A place that does more with it than to fetch it."""


class NextElements:
    """Finds the calls and follows what they give."""

    def __init__(
        self,
        source: Source,
        scopes: Scopes,
        names: Names,
        flow: Flow,
        classes: Classes,
        tracer: Tracer,
        sessions: Sessions,
        own: OwnCalls,
    ) -> None:
        self._source = source
        self._scopes = scopes
        self._names = names
        self._flow = flow
        self._classes = classes
        self._tracer = tracer
        self._sessions = sessions
        self._own = own

    def all(self) -> list[Element]:
        """Every call of a method `get_next`, in the order of the text."""
        calls = sorted(self._classes.calls("get_next"), key=self._source.span)
        return [self._element(call, call.func) for call in calls if _is_plain(call)]

    def origin(self, iterator: ast.expr, depth: int = 0) -> Origin:
        """What an expression, of which `get_next` is called, is."""
        parameter = self._parameter(iterator)
        if parameter is not None:
            given = self._own.given(parameter) if depth < _MAX_CALLERS else None
            origins = {self.origin(one, depth + 1) for one in given or ()}
            return origins.pop() if len(origins) == 1 else Origin.UNKNOWN
        value = self._tracer.trace(iterator)
        if value.kind is Kind.CHOICE:
            found = {self._made(one.expr) for one in value.values}
            return found.pop() if len(found) == 1 else Origin.UNKNOWN
        if value.kind in (Kind.INSTANCE, Kind.CONSTANT, Kind.STRUCTURE):
            return Origin.OTHER
        return self._made(value.expr)

    def _made(self, made: ast.AST) -> Origin:
        """What a call makes that an iterator comes from."""
        if not isinstance(made, ast.Call):
            return Origin.UNKNOWN
        symbol = self._names.tf(made.func)
        if symbol is not None:
            maker = symbol.rpartition(".")[2]
            of_data = symbol.startswith(("data.", "contrib.data."))
            return Origin.GRAPH if of_data and maker in GRAPH_ITERATORS else Origin.OTHER
        if self._names.dotted(made.func) == "builtins.iter":
            return Origin.OTHER
        if isinstance(made.func, ast.Attribute) and made.func.attr in GRAPH_ITERATORS:
            own = any(self._defines(cls, made.func.attr) for cls in self._source.all(ast.ClassDef))
            return Origin.OTHER if own else Origin.GRAPH
        return Origin.UNKNOWN

    def _defines(self, cls: ast.ClassDef, name: str) -> bool:
        return any(getattr(statement, "name", "") == name for statement in cls.body)

    def _parameter(self, expr: ast.expr) -> Binding | None:
        bindings = self._scopes.bindings(expr) if isinstance(expr, ast.Name) else []
        if len(bindings) != 1 or bindings[0].how is not How.PARAMETER:
            return None
        return bindings[0]

    # What becomes of the element

    def _element(self, call: ast.Call, func: ast.expr) -> Element:
        assert isinstance(func, ast.Attribute)
        statement = self._source.parent(call)
        names = _bound(statement, call)
        if names is None:
            run = self._fetching(call)
            elsewhere = None if run is not None else call
            runs = (run,) if run is not None else ()
            return Element(call, func.value, (), (call,), runs, elsewhere)
        found: list[SessionRun] = []
        uses: list[ast.expr] = []
        other: ast.AST | None = None
        for name in names:
            for use in self._scopes.uses(name):
                if all(binding.node is not statement for binding in self._flow.reaching(use)):
                    continue
                uses.append(use)
                run = self._fetching(use)
                if run is None or self._source.function(use) is not self._source.function(call):
                    other = other or use
                else:
                    found.append(run)
        return Element(call, func.value, names, tuple(uses), tuple(found), other)

    def _fetching(self, use: ast.expr) -> SessionRun | None:
        """The run that fetches a value as it is, or a part of it."""
        node: ast.AST = use
        parent = self._source.parent(node)
        while parent is not None:
            match parent:
                case ast.Call():
                    run = self._sessions.runs.get(parent)
                    return run if run is not None and run.fetches is node else None
                case ast.keyword(arg="fetches", value=value):
                    node, parent = value, self._source.parent(parent)
                    continue
                case ast.Attribute(attr="eval" | "run"):
                    parent = self._source.parent(parent)  # the call of the method
                    continue
                case ast.Dict(values=values) if node in values:
                    pass
                case ast.Subscript(value=value, slice=ast.Constant()) if value is node:
                    pass
                case ast.Tuple() | ast.List():
                    pass
                case _:
                    return None
            node, parent = parent, self._source.parent(parent)
        return None


def _is_plain(call: ast.Call) -> bool:
    """Whether it is called as an iterator's is: with a name for the op at most."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    named = all(keyword.arg == "name" for keyword in call.keywords)
    return (
        isinstance(call.func, ast.Attribute)
        and named
        and len(given) <= 1
        and all(isinstance(argument, ast.Constant) for argument in given)
    )


def _bound(statement: ast.AST | None, call: ast.Call) -> tuple[ast.Name, ...] | None:
    """The names that a statement binds the value of a call to, or its parts."""
    match statement:
        case ast.Assign(targets=[target], value=value) if value is call:
            return _names_in(target)
        case ast.AnnAssign(target=ast.Name() as target, value=value) if value is call:
            return (target,)
    return None


def _names_in(target: ast.expr) -> tuple[ast.Name, ...] | None:
    if isinstance(target, ast.Name):
        return (target,)
    if not isinstance(target, (ast.Tuple, ast.List)):
        return None
    found: list[ast.Name] = []
    for element in target.elts:
        names = _names_in(element)
        if names is None:
            return None
        found += names
    return tuple(found)
