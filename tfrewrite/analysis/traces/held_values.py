"""What the names and attributes that traced code reads hold, as far as that matters to a trace.

A trace keeps a Python value as it is at the time; a tensor or variable it keeps hold of; and of an
object of Keras it keeps what its Python code does at the time.
"""

from __future__ import annotations

import ast
import sys
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.program.python_calls import gives_data
from tfrewrite.analysis.program.scopes import Binding, How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_MAX_DEPTH = 6
_OF_KERAS = (
    "keras.Sequential", "keras.Model", "keras.models.", "keras.layers.", "keras.losses.",
    "keras.optimizers.", "keras.metrics.", "keras.applications.", "keras.Input", "optimizers.",
    "keras.optimizers.schedules.",
)  # fmt: skip
_OTHER_OBJECTS = (
    "summary.create_file_writer", "random.Generator", "random.get_global_gen", "GradientTape",
    "TensorArray", "train.Checkpoint",
)  # fmt: skip
_MADE_OF_OTHERS = frozenset(
    "Sequential Model Lambda Bidirectional TimeDistributed RNN Wrapper Activation".split()
)
_RUN_BY_LAYERS = frozenset(
    "activation function layer cell kernel_regularizer activity_regularizer bias_regularizer"
    " kernel_constraint bias_constraint recurrent_activation call_fn".split()
)
_NUMBERS = frozenset(f"builtins.{name}" for name in "int float bool len str round".split())
# They put no code of their own into a model.
_KNOWN_LIBRARIES = sys.stdlib_module_names | {
    "tensorflow", "tensorflow_datasets", "keras", "absl", "tqdm",
}  # fmt: skip


class Held(Enum):
    """What an expression gives."""

    CONSTANT = "constant"  # a number or a text, which cannot be changed in place
    TENSOR = "tensor"
    VARIABLE = "variable"
    LIBRARY = "library"  # an object of Keras or TensorFlow with no code of others in it
    OWN = "own"  # an object of a class of the file
    CODE = "code"  # a function, class or module
    UNKNOWN = "unknown"


class HeldValues:
    """Follows names and attributes to what was put there."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._classes = facts.classes
        self._own = facts.own_calls
        self._hoisting = facts.hoisting
        self._compiled = facts.compiled_functions
        self._known: dict[ast.expr, Held] = {}

    def of(self, expr: ast.expr, depth: int = 0) -> Held:
        """What an expression holds; `UNKNOWN` where several ways lead to different things."""
        if expr not in self._known:
            self._known[expr] = Held.UNKNOWN  # while it is followed
            self._known[expr] = self._of(expr, depth) if depth < _MAX_DEPTH else Held.UNKNOWN
        return self._known[expr]

    def given(self, parameter: Binding) -> list[ast.expr] | None:
        """What the callers give for a parameter, also those that call it through `tf.function`."""
        function = self._source.function(parameter.node)
        if function is None:
            return None
        made = [one for one in self._compiled.traced(function) if not one.decorated]
        if not made:
            return self._own.given(parameter)
        found: list[ast.expr] = []
        for one in made:
            calls = self._compiled.calls(one)
            if not calls:
                return None
            for call in calls:
                argument = _argument(call, parameter)
                if argument is None:
                    return None
                found.append(argument)
        direct = [use for use in self._uses_of(function) if self._is_called(use)]
        return None if direct else found

    def origins(self, expr: ast.expr, depth: int = 0) -> list[ast.expr] | None:
        """The expressions that a value comes from, behind the parameters it is handed through."""
        bindings = self._scopes.bindings(expr) if isinstance(expr, ast.Name) else []
        handed = [b for b in bindings if b.how is How.PARAMETER]
        if not handed or (isinstance(expr, ast.Name) and self._classes.of_self(expr) is not None):
            return [expr]
        if len(bindings) > 1 or depth > _MAX_DEPTH:
            return None
        given = self.given(handed[0])
        if given is None:
            return None
        found: list[ast.expr] = []
        for one in given:
            behind = self.origins(one, depth + 1)
            if behind is None:
                return None
            found += behind
        return found

    def is_tape(self, name: ast.Name) -> bool:
        """Whether a name is a tape that a `with` opens."""
        bindings = self._scopes.bindings(name)
        return bool(bindings) and all(
            binding.how is How.WITH
            and isinstance(binding.value, ast.Call)
            and self._names.tf(binding.value.func) == "GradientTape"
            for binding in bindings
        )

    def _of(self, expr: ast.expr, depth: int) -> Held:
        match expr:
            case ast.Constant():
                return Held.CONSTANT
            case ast.UnaryOp(operand=operand):
                return self._arithmetic([operand], depth)
            case ast.BinOp(left=left, right=right):
                return self._arithmetic([left, right], depth)
            case ast.Tuple(elts=parts):
                return self._arithmetic(parts, depth)
            case ast.Name():
                return self._of_name(expr, depth)
            case ast.Attribute():
                return self._of_attribute(expr, depth)
            case ast.Call():
                return self._of_call(expr, depth)
        return Held.UNKNOWN

    def _arithmetic(self, parts: list[ast.expr], depth: int) -> Held:
        sorts = {self.of(part, depth + 1) for part in parts}
        if sorts <= {Held.CONSTANT}:
            return Held.CONSTANT
        return Held.TENSOR if sorts <= {Held.CONSTANT, Held.TENSOR} else Held.UNKNOWN

    def _of_name(self, name: ast.Name, depth: int) -> Held:
        if self._names.dotted(name) is not None or self._classes.defined(name) is not None:
            return Held.CODE
        if self._own.named(name) is not None:
            return Held.CODE
        if self._classes.of_self(name) is not None:
            return Held.OWN
        sorts = {self._of_binding(one, depth) for one in self._scopes.bindings(name)}
        return sorts.pop() if len(sorts) == 1 else Held.UNKNOWN

    def _of_binding(self, binding: Binding, depth: int) -> Held:
        if binding.how is How.PARAMETER:
            given = self.given(binding)
            sorts = {self.of(one, depth + 1) for one in given or ()}
            return sorts.pop() if len(sorts) == 1 else Held.UNKNOWN
        if binding.how is How.LOOP:
            return self._of_turn(binding, depth)
        if binding.how is How.ASSIGN and binding.value is not None:
            return self.of(binding.value, depth + 1)
        if binding.how is How.AUGMENT and binding.value is not None:
            return self._arithmetic([binding.value], depth)
        return Held.UNKNOWN

    def _of_turn(self, binding: Binding, depth: int) -> Held:
        """What a loop gives in each turn."""
        match binding.value:
            case ast.Call(func=func) if self._names.dotted(func) == "builtins.range":
                return Held.CONSTANT
            case ast.Tuple(elts=parts) | ast.List(elts=parts) if binding.index is None:
                return self._arithmetic(parts, depth)
        return Held.UNKNOWN

    def _of_attribute(self, expr: ast.Attribute, depth: int) -> Held:
        if self._names.dotted(expr) is not None or self._own.named(expr) is not None:
            return Held.CODE
        cls = self._hoisting.class_of(expr.value)
        if cls is not None:
            stores = self._classes.stores(cls, expr.attr)
            if self._classes.replaced(cls, expr.attr) or not stores:
                return Held.UNKNOWN
            sorts = {
                Held.UNKNOWN
                if store.value is None or store.index is not None
                else self.of(store.value, depth + 1)
                for store in stores
            }
            return sorts.pop() if len(sorts) == 1 else Held.UNKNOWN
        return Held.LIBRARY if self.of(expr.value, depth + 1) is Held.LIBRARY else Held.UNKNOWN

    def _of_call(self, call: ast.Call, depth: int) -> Held:
        symbol = self._names.tf(call.func)
        if symbol is not None:
            return self._of_symbol(call, symbol)
        path = self._names.dotted(call.func)
        if path is not None:
            return Held.CONSTANT if path in _NUMBERS else Held.UNKNOWN
        if self._classes.defined(call.func) is not None:
            return Held.OWN
        function = self._own.function(call)
        if function is not None:
            sorts = {self.of(one, depth + 1) for one in self._own.returned(function)}
            return sorts.pop() if len(sorts) == 1 else Held.UNKNOWN
        # `Dense(3)(inputs)`, of which functional models are made.
        made = isinstance(call.func, (ast.Call, ast.Name))
        known = made and self.of(call.func, depth + 1) is Held.LIBRARY
        return Held.LIBRARY if known else Held.UNKNOWN

    def _of_symbol(self, call: ast.Call, symbol: str) -> Held:
        if symbol == "Variable":
            return Held.VARIABLE
        name = symbol.rpartition(".")[2]
        if symbol.startswith(_OF_KERAS) and (name[:1].isupper() or "applications" in symbol):
            return Held.LIBRARY if self._is_made_of_known(call, symbol) else Held.UNKNOWN
        if symbol.startswith(_OTHER_OBJECTS):
            return Held.LIBRARY
        effect = effect_of(symbol, "2")
        tensor = effect is not None and effect.returns_tensor and not effect.calls
        return Held.TENSOR if tensor else Held.UNKNOWN

    def _is_made_of_known(self, call: ast.Call, symbol: str) -> bool:
        """Whether all that an object of Keras is made of, and may run, is of Keras or this file."""
        everything = [*call.args, *(keyword.value for keyword in call.keywords)]
        if any(self._is_foreign(part) for part in everything):
            return False
        given = [k.value for k in call.keywords if k.arg in _RUN_BY_LAYERS or k.arg is None]
        if symbol.rpartition(".")[2] in _MADE_OF_OTHERS:
            given = [*call.args, *(k.value for k in call.keywords if k.arg != "name")]
            given += [arg for added in self._classes.calls("add") for arg in added.args]
        return all(self._is_known_part(part) for part in given)

    def _is_known_part(self, part: ast.expr) -> bool:
        match part:
            case ast.Constant() | ast.Lambda():
                return True
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return all(self._is_known_part(one) for one in parts)
            case ast.Dict(values=values):
                return all(self._is_known_part(one) for one in values)
            case ast.Starred() | ast.ListComp():
                return False
        return self.of(part) is not Held.UNKNOWN and not self._is_foreign(part)

    @cached_property
    def foreign_calls(self) -> list[ast.Call]:
        """Calls of what is imported from elsewhere, with what is handed to them."""
        found = []
        for call in self._source.all(ast.Call):
            parts = [call.func, *call.args, *(keyword.value for keyword in call.keywords)]
            if any(self._is_foreign(part) for part in parts):
                found.append(call)
        return found

    def _is_foreign(self, expr: ast.expr) -> bool:
        while isinstance(expr, ast.Attribute):
            expr = expr.value
        if not isinstance(expr, ast.Name):
            return False
        for binding in self._scopes.bindings(expr):
            if binding.how is How.IMPORT:
                top = binding.path.partition(".")[0]
                known = top in _KNOWN_LIBRARIES or gives_data(binding.path)
                if not known:
                    return True
        return False

    def _uses_of(self, function: ast.AST) -> list[ast.Name]:
        return [
            name
            for name in self._source.all(ast.Name)
            if name.id == getattr(function, "name", "")
            and isinstance(name.ctx, ast.Load)
            and any(one.node is function for one in self._scopes.bindings(name))
        ]

    def _is_called(self, use: ast.expr) -> bool:
        parent = self._source.parent(use)
        return isinstance(parent, ast.Call) and parent.func is use


def _argument(call: ast.Call, parameter: Binding) -> ast.expr | None:
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    for keyword in call.keywords:
        if keyword.arg == parameter.name:
            return keyword.value
    if parameter.index is None or parameter.index >= len(call.args):
        return parameter.value
    return call.args[parameter.index]
