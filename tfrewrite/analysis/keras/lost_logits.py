"""Whether the logits that an activation of Keras keeps on a tensor are lost with a trace.

A crossentropy of Keras looks for them on what it is given. They are an attribute of the tensor, and
go neither into a trace nor out of it.
"""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import Tensor, Thing, Unknown, Value, parts
from tfrewrite.analysis.eager.step_arguments import given_to
from tfrewrite.analysis.eager.step_functions import Step
from tfrewrite.analysis.keras.keras_things import is_crossentropy
from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

# Models that others have made may end so, too.
_SQUASHED = ("softmax", "sigmoid", "applications", "load_model", "from_json", "from_config")
_OF_COMPILED = frozenset({"compute_loss", "compiled_loss", "loss"})
_TAKEN = frozenset({How.ASSIGN, How.UNPACK})


class LostLogits:
    """Follows what a step returns to the crossentropies that are given it."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._flow = facts.flow
        self._own = facts.own_calls
        self._values = facts.eager_values
        self._steps = facts.step_functions

    def in_step(self, step: Step, returned: Value) -> str:
        """Whether a crossentropy may look for the logits of what a trace of a layer returned.

        They are an attribute that Keras' activations put on a tensor.
        """
        if not any(isinstance(part, Tensor) and part.layered for part in parts(returned)):
            return ""
        if not self._may_squash:
            return ""
        for node in [*self._source.all(ast.Attribute), *self._source.all(ast.Name)]:
            symbol = self._names.tf(node) or ""
            if ("rossentropy" in symbol and "metrics." in symbol) or symbol == "keras.losses.get":
                return _lost(node)
        for call in self._source.all(ast.Call):
            if not self._finds_logits(call) or self._is_within(call, step, set()):
                continue
            given = [*call.args, *(one.value for one in call.keywords)]
            if any(self._may_be_of(one, step, set()) for one in given):
                return _lost(call.func)
        return ""

    @cached_property
    def _may_squash(self) -> bool:
        """Whether layers of the file may end in a softmax or sigmoid of Keras."""
        text = self._source.text.lower()
        if any(word in text for word in _SQUASHED):
            return True
        return any(
            (one.arg or "").endswith("activation")
            and not isinstance(one.value, ast.Constant)
            and self._names.tf(one.value) is None
            for one in self._source.all(ast.keyword)
        )

    def _finds_logits(self, call: ast.Call) -> bool:
        """Whether a call computes a crossentropy of Keras."""
        symbol = self._names.tf(call.func)
        if symbol is not None:
            return symbol.endswith("_crossentropy")
        found = self._values.value(call.func)
        if isinstance(found, Thing):
            return found.kind == "loss" and is_crossentropy(found.symbol)
        return isinstance(call.func, ast.Attribute) and call.func.attr in _OF_COMPILED

    def _may_be_of(self, given: ast.expr, step: Step, seen: set[ast.AST]) -> bool:
        """Whether a value may be what a step returned, as it is."""
        if given in seen:
            return False
        seen.add(given)
        if isinstance(given, ast.Call):
            return given in (step.calls or ()) or (
                self._own.function(given) is not None and self._may_be_layered(given)
            )
        if isinstance(given, ast.Name):
            held = self._flow.reaching(given)
            if all(one.how in _TAKEN and one.value is not None for one in held):
                return any(self._may_be_of(one.value, step, seen) for one in held if one.value)
            if all(one.how is How.PARAMETER for one in held):
                return self._may_be_given(given, step, seen)
        if isinstance(given, (ast.Tuple, ast.List)):
            return any(self._may_be_of(one, step, seen) for one in given.elts)
        return self._may_be_layered(given)

    def _may_be_given(self, name: ast.Name, step: Step, seen: set[ast.AST]) -> bool:
        """Whether a parameter may be what a step returned, by a call outside of the step."""
        function = self._source.function(name)
        calls = self._steps.calls(function) if isinstance(function, ast.FunctionDef) else None
        if calls is None or not isinstance(function, ast.FunctionDef):
            return self._may_be_layered(name)
        is_method = isinstance(self._source.parent(function), ast.ClassDef)
        names = [one.arg for one in function.args.args[is_method:]]
        outside = tuple(one for one in calls if not self._is_within(one, step, set()))
        return any(
            one is not None and self._may_be_of(one, step, seen)
            for one in given_to(Step(function, outside), names, name.id)
        )

    def _is_within(self, node: ast.AST, step: Step, seen: set[ast.AST]) -> bool:
        """Whether a place runs as a part of a step only."""
        if step.function in self._source.ancestors(node):
            return True
        function = self._source.function(node)
        if not isinstance(function, ast.FunctionDef) or function in seen:
            return False
        seen.add(function)
        calls = self._steps.calls(function)
        return bool(calls) and all(self._is_within(one, step, seen) for one in calls or ())

    def _may_be_layered(self, given: ast.expr) -> bool:
        found = self._values.value(given)
        return any(
            isinstance(part, Unknown) or (isinstance(part, Tensor) and part.layered)
            for part in parts(found)
        )


def _lost(node: ast.expr) -> str:
    return (
        f"`{ast.unparse(node)}` in line {node.lineno} may look for the logits of what"
        " it returns, which a trace does not give"
    )
