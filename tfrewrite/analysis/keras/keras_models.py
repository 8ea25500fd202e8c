"""Which objects are Keras models, and what in a file makes them unlike others."""

from __future__ import annotations

import ast
import re
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.python_calls import (
    CallEffect,
    effect_of_method,
    effect_of_path,
    gives_data,
)
from tfrewrite.analysis.program.scopes import Binding, How

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts

_MAKER = re.compile(
    r"^(?:python\.|_api\.v2\.)?keras\.(?:\w+\.)*"
    r"(?:Sequential|Model|load_model|model_from_json|model_from_yaml|clone_model)$"
)
_READY_MADE = re.compile(r"^keras\.applications\.(?:\w+\.)?[A-Z]\w*$")
_BASE = re.compile(r"^(?:python\.)?keras\.(?:\w+\.)*(?:Sequential|Model)$")
# A class of the file that has one of these does something of its own when a model works.
_OVERRIDING = frozenset(
    "predict predict_on_batch predict_step make_predict_function fit train_on_batch train_step"
    " make_train_function compile __call__ __getattribute__ __getattr__ predict_function"
    " train_function reset_metrics".split()
)
_PATCHED = _OVERRIDING | {"stop_predicting", "stop_training"}
_DISTRIBUTING = frozenset(
    "MirroredStrategy MultiWorkerMirroredStrategy TPUStrategy OneDeviceStrategy"
    " CentralStorageStrategy ParameterServerStrategy multi_gpu_model set_distribution scope".split()
)
_GRAPH_MODE = frozenset(
    "disable_eager_execution disable_v2_behavior Session InteractiveSession set_session"
    " get_session".split()
)
_EAGER = frozenset(
    "run_eagerly run_functions_eagerly experimental_run_functions_eagerly"
    " config_run_functions_eagerly".split()
)
_PRECISION = frozenset(
    "mixed_precision set_global_policy set_policy set_dtype_policy"
    " set_global_dtype_policy enable_mixed_precision_graph_rewrite".split()
)
_DRAWING = re.compile(
    r"^(?:random\.|keras\.backend\.random_|keras\.random\.|nn\.dropout|nn\.experimental|"
    r"random_normal$|random_uniform$)"
)
_LOADING = ("load_model", "model_from_json", "model_from_yaml", "clone_model")
_TRAINING_METHODS = frozenset({"train_step", "fit", "train"})
_KERAS_3 = (2, 16)
_MAX_DEPTH = 12


class Sort(Enum):
    """What is known of an object."""

    KERAS = "keras"
    OTHER = "other"
    UNKNOWN = "unknown"


class KerasModels:
    """Follows objects to where they are made."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._names = facts.names
        self._scopes = facts.scopes
        self._classes = facts.classes
        self._own = facts.own_calls
        self._open: set[object] = set()
        self._made: set[ast.ClassDef | None] = set()
        """The classes of the file that were met; None for whatever comes from a file."""

    def sort(self, expr: ast.expr) -> Sort:
        """Whether an expression surely gives a Keras model, or surely something else."""
        return self._joined(self._value(expr, 0))

    def _joined(self, found: Iterator[Sort]) -> Sort:
        sorts = set(found)
        return sorts.pop() if len(sorts) == 1 else Sort.UNKNOWN

    def _value(self, expr: ast.expr, depth: int) -> Iterator[Sort]:
        """The sort of each value that an expression may have."""
        if depth > _MAX_DEPTH:
            yield Sort.UNKNOWN
            return
        match expr:
            case ast.Constant(value=None):
                return  # whoever calls a method of it fails
            case ast.Constant() | ast.List() | ast.Tuple() | ast.Dict() | ast.Lambda():
                yield Sort.OTHER
            case ast.IfExp(body=body, orelse=orelse):
                yield from self._value(body, depth + 1)
                yield from self._value(orelse, depth + 1)
            case ast.Call():
                yield from self._call(expr, depth + 1)
            case ast.Name():
                yield from self._name(expr, depth + 1)
            case ast.Attribute():
                yield from self._attribute(expr, depth + 1)
            case _:
                yield Sort.UNKNOWN

    def _call(self, call: ast.Call, depth: int) -> Iterator[Sort]:
        symbol = self._names.tf(call.func)
        if symbol is not None and (_MAKER.match(symbol) or _READY_MADE.match(symbol)):
            if symbol.endswith(_LOADING):
                self._made.add(None)
            yield Sort.KERAS
            return
        path = self._names.dotted(call.func)
        if path is not None:
            yield Sort.OTHER if gives_data(path) or path.startswith("builtins.") else Sort.UNKNOWN
            return
        cls = self._classes.defined(call.func)
        if cls is not None:
            self._made.add(cls)
            yield self._of_class(cls)
            return
        function = self._own.function(call)
        returned = self._own.returned(function) if function is not None else []
        if function is None or not returned or function in self._open:
            yield Sort.UNKNOWN
            return
        self._open.add(function)
        for value in returned:
            yield from self._value(value, depth)
        self._open.discard(function)

    def _of_class(self, cls: ast.ClassDef) -> Sort:
        bases = [self._names.tf(base) or "" for base in cls.bases]
        if any(map(_BASE.match, bases)):
            return Sort.KERAS if len(bases) == 1 and not cls.keywords else Sort.UNKNOWN
        parents = [self._classes.defined(base) for base in cls.bases]
        if len(parents) == 1 and parents[0] is not None and parents[0] is not cls:
            return self._of_class(parents[0])
        plain = all(self._names.dotted(base) == "builtins.object" for base in cls.bases)
        return Sort.OTHER if plain else Sort.UNKNOWN

    # Names and attributes

    def _name(self, name: ast.Name, depth: int) -> Iterator[Sort]:
        path = self._names.dotted(name)
        if path is not None:
            yield Sort.OTHER if gives_data(path) else Sort.UNKNOWN
            return
        cls = self._classes.of_self(name)
        if cls is not None:
            self._made.add(cls)
            replaced = any(self._classes.replaced(cls, name) for name in _OVERRIDING)
            yield Sort.UNKNOWN if replaced else self._of_class(cls)
            return
        bindings = self._facts.flow.reaching(name)
        if not bindings:
            yield Sort.UNKNOWN
        for binding in bindings:
            if binding not in self._open:
                self._open.add(binding)
                yield from self._binding(binding, depth)
                self._open.discard(binding)

    def _binding(self, binding: Binding, depth: int) -> Iterator[Sort]:
        value = binding.value
        if binding.how is How.PARAMETER and isinstance(binding.node, ast.arg):
            given = self._own.given(binding) or self._given_to_objects(binding)
            if not given:
                yield Sort.UNKNOWN
            for one in given:
                yield from self._value(one, depth)
        elif binding.how is How.ASSIGN and value is not None:
            yield from self._value(value, depth)
        elif binding.how is How.UNPACK and value is not None and binding.index is not None:
            yield from self._element(value, binding.index, depth)
        elif binding.how is How.LOOP and isinstance(value, (ast.List, ast.Tuple)):
            for one in value.elts:
                yield from self._value(one, depth)
        else:
            yield Sort.UNKNOWN

    def _given_to_objects(self, binding: Binding) -> list[ast.expr]:
        """What objects are made with for a parameter of `__init__`; empty if not all is known."""
        function = self._source.function(binding.node)
        cls = self._source.parent(function) if function is not None else None
        if not isinstance(cls, ast.ClassDef) or getattr(function, "name", "") != "__init__":
            return []
        made = self._classes.instantiations(cls)
        if self._classes.extended(cls) or binding.index is None:
            return []
        found = []
        for call in made:
            values = [one.value for one in call.keywords if one.arg == binding.name]
            values += call.args[binding.index - 1 : binding.index]
            if not values or any(isinstance(one, ast.Starred) for one in call.args):
                return []
            found.append(values[0])
        return found

    def _element(self, value: ast.expr, index: int, depth: int) -> Iterator[Sort]:
        """One of several values that are assigned together."""
        values = [value]
        if isinstance(value, ast.Call):
            function = self._own.function(value)
            values = self._own.returned(function) if function is not None else []
        if not values:
            yield Sort.UNKNOWN
        for one in values:
            if isinstance(one, (ast.Tuple, ast.List)) and index < len(one.elts):
                yield from self._value(one.elts[index], depth)
            else:
                yield Sort.UNKNOWN

    def _attribute(self, expr: ast.Attribute, depth: int) -> Iterator[Sort]:
        cls = self.class_of(expr.value)
        if cls is None or self._classes.runs_code(expr) or self._classes.replaced(cls, expr.attr):
            yield Sort.UNKNOWN
            return
        stores = self._classes.stores(cls, expr.attr)
        if not stores:
            yield Sort.UNKNOWN
        for store in stores or ():
            if store in self._open:
                continue
            self._open.add(store)
            if store.value is None or store.augmented:
                yield Sort.UNKNOWN
            elif store.index is not None:
                yield from self._element(store.value, store.index, depth)
            else:
                yield from self._value(store.value, depth)
            self._open.discard(store)

    def class_of(self, expr: ast.expr, depth: int = 0) -> ast.ClassDef | None:
        """The class of this file that an object is of."""
        if isinstance(expr, ast.Name):
            cls = self._classes.of_self(expr)
            if cls is not None:
                return cls
            bindings = self._scopes.bindings(expr)
            value = bindings[0].value if len(bindings) == 1 else None
            if value is not None and bindings[0].how is How.ASSIGN:
                return self._class_made(value)
        if isinstance(expr, ast.Attribute) and depth < _MAX_DEPTH:
            owner = self.class_of(expr.value, depth + 1)
            stores = self._classes.stores(owner, expr.attr) if owner is not None else None
            if stores and len(stores) == 1 and stores[0].value is not None:
                return self._class_made(stores[0].value)
        return None

    def _class_made(self, value: ast.expr) -> ast.ClassDef | None:
        return self._classes.defined(value.func) if isinstance(value, ast.Call) else None

    # What holds for all models of a file

    @cached_property
    def obstacle(self) -> Obstacle | None:
        """What makes the models of this file work in another way than one would think."""
        return (
            self._dynamic()
            or self._backend()
            or self._worded("distributed", _DISTRIBUTING, "spreads a batch over several devices")
            or self._worded("graph-mode", _GRAPH_MODE, "is of TensorFlow 1's graphs")
            or self._worded("runs-eagerly", _EAGER, "makes models run op by op")
            or self._worded("precision-policy", _PRECISION, "changes how numbers are converted")
            or self._floats()
            or self._compiled()
            or self._traced_effects()
            or self._drawing()
        )

    def _dynamic(self) -> Obstacle | None:
        if self._classes.dynamic:
            message = "the file sets attributes or runs code in ways that its text does not show"
            return Obstacle("dynamic-code", message)
        for statement in self._source.all(ast.ImportFrom):
            module = statement.module or ""
            known = gives_data(module) or module.partition(".")[0] in ("tensorflow", "keras")
            if statement.names[0].name == "*" and (statement.level or not known):
                message = f"`{ast.unparse(statement)}` may bring another meaning of any name"
                return Obstacle("dynamic-code", message)
        for attribute in self._source.all(ast.Attribute):
            if not isinstance(attribute.ctx, ast.Load) and attribute.attr in _PATCHED:
                message = f"line {attribute.lineno} replaces `{ast.unparse(attribute)}`"
                return Obstacle("dynamic-code", message)
        return None

    def _backend(self) -> Obstacle | None:
        """Another library beneath Keras than TensorFlow."""
        for constant in self._source.all(ast.Constant):
            if constant.value == "KERAS_BACKEND":
                statement = self._source.statement(constant)
                texts = {n.value for n in ast.walk(statement) if isinstance(n, ast.Constant)}
                if "tensorflow" not in texts:
                    message = f"line {constant.lineno} may set another library beneath Keras"
                    return Obstacle("other-backend", message)
        return None

    def _floats(self) -> Obstacle | None:
        """Another type of floats than those of 32 or 64 bits, which were measured."""
        for call in self._classes.calls("set_floatx"):
            given = call.args[0] if call.args else None
            if not isinstance(given, ast.Constant) or given.value not in ("float32", "float64"):
                message = f"line {call.lineno} changes how numbers are converted"
                return Obstacle("precision-policy", message)
        return None

    def own_method(self, expr: ast.expr) -> Obstacle | None:
        """A class of the file that a model may be of, with methods of its own in Keras' place."""
        self._made.clear()
        self.sort(expr)
        classes = self._made
        if None in classes:  # it comes from a file, and may be of any class
            classes = {one for one in self._source.all(ast.ClassDef) if self.may_be_keras(one)}
        for cls in sorted(filter(None, classes), key=self._source.span):
            for owner in self._lineage(cls):
                for statement in owner.body:
                    name = getattr(statement, "name", "")
                    if name in _OVERRIDING:
                        message = f"`{owner.name}` of line {owner.lineno} has its own `{name}`"
                        return Obstacle("own-method", message)
        return None

    def may_be_keras(self, cls: ast.ClassDef) -> bool:
        """Whether a class of the file may be one of models, or of parts of models."""
        return self._of_class(cls) is not Sort.OTHER

    def _lineage(self, cls: ast.ClassDef) -> Iterator[ast.ClassDef]:
        """A class and those of this file that it inherits from."""
        seen: list[ast.ClassDef] = []
        stack = [cls]
        while stack:
            current = stack.pop()
            if current not in seen:
                seen.append(current)
                yield current
                bases = [self._classes.defined(base) for base in current.bases]
                stack += [base for base in bases if base is not None]

    def _worded(self, reason: str, words: frozenset[str], meaning: str) -> Obstacle | None:
        nodes: list[ast.Attribute | ast.Name] = [
            *self._source.all(ast.Attribute),
            *self._source.all(ast.Name),
        ]
        for node in nodes:
            word = node.attr if isinstance(node, ast.Attribute) else node.id
            path = self._names.dotted(node) or "tensorflow"
            if word in words and path.startswith("tensorflow"):
                return Obstacle(reason, f"`{word}` in line {node.lineno} {meaning}")
        for statement in self._source.all(ast.ImportFrom):
            parts = {*(statement.module or "").split("."), *(a.name for a in statement.names)}
            if parts & words:
                word = min(parts & words)
                return Obstacle(reason, f"`{word}` in line {statement.lineno} {meaning}")
        return None

    def _compiled(self) -> Obstacle | None:
        for call in self._classes.calls("compile"):
            for keyword in call.keywords:
                if keyword.arg == "run_eagerly":
                    message = f"line {call.lineno} may make the model run op by op"
                    return Obstacle("runs-eagerly", message)
                if keyword.arg in ("steps_per_execution", None):
                    name = keyword.arg or "**"
                    message = f"`{name}` of line {call.lineno} makes several steps of one call"
                    return Obstacle("steps-per-execution", message)
        return None

    def _traced_effects(self) -> Obstacle | None:
        """What a model's Python does when it is traced: once for each type of input."""
        for cls in self._source.all(ast.ClassDef):
            if self._of_class(cls) is Sort.OTHER:
                continue
            for method in cls.body:
                if isinstance(method, ast.FunctionDef) and method.name == "call":
                    for node in ast.walk(method):
                        if self._can_be_seen(node):
                            line = getattr(node, "lineno", method.lineno)
                            message = f"line {line} does something each time that it is traced"
                            return Obstacle("traced-effects", message)
        return None

    def _can_be_seen(self, node: ast.AST) -> bool:
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            return True
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            return not isinstance(node.ctx, ast.Load)
        if not isinstance(node, ast.Call):
            return False
        path = self._names.dotted(node.func)
        if path is not None:
            return effect_of_path(path) is CallEffect.HOST and not path.startswith("tensorflow.")
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        return effect_of_method(name) is CallEffect.MUTATES and name != "add"

    def _drawing(self) -> Obstacle | None:
        """Random ops that may be part of a model: their seeds come from the ops made before."""
        for call in self._source.all(ast.Call):
            symbol = self._names.tf(call.func)
            if symbol is None or not _DRAWING.match(symbol):
                continue
            function = self._source.function(call)
            if isinstance(function, ast.Lambda) or self._given_away(function, set()):
                message = f"`{ast.unparse(call.func)}` in line {call.lineno} may be part of a model"
                return Obstacle("random-in-model", message)
        return self._draws_always()

    def _draws_always(self) -> Obstacle | None:
        """Layers that draw in inference, too.

        Before Keras 3 they draw by ops, and a batch alone has a trace of its own, in which the
        draws begin anew. Measured on 2.15 and 2.10: the first draw of the program came twice.
        """
        target = self._facts.target_tf
        if target is not None and target >= _KERAS_3:
            return None
        for call in self._source.all(ast.Call):
            if any(k.arg == "training" and _is_true(k.value) for k in call.keywords):
                if self._in_model(call) or self._is_layer(call.func):
                    message = (
                        f"`training=True` in line {call.lineno} makes a layer draw in each call"
                    )
                    return Obstacle("random-in-model", message)
        return None

    def _in_model(self, call: ast.Call) -> bool:
        """Whether a call stands in a method of a model or layer that `predict` may run."""
        function = self._source.function(call)
        cls = self._source.parent(function) if function is not None else None
        trains = isinstance(function, ast.FunctionDef) and function.name in _TRAINING_METHODS
        return (
            isinstance(cls, ast.ClassDef) and self._of_class(cls) is not Sort.OTHER and not trains
        )

    def _is_layer(self, func: ast.expr) -> bool:
        """Whether a layer is called: one that is made at once, or a name of one."""
        made = [func]
        if isinstance(func, ast.Name):
            made = [b.value for b in self._scopes.bindings(func) if b.value is not None]
        symbols = [self._names.tf(one.func) or "" for one in made if isinstance(one, ast.Call)]
        return any("layers." in symbol for symbol in symbols)

    def _given_away(self, function: ast.AST | None, seen: set[ast.AST]) -> bool:
        """Whether a function may run within a model: as a layer's method, or handed to one."""
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or function in seen:
            return False
        seen.add(function)
        parent = self._source.parent(function)
        if isinstance(parent, ast.ClassDef):
            return self._of_class(parent) is not Sort.OTHER
        calls = self._own.calls(function)
        return calls is None or any(
            self._given_away(self._source.function(call), seen) for call in calls
        )


def _is_true(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value in (True, 1)
