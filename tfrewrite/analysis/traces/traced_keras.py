"""The code of the file that Keras runs in a trace: in models, layers, losses, metrics."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import Code, Number, Own, Tensor, Thing, Value
from tfrewrite.analysis.keras import keras_things
from tfrewrite.analysis.keras.loss_arrays import makes_tensors
from tfrewrite.analysis.traces.trace import TraceError

if TYPE_CHECKING:
    from tfrewrite.analysis.traces.gradient_flow import Read
    from tfrewrite.analysis.traces.tracing import Tracer


class TracedKeras:
    """Goes through such code for a tracer."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._values = tracer.values

    def call(self, value: Value, given: list[Value]) -> None:
        """An object or function is called by Keras itself."""
        match value:
            case Thing():
                self._tracer.use(value)
                drawing = self._tracer.trace.layers_draw or value.draws
                self._tracer.trace.layers_draw = drawing
                self.run_inside(value, ast.Pass())
            case Own(cls=cls):
                thing = Thing("model", cls.name, value.made, frozenset({cls}))
                self.run_inside(thing, cls)
            case Code(node=node):
                names = [a.arg for a in node.args.args]
                self._tracer.run(value, dict(zip(names, given, strict=False)), node)
            case _:
                raise TraceError("not-followed", "what Keras calls is not followed")

    def run_inside(self, thing: Thing, call: ast.AST, read: Read | None = None) -> None:
        """The code of the file that runs when an object of Keras is called; its reads are one."""
        around = self._tracer.within
        self._tracer.within = around or read
        with self._tracer.unconverted():
            self._go_through(thing, call)
        self._tracer.within = around

    def _go_through(self, thing: Thing, call: ast.AST) -> None:
        for node in thing.code:
            if isinstance(node, ast.ClassDef):
                owner = Own(node, frozenset({node}))
                self._tracer.check_class(node)
                base = self._values.members.base(node)
                method = self._values.members.method(
                    node, keras_things.BASES.get(base or "", "call")
                )
                if method is None or base not in keras_things.BASES:
                    message = f"what a `{node.name}` in the model does is not in this file"
                    raise TraceError("model-not-seen", message)
                if keras_things.BASES[base] == "call":
                    self.check_class(node)
                reads = frozenset(filter(None, [self._tracer.within]))
                self._tracer.models.add(owner, reads)
                self._tracer.run(Code(method, owner), _assumed(method, owner), call)
            elif isinstance(node, (ast.FunctionDef, ast.Lambda)):
                self._tracer.run(Code(node), _assumed(node, None), call)

    def hands_tensors(self, base: str | None, runs: str) -> bool:
        """Whether Keras makes a tensor of an array before the method of the file gets it."""
        is_loss = (base or "").endswith(".Loss")
        return runs == "call" and (not is_loss or makes_tensors(self._tracer.facts))

    def check_class(self, cls: ast.ClassDef) -> None:
        """Stops at a class that is called in a way of its own, or makes variables by itself."""
        for owner in self._values.members.family(cls) or ():
            for statement in owner.body:
                if getattr(statement, "name", "") == "__call__":
                    raise TraceError("not-followed", f"`{owner.name}` has a `__call__` of its own")
                if getattr(statement, "name", "") == "build" and _makes_variables(statement):
                    message = f"`{owner.name}.build` makes variables by itself"
                    raise TraceError("makes-variables", message)


def _assumed(node: ast.FunctionDef | ast.Lambda, owner: Own | None) -> dict[str, Value]:
    """The arguments that Keras gives."""
    names = [a.arg for a in node.args.args]
    given: dict[str, Value] = {}
    if owner is not None and names:
        given[names.pop(0)] = owner
    required = names[: len(names) - len(node.args.defaults)]
    for name in required:
        given[name] = Number() if name in ("training", "mask") else Tensor(nest=True)
    return given


def _makes_variables(statement: ast.stmt) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr == "Variable" for node in ast.walk(statement)
    )
