"""Which objects belong to one variable alone: changing them in place is seen nowhere else."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.python_calls import CallEffect, effect_of_method, effect_of_path
from tfrewrite.analysis.program.scopes import Binding, How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

# What may be called with an object without keeping it, or a part or view of it.
_READING = frozenset(
    [
        *(
            f"builtins.{name}"
            for name in "len sum min max float int str bool print any all".split()
        ),
        *(f"numpy.{name}" for name in "mean sum std var min max median average prod".split()),
    ]
)
_CONTAINERS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp)
_MAKING_CONTAINERS = frozenset(
    "builtins.list builtins.dict builtins.set collections.deque collections.OrderedDict".split()
)
_SHOWING = ("matplotlib.pyplot.", "logging.")
_METHODS_GIVING_NEW = frozenset("mean sum std var min max item tolist count index".split())


class Ownership:
    """Decides whether an object can be reached by one name only."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._plain = facts.plain_values

    def number(self, name: ast.Name) -> bool:
        """Whether a variable starts as a number, which nothing can change in place."""
        bindings = [b for b in self._scopes.bindings(name) if b.how is not How.AUGMENT]
        return bool(bindings) and all(
            binding.how is How.ASSIGN and is_number(binding.value) for binding in bindings
        )

    def alone(self, name: ast.Name) -> bool:
        """Whether a variable holds an object made for it, and nothing else ever gets hold of it."""
        bindings = self._scopes.bindings(name)
        if not bindings or not all(self._made_for(binding) for binding in bindings):
            return False
        homes = {self._source.function(binding.node) for binding in bindings}
        uses = self._scopes.uses(name)
        returned = [use for use in uses if isinstance(self._source.parent(use), ast.Return)]
        # A function that returns what another made may give it to anybody.
        if not all(self._source.function(use) in homes for use in returned):
            return False
        return self.stays(uses, is_list=all(map(self._binds_list, bindings)))

    def stays(self, uses: Sequence[ast.expr], *, is_list: bool) -> bool:
        """Whether no use hands the object, a part or a view of it on.

        The elements of a list are no part of it; the rows of an array are views.
        """
        return all(self._stays(use, is_list=is_list) for use in uses)

    def _binds_list(self, binding: Binding) -> bool:
        """Whether a binding gives a list or another container of Python's."""
        made = binding.value
        if binding.how is How.AUGMENT or isinstance(made, _CONTAINERS):
            return True
        return isinstance(made, ast.Call) and self._names.dotted(made.func) in _MAKING_CONTAINERS

    def _made_for(self, binding: Binding) -> bool:
        statement = binding.node
        if isinstance(statement, ast.Assign) and len(statement.targets) > 1:
            return False
        run = binding.value is not None and self._plain.is_run(binding.value)
        return not run and self._plain.fresh(binding)

    def _stays(self, use: ast.expr, *, is_list: bool) -> bool:
        parent = self._source.parent(use)
        if isinstance(parent, ast.Attribute):
            call = self._source.parent(parent)
            called = isinstance(call, ast.Call) and call.func is parent
            changes = effect_of_method(parent.attr) is CallEffect.MUTATES
            return called and (changes or parent.attr in _METHODS_GIVING_NEW)
        if isinstance(parent, ast.Subscript) and parent.value is use:
            return not isinstance(parent.ctx, ast.Load) or self._computed_with(parent)
        if isinstance(parent, ast.For):
            return is_list
        return isinstance(parent, ast.Return) or self._computed_with(use)

    def _computed_with(self, value: ast.expr) -> bool:
        """Whether a value goes into something new: a number, a text, the result of an operator."""
        parent = self._source.parent(value)
        if isinstance(parent, ast.Call):
            path = self._names.dotted(parent.func)
            if path is None:
                return False
            changed = effect_of_path(path) is CallEffect.MUTATES and value in parent.args[:1]
            return changed or path in _READING or path.startswith(_SHOWING)
        operators = (ast.BinOp, ast.Compare, ast.UnaryOp, ast.FormattedValue)
        return isinstance(parent, operators)


def is_number(value: ast.expr | None) -> bool:
    """Whether a value is a number that is written out."""
    if isinstance(value, ast.UnaryOp):
        value = value.operand
    return isinstance(value, ast.Constant) and isinstance(value.value, (int, float))
