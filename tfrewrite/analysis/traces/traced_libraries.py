"""What calls of TensorFlow and of Python give in a traced function, and what they do."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import (
    Bottom,
    Group,
    Library,
    Number,
    Tensor,
    Thing,
    Unknown,
    Value,
    group,
    parts,
)
from tfrewrite.analysis.effects import Effect, effect_of
from tfrewrite.analysis.keras import keras_things
from tfrewrite.analysis.program.arguments import arguments
from tfrewrite.analysis.traces.gradient_flow import NO_FLOW, Flow
from tfrewrite.analysis.traces.trace import TraceError

if TYPE_CHECKING:
    from tfrewrite.analysis.traces.tracing import Tracer

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
# They may give the very object that they were given, which goes on changing if it is a variable.
_HANDING_ON = frozenset(
    "cast dtypes.cast saturate_cast dtypes.saturate_cast keras.activations.linear keras.ops.cast"
    " keras.ops.array keras.ops.convert_to_tensor".split()
)
# What they give is no tensor that they were given.
_NEW = ("reduce_", "math.reduce_", "losses.", "keras.losses.", "argmax", "math.argmax")
_MANY_TURNS = 64
_PURE = frozenset(f"builtins.{name}" for name in "int float bool str round min max".split())
_CASTING = frozenset({"cast", "convert_to_tensor", "one_hot", "constant"})
_PRINTING = frozenset({"builtins.print", "builtins.input", "builtins.open"})
_HOST_MODULES = ("time.", "random.", "datetime.", "os.", "sys.", "logging.", "absl.logging.")


class TracedLibraries:
    """Goes through calls of what the file does not define, for a tracer."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._values = tracer.values

    def of_tensorflow(self, call: ast.Call, symbol: str) -> Value:
        """What a call of TensorFlow gives."""
        line = call.lineno
        self._tracer.trace.symbols.append((symbol, line))
        kind = keras_things.kind_of(symbol)
        if kind in ("loss", "setting"):
            found = self._values.value(call)
            return self._tracer.names.known(found, ast.unparse(call.func), line)
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
        values = self._tracer.given(call)
        self._tracer.count(1)
        self._check_form(call, symbol, effect)
        flat = [part for value in values for part in parts(value)]
        self.check_given(flat, call, arrays=symbol in _CASTING | _OF_ONE)
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
        if symbol in _HANDING_ON or symbol.startswith("keras.backend."):
            for part in flat:
                if isinstance(part, Thing) and part.kind == "variable":
                    return part
        flow = self.flow(call, effect, values, keeps=symbol in _CASTING)
        if symbol == "clip_by_global_norm":
            clipped = values[0] if isinstance(values[0], Group) else Group(None, Tensor(flow=flow))
            own = self._tracer.place(call)
            return group(replace(clipped, own=own, lazy=False), Tensor(flow=flow))
        if symbol in _SEVERAL:
            if not static or self._tracer.relaxed:
                message = f"`tf.{symbol}` in line {line} needs a shape that a trace does not know"
                raise TraceError("fails-when-traced", message)
            return Group(None, Tensor(flow=flow), own=self._tracer.place(call))
        if not static:
            self._tracer.lacks_shape(f"what `tf.{symbol}` gives in line {line}")
        layered = any(part.layered for part in tensors) and not symbol.startswith(_NEW)
        squashed = symbol in keras_things.SQUASHING or (
            symbol in _CASTING and any(part.squashed for part in tensors)
        )
        return Tensor(static=static, flow=flow, layered=layered, squashed=squashed)

    def check_logits(self, flat: list[Value], call: ast.Call) -> None:
        """Notes a crossentropy that finds logits in a trace only, or in eager mode only.

        With an activation of Keras, as `activation="softmax"`, it finds them both times.
        """
        if any(isinstance(part, Tensor) and part.squashed for part in flat):
            self._tracer.trace.logits = (
                f"the crossentropy of line {call.lineno} may find the logits beneath a softmax or"
                " sigmoid in a trace but not in eager mode, or the other way round"
            )

    def _check_meaning(self, call: ast.Call, symbol: str, flat: list[Value]) -> None:
        """Stops at what is another thing in a trace, for what it is given."""
        line = call.lineno
        if keras_things.is_crossentropy(symbol):
            self.check_logits(flat, call)
        if symbol == "convert_to_tensor" and len(call.args) + len(call.keywords) > 1:
            if any(isinstance(part, Tensor) and part.array for part in flat):
                message = f"line {line} makes a tensor of a type that an array may not have"
                raise TraceError("numpy-argument", message)
        if symbol == "constant" and any(isinstance(part, Tensor) for part in flat):
            message = f"`tf.constant` in line {line} is given a tensor, which fails in a trace"
            raise TraceError("fails-when-traced", message)

    def flow(
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

    def check_given(self, values: list[Value], call: ast.Call, *, arrays: bool = False) -> None:
        """Stops at an argument that a trace would take otherwise, or that is not known."""
        for part in (part for value in values for part in parts(value)):
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

    def _has_length(self, value: Value) -> bool:
        """Whether AutoGraph gives the length of a tensor as a number, as in eager mode."""
        known = isinstance(value, Tensor) and value.static and not self._tracer.relaxed
        return known and self._tracer.converted

    def _check_turns(self, values: list[Value], line: int) -> None:
        """Stops at a loop that a trace would write out turn by turn for long."""
        if any(map(_many, values)):
            message = f"a trace would write out each of the many turns of the loop of line {line}"
            raise TraceError("unrolls", message)

    def of_python(self, call: ast.Call, path: str) -> Value:
        """What a call of Python's own, of numpy or of another library gives."""
        line = call.lineno
        name = path.removeprefix("builtins.")
        if path in _PRINTING or path.startswith(_HOST_MODULES):
            message = f"`{name}` in line {line} would run only when the function is traced"
            raise TraceError("python-effect", message)
        if path.startswith("numpy.random."):
            message = f"`{name}` in line {line} would draw only when the function is traced"
            raise TraceError("python-effect", message)
        values = self._tracer.given(call)
        numbers = all(isinstance(v, Number) and not v.tensors for v in values)
        groups = [value for value in values if isinstance(value, Group)]
        match path:
            case "builtins.range" if numbers:
                self._check_turns(values, line)
                return Group(None, Number(), lazy=True)
            case "builtins.zip" if len(groups) == len(values):
                own = frozenset().union(*(one.own for one in groups))
                return Group(None, group(*(one.each for one in groups)), own, lazy=True)
            case "builtins.enumerate" if groups:
                return Group(None, group(Number(), groups[0].each), groups[0].own, lazy=True)
            case "builtins.reversed" if groups:
                return replace(groups[0], items=None, lazy=True)
            case "builtins.list" | "builtins.tuple" if groups:
                return replace(groups[0], own=self._tracer.place(call), lazy=False)
            case "builtins.list" | "builtins.dict" if not values:
                return Group((), Bottom(), own=self._tracer.place(call))
            case "builtins.len" if groups or numbers:
                return Number()
            case "builtins.len" if len(values) == 1 and self._has_length(values[0]):
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


def _data_arguments(symbol: str) -> int:
    """How many arguments come before those that say a shape."""
    if symbol == "random.shuffle":
        return 1
    return 0 if symbol in ("zeros", "ones", "fill", "eye") or symbol.startswith("random.") else 1
