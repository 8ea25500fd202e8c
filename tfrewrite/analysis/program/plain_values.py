"""Which values are ordinary: numbers, strings, containers and arrays, with no code behind.

An object of a class that is not known can run anything when it is printed, looped over or asked for
an attribute; a plain value cannot.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.python_calls import (
    LAZY,
    CallEffect,
    effect_of_method,
    effect_of_path,
    writes_to_argument,
)
from tfrewrite.analysis.program.scopes import Binding, How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_MAKING_NEW = frozenset(
    [
        *(f"builtins.{name}" for name in "list dict set tuple float int str bool len sum".split()),
        *(f"numpy.{name}" for name in "zeros ones empty full arange mean sum array".split()),
        "collections.deque",
        "collections.OrderedDict",
        "time.time",
    ]
)
# With more arguments than so many they may give back one of them, and no copy.
_COPYING = {"builtins.sum": 1, "numpy.array": 2}
_NEW_OBJECTS = (
    ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.Constant, ast.BinOp, ast.JoinedStr,
    ast.UnaryOp,
)  # fmt: skip


class PlainValues:
    """Decides whether an expression gives an ordinary object of Python or numpy."""

    def __init__(self, facts: Facts) -> None:
        self._scopes = facts.scopes
        self._names = facts.names
        self._classes = facts.classes
        self._sessions = facts.sessions
        self._open: set[Binding] = set()

    def expr(self, expr: ast.expr) -> bool:
        match expr:
            case ast.Constant() | ast.JoinedStr() | ast.List() | ast.Tuple() | ast.Dict():
                return True
            case ast.Set() | ast.ListComp() | ast.DictComp() | ast.SetComp() | ast.Compare():
                return True
            case ast.BinOp(left=left, right=right):
                return self.expr(left) and self.expr(right)
            case ast.UnaryOp(operand=operand):
                return self.expr(operand)
            case ast.IfExp(body=body, orelse=orelse):
                return self.expr(body) and self.expr(orelse)
            case ast.Subscript(value=value):
                return self._array(value)
            case ast.Name():
                return self._name(expr)
            case ast.Attribute(value=ast.Name() as owner, attr=attribute):
                return self._attribute(owner, attribute)
            case ast.Call(func=func):
                return self._call(expr, func)
        return False

    def _call(self, call: ast.Call, func: ast.expr) -> bool:
        if call in self._sessions.runs:
            return True
        path = self._names.dotted(func)
        if path is not None:
            known = effect_of_path(path) in (CallEffect.PURE, CallEffect.HOST)
            return known and path not in LAZY
        if isinstance(func, ast.Attribute) and func.attr not in ("get", "values", "items"):
            return effect_of_method(func.attr) is CallEffect.PURE and self.expr(func.value)
        return False

    def _array(self, value: ast.expr) -> bool:
        """Whether the elements of a value are plain: those of strings, arrays and run results."""
        if isinstance(value, (ast.List, ast.Tuple)):
            return all(self.expr(element) for element in value.elts)
        return isinstance(value, ast.Call) and self._call(value, value.func)

    def _name(self, name: ast.Name) -> bool:
        bindings = self._scopes.bindings(name)
        return bool(bindings) and all(self._binding(binding) for binding in bindings)

    def _binding(self, binding: Binding) -> bool:
        if binding in self._open:
            return True
        self._open.add(binding)
        try:
            return self._bound(binding)
        finally:
            self._open.discard(binding)

    def _bound(self, binding: Binding) -> bool:
        if binding.value is None:
            return False
        if binding.how in (How.ASSIGN, How.AUGMENT):
            return self.expr(binding.value)
        if binding.how is How.UNPACK:
            return self._array(binding.value)
        if binding.how is How.LOOP and isinstance(binding.value, ast.Call):
            path = self._names.dotted(binding.value.func)
            return path in ("builtins.range", "builtins.xrange")
        return False

    def _attribute(self, owner: ast.Name, attribute: str) -> bool:
        cls = self._classes.of_self(owner)
        stores = self._classes.stores(cls, attribute) if cls else None
        return bool(stores) and all(
            store.value is not None and self.expr(store.value) for store in stores or ()
        )

    def is_run(self, value: ast.expr) -> bool:
        """Whether a value is what a run of the graph gave."""
        return isinstance(value, ast.Call) and value in self._sessions.runs

    def fresh(self, binding: Binding) -> bool:
        """Whether a binding gives a number, a string or an object made on the spot."""
        if binding.how is How.AUGMENT:
            return True
        if binding.how not in (How.ASSIGN, How.UNPACK) or binding.value is None:
            return False
        value = binding.value
        if self.is_run(value):
            return True
        made = value
        if binding.how is How.UNPACK:
            # A new container holds what others may hold as well, unless each is made in its place.
            element = _element(value, binding.index)
            if element is None or self.is_run(element):
                return False
            made = element
        if isinstance(binding.node, ast.Assign) and len(binding.node.targets) > 1:
            return isinstance(made, ast.Constant)  # `held = v = []` is one list
        return self._makes_new(made)

    def _makes_new(self, value: ast.expr) -> bool:
        if isinstance(value, ast.Call):
            path = self._names.dotted(value.func)
            return path in _MAKING_NEW and not _may_give_back(value, path)
        return isinstance(value, _NEW_OBJECTS)


def _may_give_back(call: ast.Call, path: str | None) -> bool:
    """Whether what makes a new object may give what it is given: `sum([], start)`."""
    if writes_to_argument(call, path) or any(one.arg == "start" for one in call.keywords):
        return True
    return len(call.args) > _COPYING.get(path or "", len(call.args))


def _element(value: ast.expr, index: int | None) -> ast.expr | None:
    """The expression that a name gets by `name, other = this, that`."""
    if index is None or not isinstance(value, ast.Tuple | ast.List):
        return None
    if any(isinstance(one, ast.Starred) for one in value.elts) or index >= len(value.elts):
        return None
    return value.elts[index]
