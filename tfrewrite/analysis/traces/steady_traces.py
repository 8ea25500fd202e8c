"""Whether each trace of a `tf.function` would give the same graph, so that one trace is enough.

A function that is made anew in each turn of a loop, or called with another Python number each time,
is traced each time: it sees the Python values of the moment. To trace it once, every value that it
reads must stay what it is, and nothing that it does in Python may be seen. All that is not known to
be so stands in the way.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.python_calls import CallEffect, effect_of_method, effect_of_path
from tfrewrite.analysis.program.scopes import How
from tfrewrite.analysis.traces.held_values import Held
from tfrewrite.analysis.traces.trace_reads import OF_OBJECTS, OF_TAPES, SETTINGS, TraceReads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.traces.compiled_functions import Compiled

# What a loop may do with an object of Keras, beside: its Python state stays.
_LEAVING_OBJECTS = OF_OBJECTS | frozenset(
    "save save_weights get_weights set_weights load_weights summary evaluate predict"
    " predict_on_batch reset_states reset_state numpy from_seed count_params".split()
)
_KERAS_BASES = ("keras.", "Module")


@dataclass(frozen=True)
class Draws:
    """Whether ops that the function runs draw random numbers, and from which stream."""

    ops: bool = False
    """Ops with a stream that begins anew at each trace."""
    layers: bool = False
    """Layers of Keras that draw: from variables in Keras 3, from such ops before."""


class SteadyTraces:
    """Looks through traced code for what could differ from one trace to the next."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._classes = facts.classes
        self._own = facts.own_calls
        self._hoisting = facts.hoisting
        self._traced = facts.traced_code
        self._held = facts.held_values
        self._captured = facts.captured
        self._compiled = facts.compiled_functions

    def obstacle(
        self,
        one: Compiled,
        loop: ast.AST,
        meanwhile: Sequence[ast.AST],
        *,
        once: bool = False,
        unseen: str = "",
    ) -> Obstacle | None:
        """What could make two traces differ; `meanwhile` is all that may run between them.

        With `once` every value must have been set once for all, not just for one loop. `unseen` are
        the words for what may run in other files.
        """
        if one.code is None or isinstance(one.code, ast.AsyncFunctionDef):
            return Obstacle("code-not-seen", f"the code of `{one.name}` is not in this file")
        bodies = self.bodies(one)
        look = TraceReads(self._facts, bodies, loop, once=once)
        seen: set[ast.AST] = set()
        for body in bodies:
            for node in _walk(body):
                found = look.node(node)
                if found is not None:
                    return found
                seen.add(node)
        if unseen and not all(self._is_private(expr, loop) for expr in look.read):
            return Obstacle("callers-not-seen", f"{unseen}, and may change what is traced")
        rest = [node for node in meanwhile if node not in seen]
        names = {node.attr for node in seen if isinstance(node, ast.Attribute)}
        return self._handed_out(look.read) or self._changes(names, rest)

    def bodies(self, one: Compiled) -> list[ast.AST]:
        """All code of the file that may run in a trace, that of layers and losses included."""
        assert one.code is not None
        found = self._traced.bodies(one.code)
        for body in [*found, *self._handed_to_keras()]:
            for inner in self._traced.bodies(body):
                if inner not in found:
                    found.append(inner)
        return found

    def draws(self, one: Compiled) -> Draws:
        """Whether what the function runs is random."""
        ops = any(
            effect is not None and effect.random and not effect.writes
            for body in self.bodies(one)
            for symbol in self._symbols(body)
            if not symbol.startswith(("keras.", "random.Generator", "random.stateless"))
            for effect in [effect_of(symbol, "2")]
        )
        layers = any(
            effect is not None and effect.random and symbol.startswith("keras.")
            for symbol in self._symbols(self._source.tree)
            for effect in [effect_of(f"{symbol}.__call__", "2")]
        )
        pretrained = any(
            symbol.startswith("keras.applications.") for symbol in self._symbols(self._source.tree)
        )
        return Draws(ops, layers or pretrained)

    def _symbols(self, node: ast.AST) -> Iterator[str]:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call):
                symbol = self._names.tf(inner.func)
                if symbol is not None:
                    yield symbol

    def _handed_to_keras(self) -> list[ast.AST]:
        """Functions that are given to layers and models, and what layers of the file do."""
        found: list[ast.AST] = []
        for call in self._source.all(ast.Call):
            symbol = self._names.tf(call.func) or ""
            if not symbol.startswith("keras."):
                continue
            for given in [*call.args, *(keyword.value for keyword in call.keywords)]:
                named: ast.AST | None = given if isinstance(given, ast.Lambda) else None
                if isinstance(given, (ast.Name, ast.Attribute)):
                    named = self._own.named(given)
                if named is not None and not symbol.startswith("keras.callbacks"):
                    found.append(named)
        for cls in self._source.all(ast.ClassDef):
            if any((self._names.tf(base) or "").startswith(_KERAS_BASES) for base in cls.bases):
                found += [
                    statement
                    for statement in cls.body
                    if isinstance(statement, ast.FunctionDef)
                    and statement.name in ("call", "__call__")
                ]
        return found

    # What may happen between two traces

    def _changes(self, attributes: set[str], meanwhile: Sequence[ast.AST]) -> Obstacle | None:
        for node in meanwhile:
            found: str = ""
            if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
                found = self._changed_by_store(node, attributes)
            elif isinstance(node, ast.Call):
                found = self._changed_by_call(node)
            if found:
                line = getattr(node, "lineno", 0)
                message = f"line {line} may change what `{found}` is or does between two traces"
                return Obstacle("state-changes", message)
        return None

    def _is_private(self, expr: ast.expr, loop: ast.AST) -> bool:
        """Whether a value belongs to the function around a loop, so that no other file has it."""
        root = expr
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or self._classes.of_self(root) is not None:
            return False
        owner = self._scopes.of(root).owner(root.id)
        if owner is None:
            return False
        bound = owner.bindings.get(root.id, [])
        given = any(binding.how is How.PARAMETER for binding in bound)
        return owner.node is self._source.function(loop) and not given

    def _handed_out(self, read: list[ast.expr]) -> Obstacle | None:
        """Whether code of another file has got hold of an object, and may change it any time."""
        if not any(self._is_object(expr) for expr in read):
            return None
        for call in self._held.foreign_calls:
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            for argument in given:
                if self._is_object(argument):
                    text = self._source.segment(argument)
                    message = f"line {call.lineno} hands `{text}` to code of another file"
                    return Obstacle("state-changes", message)
        return None

    def _changed_by_store(self, target: ast.Attribute, read: set[str]) -> str:
        name = self._source.segment(target)
        if target.attr in read:
            return name
        if self._held.of(target.value) is Held.OWN:
            cls = self._hoisting.class_of(target.value)
            family = self._classes.family(cls) if cls is not None else None
            return "" if family is not None else name
        return name

    def _changed_by_call(self, call: ast.Call) -> str:
        symbol = self._names.tf(call.func)
        if symbol is not None:
            return symbol if symbol.startswith(SETTINGS) and not _is_harmless(symbol) else ""
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        handed = [arg for arg in given if self._is_object(arg)]
        if isinstance(call.func, ast.Attribute) and self._is_object(call.func.value):
            receiver = call.func.value
            own = self._own.named(call.func) is not None
            if not own and call.func.attr not in _LEAVING_OBJECTS:
                return self._source.segment(receiver)
        elif handed and self._own.function(call) is None and not self._is_known_call(call):
            return self._source.segment(handed[0])
        return ""

    def _is_known_call(self, call: ast.Call) -> bool:
        """A call that looks at what it is given, or hands it to what is looked at itself."""
        path = self._names.dotted(call.func) or ""
        if effect_of_path(path) in (CallEffect.PURE, CallEffect.HOST):
            return True
        if any(call in (self._compiled.calls(one) or ()) for one in self._compiled.all):
            return True
        if self._held.of(call.func) is Held.LIBRARY:
            return True
        if not isinstance(call.func, ast.Attribute):
            return False
        receiver, method = call.func.value, call.func.attr
        if isinstance(receiver, ast.Name) and self._held.is_tape(receiver):
            return method in OF_TAPES
        return effect_of_method(method) is CallEffect.PURE

    def _is_object(self, expr: ast.expr) -> bool:
        """Whether an expression is, or is in, an object whose Python code a trace may run."""
        if isinstance(expr, (ast.Name, ast.Attribute)):
            return self._held.of(expr) in (Held.LIBRARY, Held.OWN)
        return False


def _walk(body: ast.AST) -> Iterator[ast.AST]:
    """All of a function but its decorators."""
    assert isinstance(body, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    inner: list[ast.AST] = [body.body] if isinstance(body, ast.Lambda) else [*body.body]
    inner += body.args.defaults
    inner += [default for default in body.args.kw_defaults if default is not None]
    for part in inner:
        yield from ast.walk(part)


def _is_harmless(symbol: str) -> bool:
    return symbol.startswith(("data.", "io.", "summary."))
