"""What the calls and attributes in a traced function give, and what they do."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from tfrewrite.analysis import keras_things, keras_training
from tfrewrite.analysis.abstract_values import (
    Bottom,
    Code,
    Done,
    Group,
    Library,
    Number,
    Own,
    Place,
    Tensor,
    Thing,
    Unknown,
    Value,
    group,
    layered,
    may_be_one,
    part_of,
    parts,
    with_parts,
)
from tfrewrite.analysis.gradient_flow import Flow, Read
from tfrewrite.analysis.loss_arrays import is_same_for_arrays, makes_tensors
from tfrewrite.analysis.trace import TraceError
from tfrewrite.analysis.traced_libraries import TracedLibraries

if TYPE_CHECKING:
    from tfrewrite.analysis.tracing import Tracer

_ON_HOST = frozenset("numpy item tolist cpu gpu".split())
_CHANGING = frozenset("append extend insert add update remove discard clear pop".split())
# As long as so many ops take the calls of Keras around a layer, a loss or a metric.
_OPS_OF_KERAS = 12
# They have their variables, if any, from the start.
_MADE_WHOLE = ("variable", "generator", "metric")
_GENERATORS = frozenset(
    "normal truncated_normal uniform uniform_full_int binomial make_seeds".split()
)


class TracedCalls:
    """Goes through calls and attributes for a tracer."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._names = tracer.facts.names
        self._values = tracer.values
        self._libraries = TracedLibraries(tracer)

    def attribute(self, attribute: ast.Attribute) -> Value:
        """What reading an attribute gives."""
        path = self._names.dotted(attribute)
        if path is not None:
            return self._values.value(attribute)
        owner = with_parts(self._tracer.value(attribute.value))
        line, name = attribute.lineno, attribute.attr
        match owner:
            case Tensor(array=True) if name in ("shape", "ndim", "dtype"):
                return Number()
            case Tensor(static=static) if name in ("shape", "ndim"):
                if not static or self._tracer.relaxed:
                    message = f"the shape read in line {line} is not known in a trace"
                    raise TraceError("fails-when-traced", message)
                return Number()
            case Tensor() if name == "dtype":
                return Number()
            case Number():
                return Number()
            case Thing(kind="model" | "layer"):
                self._has_variables(owner, name, line)
                self._has_losses(owner, name, line)
                self._tracer.use(owner)
            case Thing():
                self._tracer.use(owner)
            case Own(cls=cls):
                self._tracer.check_class(cls)
        found = self._values.of_attribute(owner, name)
        if isinstance(owner, Own):
            found = self._part_of(owner, found)
        if isinstance(owner, Own) and isinstance(found, Group) and self._is_keras(owner):
            self._has_variables(owner, name, line)
            self._has_losses(owner, name, line)
        return self._tracer.known(found, ast.unparse(attribute), line)

    def _has_variables(self, owner: Thing | Own, name: str, line: int) -> None:
        """The list of a model's variables is empty before it is called for the first time."""
        if not name.endswith(("variables", "weights")):
            return
        if not self._is_built(owner, set()):
            message = (
                f"line {line} reads `{name}` of a model that may have none yet, since it was not"
                " called before"
            )
            raise TraceError("not-followed", message)

    def _has_losses(self, owner: Thing | Own, name: str, line: int) -> None:
        """Losses that layers have added outside of the trace stay in it as they were at first."""
        if name != "losses" or not self._tracer.facts.kept_losses.are_added:
            return
        if not self._was_called(owner) and self._tracer.within is None:
            message = f"line {line} reads losses that a layer may have added before"
            raise TraceError("captured-not-fixed", message)

    def _is_built(self, owner: Thing | Own, seen: set[ast.ClassDef]) -> bool:
        """Whether a model surely has all its variables by now."""
        if isinstance(owner, Thing):
            made = self._was_called(owner) or owner.built or self._is_whole(owner)
            return made or not keras_things.makes_variables(owner.symbol)
        if self._was_called(owner):
            return True
        if owner.cls in seen:
            return False
        seen.add(owner.cls)
        members = self._values.members.all(owner.cls)
        return members is not None and all(
            self._is_built(part, seen)
            for member in members
            for part in parts(self._part_of(owner, member))
            if isinstance(part, (Thing, Own))
        )

    def _is_whole(self, thing: Thing) -> bool:
        """Whether an object that has its variables from the start was made in an `__init__`."""
        if thing.kind in ("loss", "setting"):
            return True
        makers = [self._tracer.facts.source.function(call) for call in thing.made]
        early = all(getattr(one, "name", "__init__") == "__init__" for one in makers)
        return thing.kind in _MADE_WHOLE and bool(makers) and early

    def _was_called(self, owner: Thing | Own) -> bool:
        """Whether just this object has been called, here or before."""
        called = [*self._tracer.asked, *(one for one, _ in self._tracer.called)]
        return any((one.made, one.of) == (owner.made, owner.of) for one in called)

    def _part_of(self, owner: Own, value: Value) -> Value:
        """What an object of the file holds, known by the object where it made that itself."""
        family = self._values.members.family(owner.cls) or ()

        def makes(call: ast.AST) -> bool:
            function = self._tracer.facts.source.function(call)
            return function is not None and self._tracer.facts.source.parent(function) in family

        return part_of(value, owner, makes)

    # Calls

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
            self._check_keras(cls)
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
            self._tracer.count(_OPS_OF_KERAS)
        else:
            says = None
        with self._tracer.told(to_train=says), self._tracer.unconverted(when=runs == "call"):
            found = self._of_code(
                call, Code(method, owner), given, keras=self._hands_tensors(base, runs)
            )
        self._note_call(owner, frozenset(self._tracer.reads[first:]))
        return layered(found) if runs == "call" else found

    def _hands_tensors(self, base: str | None, runs: str) -> bool:
        """Whether Keras makes a tensor of an array before the method of the file gets it."""
        is_loss = (base or "").endswith(".Loss")
        return runs == "call" and (not is_loss or makes_tensors(self._tracer.facts))

    def _check_keras(self, cls: ast.ClassDef) -> None:
        for owner in self._values.members.family(cls) or ():
            for statement in owner.body:
                if getattr(statement, "name", "") == "__call__":
                    raise TraceError("not-followed", f"`{owner.name}` has a `__call__` of its own")
                if getattr(statement, "name", "") == "build" and _makes_variables(statement):
                    message = f"`{owner.name}.build` makes variables by itself"
                    raise TraceError("makes-variables", message)

    def _is_keras(self, owner: Own) -> bool:
        return self._values.members.base(owner.cls) in keras_things.BASES

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
        tracer.count(_OPS_OF_KERAS * (2 if thing.kind == "model" else 1))
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
                    self._run_inside(thing, call, read)
                    self._note_call(thing, frozenset({read}))
                    flow |= Flow(straight=frozenset({read}))
                else:
                    self._run_inside(thing, call)
            given = Tensor(flow=flow, layered=True, squashed=self._squashes(thing))
            of_cell = keras_things.of_cell(thing.symbol, values, given)
            return of_cell or (group(*[given] * thing.gives) if thing.gives else given)
        self._run_inside(thing, call)
        tracer.called.append((thing, frozenset()))
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

    def _note_call(self, owner: Thing | Own, reads: frozenset[Read]) -> None:
        """A model is called, perhaps again."""
        tracer = self._tracer
        before = [done for one, done in tracer.called if may_be_one(owner, one)]
        if before:
            tracer.trace.repeated += [reads, *before]
        tracer.called.append((owner, reads))

    def by_keras(self, value: Value, given: list[Value]) -> None:
        """An object or function is called by Keras itself."""
        match value:
            case Thing():
                self._tracer.use(value)
                drawing = self._tracer.trace.layers_draw or value.draws
                self._tracer.trace.layers_draw = drawing
                self._run_inside(value, ast.Pass())
            case Own(cls=cls):
                thing = Thing("model", cls.name, value.made, frozenset({cls}))
                self._run_inside(thing, cls)
            case Code(node=node):
                names = [a.arg for a in node.args.args]
                self._tracer.run(value, dict(zip(names, given, strict=False)), node)
            case _:
                raise TraceError("not-followed", "what Keras calls is not followed")

    def _run_inside(self, thing: Thing, call: ast.AST, read: Read | None = None) -> None:
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
                    self._check_keras(node)
                reads = frozenset(filter(None, [self._tracer.within]))
                self._tracer.called.append((owner, reads))
                self._tracer.run(Code(method, owner), _assumed(method, owner), call)
            elif isinstance(node, (ast.FunctionDef, ast.Lambda)):
                self._tracer.run(Code(node), _assumed(node, None), call)

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
            case Thing(kind="model" | "layer") if name in ("call", "__call__"):
                return self._of_thing(call, owner)
            case Own(cls=cls):
                self._tracer.check_class(cls)
                member = self._part_of(owner, self._values.of_attribute(owner, name))
                first = len(self._tracer.reads)
                found = self._of_code(call, member) if isinstance(member, Code) else None
                if name == "call" and self._is_keras(owner):
                    self._note_call(owner, frozenset(self._tracer.reads[first:]))
                if found is not None:
                    return found
                return self._called(call, self._tracer.known(member, text, line))
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
        self._run_inside(optimizer, call)
        self._tracer.trace.updates = True
        self._tracer.trace.by_optimizer = True
        return Done(f"`{name}`")

    def _of_metric(self, call: ast.Call, metric: Thing, name: str) -> Value:
        self._tracer.use(metric)
        flat = [part for value in self._tracer.given(call) for part in parts(value)]
        self._libraries.check_given(flat, call, arrays=True)
        if keras_things.is_crossentropy(metric.symbol):
            self._libraries.check_logits(flat, call)
        self._tracer.count(_OPS_OF_KERAS)
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
                self._tracer.change(func.value, owner, added)
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
