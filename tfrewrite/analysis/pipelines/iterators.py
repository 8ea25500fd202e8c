"""Who gets hold of an iterator over a dataset.

An iterator that is saved in a checkpoint has another content with a prefetch than without. What is
saved need not be named: a checkpoint takes in all that hangs on the objects that it is given.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_TAKING = frozenset(
    ["get_next", "next", "__next__", "initializer", "string_handle", "make_initializer"]
)
_DESCRIBING = frozenset(["element_spec", "output_types", "output_shapes", "output_classes"])
_LOOPING = ("builtins.", "itertools.", "tqdm")


class Iterators:
    """Follows iterators to all that sees them."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._classes = facts.classes
        self._own = facts.own_calls

    def only_taken_from(self, made: ast.expr) -> bool:
        """Whether nothing is ever done with an iterator but to take elements from it."""
        return self._only_taken_from(made, set())

    def _only_taken_from(self, use: ast.expr, seen: set[ast.expr]) -> bool:
        if use in seen:
            return True
        seen.add(use)
        parent = self._source.parent(use)
        match parent:
            case ast.Attribute(attr=attribute):
                return attribute in _TAKING or attribute in _DESCRIBING
            case ast.For() | ast.comprehension() | ast.Expr() | ast.Compare():
                return True
            case ast.Return():
                function = self._source.function(parent)
                if not isinstance(function, ast.FunctionDef) or not self._own.returned(function):
                    return False
                calls = self._own.calls(function)
                return bool(calls) and all(self._only_taken_from(c, seen) for c in calls or ())
            case ast.Assign(targets=[target]):
                return self._stored(target, seen)
            case ast.Call() if parent.func is not use:
                path = self._names.dotted(parent.func) or ""
                if path.startswith(_LOOPING):
                    return True
                parameter = self._own.parameter(parent, use)
                return (
                    parameter is not None
                    and parameter.how is How.PARAMETER
                    and (self._uses_only_take(self._own.uses(parameter), seen))
                )
        return False

    def _stored(self, target: ast.expr, seen: set[ast.expr]) -> bool:
        if isinstance(target, ast.Name):
            return all(
                self._uses_only_take(self._own.uses(binding), seen)
                for binding in self._own.bindings_at(target)
            )
        if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
            return False
        cls = self._classes.of_self(target.value)
        if cls is None or self._classes.family(cls) is None:
            return False  # a model's attributes are saved with it
        return self._uses_only_take(self._classes.reads(target.attr), seen)

    def _uses_only_take(
        self, uses: list[ast.Name] | list[ast.Attribute], seen: set[ast.expr]
    ) -> bool:
        return all(self._only_taken_from(use, seen) for use in uses)
