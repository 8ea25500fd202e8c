"""What a script does with a value that it builds the graph of: which runs fetch it, and what else.

A tensor that is only fetched may be made at any time before. One that is kept, or looked at in
another way, may not.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.sessions import SessionRun

    Larger = Callable[[ast.expr], ast.expr | None]
    """Gives the larger value that an expression is a part of, where there is one."""


@dataclass(frozen=True, eq=False)
class Built:
    """An expression that gives a tensor or several, and what is done with them."""

    expr: ast.expr
    names: tuple[ast.Name, ...]
    """The names that it is bound to; none where it is used where it stands."""
    uses: tuple[ast.expr, ...]
    runs: tuple[SessionRun, ...]
    elsewhere: ast.AST | None
    """A place that does more with it than to fetch it."""
    stored: tuple[SessionRun, ...] = ()
    """The runs that fetch what it is put into: an attribute, a dict, a list."""


class BuiltValues:
    """Follows values from where they are made to the runs that fetch them."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._flow = facts.flow
        self._sessions = facts.sessions

    def of(self, expr: ast.expr, larger: Larger | None = None) -> Built:
        """What is done with the value of an expression.

        With `larger` it may also go into other values, and what is done with those counts; and
        it may be fed.
        """
        return _Following(self, larger).of(expr)

    def fetching(self, use: ast.expr) -> SessionRun | None:
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
                case ast.Attribute(attr="op"):
                    pass
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

    def operation(self, expr: ast.expr) -> ast.expr:
        """The operation that is taken from a value where it stands, or the value itself."""
        parent = self._source.parent(expr)
        taken = isinstance(parent, ast.Attribute) and parent.attr == "op"
        return parent if isinstance(parent, ast.expr) and taken else expr

    def feeding(self, use: ast.expr) -> SessionRun | None:
        """The run that is fed for a value, where that is written as a dict."""
        feed = self._source.parent(use)
        if not isinstance(feed, ast.Dict) or use not in feed.keys:
            return None
        call = self._source.parent(feed)
        if isinstance(call, ast.keyword):
            call = self._source.parent(call)
        run = self._sessions.runs.get(call) if isinstance(call, ast.Call) else None
        return run if run is not None and run.feed is feed else None


class _Following:
    def __init__(self, values: BuiltValues, larger: Larger | None) -> None:
        self._values = values
        self._larger = larger
        self._source = values._source
        self._open: set[ast.expr] = set()
        self._stored: list[SessionRun] = []

    def of(self, expr: ast.expr) -> Built:
        self._open.add(expr)
        bound = self._values.operation(expr)
        statement = self._source.parent(bound)
        names = _bound(statement, bound)
        uses = [expr] if names is None else self._uses(names, statement)
        runs: list[SessionRun] = []
        elsewhere: ast.AST | None = None
        for use in uses:
            found, other = self._use(use, expr)
            runs += found
            elsewhere = elsewhere or other
        return Built(expr, names or (), tuple(uses), tuple(runs), elsewhere, tuple(self._stored))

    def _uses(self, names: tuple[ast.Name, ...], statement: ast.AST | None) -> list[ast.expr]:
        return [
            use
            for name in names
            for use in self._values._scopes.uses(name)
            if any(binding.node is statement for binding in self._values._flow.reaching(use))
        ]

    def _use(self, use: ast.expr, made: ast.expr) -> tuple[list[SessionRun], ast.AST | None]:
        """The runs that a use ends in, and the place that does something else, if one does."""
        if self._source.function(use) is not self._source.function(made):
            return [], use
        run = self._values.fetching(use)
        if run is not None:
            return [run], None
        if self._larger is None:
            return [], use
        run = self._values.feeding(use)
        if run is not None:
            return [run], None
        larger = self._larger(use)
        if larger is None:
            return self._in_a_list(use)
        if larger in self._open:
            return [], None
        built = self.of(larger)
        return list(built.runs), built.elsewhere

    def _in_a_list(self, use: ast.expr) -> tuple[list[SessionRun], ast.AST | None]:
        """The runs that fetch a list, written out under a name of its own, with a value in it."""
        outer: ast.AST = use
        while isinstance(parent := self._source.parent(outer), (ast.List, ast.Tuple, ast.Dict)):
            outer = parent
        statement = self._source.parent(outer)
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        target = targets[0] if len(targets) == 1 else None
        if outer is use or not isinstance(target, ast.Name):
            self._stored += self._fetching_stored(outer)
            return [], use
        uses = self._uses((target,), statement)
        runs = [self._values.fetching(one) for one in uses]
        same = all(self._source.function(one) is self._source.function(use) for one in uses)
        found = [run for run in runs if run is not None]
        return (found, None) if same and len(found) == len(runs) else (found, use)

    def _fetching_stored(self, value: ast.AST) -> list[SessionRun]:
        """The runs that fetch what a value is put into: an attribute, a dict, a list."""
        parent = self._source.parent(value)
        match parent:
            case ast.ListComp(elt=element) if element is value:
                return self._fetching_all(parent)
            case ast.Assign(targets=[ast.Subscript(value=place)]):
                pass
            case ast.Assign(targets=[ast.Attribute() as place]):
                pass
            case ast.Call(func=ast.Attribute(value=place, attr="append"), args=[_]):
                pass
            case _:
                return []
        text = ast.unparse(place)
        return [
            run
            for run in self._values._sessions.runs.values()
            if self._source.function(run.call) is self._source.function(value)
            and any(ast.unparse(node) == text for node in ast.walk(run.fetches) if _is_path(node))
        ]

    def _fetching_all(self, made: ast.ListComp) -> list[SessionRun]:
        """The runs that fetch a list, each element of which is another value."""
        names = _bound(self._source.parent(made), made)
        uses = [made] if names is None else self._uses(names, self._source.parent(made))
        found = (self._values.fetching(use) for use in uses)
        return [run for run in found if run is not None]


def _is_path(node: ast.AST) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript))


def _bound(statement: ast.AST | None, value: ast.expr) -> tuple[ast.Name, ...] | None:
    """The names that a statement binds a value to, or its parts."""
    match statement:
        case ast.Assign(targets=[target], value=bound) if bound is value:
            return _names_in(target)
        case ast.AnnAssign(target=ast.Name() as target, value=bound) if bound is value:
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
