"""What the calls and attributes in a traced function give, and what they do."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from tfrewrite.analysis import keras_things
from tfrewrite.analysis.abstract_values import (
    Array,
    Bottom,
    Code,
    Done,
    Group,
    Library,
    Number,
    Own,
    Tensor,
    Thing,
    Unknown,
    Value,
    group,
    joined,
    layered,
    may_be_one,
    part_of,
    parts,
)
from tfrewrite.analysis.arguments import arguments
from tfrewrite.analysis.effects import Effect, effect_of
from tfrewrite.analysis.gradient_flow import NO_FLOW, Flow, Read
from tfrewrite.analysis.trace import TraceError

if TYPE_CHECKING:
    from tfrewrite.analysis.tracing import Tracer

_ON_HOST = frozenset("numpy item tolist cpu gpu".split())
# With one array and nothing else, they make the tensor of it that a trace is given.
_OF_ONE = frozenset("stop_gradient identity reshape expand_dims squeeze zeros_like".split())
# They give several tensors, in a list or tuple.
_SEVERAL = frozenset(
    "clip_by_global_norm nn.moments split unstack meshgrid nn.top_k math.top_k linalg.svd"
    " linalg.qr linalg.eigh nn.weighted_moments linalg.slogdet".split()
)
# The shape of what they give follows from the shapes of what they are given, and from plain values.
_STATIC = frozenset(
    "cast concat stack expand_dims squeeze identity stop_gradient transpose argmax argmin one_hot"
    " matmul clip_by_value clip_by_norm zeros_like ones_like square sqrt exp abs sigmoid tanh"
    " reshape zeros ones fill gather maximum minimum add subtract multiply divide pow sign round"
    " convert_to_tensor tile pad split unstack reverse norm linalg.norm add_n equal not_equal less"
    " less_equal greater greater_equal eye broadcast_to shape shape_n rank size constant negative"
    " clip_by_global_norm slice image.resize image.rgb_to_grayscale image.flip_left_right"
    " image.per_image_standardization where logical_and logical_or logical_not floor sin cos"
    " tensordot einsum linalg.matmul keras.layers.add keras.layers.concatenate"
    " keras.layers.multiply keras.layers.average keras.layers.maximum keras.layers.subtract".split()
)
_STATIC_PREFIXES = (
    "nn.", "math.", "random.", "reduce_", "losses.", "keras.losses.", "keras.backend.",
    "keras.activations.", "keras.metrics.", "metrics.",
)  # fmt: skip
_UNSTATIC = ("segment", "bincount", "ctc", "embedding_lookup_sparse", "unique", "top_k", "range")
# Arguments of these that are tensors decide about shapes.
_SHAPING = frozenset(
    "reshape zeros ones fill tile broadcast_to slice strided_slice one_hot eye pad image.resize"
    " nn.top_k math.top_k image.crop_and_resize split".split()
)
_FOREIGN = (
    "ragged.", "sparse.", "strings.", "io.", "data.", "lookup.", "queue.", "audio.", "image.decode",
    "distribute.", "saved_model.", "summary.", "compat.", "raw_ops.", "autodiff.", "quantization.",
    "train.", "autograph.", "experimental.", "config.", "debugging.", "profiler.", "nest.",
)  # fmt: skip
# They have their variables, if any, from the start.
_MADE_WHOLE = ("variable", "generator", "metric")
# What they give is no tensor that they were given.
_NEW = ("reduce_", "math.reduce_", "losses.", "keras.losses.", "argmax", "math.argmax")
_MANY_TURNS = 64
_CHANGING = frozenset("append extend insert add update remove discard clear pop".split())
_PURE = frozenset(f"builtins.{name}" for name in "int float bool str round min max".split())
_GENERATORS = frozenset(
    "normal truncated_normal uniform uniform_full_int binomial make_seeds".split()
)
_CASTING = frozenset({"cast", "convert_to_tensor", "one_hot", "constant"})
_PRINTING = frozenset({"builtins.print", "builtins.input", "builtins.open"})
_HOST_MODULES = ("time.", "random.", "datetime.", "os.", "sys.", "logging.", "absl.logging.")


class TracedCalls:
    """Goes through calls and attributes for a tracer."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._names = tracer.facts.names
        self._values = tracer.values

    def attribute(self, attribute: ast.Attribute) -> Value:
        """What reading an attribute gives."""
        path = self._names.dotted(attribute)
        if path is not None:
            return self._values.value(attribute)
        owner = self._tracer.value(attribute.value)
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
        return self._known(found, ast.unparse(attribute), line)

    def _known(self, found: Value, text: str, line: int) -> Value:
        """A value that is found outside of the function, where it is the same at each call."""
        match found:
            case Unknown(why=why):
                raise TraceError("captured-not-fixed", f"`{text}` in line {line}: {why}")
            case Bottom():
                raise TraceError("not-followed", f"`{text}` in line {line} is not followed")
            case Array():
                message = f"`{text}` in line {line} is a numpy array, which may change in place"
                raise TraceError("captured-not-fixed", message)
        self._tracer.check_mask(found, text)
        return found

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
        """Whether just this object has been called."""
        return any((one.made, one.of) == (owner.made, owner.of) for one, _ in self._tracer.called)

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
            return self._of_tensorflow(call, symbol)
        if path is not None:
            return self._of_python(call, path)
        if isinstance(call.func, ast.Attribute):
            return self._method(call, call.func)
        return self._called(call, self._tracer.value(call.func))

    def _given(self, call: ast.Call) -> list[Value]:
        values = [self._tracer.value(argument) for argument in call.args]
        return values + [self._tracer.value(keyword.value) for keyword in call.keywords]

    def _called(self, call: ast.Call, function: Value) -> Value:
        match function:
            case Code():
                return self._of_code(call, function)
            case Thing():
                return self._of_thing(call, function)
            case Own():
                return self._of_own(call, function)
            case Library(path=path) if path.startswith("tensorflow."):
                return self._of_tensorflow(call, path.removeprefix("tensorflow."))
        message = f"what `{ast.unparse(call.func)}(...)` in line {call.lineno} does is not known"
        raise TraceError("unknown-call", message)

    def _of_code(
        self, call: ast.Call, code: Code, values: list[Value] | None = None, *, keras: bool = False
    ) -> Value:
        """A function of the file is called, with values where these are known already."""
        if values is None:
            values = self._given(call)
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
        given = self._given(call)
        if runs == "call" and self._tracer.conditional:
            message = f"line {call.lineno} calls a model under a condition"
            raise TraceError("not-followed", message)
        flat = [part for value in given for part in parts(value)]
        if runs == "call" and any(isinstance(p, Tensor) and not p.static for p in flat):
            message = f"line {call.lineno} gives a model what has no shape in a trace"
            raise TraceError("fails-when-traced", message)
        first = len(self._tracer.reads)
        found = self._of_code(call, Code(method, owner), given, keras=runs == "call")
        self._note_call(owner, frozenset(self._tracer.reads[first:]))
        return layered(found) if runs == "call" else found

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
        values = self._given(call)
        flat = [part for value in values for part in parts(value)]
        self._check_given(flat, call, arrays=True)
        if thing.kind in ("model", "layer"):
            if tracer.conditional and keras_things.makes_variables(thing.symbol):
                message = f"line {call.lineno} calls a model under a condition"
                raise TraceError("not-followed", message)
            if any(isinstance(part, Tensor) and not part.static for part in flat):
                message = f"line {call.lineno} gives a model what has no shape in a trace"
                raise TraceError("fails-when-traced", message)
            tracer.trace.layers_draw = tracer.trace.layers_draw or thing.draws
        elif thing.kind not in ("loss", "metric", "schedule"):
            message = f"calling `{ast.unparse(call.func)}` in line {call.lineno} is not followed"
            raise TraceError("unknown-call", message)
        is_known = thing.kind == "loss" and not thing.code
        effect = keras_things.effect_of_loss(thing.symbol) if is_known else None
        if keras_things.is_crossentropy(thing.symbol):
            self._check_logits(flat, call)
        flow = self._flow(call, effect, values)
        if thing.kind in ("model", "layer"):
            if thing.kind == "model" or keras_things.makes_variables(thing.symbol):
                read = tracer.read(call, f"`{ast.unparse(call.func)}` in line {call.lineno}")
                self._run_inside(thing, call, read)
                self._note_call(thing, frozenset({read}))
                flow |= Flow(straight=frozenset({read}))
            else:
                self._run_inside(thing, call)
            given = Tensor(flow=flow, layered=True, squashed=self._squashes(thing))
            return group(*[given] * thing.gives) if thing.gives else given
        self._run_inside(thing, call)
        tracer.called.append((thing, frozenset()))
        if thing.kind == "loss":
            return Tensor(flow=flow)
        return Tensor()

    def _squashes(self, thing: Thing) -> bool:
        """Whether what an object gives may come from a softmax of TensorFlow's."""
        return thing.squashes or (bool(thing.code) and self._tracer.facts.squashing > 0)

    def _check_logits(self, flat: list[Value], call: ast.Call) -> None:
        """Notes a crossentropy that finds logits in a trace, and none in eager mode.

        With an activation of Keras, as `activation="softmax"`, it finds them both times.
        """
        if any(isinstance(part, Tensor) and part.squashed for part in flat):
            self._tracer.trace.logits = (
                f"the crossentropy of line {call.lineno} goes on from the logits beneath a softmax"
                " or sigmoid in a trace, and not in eager mode"
            )

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
            owner = self._tracer.value(func.value)
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
                self._check_given([p for v in self._given(call) for p in parts(v)], call)
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
                return self._called(call, self._known(member, text, line))
            case Group():
                return self._of_group(call, func, owner)
            case Number():
                if all(isinstance(value, Number) for value in self._given(call)):
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
        values = self._given(call)
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
        return _gradients(sources, call.lineno)

    def _of_optimizer(self, call: ast.Call, optimizer: Thing, name: str) -> Value:
        self._tracer.use(optimizer)
        if name not in ("apply_gradients", "apply"):
            message = f"`{name}` of the optimizer in line {call.lineno} is not followed"
            raise TraceError("unknown-call", message)
        if self._tracer.conditional:
            message = f"line {call.lineno} updates under a condition"
            raise TraceError("not-followed", message)
        self._check_given([p for v in self._given(call) for p in parts(v)], call)
        self._run_inside(optimizer, call)
        self._tracer.trace.updates = True
        self._tracer.trace.by_optimizer = True
        return Done(f"`{name}`")

    def _of_metric(self, call: ast.Call, metric: Thing, name: str) -> Value:
        self._tracer.use(metric)
        flat = [p for v in self._given(call) for p in parts(v)]
        self._check_given(flat, call, arrays=True)
        if keras_things.is_crossentropy(metric.symbol):
            self._check_logits(flat, call)
        if name == "result":
            return Tensor()
        if name in ("update_state", "reset_states", "reset_state"):
            return Done(f"`{name}`")
        message = f"`{name}` of the metric in line {call.lineno} is not followed"
        raise TraceError("unknown-call", message)

    def _of_variable(self, call: ast.Call, name: str) -> Value:
        self._check_given([p for v in self._given(call) for p in parts(v)], call)
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
        values = self._given(call)
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
                self._tracer.rebind(func.value, Group(None, joined(owner.each, added), own=True))
                return Number(ast.Constant(None))
        message = f"`{ast.unparse(func)}(...)` in line {call.lineno} changes what others see"
        raise TraceError("python-effect", message)

    # Libraries

    def _of_tensorflow(self, call: ast.Call, symbol: str) -> Value:
        line = call.lineno
        self._tracer.trace.symbols.append((symbol, line))
        kind = keras_things.kind_of(symbol)
        if kind in ("loss", "setting"):
            found = self._values.value(call)
            return self._known(found, ast.unparse(call.func), line)
        if kind is not None:
            message = f"`tf.{symbol}` in line {line} makes variables, or what has some"
            raise TraceError("makes-variables", message)
        if symbol == "print" or symbol.startswith(("summary.", "py_function", "numpy_function")):
            message = f"`tf.{symbol}` in line {line} does something outside of the graph"
            raise TraceError("python-effect", message)
        effect = effect_of(symbol, "2")
        if effect is None or symbol.startswith(_FOREIGN) or not _is_harmless(effect):
            message = f"what `tf.{symbol}` in line {line} does in a trace is not known"
            raise TraceError("unknown-call", message)
        values = self._given(call)
        self._check_form(call, symbol, effect)
        flat = [part for value in values for part in parts(value)]
        self._check_given(flat, call, arrays=symbol in _CASTING | _OF_ONE)
        self._check_meaning(call, symbol, flat)
        if effect.random:
            self._tracer.trace.draws.append(call)
        tensors = [part for part in flat if isinstance(part, Tensor)]
        keeps = symbol in _STATIC or symbol.startswith(_STATIC_PREFIXES)
        keeps = keeps and not any(word in symbol for word in _UNSTATIC)
        static = all(part.static for part in tensors) and keeps
        if symbol == "where":
            static = static and len(values) > 1
        if symbol in _SHAPING or symbol.startswith("random."):
            sizes = [p for v in values[_data_arguments(symbol) :] for p in parts(v)]
            static = static and all(not isinstance(p, Tensor) or p.size for p in sizes)
        if symbol == "shape":
            return Tensor(static=True, size=static)
        flow = self._flow(call, effect, values, keeps=symbol in _CASTING)
        if symbol == "clip_by_global_norm":
            clipped = values[0] if isinstance(values[0], Group) else Group(None, Tensor(flow=flow))
            return group(replace(clipped, own=True, lazy=False), Tensor(flow=flow), own=True)
        if symbol in _SEVERAL:
            if not static or self._tracer.relaxed:
                message = f"`tf.{symbol}` in line {line} needs a shape that a trace does not know"
                raise TraceError("fails-when-traced", message)
            return Group(None, Tensor(flow=flow), own=True)
        if not static:
            self._tracer.lacks_shape(f"what `tf.{symbol}` gives in line {line}")
        layered = any(part.layered for part in tensors) and not symbol.startswith(_NEW)
        squashed = symbol in keras_things.SQUASHING or (
            symbol in _CASTING and any(part.squashed for part in tensors)
        )
        return Tensor(static=static, flow=flow, layered=layered, squashed=squashed)

    def _check_meaning(self, call: ast.Call, symbol: str, flat: list[Value]) -> None:
        """Stops at what is another thing in a trace, for what it is given."""
        line = call.lineno
        if keras_things.is_crossentropy(symbol):
            self._check_logits(flat, call)
        if symbol == "convert_to_tensor" and len(call.args) + len(call.keywords) > 1:
            if any(isinstance(part, Tensor) and part.array for part in flat):
                message = f"line {line} makes a tensor of a type that an array may not have"
                raise TraceError("numpy-argument", message)
        if symbol == "constant" and any(isinstance(part, Tensor) for part in flat):
            message = f"`tf.constant` in line {line} is given a tensor, which fails in a trace"
            raise TraceError("fails-when-traced", message)

    def _flow(
        self, call: ast.Call, effect: Effect | None, values: list[Value], *, keeps: bool = False
    ) -> Flow:
        """From what a call computes, and which of it its gradient needs.

        With `keeps` a gradient goes through, though the table has none for some types.
        """
        gradient = effect.gradient if effect is not None else {}
        names = [*(effect.parameters if effect is not None else ())][: len(call.args)]
        names += [""] * (len(call.args) - len(names))
        names += [keyword.arg or "" for keyword in call.keywords]
        found = NO_FLOW
        for name, value in zip(names, values, strict=True):
            one = self._tracer.flow(value, call)
            match gradient.get(name):
                case "value":
                    found |= one.through_bend()
                case "none" if not keeps:
                    continue
                case _:
                    found |= one
        return found

    def _check_form(self, call: ast.Call, symbol: str, effect: Effect) -> None:
        """Stops at a call that eager mode forgives: a name that is no text."""
        given = arguments(call, effect.parameters) if effect.parameters else {}
        if given is None:
            message = f"line {call.lineno} calls `tf.{symbol}` in a way that is not known"
            raise TraceError("fails-when-traced", message)
        name = given.get("name")
        if name is not None:
            found = self._tracer.value(name)
            if not (
                isinstance(found, Number)
                and (found.literal is None or isinstance(found.literal.value, (str, type(None))))
                and isinstance(name, (ast.Constant, ast.JoinedStr))
            ):
                message = f"`{ast.unparse(name)}` is given as a name in line {call.lineno}"
                raise TraceError("fails-when-traced", message)

    def _check_given(self, flat: list[Value], call: ast.Call, *, arrays: bool = False) -> None:
        for part in flat:
            match part:
                case Tensor(array=True) if not arrays:
                    text = ast.unparse(call.func)
                    message = (
                        f"`{text}` in line {call.lineno} is given a numpy array, which has another"
                        " type than a tensor of it where types are mixed"
                    )
                    raise TraceError("numpy-argument", message)
                case Tensor() | Number() | Bottom() | Library():
                    continue
                case Thing(kind="variable" | "setting" | "loss"):
                    continue
                case Unknown(why=why):
                    raise TraceError("captured-not-fixed", why)
            if not isinstance(part, Tensor):
                message = f"what `{ast.unparse(call.func)}` in line {call.lineno} is given"
                raise TraceError("not-followed", f"{message} is not followed")

    def _check_turns(self, values: list[Value], line: int) -> None:
        """Stops at a loop that a trace would write out turn by turn for long."""
        if any(map(_many, values)):
            message = f"a trace would write out each of the many turns of the loop of line {line}"
            raise TraceError("unrolls", message)

    def _of_python(self, call: ast.Call, path: str) -> Value:
        line = call.lineno
        name = path.removeprefix("builtins.")
        if path in _PRINTING or path.startswith(_HOST_MODULES):
            message = f"`{name}` in line {line} would run only when the function is traced"
            raise TraceError("python-effect", message)
        if path.startswith("numpy.random."):
            message = f"`{name}` in line {line} would draw only when the function is traced"
            raise TraceError("python-effect", message)
        values = self._given(call)
        numbers = all(isinstance(v, Number) and not v.tensors for v in values)
        groups = [value for value in values if isinstance(value, Group)]
        match path:
            case "builtins.range" if numbers:
                self._check_turns(values, line)
                return Group(None, Number(), lazy=True)
            case "builtins.zip" if len(groups) == len(values):
                return Group(None, group(*(one.each for one in groups)), lazy=True)
            case "builtins.enumerate" if groups:
                return Group(None, group(Number(), groups[0].each), lazy=True)
            case "builtins.reversed" if groups:
                return replace(groups[0], items=None, lazy=True)
            case "builtins.list" | "builtins.tuple" if groups:
                return replace(groups[0], own=True, lazy=False)
            case "builtins.list" | "builtins.dict" if not values:
                return Group((), Bottom(), own=True)
            case "builtins.len" if groups or numbers:
                return Number()
            case "builtins.sum" if groups:
                return self._tracer.computed([Number(), *parts(groups[0])], call)
            case "builtins.pow" if len(values) == 2 and not call.keywords:
                return self._tracer.computed(values, call)
            case "builtins.abs":
                return self._tracer.computed(values, call, (True,))
        if numbers and (path in _PURE or path.startswith(("math.", "numpy."))):
            if path.startswith("numpy.") and not path.startswith(("numpy.float", "numpy.int")):
                message = f"`{name}` in line {line} makes an array"
                raise TraceError("not-followed", message)
            return Number()
        if path in _PURE or path.startswith(("numpy.", "math.")) or path == "builtins.len":
            message = f"`{name}(...)` in line {line} needs the value of a tensor itself"
            raise TraceError("reads-on-host", message)
        message = f"what `{name}(...)` in line {line} does is not known"
        raise TraceError("unknown-call", message)


def _many(value: Value) -> bool:
    literal = value.literal.value if isinstance(value, Number) and value.literal else 0
    return isinstance(literal, int) and literal > _MANY_TURNS


def _is_harmless(effect: Effect) -> bool:
    """Whether a symbol does nothing in a trace but to compute, draw and read."""
    return not (
        effect.host
        or effect.calls
        or effect.creates
        or effect.writes
        or effect.iterates
        or effect.collections
        or effect.registers
        or effect.asserts
        or not effect.returns_tensor
    )


def _gradients(sources: Value, line: int) -> Value:
    match sources:
        case Group(items=items, each=each):
            for part in parts(sources):
                if not isinstance(part, (Tensor, Bottom)) and not (
                    isinstance(part, Thing) and part.kind == "variable"
                ):
                    raise TraceError("not-followed", f"the gradients of line {line}")
            inner = None if items is None else tuple(_gradients(i, line) for i in items)
            return Group(inner, _gradients(each, line), own=True)
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


def _data_arguments(symbol: str) -> int:
    """How many arguments come before those that say a shape."""
    if symbol == "random.shuffle":
        return 1
    return 0 if symbol in ("zeros", "ones", "fill", "eye") or symbol.startswith("random.") else 1


def _makes_variables(statement: ast.stmt) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr == "Variable" for node in ast.walk(statement)
    )
