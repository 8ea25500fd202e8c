"""The functions of a file and their callers, as far as all of them are seen."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.classes import Method
    from tfrewrite.analysis.program.scopes import Binding, Scope

_Leaving = ast.Return | ast.Yield | ast.YieldFrom


class OwnCalls:
    """Goes from a call to the function it runs, and from a function to its calls."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._classes = facts.classes

    def function(self, call: ast.Call) -> Method | None:
        """The function or method of this file that a call runs."""
        return self.named(call.func)

    def named(self, func: ast.expr) -> Method | None:
        """The function or method of this file that an expression stands for."""
        if isinstance(func, ast.Name):
            bindings = self._scopes.bindings(func)
            node = bindings[0].node if len(bindings) == 1 else None
            return node if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            cls = self._classes.of_self(func.value) or self._instance_of(func.value)
            return self._classes.method(cls, func.attr) if cls is not None else None
        return None

    def returned(self, function: Method) -> list[ast.expr]:
        """What a plain function may return; empty where a decorator or generator hides it."""
        if function.decorator_list or isinstance(function, ast.AsyncFunctionDef):
            return []
        return self.given_back(function)

    def given_back(self, function: Method) -> list[ast.expr]:
        """The same, whatever its decorators make of it."""
        nodes = self._leaving.get(function, [])
        if not all(isinstance(node, ast.Return) for node in nodes):
            return []
        return [node.value for node in nodes if node.value is not None]

    def yielded(self, function: Method) -> list[ast.expr]:
        """What a plain generator gives; empty where it is none, or is told something."""
        if function.decorator_list or isinstance(function, ast.AsyncFunctionDef):
            return []
        found: list[ast.expr] = []
        for node in self._leaving.get(function, []):
            if isinstance(node, ast.YieldFrom):
                return []
            if isinstance(node, ast.Yield):
                if node.value is None or not isinstance(self._source.parent(node), ast.Expr):
                    return []
                found.append(node.value)
        return found

    @cached_property
    def _leaving(self) -> dict[ast.AST, list[_Leaving]]:
        """What gives something back, of each function, in the order of the text."""
        found: dict[ast.AST, list[_Leaving]] = {}
        all_of = self._source.all
        nodes: list[_Leaving] = [*all_of(ast.Return), *all_of(ast.Yield), *all_of(ast.YieldFrom)]
        for node in sorted(nodes, key=lambda one: (one.lineno, one.col_offset)):
            function = self._source.function(node)
            if function is not None:
                found.setdefault(function, []).append(node)
        return found

    def calls(self, function: Method) -> list[ast.Call] | None:
        """Every call of a function; None where it is also used, or may be used, in another way."""
        if not self.is_plain(function):
            return None
        uses: list[ast.expr] = [*self._named.get(function, [])]
        if isinstance(self._source.parent(function), ast.ClassDef):
            if self._methods.get(function.name) != [function]:
                return None
            reads = self._classes.reads(function.name)
            uses += [use for use in reads if self._names.dotted(use) is None]  # not `tf.train`
        found = []
        for use in uses:
            parent = self._source.parent(use)
            if not isinstance(parent, ast.Call) or parent.func is not use:
                return None
            found.append(parent)
        return found

    def given(self, parameter: Binding) -> list[ast.expr] | None:
        """What the callers give for a parameter; None where not all are known."""
        function = self._source.function(parameter.node)
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        calls = self.calls(function)
        if not calls:
            return None
        method = isinstance(self._source.parent(function), ast.ClassDef)
        found = []
        for call in calls:
            argument = _argument(call, parameter, 1 if method else 0) or parameter.value
            if argument is None:
                return None
            found.append(argument)
        return found

    def argument(self, call: ast.Call, parameter: Binding) -> ast.expr | None:
        """What a call gives for a parameter of the function that it runs; none for a default."""
        function = self._source.function(parameter.node)
        method = function is not None and isinstance(self._source.parent(function), ast.ClassDef)
        if method and parameter.index == 0:
            return call.func.value if isinstance(call.func, ast.Attribute) else None
        return _argument(call, parameter, 1 if method else 0)

    def parameter(self, call: ast.Call, argument: ast.expr) -> Binding | None:
        """The parameter of the function called that an argument becomes."""
        function = self.function(call)
        if function is None:
            return None
        method = isinstance(self._source.parent(function), ast.ClassDef)
        for bindings in self._scopes.inside(function).bindings.values():
            binding = bindings[0]
            single = isinstance(binding.node, ast.arg) and len(bindings) == 1
            if single and _argument(call, binding, 1 if method else 0) is argument:
                return binding
        return None

    def bindings_at(self, target: ast.Name) -> list[Binding]:
        """The bindings that an assignment to a name makes."""
        statement = self._source.statement(target)
        return [
            binding
            for binding in self._scopes.bindings(target)
            if self._source.statement(binding.node) is statement
        ]

    def uses(self, binding: Binding) -> list[ast.Name]:
        """Every read of the variable that a binding binds."""
        return self._reads.get((self._home(binding), binding.name), [])

    def _home(self, binding: Binding) -> Scope | None:
        node = binding.node
        scope = self._scopes.of(node)
        if isinstance(node, ast.arg):
            function = self._source.function(node)
            assert function is not None
            scope = self._scopes.inside(function)
        return scope.owner(binding.name)

    @cached_property
    def _reads(self) -> dict[tuple[Scope | None, str], list[ast.Name]]:
        found: dict[tuple[Scope | None, str], list[ast.Name]] = {}
        for node in self._source.all(ast.Name):
            if isinstance(node.ctx, ast.Load):
                owner = self._scopes.of(node).owner(node.id)
                found.setdefault((owner, node.id), []).append(node)
        return found

    def is_plain(self, function: ast.AST) -> bool:
        """Whether no decorator but `tf.function` stands between a function and its callers."""
        paths = [
            self._names.tf(d.func if isinstance(d, ast.Call) else d)
            for d in getattr(function, "decorator_list", ())
        ]
        return all(path == "function" for path in paths)

    def _instance_of(self, name: ast.Name) -> ast.ClassDef | None:
        bindings = self._scopes.bindings(name)
        value = bindings[0].value if len(bindings) == 1 else None
        return self._classes.defined(value.func) if isinstance(value, ast.Call) else None

    @cached_property
    def _named(self) -> dict[ast.AST, list[ast.expr]]:
        found: dict[ast.AST, list[ast.expr]] = {}
        for node in self._source.all(ast.Name):
            if isinstance(node.ctx, ast.Load):
                for binding in self._scopes.bindings(node):
                    if isinstance(binding.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                        found.setdefault(binding.node, []).append(node)
        return found

    @cached_property
    def _methods(self) -> dict[str, list[Method]]:
        found: dict[str, list[Method]] = {}
        for node in self._source.all(ast.ClassDef):
            for statement in node.body:
                if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    found.setdefault(statement.name, []).append(statement)
        return found


def _argument(call: ast.Call, parameter: Binding, offset: int) -> ast.expr | None:
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    for keyword in call.keywords:
        if keyword.arg == parameter.name:
            return keyword.value
    if parameter.index is None:
        return None
    position = parameter.index - offset
    return call.args[position] if 0 <= position < len(call.args) else None
