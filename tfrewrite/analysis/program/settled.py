"""Functions that use nothing but their arguments and what never changes.

Such a function gives the same whenever it is called, earlier or later. Everything that is not
known to be settled is taken to change.
"""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.keras.pure_layers import is_pure_layer
from tfrewrite.analysis.program.python_calls import gives_data
from tfrewrite.analysis.program.scopes import Binding, How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_REACHING_OUT = frozenset(
    "globals locals vars eval exec open setattr getattr delattr next iter input id hash".split()
)
_MODULES = ("tensorflow", "numpy", "math", "typing")
_FLAGS = ("absl.flags.FLAGS.", "tensorflow.flags.FLAGS.")


class Settled:
    """Looks for what a function takes from outside."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._classes = facts.classes
        self._own = facts.own_calls
        self._captured = facts.captured
        self._untouched = facts.untouched_data

    def taken(self, func: ast.expr, *, traced: bool) -> str:
        """The words for the first thing from outside that may change; empty where there is none.

        A function that is traced sees ordinary data as it is at the time; a generator looks at it
        anew for each element.
        """
        if self._names.tf(func) is not None:
            return ""
        function: ast.AST | None = func
        if isinstance(func, ast.Name):
            function = self._scopes.function(func)
        elif isinstance(func, ast.Attribute):
            function = self._method(func)
        if not isinstance(function, (ast.FunctionDef, ast.Lambda)):
            return f"`{ast.unparse(func)}`, which is no function of this file alone"
        return self._in(function, set(), traced=traced)

    def _method(self, func: ast.Attribute) -> ast.FunctionDef | None:
        """The method that an attribute stands for, where no subclass has another."""
        method = self._own.named(func)
        if not isinstance(method, ast.FunctionDef) or method.decorator_list:
            return None
        cls = self._source.parent(method)
        assert isinstance(cls, ast.ClassDef)
        return None if self._classes.replaced(cls, func.attr) else method

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
            hidden = name.id in _REACHING_OUT or self._comes_from_elsewhere
            return f"`{name.id}`" if hidden else ""
        if self._classes.of_self(name) is not None:
            return self._self(name, seen, traced=traced)
        if self._names.dotted(name) is not None:
            return self._library(name, traced=traced)
        if all(self._inside(binding, function) for binding in bindings):
            given = [b for b in bindings if b.how is How.PARAMETER and b.value is not None]
            imported = any(b.how is How.IMPORT for b in bindings)
            settled = all(
                _is_constant(b.value) or (traced and self._captured.data(b.value)) for b in given
            )
            return "" if settled and not imported else f"`{name.id}`"
        own = self._scopes.function(name)
        if isinstance(self._source.parent(name), ast.Attribute) and own is not None:
            return f"an attribute of `{name.id}`"
        if own is not None:
            plain = self._own.is_plain(own) if traced else not own.decorator_list
            return (
                self._in(own, seen, traced=traced) if plain else f"`{name.id}`, which is decorated"
            )
        return "" if self._never_changes(name, function, traced=traced) else f"`{name.id}`"

    def _self(self, name: ast.Name, seen: set[ast.AST], *, traced: bool) -> str:
        """An object's methods, and the attributes in which there is but data."""
        attribute = self._source.parent(name)
        if not isinstance(attribute, ast.Attribute) or not isinstance(attribute.ctx, ast.Load):
            return f"`{name.id}`"
        method = self._method(attribute)
        if method is not None:
            return self._in(method, seen, traced=traced)
        if traced:
            settled = self._captured.data(attribute)
        else:
            settled = self._is_constant_attribute(name, attribute.attr)
        return "" if settled else f"`{ast.unparse(attribute)}`"

    def _is_constant_attribute(self, name: ast.Name, attribute: str) -> bool:
        cls = self._classes.of_self(name)
        if cls is None or self._classes.replaced(cls, attribute):
            return False
        stores = self._classes.stores(cls, attribute) or []
        return len(stores) == 1 and all(
            store.method is not None
            and store.method.name == "__init__"
            and _is_constant(store.value)
            and not store.augmented
            for store in stores
        )

    @cached_property
    def _comes_from_elsewhere(self) -> bool:
        """Whether a name that nothing here binds may be another module's, not Python's own."""
        return any(
            (star.module or "").partition(".")[0] not in _MODULES
            for scope in self._scopes.all()
            for star in scope.star_imports
        )

    def _inside(self, binding: Binding, function: ast.AST) -> bool:
        return function in self._source.ancestors(binding.node)

    def _library(self, name: ast.Name, *, traced: bool) -> str:
        """A module's name is settled where it leads to a function that is called, or a constant.

        What a library without tensors gives while a function is traced is data, and so is a flag.
        """
        top: ast.AST = name
        while isinstance(self._source.parent(top), ast.Attribute):
            parent = self._source.parent(top)
            assert parent is not None
            top = parent
        path = self._names.dotted(top) or ""
        data = gives_data(path) or path.startswith(_FLAGS)
        settled = path.partition(".")[0] in _MODULES or (traced and data)
        return "" if settled else f"`{ast.unparse(top)}`"

    def _never_changes(self, name: ast.Name, function: ast.AST, *, traced: bool) -> bool:
        bindings = self._scopes.bindings(name)
        if len(bindings) == 1 and bindings[0].how is How.ASSIGN:
            if _is_constant(bindings[0].value):
                return True
            if traced and self._is_table(bindings[0].value):
                return True
        if not traced:
            return self._untouched.holds(name, function)
        called = self._source.parent(name)
        if isinstance(called, ast.Call) and called.func is name:
            return is_pure_layer(self._names, self._scopes, name) or self._captured.data(name)
        whole = self._source.parent(name)
        if isinstance(whole, ast.Attribute) and self._captured.data(whole):
            return True
        return self._captured.data(name)

    def _is_table(self, value: ast.expr | None) -> bool:
        if not isinstance(value, ast.Call):
            return False
        return self._names.dotted(value.func) == "tensorflow.lookup.StaticHashTable"


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
