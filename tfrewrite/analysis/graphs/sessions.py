"""Where a script runs its graph: sessions, and the calls that run something in one."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.nodes import Kind, Node
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.arguments import arguments
from tfrewrite.analysis.program.scopes import Binding, How
from tfrewrite.analysis.symbols import HOOKED_SESSIONS, PLAIN_SESSIONS, SESSIONS

DEFAULT_SESSION = "<default>"

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts


class SessionKind(Enum):
    """Whether the number of runs matters to a session."""

    PLAIN = "plain"
    HOOKED = "hooked"  # its hooks see every run, so the number of runs matters
    UNKNOWN = "unknown"


@dataclass(frozen=True, eq=False)
class SessionRun:
    """A call that runs a part of the graph: `sess.run(...)`, `tensor.eval()`, `op.run()`."""

    call: ast.Call
    session: str
    """What names the session; equal for two calls in one block only if it is the same session."""
    kind: SessionKind
    fetches: ast.expr
    feed: ast.expr | None
    needs: tuple[ast.expr, ...]
    """The expressions that have to mean the same wherever the run is moved to."""
    options: bool
    """Whether the call has arguments beside fetches and feed."""
    direct: bool
    """Whether the call is a `run` of the session itself, not one through its tensor."""

    def obstacle(self, *, who: str, hooks_see: str) -> Obstacle | None:
        """Why the run must stay as it is: its session is not a plain one, or it shows more."""
        if self.kind is SessionKind.UNKNOWN:
            message = f"it is not known which kind of session `{self.session}` is"
            return Obstacle("session-unknown", message)
        if self.kind is SessionKind.HOOKED:
            return Obstacle("hooked-session", f"the hooks of `{self.session}` see {hooks_see}")
        if self.options:
            return Obstacle("run-options", f"{who} asks for options or metadata of its own")
        return None


class Sessions:
    """Finds sessions and runs."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._tracer = facts.graph
        self._own_calls = facts.own_calls
        self._asked: set[Binding] = set()

    @cached_property
    def runs(self) -> dict[ast.Call, SessionRun]:
        """Every call of the file that runs the graph."""
        found = {}
        for node in self._source.all(ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in ("run", "eval"):
                run = self._run(node, node.func)
                if run is not None:
                    found[node] = run
        return found

    def _run(self, call: ast.Call, func: ast.Attribute) -> SessionRun | None:
        kind = self.kind(func.value) if func.attr == "run" else None
        if kind is not None:
            return self._of_session(call, func, kind)
        value = self._tracer.trace(func.value)
        if value.kind in (Kind.OP, Kind.VARIABLE, Kind.ELEMENT):
            return self._of_tensor(call, func)
        return None

    def is_callable(self, func: ast.expr) -> bool:
        """Whether a name stands for what `make_callable` of a session gave, and nothing else."""
        bindings = self._scopes.bindings(func) if isinstance(func, ast.Name) else []
        return bool(bindings) and all(map(self._makes_callable, bindings))

    def _makes_callable(self, binding: Binding) -> bool:
        made = binding.value.func if isinstance(binding.value, ast.Call) else None
        if binding.how is not How.ASSIGN or not isinstance(made, ast.Attribute):
            return False
        known = self.kind(made.value) not in (None, SessionKind.UNKNOWN)
        return made.attr == "make_callable" and known

    def kind(self, expr: ast.expr) -> SessionKind | None:
        """What sort of session an expression is; None if it is not one."""
        value = self._tracer.trace(expr)
        sort = _sort(value)
        if sort is not None:
            return sort
        parameter = self._parameter_kind(expr)
        if parameter is not None:
            return parameter
        name = expr.id if isinstance(expr, ast.Name) else getattr(expr, "attr", "")
        looks = value.kind in (Kind.UNKNOWN, Kind.CHOICE) and "sess" in name.lower()
        return SessionKind.UNKNOWN if looks and not self._is_definition(expr) else None

    def _is_definition(self, expr: ast.expr) -> bool:
        """Whether a name is that of a class or function of the file, or of a module."""
        bindings = self._scopes.bindings(expr) if isinstance(expr, ast.Name) else []
        return any(
            binding.how in (How.CLASS, How.FUNCTION) or isinstance(binding.node, ast.Import)
            for binding in bindings
        )

    def _parameter_kind(self, expr: ast.expr) -> SessionKind | None:
        """The sort of session that all callers in this file give to a parameter."""
        bindings = self._scopes.bindings(expr) if isinstance(expr, ast.Name) else []
        if len(bindings) != 1 or bindings[0].how is not How.PARAMETER:
            return None
        (binding,) = bindings
        if binding in self._asked:
            return None
        self._asked.add(binding)  # a function that calls itself passes its parameter on
        kinds = {self.kind(one) for one in self.given(binding)}
        self._asked.remove(binding)
        return kinds.pop() if len(kinds) == 1 else None

    def given(self, parameter: Binding) -> list[ast.expr]:
        """What all callers in this file give to a parameter, and its default; none if not seen."""
        given = self._own_calls.given(parameter) or []
        return [*given, parameter.value] if given and parameter.value is not None else given

    def _of_session(
        self, call: ast.Call, func: ast.Attribute, kind: SessionKind
    ) -> SessionRun | None:
        given = arguments(call, ("fetches", "feed_dict", "options", "run_metadata"))
        if given is None or given.get("fetches") is None:
            return None
        feed = _not_none(given.get("feed_dict"))
        return SessionRun(
            call,
            ast.unparse(func.value),
            kind,
            given["fetches"],
            feed,
            (func.value, given["fetches"], *([feed] if feed else ())),
            "options" in given or "run_metadata" in given,
            direct=True,
        )

    def _of_tensor(self, call: ast.Call, func: ast.Attribute) -> SessionRun | None:
        given = arguments(call, ("feed_dict", "session"))
        if given is None:
            return None
        session = _not_none(given.get("session"))
        text, kind = self._default(call)
        if session is not None:
            text, kind = ast.unparse(session), self.kind(session) or SessionKind.UNKNOWN
        feed = _not_none(given.get("feed_dict"))
        needs = [part for part in (func.value, feed, session) if part is not None]
        return SessionRun(
            call, text, kind, func.value, feed, tuple(needs), options=False, direct=False
        )

    def _default(self, call: ast.Call) -> tuple[str, SessionKind]:
        """The default session where a call stands, with the name that it can be called by."""
        for outer in self._source.ancestors(call):
            if isinstance(outer, (ast.FunctionDef, ast.Lambda)):
                break
            if isinstance(outer, ast.With):
                for item in reversed(outer.items):
                    named = self._entered(item)
                    if named is not None:
                        name, kind = named
                        return name, SessionKind.UNKNOWN if self._replaced_in(outer) else kind
        if self._interactive is not None:
            scope = self._scopes.of(call)
            hidden = scope.owner(self._interactive) is not self._scopes.module
            return DEFAULT_SESSION if hidden else self._interactive, SessionKind.PLAIN
        return DEFAULT_SESSION, SessionKind.PLAIN

    def _replaced_in(self, entered: ast.With) -> bool:
        """Whether an interactive session may be made, and be the default one, under a `with`."""
        made = [
            call
            for call in self._source.all(ast.Call)
            if self._names.tf(call.func) == "InteractiveSession"
        ]
        return any(
            self._source.function(call) is not None or entered in self._source.ancestors(call)
            for call in made
        )

    @cached_property
    def _interactive(self) -> str | None:
        """The name of the file's one session, if that made itself the default for good."""
        made = [
            node for node in self._source.all(ast.Call) if self._names.tf(node.func) in SESSIONS
        ]
        if any(a.attr == "as_default" for a in self._source.all(ast.Attribute)):
            return None
        if len(made) != 1 or self._names.tf(made[0].func) != "InteractiveSession":
            return None
        for name, bindings in self._scopes.module.bindings.items():
            if len(bindings) == 1 and bindings[0].value is made[0]:
                return name
        return None

    def _entered(self, item: ast.withitem) -> tuple[str, SessionKind] | None:
        """The session that a `with` item makes the default one."""
        manager = item.context_expr
        if (
            isinstance(manager, ast.Call)
            and isinstance(manager.func, ast.Attribute)
            and manager.func.attr == "as_default"
        ):
            kind = self.kind(manager.func.value)
            return (ast.unparse(manager.func.value), kind) if kind else None
        kind = self.kind(manager)
        if kind is None:
            return None
        if isinstance(item.optional_vars, ast.Name):
            single = len(self._scopes.bindings(item.optional_vars)) == 1
            return (item.optional_vars.id if single else DEFAULT_SESSION), kind
        return (ast.unparse(manager) if isinstance(manager, ast.Name) else DEFAULT_SESSION), kind


def _sort(value: Node) -> SessionKind | None:
    if value.kind is Kind.OBJECT and value.symbol in PLAIN_SESSIONS:
        return SessionKind.PLAIN
    if value.kind is Kind.OBJECT and value.symbol in HOOKED_SESSIONS:
        return SessionKind.HOOKED
    return None


def _not_none(expr: ast.expr | None) -> ast.expr | None:
    return None if isinstance(expr, ast.Constant) and expr.value is None else expr
