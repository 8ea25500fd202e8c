"""What the methods of tapes, optimizers, metrics, variables and lists do in a traced function."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import (
    Bottom,
    Done,
    Group,
    Number,
    Place,
    Tensor,
    Thing,
    Unknown,
    Value,
    group,
    parts,
)
from tfrewrite.analysis.keras import keras_things
from tfrewrite.analysis.traces.gradient_flow import Flow
from tfrewrite.analysis.traces.trace import TraceError

if TYPE_CHECKING:
    from tfrewrite.analysis.traces.traced_libraries import TracedLibraries
    from tfrewrite.analysis.traces.tracing import Tracer

_ON_HOST = frozenset("numpy item tolist cpu gpu".split())
_GENERATORS = frozenset(
    "normal truncated_normal uniform uniform_full_int binomial make_seeds".split()
)


class TracedMethods:
    """Goes through methods of objects that are not of the file for a tracer."""

    def __init__(self, tracer: Tracer, libraries: TracedLibraries) -> None:
        self._tracer = tracer
        self._libraries = libraries

    def call(self, call: ast.Call, func: ast.Attribute, owner: Value) -> Value:
        """What calling a method of an object gives."""
        name, line = func.attr, call.lineno
        text = ast.unparse(func)
        match owner:
            case Thing(kind="tape"):
                return self._of_tape(call, name)
            case Thing(kind="optimizer"):
                return self._of_optimizer(call, owner, name)
            case Thing(kind="metric"):
                return self._of_metric(call, owner, name)
            case Thing(kind="variable"):
                return self._of_variable(call, name)
            case Thing(kind="generator") if name in _GENERATORS:
                self._libraries.check_given(self._tracer.given(call), call)
                self._tracer.trace.generators = True
                return Tensor()
            case Group():
                return self._of_group(call, func, owner)
            case Number():
                if all(isinstance(value, Number) for value in self._tracer.given(call)):
                    return Group(None, Number()) if name == "as_list" else Number()
            case Tensor(static=static):
                if name == "get_shape" and static and not self._tracer.relaxed:
                    return Number()
                if name in _ON_HOST:
                    message = f"`{text}()` in line {line} needs the value itself"
                    raise TraceError("reads-on-host", message)
        message = f"what `{text}(...)` in line {line} does is not known"
        raise TraceError("unknown-call", message)

    def _of_tape(self, call: ast.Call, name: str) -> Value:
        values = self._tracer.given(call)
        if name == "watch":
            return Number(ast.Constant(None))
        if name != "gradient" or len(values) < 2:
            message = f"`{name}` of the tape in line {call.lineno} is not followed"
            raise TraceError("unknown-call", message)
        sources = values[1]
        for keyword, value in zip(call.keywords, values[len(call.args) :], strict=True):
            sources = value if keyword.arg == "sources" else sources
        flow = self._tracer.flow(values[0], call)
        loose = sorted(flow.straight, key=lambda read: read.number)
        if loose or flow.derived:
            words = loose[0].words if loose else f"the gradient in line {call.lineno}"
            self._tracer.trace.loose = self._tracer.trace.loose or words
        self._tracer.trace.settled |= flow.bent - flow.straight
        return _gradients(sources, call.lineno, self._tracer.place(call))

    def _of_optimizer(self, call: ast.Call, optimizer: Thing, name: str) -> Value:
        self._tracer.use(optimizer)
        if name not in ("apply_gradients", "apply"):
            message = f"`{name}` of the optimizer in line {call.lineno} is not followed"
            raise TraceError("unknown-call", message)
        if self._tracer.conditional:
            message = f"line {call.lineno} updates under a condition"
            raise TraceError("not-followed", message)
        self._libraries.check_given(self._tracer.given(call), call)
        self._tracer.keras.run_inside(optimizer, call)
        self._tracer.trace.updates = True
        self._tracer.trace.by_optimizer = True
        return Done(f"`{name}`")

    def _of_metric(self, call: ast.Call, metric: Thing, name: str) -> Value:
        self._tracer.use(metric)
        flat = [part for value in self._tracer.given(call) for part in parts(value)]
        self._libraries.check_given(flat, call, arrays=True)
        if keras_things.is_crossentropy(metric.symbol):
            self._libraries.check_logits(flat, call)
        self._tracer.count(keras_things.OPS_OF_CALL)
        if name == "result":
            return Tensor()
        if name in ("update_state", "reset_states", "reset_state"):
            return Done(f"`{name}`")
        message = f"`{name}` of the metric in line {call.lineno} is not followed"
        raise TraceError("unknown-call", message)

    def _of_variable(self, call: ast.Call, name: str) -> Value:
        self._libraries.check_given(self._tracer.given(call), call)
        self._tracer.count(1)
        if name in ("assign", "assign_add", "assign_sub"):
            self._tracer.trace.updates = True
            return Done(f"`{name}`")
        if name in ("value", "read_value"):
            words = f"`{ast.unparse(call)}` in line {call.lineno}"
            return Tensor(flow=Flow(straight=frozenset({self._tracer.read(call, words)})))
        if name in _ON_HOST:
            message = f"`.{name}()` in line {call.lineno} needs the value itself"
            raise TraceError("reads-on-host", message)
        message = f"`{name}` of the variable in line {call.lineno} is not followed"
        raise TraceError("unknown-call", message)

    def _of_group(self, call: ast.Call, func: ast.Attribute, owner: Group) -> Value:
        values = self._tracer.given(call)
        if func.attr == "values":
            return replace(owner, items=None, lazy=True)
        if func.attr == "keys":
            return Group(None, Number(), lazy=True)
        if func.attr == "items":
            return Group(None, group(Number(), owner.each), lazy=True)
        grows = func.attr in ("append", "extend") and len(values) == 1
        if grows and owner.own and isinstance(func.value, ast.Name):
            added = values[0]
            if func.attr == "extend":
                added = added.each if isinstance(added, Group) else Unknown("")
            if not isinstance(added, Unknown):
                self._tracer.names.change(func.value, owner, added)
                return Number(ast.Constant(None))
        message = f"`{ast.unparse(func)}(...)` in line {call.lineno} changes what others see"
        raise TraceError("python-effect", message)


def _gradients(sources: Value, line: int, own: frozenset[Place]) -> Value:
    match sources:
        case Group(items=items, each=each):
            for part in parts(sources):
                if not isinstance(part, (Tensor, Bottom)) and not (
                    isinstance(part, Thing) and part.kind == "variable"
                ):
                    raise TraceError("not-followed", f"the gradients of line {line}")
            inner = None if items is None else tuple(_gradients(i, line, own) for i in items)
            return Group(inner, _gradients(each, line, own), own)
        case Tensor(static=static):
            return Tensor(static=static, flow=Flow(derived=True))
        case Thing(kind="variable") | Bottom():
            return Tensor(flow=Flow(derived=True))
    raise TraceError("not-followed", f"the gradients of line {line} are not followed")
