"""The functions of a file that TensorFlow compiles: which, how they are made, and who calls them.

A `tf.function` runs its Python code when it is traced, which is at its first call and whenever it
is called with arguments of a new sort. What is in it is one question (`compiled_code`), where it
comes from and where it is called is the one answered here.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.scopes import Function, How

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.scopes import Binding

_FUNCTION = frozenset(
    f"tensorflow.{path}"
    for path in (
        "function",
        "python.eager.def_function.function",
        "python.eager.polymorphic_function.polymorphic_function.function",
    )
)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, eq=False)
class Compiled:
    """One `tf.function`."""

    making: ast.expr
    """What makes it: the decorator, or the call `tf.function(step)`."""
    code: Function | None
    """The Python that is traced; None where that is not in the file."""
    decorated: bool
    settings: Mapping[str, ast.expr] = field(default_factory=dict)
    """What it is made with, by keyword: `jit_compile`, `input_signature`, `autograph`."""

    @property
    def name(self) -> str:
        """What its owner calls it."""
        if isinstance(self.code, _DEFINITIONS):
            return self.code.name
        return ast.unparse(self.making).split("\n")[0]


class CompiledFunctions:
    """Finds what is made by `tf.function`, and the calls of it."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._classes = facts.classes
        self._flow = facts.flow
        self._own = facts.own_calls
        self._sessions = facts.sessions
        self._dynamics = facts.dynamics

    @cached_property
    def all(self) -> list[Compiled]:
        """Every one of the file, in the order of the text."""
        found = [*self._decorated(), *self._called()]
        return sorted(found, key=lambda one: self._source.span(one.making))

    @property
    def eager(self) -> bool:
        """Whether the file makes all of them run as plain Python, at times at least."""
        return True in self._switches

    @cached_property
    def in_graphs(self) -> bool:
        """Whether the file builds graphs of TensorFlow 1, where a call of one only adds ops."""
        if self._names.version == "1" or self._sessions.runs:
            return True
        turning = ("disable_eager_execution", "disable_v2_behavior")
        return any(
            (self._names.tf(call.func) or "").rpartition(".")[2] in turning
            or self._names.tf(call.func) == "Graph"
            for call in self._source.all(ast.Call)
        )

    @property
    def always_eager(self) -> bool:
        """Whether they run as plain Python from first to last."""
        return self._switches == {True}

    def unsure(self, one: Compiled) -> Obstacle | None:
        """Why nothing can be said of when a function is traced, and of what that does."""
        if self._dynamics.obstacle:
            return Obstacle("dynamic-code", self._dynamics.obstacle)
        if one.code is None:
            return Obstacle("code-not-seen", f"the code of `{one.name}` is not in this file")
        return Obstacle("traces-counted", self._counted) if self._counted else None

    @cached_property
    def _counted(self) -> str:
        """The words for what looks at how often functions are traced, where something does."""
        for node in self._source.all(ast.Attribute):
            if "tracing_count" in node.attr or "concrete_signatures" in node.attr:
                return f"`{node.attr}` in line {node.lineno} tells how often it is traced"
        return ""

    @cached_property
    def _switches(self) -> set[bool]:
        """What is given to `tf.config.run_functions_eagerly`."""
        names = ("run_functions_eagerly", "experimental_run_functions_eagerly")
        found = set()
        for call in self._source.all(ast.Call):
            if (self._names.tf(call.func) or "").rpartition(".")[2] in names:
                on = call.args[0] if call.args else None
                found.add(not isinstance(on, ast.Constant) or bool(on.value))
        return found

    def traced(self, code: ast.AST) -> list[Compiled]:
        """Those that a function or lambda is the Python of."""
        return [one for one in self.all if one.code is code]

    def calls(self, one: Compiled) -> list[ast.Call] | None:
        """Every call of it; None where it is also used, or may be used, in another way."""
        if one.decorated:
            if not isinstance(one.code, _DEFINITIONS):
                return None
            return self._own.calls(one.code)
        uses = self._uses(one.making)
        if uses is None:
            return None
        found: list[ast.Call] = []
        for use in uses:
            parent = self._source.parent(use)
            if not isinstance(parent, ast.Call) or parent.func is not use:
                return None
            found.append(parent)
        return found

    def runs(self, call: ast.Call) -> Compiled | None:
        """The one that a call surely runs, whatever else may be done with it elsewhere."""
        for one in self.all:
            if one.decorated:
                code = self._own.function(call)
                if code is not None and code is one.code and self._own.is_plain(code):
                    return one
            elif call.func in (self._uses(one.making) or ()):
                return one
        return None

    def some_calls(self, one: Compiled) -> list[ast.Call]:
        """The calls of it that are seen, where there may be others."""
        names = {self._called_by_name(one)}
        return [call for call in self._source.all(ast.Call) if _last(call.func) in names - {""}]

    def _called_by_name(self, one: Compiled) -> str:
        if one.decorated:
            return one.name
        statement = self._source.parent(one.making)
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            return _last(statement.targets[0])
        return ""

    def binding(self, one: Compiled) -> Binding | None:
        """The binding that gives a called one its name, if it gets just one, at once."""
        statement = self._source.parent(one.making)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        target = statement.targets[0]
        if not isinstance(target, ast.Name):
            return None
        bound = self._own.bindings_at(target)
        return bound[0] if len(bound) == 1 else None

    def _uses(self, making: ast.expr) -> list[ast.expr] | None:
        """Every place that reads what a call of `tf.function` gives."""
        parent = self._source.parent(making)
        if isinstance(parent, ast.Call) and parent.func is making:
            return [making]
        if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
            return None
        target = parent.targets[0]
        if isinstance(target, ast.Name):
            return self._uses_of_name(target)
        if isinstance(target, ast.Attribute):
            return self._uses_of_attribute(target)
        return None

    def _uses_of_name(self, target: ast.Name) -> list[ast.expr] | None:
        bindings = self._scopes.bindings(target)
        bound = self._own.bindings_at(target)
        if len(bound) != 1 or bound[0].how is not How.ASSIGN:
            return None
        if isinstance(self._scopes.of(target).node, ast.ClassDef):
            return None
        if len(bindings) == 1:
            return [*self._own.uses(bound[0])]
        found: list[ast.expr] = []
        for use in self._own.uses(bound[0]):
            seen = self._flow.reaching(use)
            if seen == bound:
                found.append(use)
            elif bound[0] in seen:
                return None  # at times it is something else
        return found

    def _uses_of_attribute(self, target: ast.Attribute) -> list[ast.expr] | None:
        cls = self._classes.of_self(target.value) if isinstance(target.value, ast.Name) else None
        if cls is None or len(self._classes.stores(cls, target.attr) or ()) != 1:
            return None
        if len(list(self._stored(target.attr))) != 1:
            return None
        reads = self._classes.reads(target.attr)
        return [use for use in reads if self._names.dotted(use) is None]

    def _stored(self, name: str) -> Iterator[ast.Attribute]:
        for node in self._source.all(ast.Attribute):
            if node.attr == name and not isinstance(node.ctx, ast.Load):
                yield node

    # What makes one

    def _decorated(self) -> Iterator[Compiled]:
        functions: list[ast.FunctionDef | ast.AsyncFunctionDef] = [
            *self._source.all(ast.FunctionDef),
            *self._source.all(ast.AsyncFunctionDef),
        ]
        for function in functions:
            for decorator in function.decorator_list:
                settings = self._settings(decorator)
                if settings is not None:
                    yield Compiled(decorator, function, decorated=True, settings=settings)

    def _called(self) -> Iterator[Compiled]:
        for call in self._source.all(ast.Call):
            given = [*call.args[:1], *(k.value for k in call.keywords if k.arg == "func")]
            if not given or self._is_decorator(call):
                continue
            if self._names.dotted(call.func) in _FUNCTION:
                settings = _keywords(call)
            elif isinstance(call.func, ast.Call) and not call.func.args:
                made = self._settings(call.func)
                if made is None or call.keywords:
                    continue
                settings = made
            else:
                continue
            settings.pop("func", None)
            yield Compiled(call, self._code(given[0]), decorated=False, settings=settings)

    def _is_decorator(self, call: ast.Call) -> bool:
        parent = self._source.parent(call)
        return call in getattr(parent, "decorator_list", ())

    def _settings(self, maker: ast.expr) -> dict[str, ast.expr] | None:
        """What a decorator sets, if it is `tf.function`, with or without a call."""
        if self._names.dotted(maker) in _FUNCTION:
            return {}
        if not isinstance(maker, ast.Call):
            return None
        if self._names.dotted(maker.func) in _FUNCTION and not maker.args:
            return _keywords(maker)
        if self._names.dotted(maker.func) == "functools.partial" and len(maker.args) == 1:
            if self._names.dotted(maker.args[0]) in _FUNCTION:
                return _keywords(maker)
        return None

    def _code(self, func: ast.expr) -> Function | None:
        if isinstance(func, ast.Lambda):
            return func
        named = self._own.named(func)
        if named is None and isinstance(func, ast.Name):
            # `step = tf.function(step)`
            seen = self._flow.reaching(func)
            node = seen[0].node if len(seen) == 1 else None
            named = node if isinstance(node, _DEFINITIONS) else None
        return named


def _keywords(call: ast.Call) -> dict[str, ast.expr]:
    return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}


def _last(expr: ast.expr) -> str:
    if isinstance(expr, ast.Attribute):
        return expr.attr
    return expr.id if isinstance(expr, ast.Name) else ""
