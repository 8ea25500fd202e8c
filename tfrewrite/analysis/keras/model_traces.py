"""Whether another trace of a Keras model would do the same as the first.

`predict` and `fit` trace a model once, and keep what they have read in Python. One batch alone has
a trace of its own, which is made later, and before Keras 3 knows how many rows there are.
"""

from __future__ import annotations

import ast
import re
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import Thing
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.python_calls import CallEffect, effect_of_method
from tfrewrite.analysis.program.scopes import How
from tfrewrite.analysis.symbols import KERAS_RUNS
from tfrewrite.analysis.traces.kept_objects import comes_first

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts

_KERAS_3 = (2, 16)
_OF_LAYERS = frozenset(
    "activation recurrent_activation rate epsilon axis padding strides dilation_rate units function"
    " return_sequences return_state go_backwards stateful layer cell call use_bias scale center"
    " alpha negative_slope threshold max_value pool_size data_format kernel bias gamma beta"
    " layers".split()
)
_OF_TRAINING = _OF_LAYERS | frozenset(
    "trainable momentum beta_1 beta_2 rho nesterov amsgrad weight_decay clipnorm clipvalue"
    " global_clipnorm kernel_regularizer bias_regularizer activity_regularizer kernel_constraint"
    " bias_constraint loss loss_weights".split()
)
_NOT_READ = frozenset("trainable stop_training optimizer history name".split())
_NOT_TRACED = frozenset(
    "__init__ build get_config from_config compute_output_shape fit train train_model predict save"
    " load".split()
)
_PARTS = re.compile(r"^(?:python\.)?keras\.(?:Model|Sequential|Layer|models|layers|losses|metrics)")
_FIXED = (How.IMPORT, How.FUNCTION, How.CLASS)


class ModelTraces:
    """Questions about the Python that models of a file read when they are traced."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._scopes = facts.scopes
        self._classes = facts.classes
        self._found: dict[bool, Obstacle | None] = {}

    def obstacle(self, *, training: bool) -> Obstacle | None:
        """What a later trace may find changed, or what a trace for one batch may know more of."""
        if training not in self._found:
            self._found[training] = self._obstacle(training=training)
        return self._found[training]

    def _obstacle(self, *, training: bool) -> Obstacle | None:
        code = self._of_models + (self._of_steps if training else [])
        attributes = _OF_TRAINING if training else _OF_LAYERS
        return self._changed(attributes, self._read(code)) or self._of_code(code)

    def _changed(self, attributes: frozenset[str], read: frozenset[str]) -> Obstacle | None:
        """A layer, model or optimizer that is given another attribute once it may be traced."""
        traced = [call for name in KERAS_RUNS for call in self._classes.calls(name)]
        for store in self._source.all(ast.Attribute):
            if isinstance(store.ctx, ast.Load) or not self._may_be_read(store, attributes, read):
                continue
            if not comes_first(self._facts, store, traced):
                message = (
                    f"line {store.lineno} sets `{ast.unparse(store)}`, which another trace of a"
                    " model would see"
                )
                return Obstacle("object-changes", message)
        return None

    def _may_be_read(
        self, store: ast.Attribute, attributes: frozenset[str], read: frozenset[str]
    ) -> bool:
        """Whether a trace may read what is set: of what is known to be Keras', whatever that is."""
        if store.attr in read:
            return True
        if self._is_of_another(store):
            return False
        if store.attr in attributes:
            return True
        made = self._facts.eager_values.value(store.value)
        of_keras = isinstance(made, Thing) and made.kind in ("layer", "model")
        return of_keras and store.attr not in _NOT_READ

    def _is_of_another(self, store: ast.Attribute) -> bool:
        """Whether an attribute is set on an object of the file that is no model."""
        name = store.value
        cls = self._classes.of_self(name) if isinstance(name, ast.Name) else None
        return cls is not None and cls not in self._keras_classes

    @cached_property
    def _keras_classes(self) -> list[ast.ClassDef]:
        return [one for one in self._source.all(ast.ClassDef) if self._may_be_traced(one)]

    def _may_be_traced(self, cls: ast.ClassDef) -> bool:
        """Whether objects of a class may be models, or parts of models."""
        if not self._facts.keras_models.may_be_keras(cls):
            return False
        named = (self._facts.names.tf(base) or "" for base in cls.bases)
        calls = any(self._classes.method(cls, name) for name in ("call", "__call__"))
        return calls or any(map(_PARTS.match, named))

    @cached_property
    def _of_models(self) -> list[ast.AST]:
        """The functions of the file that run when a model is traced."""
        found: list[ast.AST] = [
            method
            for cls in self._keras_classes
            for method in cls.body
            if isinstance(method, ast.FunctionDef) and method.name not in _NOT_TRACED
        ]
        for call in self._source.all(ast.Call):
            if (self._facts.names.tf(call.func) or "").startswith("keras.layers."):
                found += self._given(call)
        return [body for code in found for body in self._facts.traced_code.bodies(code)]

    @cached_property
    def _of_steps(self) -> list[ast.AST]:
        """Those that run when a step of `fit` is traced, too: losses and metrics."""
        given = [code for call in self._classes.calls("compile") for code in self._given(call)]
        return [body for code in given for body in self._facts.traced_code.bodies(code)]

    def _given(self, call: ast.Call) -> Iterator[ast.AST]:
        """The functions of the file that a call is given."""
        for value in [*call.args, *(keyword.value for keyword in call.keywords)]:
            for one in value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]:
                if isinstance(one, ast.Lambda):
                    yield one
                named = self._facts.own_calls.named(one)
                if named is not None:
                    yield named

    def _read(self, bodies: list[ast.AST]) -> frozenset[str]:
        """The attributes of models of the file that their own code reads."""
        return frozenset(
            node.attr
            for code in bodies
            for node in ast.walk(code)
            if isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Load)
            and isinstance(node.value, ast.Name)
            and self._classes.of_self(node.value) in self._keras_classes
        )

    def _of_code(self, bodies: list[ast.AST]) -> Obstacle | None:
        """What is read around the code that is traced, and of the batch."""
        target = self._facts.target_tf
        for code in bodies:
            for node in ast.walk(code):
                if isinstance(node, ast.Name) and self._varies(node, bodies):
                    message = (
                        f"`{node.id}`, which line {node.lineno} reads when a model is traced, may"
                        " be another one in another trace"
                    )
                    return Obstacle("object-changes", message)
                if _asks_for_rows(node) and (target is None or target < _KERAS_3):
                    message = (
                        f"line {getattr(node, 'lineno', 0)} asks how many rows a batch has when a"
                        " model is traced, which a trace of `predict` or `fit` does not know"
                    )
                    return Obstacle("traced-effects", message)
        return None

    def _varies(self, name: ast.Name, bodies: list[ast.AST]) -> bool:
        """Whether a name from around traced code gets several values, or its list changes."""
        if not isinstance(name.ctx, ast.Load) or self._facts.traced_code.is_local(name, bodies):
            return False
        bindings = [b for b in self._scopes.bindings(name) if b.how not in _FIXED]
        if len(bindings) > 1:
            return True
        if any(b.how is How.AUGMENT or self._facts.flow.loop(b.node) is not None for b in bindings):
            return True
        return any(map(self._changes, self._scopes.uses(name)))

    def _changes(self, use: ast.Name) -> bool:
        """Whether a use of a list or dict puts something into it, or takes something out."""
        parent = self._source.parent(use)
        if isinstance(parent, ast.Subscript) and parent.value is use:
            return not isinstance(parent.ctx, ast.Load)
        if isinstance(parent, ast.Attribute):
            call = self._source.parent(parent)
            called = isinstance(call, ast.Call) and call.func is parent
            return called and effect_of_method(parent.attr) is CallEffect.MUTATES
        return False


def _asks_for_rows(node: ast.AST) -> bool:
    """`x.shape[0]`, `x.get_shape().as_list()[0]`, `K.int_shape(x)[0]`: None for any number."""
    match node:
        case ast.Subscript(value=value, slice=ast.Constant(value=0)):
            return _is_shape(value)
        case ast.Assign(targets=[ast.Tuple() | ast.List()], value=value):
            return _is_shape(value)
    return False


def _is_shape(value: ast.expr) -> bool:
    match value:
        case ast.Attribute(attr=name):
            return name == "shape"
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in ("get_shape", "as_list", "int_shape")
    return False
