"""Which uses of a list or dict in eager code leave it as it is, and keep no hold of it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import Thing
from tfrewrite.analysis.program.python_calls import CallEffect, effect_of_path

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_LOOKING = frozenset("items values keys get index count copy".split())
_OF_KERAS = ("model", "layer")


class ListUses:
    """Looks at what stands around a use."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._own = facts.own_calls
        self._values = facts.eager_values

    def leaves(self, use: ast.expr, *, nested: bool = False) -> bool:
        """Whether a use of a list or dict leaves it as it is, and keeps no hold of it.

        Where there are others in it, that holds of these as well.
        """
        parent = self._source.parent(use)
        if self._is_copied(use):
            return True
        match parent:
            case ast.Subscript(value=value):
                if value is not use:
                    return True
                kept = not nested or self.leaves(parent, nested=True)
                return isinstance(parent.ctx, ast.Load) and kept
            case ast.Attribute(attr=attribute):
                return attribute in _LOOKING and not nested
            case ast.For() | ast.comprehension() | ast.BinOp():
                return not nested
            case ast.Call(func=func):
                if func is use:
                    return False
                path = self._names.dotted(func) or ""
                pure = effect_of_path(path) is CallEffect.PURE or path == "builtins.print"
                tape = isinstance(func, ast.Attribute) and func.attr in (
                    "gradient", "apply_gradients", "watch",
                )  # fmt: skip
                if nested:
                    return path in ("builtins.len", "builtins.print")
                return pure or tape or path.startswith("tensorflow.") or self._is_layer(func)
            case ast.keyword():
                call = self._source.parent(parent)
                named = self._names.dotted(call.func) if isinstance(call, ast.Call) else None
                return (named or "").startswith("tensorflow.") and not nested
            case ast.Compare():
                return True
        return False

    def _is_layer(self, func: ast.expr) -> bool:
        """Whether a layer of Keras' own is called, which takes lists apart and no more."""
        found = self._values.value(func)
        return isinstance(found, Thing) and found.kind in _OF_KERAS and not found.code

    def _is_copied(self, use: ast.expr) -> bool:
        """Whether a compiled function is given a list, or gives one back: they are its own."""
        outer = self._source.parent(use)
        while isinstance(outer, (ast.Tuple, ast.List)):
            outer = self._source.parent(outer)
        function: ast.AST | None = None
        if isinstance(outer, ast.Return):
            function = self._source.function(outer)
        elif isinstance(outer, ast.Call) and outer.func is not use:
            function = self._own.function(outer)
        is_compiled = bool(getattr(function, "decorator_list", ()))
        return function is not None and is_compiled and self._own.is_plain(function)
