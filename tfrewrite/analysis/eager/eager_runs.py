"""Whether the models of a file may run as graphs where they are told to run eagerly.

Nothing is assumed of code that is not Keras' own. A model may run as a graph where it is made of
Keras' layers alone, with losses and metrics of Keras, and where nothing changes it by its
attributes once it is compiled: a graph keeps what an attribute was when it was traced.
"""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.python_calls import gives_data
from tfrewrite.analysis.program.scopes import How
from tfrewrite.analysis.symbols import KERAS_RUNS

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_MODELS = frozenset(
    ["keras.Sequential", "keras.models.Sequential", "keras.Model", "keras.models.Model"]
)
_STACKS = frozenset({"keras.Sequential", "keras.models.Sequential"})
_SHAPES = frozenset({"input_shape", "batch_input_shape", "input_dim", "batch_shape"})
_APPLICATIONS = "keras.applications."
_LIBRARIES = frozenset(
    "tensorflow keras numpy pandas matplotlib sklearn scipy PIL cv2 seaborn tqdm absl argparse"
    " tensorflow_datasets __future__ typing functools itertools collections dataclasses"
    " contextlib hashlib IPython logging warnings subprocess pprint shutil"
    " tempfile enum abc".split()
)
_PLAIN_BASES = frozenset(
    ["keras.callbacks.Callback", "keras.utils.Sequence", "keras.utils.PyDataset"]
)
_PYTHON_IN_MODELS = frozenset(
    "Lambda py_function numpy_function py_func load_model model_from_json model_from_config"
    " from_config deserialize custom_gradient set_learning_phase register_keras_serializable"
    " add_loss add_metric get_custom_objects custom_object_scope".split()
)
_DRAWING = ("Dropout", "Noise", "Random")
_COMPILED = ("optimizer", "loss", "metrics", "weighted_metrics", "loss_weights")
# Without effect, or an error, while steps run eagerly.
_GRAPH_ONLY = frozenset({"steps_per_execution", "jit_compile", "experimental_steps_per_execution"})
_CALLABLES = ("activation", "initializer", "regularizer", "constraint", "layer", "cell", "merge")
# Measured: layers of Keras 3 draw the same either way.
_SAME_DRAWS = (2, 21)
# They are given the tensors themselves.
_OF_TENSORS = frozenset("add concatenate multiply average maximum minimum subtract dot".split())
_DEEPEST = 4
# What may be set before a model is compiled; a method that is set is none of Keras' own.
_HARMLESS = frozenset({"trainable", "rate", "learning_rate", "lr"})
_GROWING = frozenset({"add", "pop", "insert"})


class EagerRuns:
    """Questions about models that are told to run eagerly."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._names = facts.names
        self._scopes = facts.scopes
        self._classes = facts.classes
        self._own = facts.own_calls
        self._captured = facts.captured
        self._ahead = facts.read_ahead
        self._target_tf = facts.target_tf
        self._squashing = facts.squashing

    @cached_property
    def compiles(self) -> list[ast.Call]:
        """Every call that may compile a model."""
        return [
            call
            for call in self._source.all(ast.Call)
            if isinstance(call.func, ast.Attribute)
            and call.func.attr == "compile"
            and self._names.dotted(call.func) is None
        ]

    @cached_property
    def traces(self) -> bool:
        """Whether the file has functions of its own that are traced."""
        nodes = [*self._source.all(ast.Name), *self._source.all(ast.Attribute)]
        return any(self._names.tf(node) in ("function", "map_fn", "py_function") for node in nodes)

    @cached_property
    def draws(self) -> bool:
        """Whether layers draw random numbers, and others in a graph than op by op."""
        if self._target_tf is not None and self._target_tf >= _SAME_DRAWS:
            return False
        for call in self._layers:
            symbol = self._names.tf(call.func) or ""
            if any(word in symbol.rpartition(".")[2] for word in _DRAWING):
                return True
            if any("dropout" in (keyword.arg or "") for keyword in call.keywords):
                return True
        nodes = self._source.all(ast.Attribute)
        drawing = (_APPLICATIONS, "random.", "keras.random.", "keras.backend.random")
        return any((self._names.tf(node) or "").startswith(drawing) for node in nodes)

    def obstacle(self, compiling: ast.Call) -> Obstacle | None:
        """What stands in the way of running a model as a graph."""
        return (
            self.foreign(compiling)
            or self._told()
            or self._logits()
            or self._built_by_step(compiling)
            or self._held_back(compiling)
            or self._changed_later(compiling)
        )

    def foreign(self, compiling: ast.Call) -> Obstacle | None:
        """What may be other than Keras' own in what a compiled model runs."""
        return self._whole_file or self._model(compiling) or self._compiled_with(compiling)

    def _told(self) -> Obstacle | None:
        """Whether somebody may tell how a step failed that runs as a graph."""
        for name in KERAS_RUNS:
            words = self._facts.endings.told(self._classes.calls(name))
            if words:
                return Obstacle("exception-seen", words)
        return None

    # The file

    @cached_property
    def _whole_file(self) -> Obstacle | None:
        return (
            self._ahead.whole_file()
            or self._graph_option()
            or self._imports()
            or self._own_classes()
            or self._python()
            or self._layer_arguments()
        )

    def _graph_option(self) -> Obstacle | None:
        words = self._facts.graph_option
        return Obstacle("graph-options", words) if words else None

    def _logits(self) -> Obstacle | None:
        """A crossentropy of Keras finds the logits beneath a softmax of TensorFlow's in a graph."""
        if not self._squashing or "rossentropy" not in self._source.text:
            return None
        message = (
            f"a crossentropy finds the logits beneath the softmax or sigmoid of line"
            f" {self._squashing} in a graph only"
        )
        return Obstacle("logits-found", message)

    def _imports(self) -> Obstacle | None:
        found = [
            (statement.lineno, alias.name)
            for statement in self._source.all(ast.Import)
            for alias in statement.names
        ]
        for statement in self._source.all(ast.ImportFrom):
            name = "." * statement.level + (statement.module or "")
            found.append((statement.lineno, name))
        for line, name in sorted(found):
            if name.partition(".")[0] not in _LIBRARIES and not gives_data(name):
                message = f"line {line} imports `{name}`, which may hold layers"
                return Obstacle("code-not-seen", message)
        return None

    def _own_classes(self) -> Obstacle | None:
        for cls in self._source.all(ast.ClassDef):
            bases = [self._names.tf(base) for base in cls.bases]
            plain = all(
                base in _PLAIN_BASES or self._names.dotted(node) == "builtins.object"
                for base, node in zip(bases, cls.bases, strict=True)
            )
            if not plain or cls.keywords:
                message = f"`{cls.name}` in line {cls.lineno} has code of its own"
                return Obstacle("custom-code", message)
        return None

    def _python(self) -> Obstacle | None:
        names = [(node.lineno, node.id) for node in self._source.all(ast.Name)]
        names += [(node.lineno, node.attr) for node in self._source.all(ast.Attribute)]
        for line, name in sorted(names):
            if name in _PYTHON_IN_MODELS:
                message = f"`{name}` in line {line} may bring in Python code"
                return Obstacle("custom-code", message)
        return None

    @cached_property
    def _layers(self) -> list[ast.Call]:
        calls = self._source.all(ast.Call)
        return [c for c in calls if (self._names.tf(c.func) or "").startswith("keras.layers.")]

    def _layer_arguments(self) -> Obstacle | None:
        for call in self._layers:
            for keyword in call.keywords:
                called = any(word in (keyword.arg or "") for word in _CALLABLES)
                if keyword.arg is None or (called and not self._is_kerass(keyword.value)):
                    return _custom(call, keyword.value)
            if (self._names.tf(call.func) or "").removeprefix("keras.layers.") in _OF_TENSORS:
                continue
            for argument in call.args:
                if not (self._is_kerass(argument) or self._is_number(argument)):
                    return _custom(call, argument)
        return None

    def _is_number(self, expr: ast.expr) -> bool:
        """Whether a value is data, or a tensor of a functional model, and no function."""
        if self._captured.data(expr):
            return True
        if isinstance(expr, (ast.Tuple, ast.List)):
            return all(map(self._is_number, expr.elts))
        if isinstance(expr, ast.Attribute):
            return expr.attr in ("shape", "size", "ndim") or self._is_number(expr.value)
        return isinstance(expr, (ast.Subscript, ast.BinOp))

    # One model

    def _model(self, compiling: ast.Call) -> Obstacle | None:
        assert isinstance(compiling.func, ast.Attribute)
        receiver = compiling.func.value
        if self._is_model(receiver, 0):
            return None
        text = ast.unparse(receiver)
        message = f"how `{text}` in line {compiling.lineno} is made is not seen in this file"
        return Obstacle("model-not-seen", message)

    def _built_by_step(self, compiling: ast.Call) -> Obstacle | None:
        if self._all_built:
            return None
        assert isinstance(compiling.func, ast.Attribute)
        text = ast.unparse(compiling.func.value)
        message = f"`{text}` is built by its first step: its variables would get other names"
        return Obstacle("built-by-step", message)

    def _is_model(self, expr: ast.expr, depth: int) -> bool:
        if depth > _DEEPEST:
            return False
        if isinstance(expr, ast.Name):
            bindings = self._scopes.bindings(expr)
            return bool(bindings) and all(
                binding.how is How.ASSIGN
                and binding.value is not None
                and binding.value is not expr
                and self._is_model(binding.value, depth + 1)
                for binding in bindings
            )
        if not isinstance(expr, ast.Call):
            return False
        symbol = self._names.tf(expr.func) or ""
        if symbol in _MODELS:
            return self._has_known_layers(expr)
        if symbol.startswith(_APPLICATIONS):
            return True
        function = self._own.function(expr)
        returned = self._own.returned(function) if function is not None else []
        return bool(returned) and all(self._is_model(one, depth + 1) for one in returned)

    def _has_known_layers(self, made: ast.Call) -> bool:
        """Whether a list of layers is written out; tensors can come from Keras' layers alone."""
        for argument in made.args[:1]:
            if isinstance(argument, (ast.List, ast.Tuple)):
                if not all(self._is_layer(element) for element in argument.elts):
                    return False
        adding = [c for c in self._source.all(ast.Call) if getattr(c.func, "attr", "") == "add"]
        return all(
            len(call.args) == 1 and self._is_layer(call.args[0])
            for call in adding
            if self._names.dotted(call.func) is None
        )

    @cached_property
    def _all_built(self) -> bool:
        """Whether each stack of layers knows the shape of its input when it is made.

        Measured: on 2.21 the variables of others have other names in a graph.
        """
        if any(getattr(call.func, "attr", "") == "build" for call in self._source.all(ast.Call)):
            return True
        added = [
            call.args[0]
            for call in sorted(self._source.all(ast.Call), key=self._source.span)
            if getattr(call.func, "attr", "") == "add" and call.args
        ]
        for call in self._source.all(ast.Call):
            if (self._names.tf(call.func) or "") in _STACKS:
                listed = call.args[0] if call.args else None
                layers = listed.elts if isinstance(listed, ast.List) else added
                if not layers or not self._has_shape(layers[0]):
                    return False
        return True

    def _has_shape(self, layer: ast.expr) -> bool:
        symbol = self._names.tf(layer.func) if isinstance(layer, ast.Call) else None
        if not isinstance(layer, ast.Call) or symbol is None:
            return False
        made = symbol.startswith(("keras.Input", "keras.layers.Input", _APPLICATIONS))
        return made or any(keyword.arg in _SHAPES for keyword in layer.keywords)

    def _is_layer(self, expr: ast.expr) -> bool:
        if isinstance(expr, ast.Name):
            values = [binding.value for binding in self._scopes.bindings(expr)]
            return bool(values) and all(
                isinstance(value, ast.Call) and self._is_layer(value) for value in values
            )
        symbol = self._names.tf(expr.func) if isinstance(expr, ast.Call) else None
        known = ("keras.layers.", "keras.Input", "keras.Sequential", _APPLICATIONS)
        return (symbol or "").startswith(known)

    def _compiled_with(self, compiling: ast.Call) -> Obstacle | None:
        given = list(compiling.args)
        for keyword in compiling.keywords:
            if keyword.arg is None:
                return _custom(compiling, keyword.value)
            if keyword.arg in _COMPILED:
                given.append(keyword.value)
        for one in given:
            if not self._is_kerass(one):
                return _custom(compiling, one)
        return None

    def _held_back(self, compiling: ast.Call) -> Obstacle | None:
        for keyword in compiling.keywords:
            fixed = isinstance(keyword.value, ast.Constant) and keyword.value.value in (False, 1)
            if keyword.arg in _GRAPH_ONLY and not fixed:
                message = f"`{keyword.arg}` in line {compiling.lineno} would begin to hold"
                return Obstacle("held-back", message)
        return None

    def _is_kerass(self, expr: ast.expr, depth: int = 0) -> bool:
        """Whether a value is a name, a number, or an object or function of Keras itself."""
        if depth > _DEEPEST:
            return False
        match expr:
            case ast.Constant():
                return True
            case ast.List(elts=values) | ast.Tuple(elts=values):
                return all(self._is_kerass(value, depth + 1) for value in values)
            case ast.Dict(values=values):
                return all(self._is_kerass(value, depth + 1) for value in values)
            case ast.Call():
                symbol = self._names.tf(expr.func) or ""
                own = _is_class_of_keras(symbol) and not symbol.endswith("Wrapper")
                given = [*expr.args, *(keyword.value for keyword in expr.keywords)]
                return own and all(
                    self._is_kerass(one, depth + 1) or self._captured.data(one) for one in given
                )
            case ast.Attribute() | ast.Name() if self._names.dotted(expr) is not None:
                return (self._names.tf(expr) or "").startswith(("keras.", "nn."))
            case ast.Name():
                bindings = self._scopes.bindings(expr)
                return bool(bindings) and all(
                    binding.how is How.ASSIGN
                    and binding.value is not None
                    and binding.value is not expr
                    and self._is_kerass(binding.value, depth + 1)
                    for binding in bindings
                )
        return False

    # Afterwards

    def _changed_later(self, compiling: ast.Call) -> Obstacle | None:
        """Whether an attribute of a model may change after it has been compiled."""
        for node in self._source.all(ast.Attribute):
            if isinstance(node.ctx, ast.Load) or self._is_own(node):
                continue
            if node.attr not in _HARMLESS or not self._surely_before(node, compiling):
                message = (
                    f"line {node.lineno} sets `{ast.unparse(node)}`, and a graph keeps what it was"
                )
                return Obstacle("changes-while-training", message)
        for call in self._source.all(ast.Call):
            if not isinstance(call.func, ast.Attribute) or call.func.attr not in _GROWING:
                continue
            if self._is_model(call.func.value, 0) and not self._surely_before(call, compiling):
                message = f"line {call.lineno} may add to a model that is compiled"
                return Obstacle("changes-while-training", message)
        return None

    def _is_own(self, node: ast.Attribute) -> bool:
        """Whether an attribute is set on the object of a class that is no model."""
        return isinstance(node.value, ast.Name) and self._classes.of_self(node.value) is not None

    def _surely_before(self, node: ast.expr, compiling: ast.Call) -> bool:
        """Whether something is done before a model is compiled, and not again afterwards."""
        here, there = self._source.function(compiling), self._source.function(node)
        if there is here:
            loops = set(self._loops(compiling)) & set(self._loops(node))
            return node.lineno < compiling.lineno and not loops
        if not isinstance(there, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        calls = self._own.calls(there)
        return bool(calls) and all(
            self._source.function(call) is here and self._surely_before(call, compiling)
            for call in calls or ()
        )

    def _loops(self, node: ast.AST) -> list[ast.AST]:
        loops = (ast.For, ast.AsyncFor, ast.While)
        return [outer for outer in self._source.ancestors(node) if isinstance(outer, loops)]


def _is_class_of_keras(symbol: str) -> bool:
    """Whether Keras makes what a symbol is called for; `tf.losses` has its classes, too."""
    if symbol.startswith(("losses.", "metrics.", "optimizers.")):
        return symbol.rpartition(".")[2][:1].isupper()
    return symbol.startswith("keras.")


def _custom(call: ast.Call, value: ast.expr) -> Obstacle:
    message = f"`{ast.unparse(value)}` in line {call.lineno} may be Python code that needs values"
    return Obstacle("custom-code", message)
