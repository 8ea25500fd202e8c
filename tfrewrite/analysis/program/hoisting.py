"""Where a statement goes that leaves a loop, and whether what it uses is there already.

It goes just before the outermost loop in which its operands stay what they are, and no further out
than the `with` statement that it stands in: what is made in a graph gets its name, its device and
its control dependencies from what stands around.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.scopes import COMPREHENSIONS, Binding, How

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.classes import Method, Store

_LOOPS = (ast.For, ast.While)
_STOPS = (ast.With, ast.AsyncWith, ast.AsyncFor, ast.Match)
_MAX_CALLERS = 4
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_METHODS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, eq=False)
class Place:
    """The statement before which a new one goes: a loop, or what holds a comprehension."""

    before: ast.stmt
    all_loops: bool
    """Whether that is outside of every loop of the function."""


class Hoisting:
    """Finds the way out of loops."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._flow = facts.flow
        self._classes = facts.classes
        self._managers = facts.managers
        self._own = facts.own_calls

    def loops(self, node: ast.AST) -> list[ast.AST]:
        """What evaluates a node again and again within its function, from the inside out."""
        found: list[ast.AST] = []
        child = node
        for outer in self._flow.enclosing(node):
            if _repeats(outer, child):
                found.append(outer)
            child = outer
        return found

    def outermost(self, loop: ast.stmt) -> ast.stmt:
        """The loop that a loop stands in, through however many others, or the loop itself."""
        outer = [one for one in self.loops(loop) if isinstance(one, _LOOPS)]
        return outer[-1] if outer else loop

    def place(self, node: ast.expr, operands: Sequence[ast.expr]) -> Place | Obstacle:
        """Where an expression can be evaluated once for all turns of the loops around it."""

        def unsure(loop: ast.AST) -> Obstacle | None:
            return next(filter(None, (self.unsure(one, loop) for one in operands)), None)

        return self.place_by(node, unsure)

    def place_by(
        self, node: ast.expr | ast.stmt, obstacle_in: Callable[[ast.AST], Obstacle | None]
    ) -> Place | Obstacle:
        """The same, where the caller says of each loop what speaks against leaving it."""
        best: ast.AST | None = None
        obstacle = Obstacle("not-in-loop", "no loop stands around it")
        child: ast.AST = node
        for outer in self._flow.enclosing(node):
            if isinstance(outer, _STOPS) and child in getattr(outer, "body", ()):
                line = getattr(outer, "lineno", 0)
                message = f"it is made under line {line}, within the loop"
                obstacle = Obstacle("scope-in-loop", message)
                break
            if _repeats(outer, child):
                found = obstacle_in(outer)
                if found is not None:
                    obstacle = found
                    break
                best = outer
            child = outer
        statement = self._before_which(best) if best is not None else None
        if statement is None:
            return obstacle
        return Place(statement, not self.loops(statement))

    def resumed(self, node: ast.AST) -> Obstacle | None:
        """Whether the function that a node stands in may be left and resumed under other scopes."""
        function = self._source.function(node)
        left = [
            inner
            for inner in (ast.walk(function) if function is not None else ())
            if isinstance(inner, (ast.Yield, ast.YieldFrom, ast.Await))
        ]
        if all(self._source.function(inner) is not function for inner in left):
            return None
        name = getattr(function, "name", "")
        return Obstacle("generator", f"`{name}` is left and resumed, perhaps under other scopes")

    def _before_which(self, loop: ast.AST) -> ast.stmt | None:
        """The statement that a loop is or stands in; none where that is outside of a lambda."""
        statement = self._source.statement(loop)
        if self._source.function(statement) is not self._source.function(loop):
            return None
        while isinstance(statement, ast.If) and self._source.segment(statement)[:4] == "elif":
            outer = self._source.parent(statement)
            assert isinstance(outer, ast.stmt)
            statement = outer
        return statement

    def unsure(self, operand: ast.expr, loop: ast.AST) -> Obstacle | None:
        """Why an operand may not have, just before a loop, the value that it has in each turn."""
        match operand:
            case ast.Constant():
                return None
            case ast.Name():
                return self._name(operand, loop)
            case ast.Attribute(value=ast.Name() | ast.Attribute() as base):
                return self.unsure(base, loop) or self._attribute(operand, base, loop)
            case ast.Call(func=func, args=parts, keywords=[]) if self._joins_path(func):
                return next(filter(None, (self.unsure(part, loop) for part in parts)), None)
        return _not_sure(operand, "is found out anew in each turn")

    def _joins_path(self, func: ast.expr) -> bool:
        return self._names.dotted(func) == "os.path.join"

    # Names

    def _name(self, name: ast.Name, loop: ast.AST) -> Obstacle | None:
        everything = self._scopes.bindings(name)
        if not everything:
            return _not_sure(name, "is not bound in this file")
        for binding in everything:
            if loop is binding.node or loop in self._source.ancestors(binding.node):
                line = getattr(binding.node, "lineno", name.lineno)
                return Obstacle("rebound-in-loop", f"`{name.id}` gets its value in line {line}")
            if isinstance(binding.node, ast.arg):
                continue
            function = self._source.function(binding.node)
            if function is not None and function not in self._source.ancestors(name):
                return _not_sure(name, "is set by another function")
        home = self._scopes.of(name).owner(name.id)
        owner = home.node if home is not None else None
        if isinstance(owner, (*COMPREHENSIONS, ast.ClassDef)):
            return _not_sure(name, "is a name of a comprehension or a class")
        if any(isinstance(binding.node, ast.arg) for binding in everything):
            return None
        if owner is self._function_of(loop):
            sure = any(self._before(binding, loop) for binding in everything)
            sure = sure or self._by_every_way(everything, loop)
        else:
            sure = len(everything) == 1 and self._always(everything[0].node)
        return None if sure else _not_sure(name, "may not be bound yet before the loop")

    def _function_of(self, node: ast.AST) -> ast.AST:
        return self._source.function(node) or self._source.tree

    def _before(self, binding: Binding, loop: ast.AST) -> bool:
        """Whether a binding was surely made, in the same function, when a loop begins."""
        statement = self._source.statement(binding.node)
        if isinstance(statement, (ast.With, *_LOOPS)) and statement is binding.node:
            return statement in self._source.ancestors(loop)
        return self.comes_first(statement, self._source.statement(loop))

    def comes_first(self, statement: ast.stmt, later: ast.stmt) -> bool:
        """Whether a statement has surely been reached and left when another one begins."""
        around = [later, *self._source.ancestors(later)]
        while True:
            block, index = self._source.position(statement)
            for other in block[index + 1 :]:
                if other in around:
                    return True
            parent = self._source.parent(statement)
            if not isinstance(parent, ast.With) or not self._managers.known(parent):
                return False
            statement = parent

    def _by_every_way(self, bindings: list[Binding], loop: ast.AST) -> bool:
        """Whether both branches of an `if` before a loop bind a name."""
        bound = {self._source.statement(binding.node) for binding in bindings}
        for statement in bound:
            parent = self._source.parent(statement)
            if isinstance(parent, ast.If) and self.comes_first(
                parent, self._source.statement(loop)
            ):
                if bound & set(parent.body) and bound & set(parent.orelse):
                    return True
        return False

    def _always(self, node: ast.AST) -> bool:
        """Whether a statement runs each time that its function or module does, and only once."""
        for outer in self._source.ancestors(self._source.statement(node)):
            if isinstance(outer, (*_FUNCTIONS, ast.Module)):
                return True
            main = isinstance(outer, ast.If) and "__name__" in ast.unparse(outer.test)
            if not main and not (isinstance(outer, ast.With) and self._managers.known(outer)):
                return False
        return False

    # Attributes

    def set_when_made(self, expr: ast.Attribute) -> Store | None:
        """The statement of a constructor that sets an attribute, if it does once for all."""
        cls = self._classes.of_self(expr.value) if isinstance(expr.value, ast.Name) else None
        stores = self._classes.stores(cls, expr.attr) if cls is not None else None
        if not stores or len(stores) > 1 or stores[0].augmented or self._classes.runs_code(expr):
            return None
        return stores[0] if self._when_made(stores[0]) else None

    def _attribute(self, expr: ast.Attribute, base: ast.expr, loop: ast.AST) -> Obstacle | None:
        cls = self.class_of(base)
        stores = self._classes.stores(cls, expr.attr) if cls is not None else None
        if not stores or self._classes.runs_code(expr):
            return _not_sure(expr, "is set out of sight")
        if len(stores) > 1 or stores[0].augmented or stores[0].method is None:
            lines = ", ".join(str(store.target.lineno) for store in stores)
            return _not_sure(expr, f"is set in line {lines}, and not once for all")
        store = stores[0]
        if self._source.function(loop) is store.method:
            statement = self._source.statement(store.target)
            inside = loop in self._source.ancestors(store.target)
            if not inside and self.comes_first(statement, self._source.statement(loop)):
                return None
        elif self._when_made(store) or self._set_before_call(store, loop):
            return None
        return _not_sure(expr, f"is set in line {store.target.lineno}, at a time that is not known")

    def class_of(self, expr: ast.expr, depth: int = 0) -> ast.ClassDef | None:
        """The class of the object that an expression stands for, if only for that."""
        if isinstance(expr, ast.Call):
            return self._classes.defined(expr.func)
        if isinstance(expr, ast.Name):
            return self._classes.of_self(expr) or self._class_of_name(expr, depth)
        if isinstance(expr, ast.Attribute):
            owner = self.class_of(expr.value, depth)
            stores = self._classes.stores(owner, expr.attr) if owner is not None else None
            value = stores[0].value if stores and len(stores) == 1 else None
            return self.class_of(value, depth) if isinstance(value, ast.Call) else None
        return None

    def _class_of_name(self, name: ast.Name, depth: int) -> ast.ClassDef | None:
        bindings = self._scopes.bindings(name)
        if len(bindings) != 1 or depth > _MAX_CALLERS:
            return None
        if bindings[0].how is How.PARAMETER:
            given = self._own.given(bindings[0]) or []
            classes = {self.class_of(one, depth + 1) for one in given}
            return classes.pop() if len(classes) == 1 else None
        value = bindings[0].value if bindings[0].how is How.ASSIGN else None
        return self.class_of(value, depth) if isinstance(value, ast.Call) else None

    def _when_made(self, store: Store) -> bool:
        """Whether an attribute is set when its object is made, and never again."""
        method: Method | None = store.method
        if method is None or not self._always(store.target) or method.decorator_list:
            return False
        for again in self._classes.reads("__init__"):
            if not (isinstance(again.value, ast.Call) and ast.unparse(again.value.func) == "super"):
                return False
        if method.name == "__init__":
            return True
        calls = self._own.calls(method)
        if not calls or len(calls) != 1 or not isinstance(calls[0].func, ast.Attribute):
            return False
        caller = self._source.function(calls[0])
        receiver = calls[0].func.value
        return (
            isinstance(caller, ast.FunctionDef)
            and caller.name == "__init__"
            and isinstance(receiver, ast.Name)
            and self._classes.of_self(receiver) is not None
            and self._always(calls[0])
            and not self.loops(calls[0])
        )

    def _set_before_call(self, store: Store, loop: ast.AST) -> bool:
        """Whether `model.build()`, which sets an attribute, always comes before `model.train()`."""
        function = self._source.function(loop)
        if not isinstance(function, _METHODS) or function in self._setters(store):
            return False
        setting = self.setting(store)
        training = self._from_outside(function)
        if not setting or not training:
            return False
        return all(
            any(self._same_object(earlier, call) for earlier in setting) for call in training
        ) and all(any(self._same_object(call, later) for later in training) for call in setting)

    def setting(self, store: Store) -> list[ast.Call]:
        """The calls, from outside of the methods that surely set an attribute, that do."""
        setters = self._setters(store)
        calls = [call for setter in setters for call in self._own.calls(setter) or ()]
        return [call for call in calls if not self._is_inner(call, setters)]

    def _from_outside(self, method: Method) -> list[ast.Call]:
        """The calls that lead to a method from outside of its object; none if not all are seen."""
        found: list[ast.Call] = []
        methods = [method]
        for one in methods:
            calls = self._own.calls(one)
            if not calls:
                return []
            for call in calls:
                caller = self._source.function(call)
                if not self._is_of_self(call):
                    found.append(call)
                elif not isinstance(caller, _METHODS):
                    return []
                elif caller not in methods:
                    methods.append(caller)
        return found

    def _setters(self, store: Store) -> list[Method]:
        """The methods that surely set an attribute, by themselves or by what they call."""
        method = store.method
        if method is None or not self._always(store.target) or method.decorator_list:
            return []
        found = [method]
        for setter in found:
            calls = self._own.calls(setter)
            if calls is None:
                return []
            for call in calls:
                caller = self._source.function(call)
                if isinstance(caller, _METHODS) and self._is_of_self(call) and self._always(call):
                    if not self.loops(call) and caller not in found:
                        found.append(caller)
        return found

    def _is_inner(self, call: ast.Call, setters: list[Method]) -> bool:
        return self._is_of_self(call) and self._source.function(call) in setters

    def _is_of_self(self, call: ast.Call) -> bool:
        receiver = getattr(call.func, "value", None)
        return isinstance(receiver, ast.Name) and self._classes.of_self(receiver) is not None

    def _same_object(self, earlier: ast.Call, call: ast.Call) -> bool:
        """Whether a method is called first, and then another one of the same object."""
        one, other = getattr(earlier.func, "value", None), getattr(call.func, "value", None)
        if not isinstance(one, ast.Name) or not isinstance(other, ast.Name) or one.id != other.id:
            return False
        if self._source.function(one) is not self._source.function(other):
            return False
        if len(self._scopes.bindings(one)) != 1:
            return False
        return self.comes_first(self._source.statement(earlier), self._source.statement(call))


def _repeats(outer: ast.AST, child: ast.AST) -> bool:
    """Whether a part of a node is evaluated once for each turn of it."""
    match outer:
        case ast.For(body=body):
            return child in body
        case ast.While(body=body, test=test):
            return child in body or child is test
        case ast.ListComp(elt=element) | ast.SetComp(elt=element):
            return child is element
        case ast.DictComp(key=key, value=value):
            return child in (key, value)
    return False


def _not_sure(operand: ast.expr, why: str) -> Obstacle:
    return Obstacle("operand-not-sure", f"`{ast.unparse(operand)}` {why}")
