"""The Python that runs when a `tf.function` is traced, in all functions of the file it enters."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.program.scopes import How
from tfrewrite.analysis.symbols import PYTHON_OPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.scopes import Binding

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_BUILDERS = frozenset({"__init__", "build", "__new__"})


class TracedCode:
    """Follows the Python of a `tf.function` into the functions of the file that it calls."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._classes = facts.classes
        self._own = facts.own_calls
        self._compiled = facts.compiled_functions
        self._open: set[Binding] = set()

    def bodies(self, code: ast.AST) -> list[ast.AST]:
        """A function and the functions of the file that its trace goes through."""
        found = [code]
        for body in found:
            for node in self.nodes(body):
                if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
                    entered = self._entered(node)
                    if entered is not None and not self._is_within(entered, found):
                        if not self._hands_to_python(node):
                            found.append(entered)
        return found

    def nodes(self, body: ast.AST) -> Iterator[ast.AST]:
        """What of a function is run by the trace: nothing that is kept out of the graph."""
        stack: list[ast.AST] = list(self._parts(body))
        while stack:
            node = stack.pop()
            if isinstance(node, ast.With) and self._leaves_graph(node):
                continue
            if isinstance(node, ast.If) and (eager := self._asks_for_eager(node.test)) is not None:
                stack += node.orelse if eager else node.body
                continue
            if isinstance(node, _FUNCTIONS) and self._is_python_function(node):
                continue
            yield node
            stack += reversed(self._source.children(node))

    def is_local(self, name: ast.Name, bodies: list[ast.AST]) -> bool:
        """Whether a variable belongs to one of some functions, and not to what is around them."""
        owner = self._scopes.of(name).owner(name.id)
        return owner is not None and self._is_within(owner.node, bodies)

    def is_parameter(self, name: ast.Name) -> bool:
        """Whether a name is, or may be, what a caller gives; `self` is not."""
        bindings = self._scopes.bindings(name)
        given = any(binding.how is How.PARAMETER for binding in bindings)
        return given and not self.is_self(name)

    def is_tensor(self, expr: ast.expr, bodies: list[ast.AST]) -> bool:
        """Whether an expression in traced code surely gives a tensor of the graph."""
        match expr:
            case ast.Call(func=func):
                return self._gives_tensor(func)
            case ast.BinOp(left=left, right=right):
                return self.is_tensor(left, bodies) or self.is_tensor(right, bodies)
            case ast.UnaryOp(operand=operand) | ast.Subscript(value=operand):
                return self.is_tensor(operand, bodies)
            case ast.Name():
                return self._is_tensor_name(expr, bodies)
        return False

    # Where the trace goes

    def _parts(self, body: ast.AST) -> list[ast.AST]:
        """What of a function is evaluated when it is called: not its decorators or defaults."""
        if isinstance(body, ast.Lambda):
            return [body.body]
        return list(reversed(getattr(body, "body", [])))

    def _entered(self, node: ast.Name | ast.Attribute) -> ast.AST | None:
        """The function of the file that a name stands for."""
        named = self._own.named(node)
        if named is not None:
            plain = self._own.is_plain(named) and isinstance(named, ast.FunctionDef)
            return named if plain and named.name not in _BUILDERS else None
        parent = self._source.parent(node)
        if not isinstance(parent, ast.Call) or parent.func is not node:
            return None
        cls = self._instance(node)
        return self.called(cls) if cls is not None else None

    def called(self, cls: ast.ClassDef) -> ast.FunctionDef | None:
        """What runs when an object of a class is called; a layer or model runs its `call`."""
        for name in ("__call__", "call"):
            for owner in self._classes.family(cls) or [cls]:
                for statement in owner.body:
                    if isinstance(statement, ast.FunctionDef) and statement.name == name:
                        return statement
        return None

    def _instance(self, node: ast.Name | ast.Attribute) -> ast.ClassDef | None:
        """The class of the file that what is called here is an object of."""
        values: list[ast.expr | None] = []
        if isinstance(node, ast.Name):
            values = [binding.value for binding in self._scopes.bindings(node)]
        elif isinstance(node.value, ast.Name):
            cls = self._classes.of_self(node.value)
            stores = self._classes.stores(cls, node.attr) if cls is not None else None
            values = [store.value for store in stores or ()]
        if len(values) != 1 or not isinstance(values[0], ast.Call):
            return None
        return self._classes.defined(values[0].func)

    def _is_within(self, node: ast.AST, bodies: list[ast.AST]) -> bool:
        return node in bodies or any(one in bodies for one in self._source.ancestors(node))

    def _hands_to_python(self, node: ast.AST) -> bool:
        """Whether a function is handed to what runs it as Python: `tf.py_function(f, ...)`."""
        call = self._source.parent(node)
        if isinstance(call, ast.keyword):
            call = self._source.parent(call)
        if not isinstance(call, ast.Call) or call.func is node:
            return False
        symbol = self._names.tf(call.func) or ""
        return symbol.rpartition(".")[2] in PYTHON_OPS

    def _is_python_function(self, function: ast.AST) -> bool:
        """Whether a function within traced code runs as Python, in each call."""
        if isinstance(function, ast.Lambda):
            return self._hands_to_python(function)
        for decorator in getattr(function, "decorator_list", ()):
            maker = decorator.func if isinstance(decorator, ast.Call) else decorator
            if (self._names.tf(maker) or "").rpartition(".")[2] in PYTHON_OPS:
                return True
        name = getattr(function, "name", "")
        uses = [
            node
            for node in self._source.all(ast.Name)
            if node.id == name
            and isinstance(node.ctx, ast.Load)
            and any(binding.node is function for binding in self._scopes.bindings(node))
        ]
        return bool(uses) and all(self._hands_to_python(use) for use in uses)

    def _leaves_graph(self, statement: ast.With) -> bool:
        return any(
            isinstance(item.context_expr, ast.Call)
            and self._names.tf(item.context_expr.func) == "init_scope"
            for item in statement.items
        )

    def _asks_for_eager(self, test: ast.expr) -> bool | None:
        """Whether a test is true in eager mode only (or false only); None for any other test."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self._asks_for_eager(test.operand)
            return None if inner is None else not inner
        if isinstance(test, ast.Call):
            symbol = (self._names.tf(test.func) or "").rpartition(".")[2]
            if symbol in ("executing_eagerly", "executing_eagerly_outside_functions"):
                return True
            if symbol == "inside_function":
                return False
        return None

    # Tensors

    def _gives_tensor(self, func: ast.expr) -> bool:
        symbol = self._names.tf(func)
        if symbol is not None:
            effect = effect_of(symbol, "2")
            return effect is not None and effect.returns_tensor and not effect.calls
        return isinstance(func, ast.Attribute) and func.attr == "read_value"

    def _is_tensor_name(self, name: ast.Name, bodies: list[ast.AST]) -> bool:
        bindings = self._scopes.bindings(name)
        if not bindings or not self.is_local(name, bodies):
            return False
        for binding in bindings:
            if binding in self._open or binding.how not in (How.ASSIGN, How.AUGMENT):
                return False
            self._open.add(binding)
            try:
                if binding.value is None or not self.is_tensor(binding.value, bodies):
                    return False
            finally:
                self._open.discard(binding)
        return True

    def is_self(self, name: ast.Name) -> bool:
        bindings = self._scopes.bindings(name)
        if len(bindings) != 1 or bindings[0].how is not How.PARAMETER or bindings[0].index != 0:
            return False
        function = self._source.function(bindings[0].node)
        return isinstance(self._source.parent(function), ast.ClassDef) if function else False
