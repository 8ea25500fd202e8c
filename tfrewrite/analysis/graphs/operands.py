"""Whether a value that ops are made of is there before a loop, and the same in each turn of it.

A name that is not rebound is not enough: a list may grow, and an array may be written to, while the
name stays. Tensors, variables, numbers and texts stay what they are.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.nodes import Kind
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.python_calls import CallEffect, effect_of_path
from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.nodes import Node
    from tfrewrite.analysis.program.scopes import Binding

_MAX_CALLERS = 6
_GIVING_NUMBERS = frozenset(f"builtins.{name}" for name in "len int float str bool round".split())
_LIBRARIES = frozenset({"tensorflow", "numpy", "math", "builtins"})
_NUMBERS = (int, float, complex, str, bytes, bool, type(None))


class Operands:
    """Questions about the values that ops are made of."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._classes = facts.classes
        self._containers = facts.containers
        self._own = facts.own_calls
        self._tracer = facts.graph
        self._hoisting = facts.hoisting
        self._next_elements = facts.next_elements
        self._settings = facts.settings
        self._afterwards = facts.afterwards
        self._open: set[Binding] = set()

    def obstacle(self, operand: ast.Name | ast.Attribute, loop: ast.AST) -> Obstacle | None:
        """Why a name or an attribute may not be, before a loop, what it is in each turn."""
        path = self._names.dotted(operand)
        if path is not None and path.partition(".")[0] in _LIBRARIES:
            # Else it is a type or a constant.
            return self.imported(operand, loop) or self._flag(operand, path, loop)
        found = self._hoisting.unsure(operand, loop)
        if found is not None:
            return found
        if self._stays(operand, loop, 0):
            return None
        message = f"it is not known what `{ast.unparse(operand)}` is, and whether it stays so"
        return Obstacle("operand-unknown", message)

    def imported(self, api: ast.expr, loop: ast.AST) -> Obstacle | None:
        """Why the name of a library may not be there yet before a loop: the loop imports it."""
        root = api
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or self._names.dotted(api) is None:
            return None
        for binding in self._scopes.bindings(root):
            if loop in self._source.ancestors(binding.node):
                line = getattr(binding.node, "lineno", root.lineno)
                return Obstacle("rebound-in-loop", f"`{root.id}` gets its value in line {line}")
        return None

    def _flag(self, operand: ast.expr, path: str, loop: ast.AST) -> Obstacle | None:
        if ".FLAGS" not in path:
            return None
        if not self._settings.parsed_anew(self._afterwards.within(self._source.statement(loop))):
            return None
        message = f"`{ast.unparse(operand)}` may get another value from the command line"
        return Obstacle("rebound-in-loop", message)

    def receiver(self, owner: ast.expr, loop: ast.AST) -> Obstacle | None:
        """Why the object, a method of which is called, may be another one in each turn."""
        return self._hoisting.unsure(owner, loop)

    def local(self, expr: ast.expr, loop: ast.AST) -> bool:
        """Whether a name belongs to a function that is called in the loop, and is made in it."""
        if not isinstance(expr, ast.Name):
            return False
        owner = self._scopes.of(expr).owner(expr.id)
        function = self._source.function(loop)
        inside = isinstance(owner.node if owner else None, ast.FunctionDef)
        return (
            inside
            and owner is not None
            and owner.node is not function
            and owner.node is self._source.function(expr)
            and owner.node not in self._source.ancestors(loop)
        )

    def binds_locals(self, target: ast.expr, function: ast.FunctionDef) -> bool:
        """Whether a target of an assignment is made of names of a function."""
        if isinstance(target, (ast.Tuple, ast.List)):
            return all(self.binds_locals(one, function) for one in target.elts)
        if not isinstance(target, ast.Name):
            return False
        owner = self._scopes.of(target).owner(target.id)
        return owner is not None and owner.node is function

    def augments_own(self, target: ast.Name) -> bool:
        """Whether `name += value` changes no list and no array that others hold, or a default."""
        return all(map(self._is_own, self._scopes.bindings(target)))

    def _is_own(self, binding: Binding) -> bool:
        """Whether a binding gives what cannot change, or what is made on the spot."""
        if binding in self._open or binding.how is How.AUGMENT:
            return True
        if binding.how is How.PARAMETER:
            given = self._own.given(binding)
            given = given if given is None or binding.value is None else [*given, binding.value]
        else:
            given = [binding.value] if binding.how is How.ASSIGN and binding.value else None
            if given and isinstance(given[0], (ast.List, ast.ListComp, ast.BinOp)):
                return True  # a new object
        self._open.add(binding)
        try:
            return bool(given) and all(map(self._is_fixed, given or ()))
        finally:
            self._open.discard(binding)

    def _is_fixed(self, value: ast.expr) -> bool:
        if self._is_number(value) or self._is_tensor(self._tracer.trace(value)):
            return True
        return isinstance(value, ast.Name) and self.augments_own(value)

    def python_call(self, call: ast.Call) -> bool:
        """Whether a call of Python's or numpy's gives the same for the same arguments."""
        path = self._names.dotted(call.func)
        return path is not None and effect_of_path(path) is CallEffect.PURE

    def is_number(self, expr: ast.expr) -> bool:
        """Whether a value is surely a number, a text or the like, or a tuple of such."""
        return self._is_number(expr)

    # What stays as it is

    def _stays(self, expr: ast.expr, loop: ast.AST, depth: int) -> bool:
        """Whether the value that an expression had once is one that nothing changes."""
        if depth > _MAX_CALLERS:
            return False
        if self._is_number(expr) or self._is_iterator(expr):
            return True
        value = self._tracer.trace(expr)
        if self._is_tensor(value):
            return True
        if value.kind is Kind.STRUCTURE and isinstance(expr, (ast.Name, ast.Attribute)):
            return self._is_kept(expr, loop) and all(
                self._is_tensor(one) or self._is_number_of(one) for one in value.values
            )
        if self._stores_tensor(expr):
            return True
        given = self._given(expr)
        return bool(given) and all(self._stays(one, loop, depth + 1) for one in given)

    def _is_tensor(self, value: Node) -> bool:
        if value.kind is Kind.CHOICE:
            return bool(value.values) and all(
                one.kind in (Kind.OP, Kind.VARIABLE, Kind.ELEMENT) for one in value.values
            )
        if value.kind is Kind.ELEMENT:
            return all(one.kind in (Kind.OP, Kind.VARIABLE, Kind.ELEMENT) for one in value.values)
        return value.kind in (Kind.OP, Kind.VARIABLE)

    def _is_number_of(self, value: Node) -> bool:
        return isinstance(value.expr, ast.expr) and self._is_number(value.expr)

    def _is_iterator(self, expr: ast.expr) -> bool:
        return self._next_elements.makes_graph_iterator(expr)

    def _given(self, expr: ast.expr) -> list[ast.expr]:
        """What the callers give for a parameter; nothing where they are not all seen."""
        bindings = self._scopes.bindings(expr) if isinstance(expr, ast.Name) else []
        if len(bindings) != 1 or bindings[0].how is not How.PARAMETER:
            return []
        return self._own.given(bindings[0]) or []

    def _stores_tensor(self, expr: ast.expr) -> bool:
        """Whether the class of an object stores but a tensor or a number in an attribute."""
        if not isinstance(expr, ast.Attribute):
            return False
        cls = self._hoisting.class_of(expr.value)
        stores = self._classes.stores(cls, expr.attr) if cls is not None else None
        if not stores or len(stores) > 1 or stores[0].index is not None:
            return False
        value = stores[0].value
        return value is not None and (
            self._is_number(value) or self._is_tensor(self._tracer.trace(value))
        )

    def _is_kept(self, expr: ast.Name | ast.Attribute, loop: ast.AST) -> bool:
        """Whether a container is left as it is from the loop on."""
        uses: list[ast.expr] = []
        if isinstance(expr, ast.Name):
            uses += self._scopes.uses(expr)
        else:
            if self._classes.read_by_text(expr.attr):
                return False
            uses += self._classes.reads(expr.attr)
        return all(self._leaves_as_it_is(use) or self._is_past(use, loop) for use in uses)

    def _leaves_as_it_is(self, use: ast.expr) -> bool:
        """Whether a use neither changes a container nor gives it to those who may."""
        if isinstance(self._source.parent(use), ast.Return):
            return False
        return self._containers.added_through(use) == ([], True)

    def _is_past(self, use: ast.expr, loop: ast.AST) -> bool:
        """Whether a use surely lies before a loop, in the same function."""
        if self._source.function(use) is not self._source.function(loop):
            return False
        statement = self._source.statement(use)
        shared = set(self._hoisting.loops(use)) & set(self._hoisting.loops(loop))
        return not shared and self._hoisting.comes_first(statement, self._source.statement(loop))

    def _is_number(self, expr: ast.expr) -> bool:
        """Whether a value is a number, a text or the like, which nothing can change in place."""
        match expr:
            case ast.Constant(value=value):
                return isinstance(value, _NUMBERS)
            case ast.JoinedStr():
                return True
            case ast.UnaryOp(operand=operand):
                return self._is_number(operand)
            case ast.BinOp(left=left, right=right):
                return self._is_number(left) and self._is_number(right)
            case ast.Tuple(elts=elements):
                return all(map(self._is_number, elements))
            case ast.Call():
                return self._names.dotted(expr.func) in _GIVING_NUMBERS
            case ast.Name():
                bindings = self._scopes.bindings(expr)
                return bool(bindings) and all(map(self._binds_number, bindings))
            case ast.Attribute(value=ast.Name() as owner):
                return self._holds_number(owner, expr.attr)
        return False

    def _binds_number(self, binding: Binding) -> bool:
        if binding in self._open:
            return True
        if binding.how is How.PARAMETER:
            given = self._own.given(binding) or []
        elif binding.how in (How.ASSIGN, How.AUGMENT) and binding.value is not None:
            given = [binding.value]
        else:
            counted = binding.value if binding.how is How.LOOP else None
            return isinstance(counted, ast.Call) and self._names.dotted(counted.func) in (
                "builtins.range", "builtins.xrange",
            )  # fmt: skip
        self._open.add(binding)
        try:
            return bool(given) and all(map(self._is_number, given))
        finally:
            self._open.discard(binding)

    def _holds_number(self, owner: ast.Name, attribute: str) -> bool:
        cls = self._classes.of_self(owner)
        stores = self._classes.stores(cls, attribute) if cls is not None else None
        return bool(stores) and all(
            store.value is not None and store.index is None and self._is_number(store.value)
            for store in stores or ()
        )
