"""Values that a script assigns to variables of a graph, each by an op made on the spot."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.nodes import Kind
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.arguments import arguments
from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.nodes import Node
    from tfrewrite.analysis.graphs.sessions import SessionRun

_KINDS = ("assign", "assign_add", "assign_sub")
_PARAMETERS = {
    "assign": ("value", "validate_shape", "use_locking", "name"),
    "assign_add": ("value", "use_locking", "name"),
    "assign_sub": ("value", "use_locking", "name"),
}
_OF_VARIABLES = {
    "assign": ("value", "use_locking", "name", "read_value"),
    "assign_add": ("delta", "use_locking", "name", "read_value"),
    "assign_sub": ("delta", "use_locking", "name", "read_value"),
}


@dataclass(frozen=True, eq=False)
class Assign:
    """One call that makes an op, which assigns a value to a variable when it is run."""

    call: ast.Call
    kind: str
    variable: ast.expr
    value: ast.expr
    options: tuple[ast.expr, ...]
    """What is given beside variable and value."""
    keeps_shape: bool
    run: SessionRun
    """The run that fetches the op."""
    fetched: ast.expr
    """What the run fetches: the call, or the name that the op has got."""
    gives_nothing: bool
    """Whether the operation is fetched, as by `v.assign(x).op`, and not the new value."""
    named: ast.stmt | None
    """The statement that gives the op its name, just before the run."""
    many: bool
    """Whether it stands in a comprehension, so that one run fetches several."""
    by_method: bool
    """Whether it is a method of the variable that is called."""


@dataclass(frozen=True, eq=False)
class Home:
    """The statements of a constructor that make the variables which some assigns set."""

    makers: tuple[ast.stmt, ...]
    variables: tuple[tuple[Assign, ast.expr], ...]

    @property
    def before(self) -> ast.stmt:
        """The first of them: what follows it comes after the new ops."""
        return min(self.makers, key=lambda maker: maker.lineno)

    def variable(self, assign: Assign) -> ast.expr:
        """What the constructor calls the variable of an assign."""
        return next(variable for one, variable in self.variables if one is assign)


class Assigns:
    """Finds the calls, and what is known of the variables."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._flow = facts.flow
        self._tracer = facts.graph
        self._sessions = facts.sessions
        self._own = facts.own_calls
        self._classes = facts.classes
        self._hoisting = facts.hoisting
        self._graph_readers = facts.graph_readers
        self._taken = facts.built_values.operation

    def all(self) -> list[Assign]:
        """Every op of the kind that a run fetches where it is made, in the order of the text."""
        calls = sorted(self._source.all(ast.Call), key=self._source.span)
        return [one for one in map(self._assign, calls) if one is not None]

    def _assign(self, call: ast.Call) -> Assign | None:
        given = self._given(call)
        if given is None:
            return None
        kind, variable, arguments = given
        value = arguments.pop("value", None) or arguments.pop("delta", None)
        if value is None:
            return None
        validated = arguments.pop("validate_shape", None)
        keeps_shape = validated is None or _is_true(validated)
        options = tuple(arguments.values())
        found = self._run(call)
        if found is None:
            return None
        run, fetched, named = found
        gives_nothing = isinstance(fetched, ast.Attribute) or self._taken(call) is not call
        many = isinstance(self._source.parent(call), ast.ListComp)
        by_method = self._names.tf(call.func) is None
        return Assign(
            call, kind, variable, value, options, keeps_shape, run, fetched, gives_nothing, named,
            many, by_method,
        )  # fmt: skip

    def _given(self, call: ast.Call) -> tuple[str, ast.expr, dict[str, ast.expr]] | None:
        symbol = self._names.tf(call.func)
        if symbol is not None:
            kind = symbol.removeprefix("state_ops.")
            parameters = ("ref", *_PARAMETERS[kind]) if kind in _KINDS else ()
            given = arguments(call, parameters)
            variable = given.pop("ref", None) if given else None
            return (kind, variable, given) if given and variable is not None else None
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in _KINDS:
            return None
        if self._names.dotted(call.func) is not None:
            return None
        given = arguments(call, _OF_VARIABLES[call.func.attr])
        return (call.func.attr, call.func.value, given) if given else None

    # The run

    @cached_property
    def _fetched(self) -> dict[ast.expr, SessionRun]:
        """What runs fetch, each thing by itself."""
        found: dict[ast.expr, SessionRun] = {}
        for run in self._sessions.runs.values():
            found[run.fetches] = run
            if isinstance(run.fetches, (ast.List, ast.Tuple)):
                found |= dict.fromkeys(run.fetches.elts, run)
        return found

    def _run(self, call: ast.Call) -> tuple[SessionRun, ast.expr, ast.stmt | None] | None:
        """The run of an op, with what it fetches, and what named the op before."""
        made = self._taken(call)
        if made in self._fetched:
            return self._fetched[made], made, None
        parent = self._source.parent(made)
        if isinstance(parent, ast.ListComp) and parent.elt is made and parent in self._fetched:
            return self._fetched[parent], parent, None
        match parent:
            case ast.Assign(targets=[ast.Name() as name], value=value) if value is made:
                use = self._next(name, parent)
                return (self._fetched[use], use, parent) if use is not None else None
        return None

    def _next(self, name: ast.Name, statement: ast.stmt) -> ast.expr | None:
        """What the next statement's run fetches of a name, where nobody else reads it."""
        uses = [
            use
            for use in self._scopes.uses(name)
            if any(one.node is statement for one in self._flow.reaching(use))
        ]
        fetched = self._taken(uses[0]) if len(uses) == 1 else None
        run = self._fetched.get(fetched) if fetched is not None else None
        if run is None or self._scopes.of(name).owner(name.id) is not self._scopes.of(name):
            return None
        block, index = self._source.position(statement)
        follower = block[index + 1] if index + 1 < len(block) else None
        simple = isinstance(follower, (ast.Expr, ast.Assign))
        same = simple and self._source.statement(run.call) is follower
        return fetched if same else None

    # Variables

    def variables(self, expr: ast.expr) -> list[Node] | None:
        """The variables that an expression may stand for; None where that is not known."""
        value = self._tracer.trace(expr)
        if value.kind is Kind.VARIABLE:
            return [value]
        bindings = self._scopes.bindings(expr) if isinstance(expr, ast.Name) else []
        if len(bindings) != 1 or bindings[0].how is not How.PARAMETER:
            return None
        given = self._own.given(bindings[0])
        found = [self._tracer.trace(one) for one in given or ()]
        return found if found and all(one.kind is Kind.VARIABLE for one in found) else None

    # Assigns by methods

    def home(self, assigns: Sequence[Assign]) -> Home | Obstacle:
        """Where the variables are made that a method sets, if the constructor makes them."""
        if self._classes.listing is not None:
            line = self._classes.listing.lineno
            return _elsewhere(assigns[0], f"line {line} lists attributes, which would be more")
        makers: list[ast.stmt] = []
        variables: list[tuple[Assign, ast.expr]] = []
        for assign in assigns:
            target = self._stored(assign)
            if isinstance(target, Obstacle):
                return target
            makers.append(self._source.statement(target))
            variables.append((assign, target))
        if len(set(makers)) != len(makers):
            return _elsewhere(assigns[0], "sets one variable twice")
        return Home(tuple(makers), tuple(variables))

    def _stored(self, assign: Assign) -> ast.Attribute | Obstacle:
        """The attribute that the constructor stores a variable in, right when it is made."""
        attribute = self._behind(assign.variable)
        store = self._hoisting.set_when_made(attribute) if attribute is not None else None
        statement = self._source.statement(store.target) if store is not None else None
        if attribute is None or store is None or statement is None:
            return _elsewhere(assign, "sets a variable that no constructor here makes for good")
        if not isinstance(statement, ast.Assign):
            return _elsewhere(assign, "sets a variable that is made in another way")
        made = self._tracer.trace(statement.value)
        if made.kind is not Kind.VARIABLE or made.expr is not statement.value:
            return _elsewhere(assign, "sets a variable that is made in another way")
        if ast.unparse(store.target) != ast.unparse(attribute) or len(statement.targets) != 1:
            return _elsewhere(assign, "calls the variable otherwise than its constructor")
        for place in (made.expr, assign.call):
            around = self._tracer.placement.surroundings(place, None)
            if around.controls or around.obstacle:
                return _elsewhere(assign, around.obstacle or "may have to wait for other ops")
        if self._graph_readers.closing:
            return _elsewhere(assign, "may be called when the graph is closed")
        return store.target

    def _behind(self, expr: ast.expr) -> ast.Attribute | None:
        """The attribute of `self` that an expression is, or that a property gives."""
        if not isinstance(expr, ast.Attribute) or not isinstance(expr.value, ast.Name):
            return None
        cls = self._classes.of_self(expr.value)
        family = self._classes.family(cls) if cls is not None else None
        if cls is None or family is None:
            return None
        if any("__slots__" in self._scopes.inside(one).bindings for one in family):
            return None  # there is no room for more attributes
        getter = self._classes.method(cls, expr.attr)
        if getter is None:
            return expr
        paths = [self._names.dotted(one) for one in getter.decorator_list]
        match getter.body[-1]:
            case ast.Return(value=ast.Attribute(value=ast.Name()) as given):
                plain = paths == ["builtins.property"] and len(getter.body) == 1
                sure = not self._classes.replaced(cls, expr.attr)
                return given if plain and sure and self._behind_self(given) else None
        return None

    def _behind_self(self, attribute: ast.Attribute) -> bool:
        assert isinstance(attribute.value, ast.Name)
        return self._classes.of_self(attribute.value) is not None


def _elsewhere(assign: Assign, why: str) -> Obstacle:
    text = ast.unparse(assign.call.func)
    message = (
        f"what calls `{text}` is itself called in a loop, and {why}; make the op, with a"
        " placeholder for the value, where the variable is made"
    )
    return Obstacle("loop-elsewhere", message)


def _is_true(expr: ast.expr) -> bool:
    return isinstance(expr, ast.Constant) and expr.value is True
