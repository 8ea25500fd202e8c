"""Whether a value is only shown to somebody, or acts on what the program does next."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.python_calls import (
    CallEffect,
    effect_of_method,
    effect_of_path,
    writes_to_argument,
)
from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_LOGGING = frozenset("debug info warning warn error critical exception log".split())
_RAISING = frozenset({"builtins.int", "builtins.range"})
_SHOWING = (
    "builtins.print",
    "logging.",
    "matplotlib.pyplot.",
    "tensorflow.logging.",
    "sys.stdout.",
)
# A variable by its scope and name, and the statement that gives it the value, where it is one.
_Variable = tuple[object, str, ast.stmt | None]
_COLLECTING = frozenset({"append", "extend"})


class Reports:
    """Follows a variable to every place that its value reaches."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._flow = facts.flow
        self._classes = facts.classes
        self._owned = facts.ownership

    def acting_use(self, name: ast.Name) -> ast.AST | None:
        """A place where a variable's value does more than being shown; None if there is none."""
        return self._variable(name, set())

    def acting_expression(self, expr: ast.expr) -> ast.AST | None:
        """The same for the value of an expression where it stands."""
        return self._use(expr, set())

    def _variable(self, name: ast.Name, seen: set[_Variable]) -> ast.AST | None:
        owner = self._scopes.of(name).owner(name.id)
        if owner is None or self._classes.overloads:
            return name
        binding = self._source.statement(name) if isinstance(name.ctx, ast.Store) else None
        if {(owner, name.id, None), (owner, name.id, binding)} & seen:
            return None
        seen.add((owner, name.id, binding))
        for use in self._scopes.uses(name):
            if binding is not None and not self._may_see(use, binding):
                continue  # the name has been given another value by then
            acting = self._use(use, seen)
            if acting is not None:
                return acting
        return None

    def _may_see(self, use: ast.expr, binding: ast.stmt) -> bool:
        if not isinstance(use, ast.Name):
            return True
        reaching = self._flow.reaching(use)
        # `value += 1` gives the name another value that is made of the old one.
        return any(
            other.how is How.AUGMENT or self._source.statement(other.node) is binding
            for other in reaching
        )

    def _use(self, use: ast.expr, seen: set[_Variable]) -> ast.AST | None:
        """Climbs from a use to what becomes of it."""
        node: ast.AST = use
        while True:
            parent = self._source.parent(node)
            if isinstance(parent, ast.Call) and node is not parent.func:
                if self._shows(parent):
                    return None
                if self._collects(parent):
                    assert isinstance(parent.func, ast.Attribute)
                    return self._collected(parent.func.value, seen)
                if not self._computes(parent):
                    return use
            elif isinstance(parent, ast.Attribute) and node is parent.value:
                call = self._source.parent(parent)
                if isinstance(call, ast.Call) and call.func is parent:
                    if effect_of_method(parent.attr) is not CallEffect.PURE:
                        return None if parent.attr in _COLLECTING else use
                    node = call
                    continue
                return use
            elif isinstance(parent, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
                if isinstance(parent, ast.AugAssign):
                    return self._collected(parent.target, seen)
                targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
                for target in targets:
                    acting = self._target(target, seen)
                    if acting is not None:
                        return acting
                return None
            elif isinstance(parent, ast.Expr):
                return None
            elif (
                not isinstance(parent, _PASSING)
                or (isinstance(parent, ast.Subscript) and node is not parent.value)
                or (isinstance(parent, ast.BinOp) and node is parent.right and _divides(parent))
            ):
                return use
            node = parent

    def _target(self, target: ast.expr, seen: set[_Variable]) -> ast.AST | None:
        if isinstance(target, ast.Name):
            return self._variable(target, seen)
        if isinstance(target, (ast.Tuple, ast.List)):
            found = (self._target(element, seen) for element in target.elts)
            return next((acting for acting in found if acting is not None), None)
        return target

    def _collected(self, target: ast.expr, seen: set[_Variable]) -> ast.AST | None:
        """The same for a sum or a list that the value goes into, if that is this variable's own."""
        if not isinstance(target, ast.Name):
            return target
        if not (self._owned.number(target) or self._owned.alone(target)):
            return target
        return self._variable(target, seen)

    def _shows(self, call: ast.Call) -> bool:
        path = self._names.dotted(call.func)
        if path is None or any(keyword.arg == "file" for keyword in call.keywords):
            return False
        if path.startswith("logging.") and path.rpartition(".")[2] not in _LOGGING:
            return False
        if "logging." in path and self._classes.sees_logs:
            return False
        return path.startswith(_SHOWING)

    def _collects(self, call: ast.Call) -> bool:
        return isinstance(call.func, ast.Attribute) and call.func.attr in _COLLECTING

    def _computes(self, call: ast.Call) -> bool:
        path = self._names.dotted(call.func)
        if writes_to_argument(call, path) or path in _RAISING:
            return False
        if path is not None:
            return effect_of_path(path) is CallEffect.PURE
        return isinstance(call.func, ast.Attribute) and call.func.attr in ("format", "join")


_PASSING = (
    ast.BinOp, ast.UnaryOp, ast.JoinedStr, ast.FormattedValue, ast.Tuple, ast.List, ast.Dict,
    ast.keyword, ast.Call, ast.Subscript, ast.Starred, ast.Compare,
)  # fmt: skip


def _divides(operation: ast.BinOp) -> bool:
    """Whether an operation fails for some right operands; putting them into a text does not."""
    if isinstance(operation.left, (ast.Constant, ast.JoinedStr)) and isinstance(
        operation.op, ast.Mod
    ):
        return False
    return isinstance(operation.op, (ast.Div, ast.FloorDiv, ast.Mod, ast.Pow))
