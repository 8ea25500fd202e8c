"""Whether the layers of a file, and what they compute, are used for its one model and nothing else.

Each layer is followed forwards, from where it is made to where it is given to the model, and with
it the tensors of a functional model. Whatever else is done with one of them is told.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.keras import keras_things
from tfrewrite.analysis.keras.keras_models import Sort
from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

LAYERS = "keras.layers."
_WRAPPING = "keras.layers.Bidirectional"
_CALLED_WITH = frozenset({"training"})
# Ways from a model to what its layers compute.
_INSIDE = frozenset(
    "layers get_layer output outputs input inputs get_output_at get_input_at submodules"
    " compute_dtype variable_dtype dtype_policy get_config to_json to_yaml inbound_nodes"
    " outbound_nodes operations operation from_config".split()
)
_OF_MODELS = frozenset(
    {"dtype", "call", "__call__", "__dict__", "__class__", "_layers", "add_loss"}
)
_OF_LAYERS = frozenset(
    "trainable name get_weights set_weights weights variables trainable_weights"
    " non_trainable_weights trainable_variables kernel bias count_params input_shape output_shape"
    " activation units filters embeddings gamma beta".split()
)
_SET_OF_LAYERS = frozenset({"trainable"})
_MAX_DEPTH = 3
_SHOWING = frozenset(f"builtins.{name}" for name in ("print", "len", "type", "id", "isinstance"))
_SHOWING_MODELS = frozenset({"keras.utils.plot_model", "keras.utils.model_to_dot"})
_CONVERTING = ("lite.", "keras.backend.function", "keras.models.clone_model", "quantization.")


class LayerUses:
    """Questions about the layers of a file and the tensors that they give."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._names = facts.names
        self._scopes = facts.scopes

    def makes_layer(self, expr: ast.expr | None) -> bool:
        """Whether an expression makes a layer: `Dense(3)`, not `Dense(3)(x)` or `Input([3])`."""
        symbol = self._symbol(expr)
        return symbol.startswith(LAYERS) and not self._gives_tensor(symbol)

    def stray(self, making: list[ast.Call]) -> ast.expr | None:
        """A use of some layers, inputs or their tensors that is not the making of a model."""
        pending: list[tuple[ast.expr, bool]] = [
            (call, self._gives_tensor(self._symbol(call))) for call in making
        ]
        followed: set[tuple[object, str]] = set()
        while pending:
            node, tensor = pending.pop()
            found = self._next(node, tensor=tensor, followed=followed)
            if found is None:
                return node
            pending += found
        return None

    def look_inside(self) -> ast.expr | None:
        """What reads the layers of a model that is made, or what they compute."""
        for call in self._source.all(ast.Call):
            if self._names.dotted(call.func) == "builtins.getattr":
                return call
        for node in [*self._source.all(ast.Attribute), *self._source.all(ast.Name)]:
            if (self._names.tf(node) or "").startswith(_CONVERTING):
                return node
        for attribute in sorted(self._source.all(ast.Attribute), key=self._source.span):
            name = attribute.attr
            if name not in _INSIDE | _OF_MODELS or self._names.dotted(attribute) is not None:
                continue
            if self._facts.keras_models.sort(attribute.value) is Sort.OTHER:
                continue
            if name in _INSIDE and not (name == "layers" and self._only_settings(attribute)):
                return attribute
            if name in _OF_MODELS and self._is_model(attribute.value):
                return attribute
        return None

    def handed_on(self) -> ast.expr | None:
        """A model that is given to what may ask anything of it, such as `pickle.dump`."""
        for call in sorted(self._source.all(ast.Call), key=self._source.span):
            harmless = self._names.dotted(call.func) in _SHOWING
            if harmless or self._names.tf(call.func) in _SHOWING_MODELS:
                continue
            if self._facts.own_calls.function(call) is not None:
                continue
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            for value in given:
                inner = [node for node in ast.walk(value) if isinstance(node, ast.Name)]
                parts = [value] if isinstance(value, ast.Attribute) else inner
                if any(map(self._is_given, parts)):
                    return call
        return None

    def _is_given(self, part: ast.expr) -> bool:
        """Whether a model itself is given, and not what one of its methods gives."""
        if self._names.dotted(part) is not None or not self._is_model(part):
            return False
        parent = self._source.parent(part)
        called = isinstance(parent, ast.Call) and parent.func is part
        return not called and not isinstance(parent, ast.Attribute)

    # From a layer or tensor to what is done with it

    def _next(
        self, node: ast.expr, *, tensor: bool, followed: set[tuple[object, str]]
    ) -> list[tuple[ast.expr, bool]] | None:
        """What a use gives that is to be followed in turn; None where the use is another one."""
        parent = self._source.parent(node)
        if isinstance(parent, ast.Assign):
            return self._named(parent, tensor=tensor, followed=followed)
        if isinstance(parent, ast.Call) and parent.func is node:
            return None if tensor or not self._plain_call(parent) else [(parent, True)]
        if tensor and isinstance(parent, ast.Attribute):
            return [] if parent.attr == "shape" else None
        if isinstance(parent, (ast.List, ast.Tuple)):
            if not isinstance(parent.ctx, ast.Load):
                return None
            parent = self._source.parent(parent)
        if isinstance(parent, ast.keyword):
            parent = self._source.parent(parent)
        if not isinstance(parent, ast.Call):
            return None
        given = tensor and self._takes_tensors(parent)
        return [] if given or self._takes_layers(parent) else None

    def _named(
        self, statement: ast.Assign, *, tensor: bool, followed: set[tuple[object, str]]
    ) -> list[tuple[ast.expr, bool]] | None:
        """The uses of a name; None where it may stand for something else as well."""
        target = statement.targets[0]
        if len(statement.targets) != 1 or not isinstance(target, ast.Name):
            return None
        owner = self._scopes.of(target).owner(target.id)
        if (owner, target.id) in followed:
            return []
        followed.add((owner, target.id))
        for binding in self._scopes.bindings(target):
            value = binding.value if binding.how is How.ASSIGN else None
            if value is None or not self._is(value, tensor=tensor):
                return None
        return [(use, tensor) for use in self._scopes.uses(target)]

    def _is(self, value: ast.expr, *, tensor: bool, depth: int = 0) -> bool:
        if isinstance(value, ast.Name) and depth < _MAX_DEPTH:
            values = [
                one.value if one.how is How.ASSIGN else None for one in self._scopes.bindings(value)
            ]
            return bool(values) and all(
                one is not None and self._is(one, tensor=tensor, depth=depth + 1) for one in values
            )
        if not tensor:
            return self.makes_layer(value)
        if not isinstance(value, ast.Call):
            return False
        return self._gives_tensor(self._symbol(value)) or self._is_layer(value.func)

    def _is_layer(self, expr: ast.expr) -> bool:
        """Whether an expression is a layer of the file, made there or under a name."""
        if isinstance(expr, ast.Name) and not self._names.tf(expr):
            bindings = self._scopes.bindings(expr)
            return bool(bindings) and all(
                one.how is How.ASSIGN and self.makes_layer(one.value) for one in bindings
            )
        return self.makes_layer(expr)

    def _takes_tensors(self, call: ast.Call) -> bool:
        symbol = self._symbol(call)
        if symbol in keras_things.MODELS or self._gives_tensor(symbol):
            return True
        return self._is_layer(call.func) and self._plain_call(call)

    def _takes_layers(self, call: ast.Call) -> bool:
        if self._symbol(call) in keras_things.SEQUENTIAL | {_WRAPPING}:
            return True
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "add":
            return False
        return self.is_stack(call.func.value)

    def is_stack(self, expr: ast.expr) -> bool:
        """Whether a name is one of a `Sequential` and of nothing else."""
        if not isinstance(expr, ast.Name):
            return False
        made = self._scopes.bindings(expr)
        return bool(made) and all(
            one.how is How.ASSIGN and self._symbol(one.value) in keras_things.SEQUENTIAL
            for one in made
        )

    def _plain_call(self, call: ast.Call) -> bool:
        return len(call.args) == 1 and all(one.arg in _CALLED_WITH for one in call.keywords)

    def _symbol(self, expr: ast.expr | None) -> str:
        return (self._names.tf(expr.func) or "") if isinstance(expr, ast.Call) else ""

    def _gives_tensor(self, symbol: str) -> bool:
        """Whether calling a symbol gives a tensor: `Input`, and the functions beside the layers."""
        name = symbol.removeprefix(LAYERS)
        function = symbol.startswith(LAYERS) and name[:1].islower()
        return function or symbol in keras_things.INPUTS - {"keras.layers.InputLayer"}

    # From a model to its layers

    def _only_settings(self, layers: ast.Attribute) -> bool:
        """Whether of the layers of a model only weights, names and the like are asked for."""
        parent = self._source.parent(layers)
        if isinstance(parent, ast.Call):
            return self._names.dotted(parent.func) == "builtins.len"
        if isinstance(parent, ast.Subscript) and parent.value is layers:
            if not isinstance(parent.slice, ast.Slice):
                return self._is_setting(parent)
            parent = self._source.parent(parent)
        if isinstance(parent, (ast.For, ast.comprehension)) and isinstance(parent.target, ast.Name):
            return all(map(self._is_setting, self._scopes.uses(parent.target)))
        return False

    def _is_setting(self, layer: ast.expr) -> bool:
        parent = self._source.parent(layer)
        if not isinstance(parent, ast.Attribute):
            return False
        return parent.attr in (_OF_LAYERS if isinstance(parent.ctx, ast.Load) else _SET_OF_LAYERS)

    def _is_model(self, expr: ast.expr) -> bool:
        return self._facts.keras_models.sort(expr) is Sort.KERAS
