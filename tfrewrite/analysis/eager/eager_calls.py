"""What calls give in a TensorFlow 2 script, outside of any trace."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager import array_shapes
from tfrewrite.analysis.eager.abstract_values import (
    Array,
    Bottom,
    Code,
    Dataset,
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
    made_by,
    parts,
)
from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.keras import keras_things, keras_training
from tfrewrite.analysis.pipelines.stages import Lost, stages
from tfrewrite.analysis.program.names import tf_symbol
from tfrewrite.analysis.program.python_calls import NUMPY_STREAMS, CallEffect, effect_of_path
from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from tfrewrite.analysis.eager.eager_values import EagerValues
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.scopes import Scopes

_NUMBERS = frozenset(
    f"builtins.{name}" for name in "int float str bool len max min abs round sum".split()
)
_ALWAYS_NUMBERS = frozenset(f"builtins.{name}" for name in "int float bool len".split())
_STEADY = frozenset(
    f"numpy.{name}" for name in "zeros ones full eye arange linspace zeros_like ones_like".split()
)
_MAKING = frozenset({"numpy.array", "numpy.asarray"})
_UNSTEADY_STAGES = frozenset(
    "padded_batch ragged_batch sparse_batch bucket_by_sequence_length group_by_window window"
    " dense_to_ragged_batch from_generator unbatch flat_map interleave".split()
)
_ARRAY_METHODS = frozenset("astype reshape copy flatten ravel transpose".split())
_INDIFFERENT_ARGUMENTS = frozenset(
    "units filters kernel_size strides padding name dtype input_shape input_dim rate axis"
    " input_length output_dim output_sizes pool_size shape size target_shape seed trainable"
    " use_bias momentum epsilon num_classes return_sequences return_state training n dims".split()
)


class EagerCalls:
    """Answers what a call gives, as far as the file shows it."""

    def __init__(self, facts: Facts, values: EagerValues) -> None:
        self._facts = facts
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._own = facts.own_calls
        self._classes = facts.classes
        self._values = values

    def call(self, call: ast.Call) -> Value:
        pipeline = self._pipeline(call)
        if pipeline is not None:
            return pipeline
        path = self._names.dotted(call.func)
        symbol = self._names.tf(call.func)
        if symbol is not None:
            return self._of_tensorflow(call, symbol)
        if path is not None:
            return self._of_python(call, path)
        cls = self._classes.defined(call.func)
        if cls is not None:
            return Own(cls, frozenset({call}))
        function = self._own.function(call)
        if function is not None:
            yielded = self._own.yielded(function)
            if yielded:
                return _from_generator(joined(*map(self._values.value, yielded)), call)
            compiled = bool(function.decorator_list) and self._own.is_plain(function)
            returned = (self._own.given_back if compiled else self._own.returned)(function)
            if not returned:
                return Unknown(f"what `{function.name}` gives in line {call.lineno} is not known")
            found = joined(*(self._values.value(one) for one in returned))
            return _from_trace(found) if compiled else self._made_by(found, call, function)
        if isinstance(call.func, ast.Attribute):
            return self._of_method(call, call.func)
        return self._called(call, self._values.value(call.func))

    def _pipeline(self, call: ast.Call) -> Value | None:
        found = self._facts.pipelines.value(call)
        if found is None:
            return None
        for stage in stages(found):
            if isinstance(stage, Lost):
                return Unknown(stage.why)
            if stage.name in _UNSTEADY_STAGES:
                message = f"elements may differ in shape, by `{stage.name}`"
                return Unknown(f"{message} in line {stage.making.lineno}")
        return Dataset()

    def _of_tensorflow(self, call: ast.Call, symbol: str) -> Value:
        if symbol.startswith("keras.datasets."):
            return Group(None, Group(None, Array()))
        if symbol in keras_things.INPUTS:
            return Thing("symbolic", symbol)
        kind = keras_things.kind_of(symbol)
        if kind is not None:
            return self._thing(call, symbol, kind)
        effect = effect_of(symbol, "2")
        if effect is None or effect.host or effect.calls or not effect.returns_tensor:
            return Unknown(f"what `tf.{symbol}` gives in line {call.lineno} is not followed")
        values = [self._values.value(one) for one in _arguments(call)]
        symbolic = [v for one in values for v in parts(one) if _is_symbolic(v)]
        if symbolic:
            if effect.random or effect.writes:
                return Unknown(f"`tf.{symbol}` is part of a model in line {call.lineno}")
            merged = joined(*symbolic)
            if isinstance(merged, Thing) and symbol in keras_things.SQUASHING:
                return replace(merged, squashes=True)
            return merged
        if symbol == "clip_by_global_norm" and values and isinstance(values[0], Group):
            return group(replace(values[0], lazy=False), Tensor())
        steady = (
            self._facts.reached_once.holds(call)
            or symbol not in ("convert_to_tensor", "constant", "stack", "concat")
            or all(not isinstance(value, (Unknown, Group)) for value in values[:1])
        )
        layered = any(
            isinstance(part, Tensor) and part.layered for one in values for part in parts(one)
        )
        return Tensor(layered=layered) if steady else Unknown(
            f"the shape of what line {call.lineno} makes may differ from call to call"
        )  # fmt: skip

    def _thing(self, call: ast.Call, symbol: str, kind: str) -> Value:
        if kind in ("setting", "variable"):
            return Thing(kind, symbol, frozenset({call}))
        options = [keyword.arg or "" for keyword in call.keywords]
        draws = keras_things.draws(symbol, options)
        squashes = symbol in keras_things.SQUASHING
        awake = False
        code: set[ast.AST] = set()
        effect = effect_of(symbol, "2")
        names = effect.parameters if effect is not None else ()
        pairs: list[tuple[str, ast.expr]] = [
            (names[index] if index < len(names) else "", argument)
            for index, argument in enumerate(call.args)
        ]
        pairs += [(keyword.arg or "", keyword.value) for keyword in call.keywords]
        for name, argument in pairs:
            if name == "inputs" and symbol in keras_things.MODELS:
                continue
            for part in parts(self._values.value(argument)):
                match part:
                    case Unknown():
                        if name not in _INDIFFERENT_ARGUMENTS or kind == "optimizer":
                            return Unknown(f"{part.why}, and `tf.{symbol}` is made of it")
                    case Code(node=node):
                        code.add(node)
                    case Own(cls=cls):
                        code.add(cls)
                    case Library(path=path):
                        squashes = squashes or _squashes(path)
                    case Thing():
                        code |= part.code
                        draws = draws or part.draws
                        squashes = squashes or part.squashes
                        awake = awake or part.awake
        made = frozenset({call})
        built = symbol in keras_things.MODELS or symbol.startswith("keras.applications.")
        built = built or "input_shape" in options or "input_dim" in options
        if symbol in keras_things.SEQUENTIAL and call.args:
            first = self._values.value(call.args[0])
            layers = first.items if isinstance(first, Group) else None
            built = bool(layers) and _is_built(layers)
        gives = self._results(symbol, pairs)
        thing = Thing(kind, symbol, made, frozenset(code), draws, built)
        thing = replace(thing, gives=gives, squashes=squashes, awake=awake)
        return self._with_added(thing) if symbol in keras_things.SEQUENTIAL else thing

    def _results(self, symbol: str, options: list[tuple[str, ast.expr]]) -> int:
        """How many tensors a layer or model gives when it is called; 0 for one alone."""
        for position, (name, argument) in enumerate(options):
            if name == "return_state" and symbol in keras_things.WITH_STATE:
                found = self._values.value(argument)
                literal = found.literal if isinstance(found, Number) else None
                if literal is not None and literal.value is True:
                    return keras_things.WITH_STATE[symbol]
            is_output = name == "outputs" or (not name and position == 1)
            if is_output and symbol in keras_things.MODELS:
                found = self._values.value(argument)
                items = found.items if isinstance(found, Group) and not found.lazy else None
                if items is not None and len(items) > 1 and all(map(_is_symbolic, items)):
                    return len(items)
        return 0

    def _with_added(self, model: Thing) -> Value:
        """A model to which the file may add layers."""
        code, draws, squashes = set(model.code), model.draws, model.squashes
        awake = model.awake
        for call in self._classes.calls("add"):
            if self._names.dotted(call.func) is not None or not call.args:
                continue
            receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
            if receiver is not None and _is_set(self._scopes, receiver):
                continue
            if receiver is not None and self._is_made_apart(receiver, model):
                continue
            for part in parts(self._values.value(call.args[0])):
                match part:
                    case Unknown():
                        return Unknown(f"{part.why}, and it is added to a model")
                    case Thing(kind="optimizer" | "variable" | "metric" | "loss"):
                        continue
                    case Thing():
                        code |= part.code
                        draws = draws or part.draws
                        squashes = squashes or part.squashes
                        awake = awake or part.awake
                    case Own(cls=cls):
                        code.add(cls)
                    case Code(node=node):
                        code.add(node)
        return replace(model, code=frozenset(code), draws=draws, squashes=squashes, awake=awake)

    def _made_by(self, value: Value, call: ast.Call, function: ast.AST) -> Value:
        """What a function gives: of its own at each call, where it is made in the function."""
        for part in parts(value):
            made = part.made if isinstance(part, (Thing, Own)) else ()
            if any(function not in self._source.ancestors(one) for one in made):
                return value
        return made_by(value, call)

    def _is_made_apart(self, receiver: ast.expr, model: Thing) -> bool:
        """Whether what layers are added to is surely another model, made by a call of its own."""
        values: list[ast.expr | None] = []
        if isinstance(receiver, ast.Name):
            bindings = self._scopes.bindings(receiver)
            values = [one.value if one.how is How.ASSIGN else None for one in bindings]
        elif isinstance(receiver, ast.Attribute) and isinstance(receiver.value, ast.Name):
            cls = self._classes.of_self(receiver.value)
            if cls is not None and self._values.members.family(cls) is not None:
                values = [self._stored(one) for one in self._values.members.stores(receiver.attr)]
        return bool(values) and all(
            isinstance(one, ast.Call)
            and self._names.tf(one.func) in keras_things.SEQUENTIAL
            and one not in model.made
            for one in values
        )

    def _stored(self, target: ast.Attribute) -> ast.expr | None:
        parent = self._source.parent(target)
        return parent.value if isinstance(parent, ast.Assign) else None

    def _of_python(self, call: ast.Call, path: str) -> Value:
        values = [self._values.value(one) for one in _arguments(call)]
        if path in _ALWAYS_NUMBERS and len(values) == 1:
            return Number(None, varies=True)
        if path in _NUMBERS:
            simple = all(isinstance(v, (Number, Array, Group, Tensor, Bottom)) for v in values)
            return Number(None, varies=True) if simple else Unknown(f"`{path}` of something")
        if path in ("builtins.iter", "builtins.next") and values:
            if isinstance(values[0], Dataset):
                return Tensor(nest=True) if path == "builtins.next" else Dataset()
            if isinstance(values[0], Group) and values[0].lazy and len(values) == 1:
                return values[0].each if path == "builtins.next" else values[0]
        if path in ("builtins.list", "builtins.tuple") and values:
            if isinstance(values[0], Group):
                return replace(values[0], lazy=False)
            rows = array_shapes.rows(values[0])
            if rows is not None:
                return rows
        if path in NUMPY_STREAMS:
            return Library(path)
        if path.startswith("numpy.random."):
            shape = array_shapes.of_call(call, path.rpartition(".")[2], self._values.value)
            return Array(steady="choice" not in path or self._chooses_so_many(call), shape=shape)
        if path == "numpy.load" and not any(k.arg == "allow_pickle" for k in call.keywords):
            return Array(steady=self._facts.reached_once.holds(call))
        if path in _STEADY:
            shape = array_shapes.of_call(call, path.rpartition(".")[2], self._values.value)
            return Array(shape=shape)
        if path == "numpy.reshape" and self._is_fixed(call.args[1:]):
            return Array()
        if path in _MAKING and len(call.args) == 1 and _is_scalars(values[0]):
            return Array()
        if path.startswith("numpy.") and effect_of_path(path) is CallEffect.PURE:
            return Array(steady=bool(values) and isinstance(values[0], Array) and values[0].steady)
        return Unknown(f"what `{path.removeprefix('builtins.')}` gives in line {call.lineno}")

    def _chooses_so_many(self, call: ast.Call) -> bool:
        """Whether as many elements are drawn each time."""
        sizes = [keyword.value for keyword in call.keywords if keyword.arg == "size"]
        return self._is_fixed(sizes or call.args[1:2])

    def _is_fixed(self, sizes: list[ast.expr]) -> bool:
        """Whether the sizes that are given are the same numbers each time, none left to find."""
        found = [part for one in sizes for part in parts(self._values.value(one))]
        for part in found:
            if not isinstance(part, Number) or part.varies or part.tensors:
                return False
        written = [node for one in sizes for node in ast.walk(one)]
        return bool(found) and not any(isinstance(node, ast.USub) for node in written)

    def _of_method(self, call: ast.Call, func: ast.Attribute) -> Value:
        owner = self._values.value(func.value)
        match owner:
            case Array(shape=shape) if func.attr in _ARRAY_METHODS:
                return replace(owner, shape=array_shapes.after_method(shape, func.attr))
            case Library(path=path) if path in NUMPY_STREAMS:
                shape = array_shapes.of_call(call, func.attr, self._values.value)
                steady = func.attr != "choice" or self._chooses_so_many(call)
                return Array(steady=steady, shape=shape)
            case Tensor() if func.attr == "numpy":
                return Array()
            case Dataset() if func.attr == "get_next":  # of its iterator
                return Tensor(nest=True)
            case Thing(kind="tape") if func.attr == "gradient" and len(call.args) > 1:
                return _gradients(self._values.value(call.args[1]))
            case Thing(kind="model") if func.attr == "get_layer":
                return replace(owner, kind="layer", gives=0)
            case Thing(kind="model") if func.attr in ("predict", "predict_on_batch"):
                return Array()
            case Thing(kind="variable") if func.attr in ("assign", "assign_add", "assign_sub"):
                return owner
            case Own():
                member = self._values.of_attribute(owner, func.attr)
                if isinstance(member, Code) and isinstance(member.node, ast.FunctionDef):
                    returned = self._own.returned(member.node)
                    if returned:
                        found = joined(*(self._values.value(one) for one in returned))
                        return self._made_by(found, call, member.node)
                return self._called(call, member)
            case Thing(kind="variable") if func.attr in ("value", "read_value"):
                return Tensor()
        if isinstance(owner, Unknown):
            return owner
        return self._called(call, self._values.of_attribute(owner, func.attr))

    def _of_layer(self, call: ast.Call, layer: Thing | Own) -> Value:
        """What a model or layer gives for tensors and arrays."""
        one = Tensor(layered=True)
        given = [self._values.value(argument) for argument in _arguments(call)]
        found = keras_things.of_cell(layer.symbol, given, one) if isinstance(layer, Thing) else None
        return found or one

    def _called(self, call: ast.Call, function: Value) -> Value:
        match function:
            case Thing(kind="model" | "layer") | Own():
                values = [p for one in _arguments(call) for p in parts(self._values.value(one))]
                symbolic = [value for value in values if _is_symbolic(value)]
                if not symbolic:
                    unknown = [value for value in values if isinstance(value, (Unknown, Bottom))]
                    return unknown[0] if unknown else self._of_layer(call, function)
                merged = joined(*symbolic)
                assert isinstance(merged, Thing)
                if keras_training.told(call, self._values.value):
                    merged = replace(merged, awake=True)
                if isinstance(function, Own):
                    return replace(merged, code=merged.code | {function.cls})
                draws = merged.draws or function.draws
                squashes = merged.squashes or function.squashes
                code, awake = merged.code | function.code, merged.awake or function.awake
                return replace(merged, code=code, draws=draws, squashes=squashes, awake=awake)
            case Thing(kind="loss" | "metric"):
                values = [p for one in _arguments(call) for p in parts(self._values.value(one))]
                if all(isinstance(value, (Tensor, Array, Number)) for value in values):
                    return Tensor()
            case Library(path="keras.add_weight"):
                return Thing("variable", "Variable")
            case Unknown() | Bottom():
                return function
        return Unknown(f"what `{ast.unparse(call.func)}` gives in line {call.lineno} is not known")


def _from_generator(each: Value, call: ast.Call) -> Value:
    """What a generator of the file is that gives tensors, arrays and numbers."""
    for part in parts(each):
        if isinstance(part, Unknown):
            return part
        if not isinstance(part, (Tensor, Array, Number)):
            return Unknown(f"what the generator called in line {call.lineno} gives is not followed")
    return Group(None, _varying(each), lazy=True)


def _varying(value: Value) -> Value:
    """The same, as another one each time."""
    match value:
        case Number():
            return Number(None, varies=True, tensor=value.tensor)
        case Group(items=items, each=each):
            known = None if items is None else tuple(map(_varying, items))
            return replace(value, items=known, each=_varying(each))
    return value


def _is_built(layers: tuple[Value, ...] | None) -> bool:
    """Whether a model made of some layers knows the shape of its input."""
    first = layers[0] if layers else None
    return isinstance(first, Thing) and (first.built or first.kind == "symbolic")


def _squashes(path: str) -> bool:
    """Whether a function is one of TensorFlow's that a trace knows by its op."""
    return tf_symbol(path) in keras_things.SQUASHING


def _is_scalars(value: Value) -> bool:
    """Whether a value is a list, written out, of numbers alone or of such lists."""
    if not isinstance(value, Group) or value.items is None or value.lazy:
        return False
    return all(
        _is_scalars(item) or (isinstance(item, Number) and not item.tensors) for item in value.items
    )


def _is_symbolic(value: Value) -> bool:
    return isinstance(value, Thing) and value.kind == "symbolic"


def _from_trace(value: Value) -> Value:
    """What a compiled function gives for a value: tensors."""
    match value:
        case Number(literal=ast.Constant(value=None)):
            return value
        case Number() | Array() | Thing(kind="variable"):
            return Tensor()
        case Group(items=items, each=each):
            known = None if items is None else tuple(_from_trace(item) for item in items)
            return Group(known, _from_trace(each))
    return value


def _gradients(sources: Value) -> Value:
    """What a tape gives for something, or for a list of it."""
    match sources:
        case Group(items=items, each=each):
            known = None if items is None else tuple(map(_gradients, items))
            return Group(known, _gradients(each))
        case Tensor():
            return sources
        case Thing(kind="variable"):
            return Tensor()
        case Bottom() | Unknown():
            return sources
    return Unknown("what it is the gradient of is not known")


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _is_set(scopes: Scopes, receiver: ast.expr) -> bool:
    """Whether a name is that of a set, to which something else than a layer is added."""
    if not isinstance(receiver, ast.Name):
        return False
    values = [binding.value for binding in scopes.bindings(receiver)]
    return bool(values) and all(
        isinstance(value, ast.Set)
        or (
            isinstance(value, ast.Call)
            and ast.unparse(value.func) in ("set", "collections.Counter")
        )
        for value in values
    )
