"""What the calls in a traced function give, and what they do."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import (
    Code,
    Library,
    Own,
    Tensor,
    Thing,
    Value,
    group,
    layered,
    parts,
    with_parts,
)
from tfrewrite.analysis.keras import keras_things, keras_training
from tfrewrite.analysis.keras.loss_arrays import is_same_for_arrays
from tfrewrite.analysis.traces.gradient_flow import Flow
from tfrewrite.analysis.traces.trace import TraceError
from tfrewrite.analysis.traces.traced_libraries import TracedLibraries
from tfrewrite.analysis.traces.traced_methods import TracedMethods

if TYPE_CHECKING:
    from tfrewrite.analysis.traces.tracing import Tracer

_CHANGING = frozenset("append extend insert add update remove discard clear pop".split())


class TracedCalls:
    """Goes through calls for a tracer."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._names = tracer.facts.names
        self._values = tracer.values
        self._libraries = TracedLibraries(tracer)
        self._methods = TracedMethods(tracer, self._libraries)

    def call(self, call: ast.Call) -> Value:
        """What a call gives."""
        if any(keyword.arg is None for keyword in call.keywords) or any(
            isinstance(argument, ast.Starred) for argument in call.args
        ):
            message = f"line {call.lineno} passes arguments by a star"
            raise TraceError("not-followed", message)
        path = self._names.dotted(call.func)
        symbol = self._names.tf(call.func)
        if symbol is not None:
            return self._libraries.of_tensorflow(call, symbol)
        if path is not None:
            return self._libraries.of_python(call, path)
        if isinstance(call.func, ast.Attribute):
            return self._method(call, call.func)
        return self._called(call, self._tracer.value(call.func))

    def _called(self, call: ast.Call, function: Value) -> Value:
        match function:
            case Code():
                return self._of_code(call, function)
            case Thing():
                return self._of_thing(call, function)
            case Own():
                return self._of_own(call, function)
            case Library(path=path) if path.startswith("tensorflow."):
                return self._libraries.of_tensorflow(call, path.removeprefix("tensorflow."))
        message = f"what `{ast.unparse(call.func)}(...)` in line {call.lineno} does is not known"
        raise TraceError("unknown-call", message)

    def _of_code(
        self, call: ast.Call, code: Code, values: list[Value] | None = None, *, keras: bool = False
    ) -> Value:
        """A function of the file is called, with values where these are known already."""
        if values is None:
            values = self._tracer.given(call)
        node = code.node
        names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
        given: dict[str, Value] = {}
        if code.owner is not None and names:
            given[names[0]] = code.owner
            names = names[1:]
        if len(call.args) > len(names):
            raise TraceError("not-followed", f"line {call.lineno} gives too many arguments")
        for name, value in zip(names, values[: len(call.args)], strict=False):
            given[name] = value
            if keras and given[name] == Tensor(array=True) and name == names[0]:
                given[name] = Tensor()  # Keras makes a tensor of it
        for keyword, value in zip(call.keywords, values[len(call.args) :], strict=True):
            assert keyword.arg is not None
            if keras and keyword.arg == "training" and "training" not in names:
                continue  # Keras keeps it to itself
            given[keyword.arg] = value
        return self._tracer.run(code, given, call)

    # Objects

    def _of_own(self, call: ast.Call, owner: Own) -> Value:
        """An object of a class of the file is called."""
        cls = owner.cls
        self._tracer.check_class(cls)
        base = self._values.members.base(cls)
        runs = keras_things.BASES.get(base or "", "__call__")
        if runs == "call":
            self._tracer.keras.check_class(cls)
        method = self._values.members.method(cls, runs)
        if method is None:
            message = f"what calling a `{cls.name}` does is not in this file"
            raise TraceError("model-not-seen", message)
        given = self._tracer.given(call)
        if runs == "call" and self._tracer.conditional:
            message = f"line {call.lineno} calls a model under a condition"
            raise TraceError("not-followed", message)
        flat = [part for value in given for part in parts(value)]
        if runs == "call" and any(isinstance(p, Tensor) and not p.static for p in flat):
            message = f"line {call.lineno} gives a model what has no shape in a trace"
            raise TraceError("fails-when-traced", message)
        first = len(self._tracer.reads)
        if runs == "call":
            says = keras_training.told(call, self._tracer.value)
            if says is None:
                says = keras_training.by_default(method, self._values.value)
            self._tracer.count(keras_things.OPS_OF_CALL)
        else:
            says = None
        with self._tracer.told(to_train=says), self._tracer.unconverted(when=runs == "call"):
            found = self._of_code(
                call, Code(method, owner), given, keras=self._tracer.keras.hands_tensors(base, runs)
            )
        self._tracer.models.note(owner, frozenset(self._tracer.reads[first:]))
        return layered(found) if runs == "call" else found

    def _of_thing(self, call: ast.Call, thing: Thing) -> Value:
        """An object of Keras is called: a model, a layer, a loss, a metric."""
        tracer = self._tracer
        tracer.use(thing)
        values = self._tracer.given(call)
        flat = [part for value in values for part in parts(value)]
        if thing.kind != "loss" or is_same_for_arrays(tracer.facts, thing.symbol):
            self._libraries.check_given(flat, call, arrays=True)
        else:
            self._check_targets(flat, call)
        tracer.count(keras_things.OPS_OF_CALL * (2 if thing.kind == "model" else 1))
        if thing.kind in ("model", "layer"):
            if tracer.conditional and keras_things.makes_variables(thing.symbol):
                message = f"line {call.lineno} calls a model under a condition"
                raise TraceError("not-followed", message)
            if any(isinstance(part, Tensor) and not part.static for part in flat):
                message = f"line {call.lineno} gives a model what has no shape in a trace"
                raise TraceError("fails-when-traced", message)
        elif thing.kind not in ("loss", "metric", "schedule"):
            message = f"calling `{ast.unparse(call.func)}` in line {call.lineno} is not followed"
            raise TraceError("unknown-call", message)
        is_known = thing.kind == "loss" and not thing.code
        effect = keras_things.effect_of_loss(thing.symbol) if is_known else None
        if keras_things.is_crossentropy(thing.symbol):
            self._libraries.check_logits(flat, call)
        flow = self._libraries.flow(call, effect, values)
        if thing.kind in ("model", "layer"):
            inputs = 2 if thing.symbol in keras_things.CELLS else 1
            says = keras_training.told(call, tracer.value, inputs)
            with tracer.told(to_train=True if thing.awake else says):
                drawing = thing.draws and not tracer.resting
                tracer.trace.layers_draw = tracer.trace.layers_draw or drawing
                if thing.kind == "model" or keras_things.makes_variables(thing.symbol):
                    read = tracer.read(call, f"`{ast.unparse(call.func)}` in line {call.lineno}")
                    self._tracer.keras.run_inside(thing, call, read)
                    self._tracer.models.note(thing, frozenset({read}))
                    flow |= Flow(straight=frozenset({read}))
                else:
                    self._tracer.keras.run_inside(thing, call)
            given = Tensor(flow=flow, layered=True, squashed=self._squashes(thing))
            of_cell = keras_things.of_cell(thing.symbol, values, given)
            return of_cell or (group(*[given] * thing.gives) if thing.gives else given)
        self._tracer.keras.run_inside(thing, call)
        tracer.models.add(thing)
        if thing.kind == "loss":
            return Tensor(flow=flow)
        return Tensor()

    def _check_targets(self, flat: list[Value], call: ast.Call) -> None:
        """Stops at an array whose shape a loss does not fit to the predictions."""
        if any(isinstance(part, Tensor) and part.array for part in flat):
            message = (
                f"`{ast.unparse(call.func)}` in line {call.lineno} is given a numpy array, whose"
                " shape Keras 2 does not fit to the predictions as it does that of a tensor"
            )
            raise TraceError("numpy-argument", message)
        self._libraries.check_given(flat, call)

    def _squashes(self, thing: Thing) -> bool:
        """Whether what an object gives may come from a softmax of TensorFlow's."""
        return thing.squashes or (bool(thing.code) and self._tracer.facts.squashing > 0)

    def _method(self, call: ast.Call, func: ast.Attribute) -> Value:
        name, line = func.attr, call.lineno
        text = ast.unparse(func)
        try:
            owner = with_parts(self._tracer.value(func.value))
        except TraceError as error:
            if name in _CHANGING and error.obstacle.reason == "captured-not-fixed":
                message = f"`{text}(...)` in line {line} changes what others see"
                raise TraceError("python-effect", message) from error
            raise
        match owner:
            case Thing(kind="model" | "layer") if name in ("call", "__call__"):
                return self._of_thing(call, owner)
            case Own(cls=cls):
                self._tracer.check_class(cls)
                member = self._tracer.models.part_of(owner, self._values.of_attribute(owner, name))
                first = len(self._tracer.reads)
                found = self._of_code(call, member) if isinstance(member, Code) else None
                if name == "call" and self._values.members.is_keras(cls):
                    self._tracer.models.note(owner, frozenset(self._tracer.reads[first:]))
                if found is not None:
                    return found
                return self._called(call, self._tracer.names.known(member, text, line))
        return self._methods.call(call, func, owner)
