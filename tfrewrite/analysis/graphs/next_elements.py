"""The elements that `get_next()` takes from iterators of a graph, and what is done with them."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.nodes import Kind, beneath, plain
from tfrewrite.analysis.program.scopes import How
from tfrewrite.analysis.symbols import GRAPH_ITERATORS

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.built_values import Built
    from tfrewrite.analysis.graphs.sessions import SessionRun
    from tfrewrite.analysis.program.scopes import Binding

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
    built: Built
    """What is done with it."""


class NextElements:
    """Finds the calls and follows what they give."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._classes = facts.classes
        self._tracer = facts.graph
        self._own = facts.own_calls
        self._built_values = facts.built_values

    def all(self) -> list[Element]:
        """Every call of a method `get_next`, in the order of the text."""
        calls = sorted(self._classes.calls("get_next"), key=self._source.span)
        return [
            Element(call, call.func.value, self._built_values.of(call))
            for call in calls
            if isinstance(call.func, ast.Attribute) and _is_plain(call)
        ]

    def takes_two(self, run: SessionRun) -> bool:
        """Whether a run takes two elements of one iterator, also by functions that it is built by.

        Which of the two is the first is left to chance.
        """
        fetched = beneath(self._tracer.trace(run.fetches))
        taken = [node.argument("self") for node in fetched if node.symbol.endswith(".get_next")]
        iterators = [plain(one) for one in taken if one is not None]
        return len(set(iterators)) < len(iterators)

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

    def makes_graph_iterator(self, expr: ast.expr) -> bool:
        """Whether an expression gives an iterator of a graph, and surely so."""
        value = self._tracer.trace(expr)
        known = value.kind is Kind.CHOICE or isinstance(value.expr, ast.Call)
        return known and self.origin(expr) is Origin.GRAPH

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


def _is_plain(call: ast.Call) -> bool:
    """Whether it is called as an iterator's is: with a name for the op at most."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    named = all(keyword.arg == "name" for keyword in call.keywords)
    constant = all(isinstance(argument, ast.Constant) for argument in given)
    return named and len(given) <= 1 and constant
