"""What of the Python of a `tf.function` happens at its trace only, and not in each call.

Tracing runs the Python once and keeps the ops that it makes. A print, a counter, a random number of
numpy then happens at the trace and not in the calls that follow, and what asks a tensor for its
value fails, since the tensor has none yet.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.program.python_calls import STREAM_OBJECTS
from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.traces.compiled_functions import Compiled

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_BUILDERS = frozenset({"__init__", "build", "__new__"})
_TESTS_FOR_MAKING = frozenset({"built", "_built", "hasattr", "initialized", "_initialized"})
_MAX_CALLERS = 4
_STATIC = frozenset({"shape", "dtype", "ndim", "name"})
_PLAIN_NUMPY = frozenset({"float32", "float64", "int32", "int64", "dtype", "bool_", "uint8"})
_CLOCKS = ("time.", "datetime.")
_STREAMS = ("random.", "numpy.random.", "uuid.", "secrets.", "os.urandom")
_LOGGING = ("logging.", "absl.logging.", "tensorflow.logging.")
# `%d` and `%.3f`, but not `%s`; `{:.3f}`, but not `{}`.
_NUMBER_FORMAT = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?[diouxXeEfFgG]")
_SPEC = re.compile(r"\{\w*:[^{}s]+\}")
_GROWING = frozenset(
    "append extend insert add update remove discard clear pop popleft appendleft setdefault"
    " sort reverse".split()
)
# Setting these calls an assign of a variable, which is an op.
_ASSIGNING_PROPERTIES = frozenset({"learning_rate", "lr", "iterations"})
_MAKING_VARIABLES = ("keras.optimizers.", "keras.metrics.", "optimizers.")


class Sort(Enum):
    """What happens when the function is traced, and not in each call."""

    PRINT = "print"
    LOG = "log"
    HOST_READ = "host-read"
    NUMPY = "numpy"
    FORMAT = "format"
    CHANGE = "change"
    ARGUMENT = "argument"
    CLOCK = "clock"
    DRAW = "draw"
    VARIABLE = "variable"


@dataclass(frozen=True, eq=False)
class TraceEffect:
    """One of them; `node` is the expression or statement that does it."""

    sort: Sort
    node: ast.expr | ast.stmt
    leaks: bool = False
    """Whether a tensor of the graph gets out of it, or is shown, which has no value there."""


class TraceEffects:
    """Finds them in the code of a `tf.function` and of what its trace goes through."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._classes = facts.classes
        self._own = facts.own_calls
        self._compiled = facts.compiled_functions
        self._traced = facts.traced_code

    def of(self, one: Compiled) -> list[TraceEffect]:
        """What happens at its trace only, in the order of the text."""
        if one.code is None:
            return []
        bodies = self._traced.bodies(one.code)
        found = [
            effect
            for body in bodies
            for node in self._traced.nodes(body)
            if (effect := self._effect(node, bodies, one)) is not None
        ]
        return sorted(found, key=lambda effect: self._source.span(effect.node))

    # What happens at the trace

    def _effect(self, node: ast.AST, bodies: list[ast.AST], one: Compiled) -> TraceEffect | None:
        match node:
            case ast.Call():
                return self._of_call(node, bodies, one)
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    if self._changes_outside(target, bodies):
                        return self._change(node, value, bodies)
            case (
                ast.AugAssign(target=target, value=value)
                | ast.AnnAssign(target=target, value=value)
            ):
                if value is not None and self._changes_outside(target, bodies):
                    return self._change(node, value, bodies)
            case ast.FormattedValue(value=value, format_spec=spec):
                if spec is not None and self._traced.is_tensor(value, bodies):
                    return TraceEffect(Sort.FORMAT, value)
            case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod(), right=given):
                if _NUMBER_FORMAT.search(text) and self._holds_tensor(given, bodies):
                    return TraceEffect(Sort.FORMAT, node)
        return None

    def _change(self, node: ast.stmt, value: ast.expr, bodies: list[ast.AST]) -> TraceEffect | None:
        if self._is_made_once(node):
            return None
        return TraceEffect(Sort.CHANGE, node, leaks=self._traced.is_tensor(value, bodies))

    def _holds_tensor(self, given: ast.expr, bodies: list[ast.AST]) -> bool:
        parts = given.elts if isinstance(given, ast.Tuple) else [given]
        return any(self._traced.is_tensor(part, bodies) for part in parts)

    def _of_call(self, call: ast.Call, bodies: list[ast.AST], one: Compiled) -> TraceEffect | None:
        path = self._names.dotted(call.func)
        if path is None:
            return self._of_method(call, bodies, one)
        if path == "builtins.print":
            shown = self._shows_tensor(call, bodies)
            if _tells_of_tracing(call) or (not shown and _tells_of_shapes(call)):
                return None
            return TraceEffect(Sort.PRINT, call, leaks=shown)
        if path.startswith(_LOGGING):
            # Else it tells of the trace.
            return TraceEffect(Sort.LOG, call) if self._shows_tensor(call, bodies) else None
        if path.startswith(_CLOCKS) and path != "time.sleep":
            return TraceEffect(Sort.CLOCK, call)
        if path.startswith(_STREAMS):
            return TraceEffect(Sort.DRAW, call)
        if path.startswith("numpy.") and path.rpartition(".")[2] not in _PLAIN_NUMPY:
            if any(self._traced.is_tensor(arg, bodies) for arg in call.args):
                return TraceEffect(Sort.NUMPY, call)
        symbol = self._names.tf(call.func) or ""
        if self._makes_variables(symbol) and not self._is_made_once(self._source.statement(call)):
            return TraceEffect(Sort.VARIABLE, call)
        return None

    def _shows_tensor(self, call: ast.Call, bodies: list[ast.AST]) -> bool:
        stack: list[ast.AST] = [*call.args, *(keyword.value for keyword in call.keywords)]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Attribute) and node.attr in _STATIC:
                continue  # which the trace knows
            if isinstance(node, ast.expr) and self._traced.is_tensor(node, bodies):
                return True
            stack += self._source.children(node)
        return False

    def _makes_variables(self, symbol: str) -> bool:
        if symbol == "Variable":
            return True
        name = symbol.rpartition(".")[2]
        return (
            symbol.startswith(_MAKING_VARIABLES)
            and ".schedules." not in symbol
            and name[:1].isupper()
            and (effect_of(symbol, "2") is not None)
        )

    def _of_method(
        self, call: ast.Call, bodies: list[ast.AST], one: Compiled
    ) -> TraceEffect | None:
        if not isinstance(call.func, ast.Attribute):
            return None
        receiver, method = call.func.value, call.func.attr
        if method == "format" and isinstance(receiver, ast.Constant):
            tensors = any(self._traced.is_tensor(argument, bodies) for argument in call.args)
            spec = isinstance(receiver.value, str) and _SPEC.search(receiver.value)
            return TraceEffect(Sort.FORMAT, call) if tensors and spec else None
        if method in ("numpy", "tolist") and not call.args and not call.keywords:
            if method == "numpy" and self._is_symbolic(receiver, bodies):
                return TraceEffect(Sort.HOST_READ, call)
            return None
        if self._is_stream(receiver):
            return TraceEffect(Sort.DRAW, call)
        if method not in _GROWING:
            return None
        name = _root(receiver)
        if name is None or not self._is_container(receiver):
            return None
        if self._traced.is_local(name, bodies):
            if isinstance(receiver, ast.Name) and self._is_parameter(name, one):
                return TraceEffect(Sort.ARGUMENT, call)
            if not self._traced.is_self(name) or isinstance(receiver, ast.Name):
                return None
        if self._is_made_once(self._source.statement(call)):
            return None
        leaks = any(self._traced.is_tensor(arg, bodies) for arg in call.args)
        return TraceEffect(Sort.CHANGE, call, leaks=leaks)

    def _is_stream(self, receiver: ast.expr) -> bool:
        """Whether an object is a generator of random numbers of numpy or Python."""
        made = self._made(receiver)
        return bool(made) and all(
            isinstance(value, ast.Call) and self._names.dotted(value.func) in STREAM_OBJECTS
            for value in made
        )

    def _made(self, receiver: ast.expr) -> list[ast.expr | None]:
        """All that a name, or an attribute of `self`, is given."""
        if isinstance(receiver, ast.Name):
            return [binding.value for binding in self._scopes.bindings(receiver)]
        if isinstance(receiver, ast.Attribute) and isinstance(receiver.value, ast.Name):
            cls = self._classes.of_self(receiver.value)
            stores = self._classes.stores(cls, receiver.attr) if cls is not None else None
            return [store.value for store in stores or ()]
        return []

    def _is_container(self, receiver: ast.expr) -> bool:
        """Whether an object outside is a list, dict or set, as its making says."""
        if isinstance(receiver, ast.Subscript):
            return self._is_container(receiver.value)
        if isinstance(receiver, ast.Name):
            bindings = self._scopes.bindings(receiver)
            if any(binding.how is How.PARAMETER for binding in bindings):
                return len(bindings) == 1
        values = self._made(receiver)
        return bool(values) and all(self._makes_container(value) for value in values)

    def _makes_container(self, value: ast.expr | None) -> bool:
        if isinstance(value, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp)):
            return True
        if not isinstance(value, ast.Call):
            return False
        path = self._names.dotted(value.func) or ""
        return path in ("builtins.list", "builtins.dict", "builtins.set") or path.startswith(
            "collections."
        )

    def _is_symbolic(self, receiver: ast.expr, bodies: list[ast.AST]) -> bool:
        """Whether `.numpy()` is asked of something that is made by the trace, or of a variable."""
        name = _root(receiver)
        if name is None or self._traced.is_tensor(receiver, bodies):
            return True
        if self._traced.is_self(name):
            return isinstance(receiver, ast.Attribute) and self._is_variable_attribute(receiver)
        if not self._traced.is_local(name, bodies):
            made = [binding.value for binding in self._scopes.bindings(name)]
            return isinstance(receiver, ast.Name) and any(
                isinstance(value, ast.Call) and self._names.tf(value.func) == "Variable"
                for value in made
            )
        return True

    def _is_variable_attribute(self, attribute: ast.Attribute) -> bool:
        assert isinstance(attribute.value, ast.Name)
        cls = self._classes.of_self(attribute.value)
        stores = self._classes.stores(cls, attribute.attr) if cls is not None else None
        return any(
            isinstance(store.value, ast.Call) and self._names.tf(store.value.func) == "Variable"
            for store in stores or ()
        )

    def _is_parameter(self, name: ast.Name, one: Compiled) -> bool:
        """Whether a name is one that the caller of the `tf.function` gives."""
        bindings = self._scopes.bindings(name)
        return all(
            binding.how is How.PARAMETER and self._source.function(binding.node) is one.code
            for binding in bindings
        ) and not self._traced.is_self(name)

    def _changes_outside(self, target: ast.expr, bodies: list[ast.AST]) -> bool:
        """Whether storing to a target changes something that outlives the trace."""
        match target:
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return any(self._changes_outside(part, bodies) for part in parts)
            case ast.Starred(value=value):
                return self._changes_outside(value, bodies)
            case ast.Name():
                return not self._traced.is_local(target, bodies)
            case ast.Attribute(attr=attr):
                name = _root(target)
                if name is None or attr in _ASSIGNING_PROPERTIES:
                    return False
                return self._traced.is_self(name) or not self._traced.is_local(name, bodies)
            case ast.Subscript(value=value):
                name = _root(target)
                outside = name is not None and (
                    not self._traced.is_local(name, bodies)
                    or (self._traced.is_self(name) and not isinstance(value, ast.Name))
                )
                return outside and self._is_container(value)
        return False

    def _is_made_once(self, statement: ast.stmt) -> bool:
        """Whether something is made under a test for whether it is there already."""
        if isinstance(statement, ast.AugAssign):
            return False
        return self._is_tested(statement, _written(statement) | _TESTS_FOR_MAKING, 0)

    def _is_tested(self, node: ast.AST, names: set[str], depth: int) -> bool:
        """Whether a test of one of some names, or a handler, stands around, also of the callers."""
        for outer in self._source.ancestors(node):
            if isinstance(outer, ast.ExceptHandler):
                return True
            if isinstance(outer, ast.If) and names & {_identifier(n) for n in ast.walk(outer.test)}:
                return True
            if isinstance(outer, _FUNCTIONS):
                if getattr(outer, "name", "") in _BUILDERS:
                    return True
                if isinstance(outer, ast.Lambda) or self._compiled.traced(outer):
                    return False
                calls = self._own.calls(outer) if depth < _MAX_CALLERS else None
                return bool(calls) and all(
                    self._is_tested(call, names, depth + 1) for call in calls or ()
                )
        return False


def _written(statement: ast.stmt) -> set[str]:
    """The names and attributes that a statement stores to, or calls a method of."""
    stored = {
        _identifier(node)
        for node in ast.walk(statement)
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store)
    }
    for node in ast.walk(statement):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            stored.add(_identifier(node.value))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            stored.add(_identifier(node.func.value))
    return stored - {""}


def _identifier(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _root(expr: ast.expr) -> ast.Name | None:
    """The name that a chain of attributes and subscripts begins with."""
    while isinstance(expr, (ast.Attribute, ast.Subscript)):
        expr = expr.value
    return expr if isinstance(expr, ast.Name) else None


def _tells_of_tracing(call: ast.Call) -> bool:
    """Whether a print is there to say that the function is traced."""
    texts = [
        part.value.lower()
        for part in ast.walk(call)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]
    return any(
        word in text for text in texts for word in ("trac", "python execution", "compil", "build")
    )


def _tells_of_shapes(call: ast.Call) -> bool:
    """Whether a print shows what is known at the trace: shapes and types."""
    return any(isinstance(part, ast.Attribute) and part.attr in _STATIC for part in ast.walk(call))
