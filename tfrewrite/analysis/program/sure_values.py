"""Which names have surely got a value, whatever was decided on the way."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterable


class SureValues:
    """Which of its names a stretch of code has given a value to, whatever is decided in it."""

    def __init__(
        self,
        names: Iterable[ast.Name],
        parameters: Iterable[str],
        without: Container[ast.stmt] = (),
    ) -> None:
        self._names = set(names)
        self._without = without
        stored = {name.id for name in self._names if not isinstance(name.ctx, ast.Load)}
        self._asked = stored - set(parameters)
        self.bound = set(parameters)
        self.missing: ast.Name | None = None
        """A name that is read where it may have got no value from the stretch."""

    def go_through(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            if statement not in self._without:
                self._statement(statement)

    def read(self, node: ast.AST) -> None:
        for name in ast.walk(node):
            if isinstance(name, ast.Name) and not isinstance(name.ctx, ast.Store):
                self._need(name)

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.If(test=test, body=body, orelse=orelse):
                self.read(test)
                before = set(self.bound)
                self.go_through(body)
                after, self.bound = self.bound, before
                self.go_through(orelse)
                self.bound &= after
            case ast.For(target=target, iter=iterable, body=body):
                self.read(iterable)
                before = set(self.bound)
                self._bind(target)
                self.go_through(body)
                self.bound = before
            case ast.With(items=items, body=body):
                for item in items:
                    self.read(item.context_expr)
                    if item.optional_vars is not None:
                        self._bind(item.optional_vars)
                self.go_through(body)
            case ast.Assign(targets=targets, value=value):
                self.read(value)
                for target in targets:
                    self._bind(target)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.read(value)
                self._bind(target)
            case ast.AugAssign(target=ast.Name() as target, value=value):
                self.read(value)
                self._need(target)
            case ast.Delete(targets=targets):
                for target in targets:
                    self.read(target)
                    self.bound -= {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
            case _:
                self.read(statement)

    def _need(self, name: ast.Name) -> None:
        if name in self._names and name.id in self._asked - self.bound and self.missing is None:
            self.missing = name

    def _bind(self, target: ast.expr) -> None:
        self.read(target)
        self.bound |= {
            name.id
            for name in ast.walk(target)
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        }
