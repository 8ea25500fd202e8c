"""Functions that use nothing but their arguments and what never changes.

Such a function gives the same whenever it is called, earlier or later. Everything that is not
known to be settled is taken to change.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.scopes import Binding, How

if TYPE_CHECKING:
    from tfrewrite.analysis.names import Names
    from tfrewrite.analysis.scopes import Scopes
    from tfrewrite.analysis.source import Source

_REACHING_OUT = frozenset(
    "globals locals vars eval exec open setattr getattr delattr next iter input id hash".split()
)
_MODULES = ("tensorflow", "numpy", "math")
_MAKING_DATA = (
    "numpy.",
    "builtins.len",
    "builtins.int",
    "builtins.float",
    "builtins.str",
    "tensorflow.lookup.StaticHashTable",
)


class Settled:
    """Looks for what a function takes from outside."""

    def __init__(self, source: Source, scopes: Scopes, names: Names) -> None:
        self._source = source
        self._scopes = scopes
        self._names = names

    def taken(self, func: ast.expr, *, traced: bool) -> str:
        """The words for the first thing from outside that may change; empty where there is none.

        A function that is traced sees ordinary data as it is at the time; a generator looks at it
        anew for each element.
        """
        if self._names.tf(func) is not None:
            return ""
        function = self._scopes.function(func) if isinstance(func, ast.Name) else func
        if not isinstance(function, (ast.FunctionDef, ast.Lambda)):
            return f"`{ast.unparse(func)}`, which is no function of this file alone"
        return self._in(function, set(), traced=traced)

    def _in(self, function: ast.AST, seen: set[ast.AST], *, traced: bool) -> str:
        if function in seen:
            return ""
        seen.add(function)
        for node in ast.walk(function):
            found = ""
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                found = f"`{node.names[0]}`"
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found = self._name(node, function, seen, traced=traced)
            if found:
                return found
        return ""

    def _name(self, name: ast.Name, function: ast.AST, seen: set[ast.AST], *, traced: bool) -> str:
        bindings = self._scopes.bindings(name)
        if not bindings:
            return f"`{name.id}`" if name.id in _REACHING_OUT else ""
        if all(self._inside(binding, function) for binding in bindings):
            given = [b for b in bindings if b.how is How.PARAMETER and b.value is not None]
            return "" if all(_is_constant(b.value) for b in given) else f"`{name.id}`"
        if self._names.dotted(name) is not None:
            return self._library(name)
        own = self._scopes.function(name)
        if isinstance(self._source.parent(name), ast.Attribute) and own is not None:
            return f"an attribute of `{name.id}`"
        if own is not None:
            plain = not own.decorator_list
            return (
                self._in(own, seen, traced=traced) if plain else f"`{name.id}`, which is decorated"
            )
        if len(bindings) == 1 and bindings[0].how is How.ASSIGN:
            if self._never_changes(bindings[0].value, traced=traced):
                return ""
        return f"`{name.id}`"

    def _inside(self, binding: Binding, function: ast.AST) -> bool:
        return function in self._source.ancestors(binding.node)

    def _library(self, name: ast.Name) -> str:
        """A module's name is settled where it leads to a function that is called, or a constant."""
        top: ast.AST = name
        while isinstance(self._source.parent(top), ast.Attribute):
            parent = self._source.parent(top)
            assert parent is not None
            top = parent
        path = self._names.dotted(top) or ""
        return "" if path.partition(".")[0] in _MODULES else f"`{ast.unparse(top)}`"

    def _never_changes(self, value: ast.expr | None, *, traced: bool) -> bool:
        if _is_constant(value):
            return True
        if not traced or value is None:
            return False
        if isinstance(value, (ast.List, ast.Set)):
            return all(_is_constant(element) for element in value.elts)
        if isinstance(value, ast.Call):
            return (self._names.dotted(value.func) or "").startswith(_MAKING_DATA)
        return False


def _is_constant(value: ast.expr | None) -> bool:
    match value:
        case ast.Constant():
            return True
        case ast.Tuple(elts=elements):
            return all(_is_constant(element) for element in elements)
        case ast.UnaryOp(operand=operand):
            return _is_constant(operand)
        case ast.BinOp(left=left, right=right):
            return _is_constant(left) and _is_constant(right)
    return False
