"""In which order things happen: loops, blocks, and which binding a use of a name sees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.scopes import COMPREHENSIONS, Binding, How
from tfrewrite.analysis.program.source import Source, blocks_of

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

Loop = ast.For | ast.AsyncFor | ast.While
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_WITHS = (ast.With, ast.AsyncWith)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.Module)
_JUMPS = (
    ast.Return, ast.Break, ast.Continue, ast.Raise, ast.Assert, ast.Yield, ast.YieldFrom, ast.Await,
)  # fmt: skip


class Flow:
    """Questions about the order of evaluation, answered pessimistically."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._managers = facts.managers
        self._bindings_at: dict[ast.stmt, list[Binding]] = {}
        for scope in facts.scopes.all():
            if isinstance(scope.node, COMPREHENSIONS):
                continue
            for bindings in scope.bindings.values():
                for binding in bindings:
                    if not isinstance(binding.node, (ast.arg, ast.comprehension)):
                        statement = facts.source.statement(binding.node)
                        self._bindings_at.setdefault(statement, []).append(binding)

    def loop(self, node: ast.AST) -> Loop | None:
        """The innermost loop, within the same function, whose body a node is in."""
        child = node
        for outer in self._source.ancestors(node):
            if isinstance(outer, _DEFINITIONS):
                return None
            if isinstance(outer, _LOOPS) and child in outer.body:
                return outer
            child = outer
        return None

    def jumps(self, node: ast.AST) -> bool:
        """Whether control may leave a statement other than by reaching its end."""
        return any(isinstance(inner, _JUMPS) for inner in evaluated(node))

    def enclosing(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node stands in, from the inside out, up to the function around it."""
        for outer in self._source.ancestors(node):
            if isinstance(outer, _DEFINITIONS):
                return
            yield outer

    def reaching(self, use: ast.Name) -> list[Binding]:
        """The bindings that a use of a name may see; all of them where that cannot be told.

        A use in another function than the one that owns the variable may run at any time, so it
        may see every binding.
        """
        home = self._scopes.of(use)
        owner = home.owner(use.id)
        if owner is None:
            return []
        everything = owner.bindings.get(use.id, [])
        if owner is not home or len(everything) < 2:
            return everything
        if isinstance(owner.node, ast.Lambda) or not isinstance(owner.node, _DEFINITIONS):
            return everything
        if self._rebound_elsewhere(everything, owner.node):
            return everything
        return self._walk_back(use.id, self._source.statement(use), everything)

    def before(self, name: str, statement: ast.stmt) -> list[Binding] | None:
        """The bindings of a variable of a statement's scope that it may find when it begins.

        None where another function binds it too, or the order is not told by the text.
        """
        owner = self._scopes.of(statement)
        everything = owner.bindings.get(name, [])
        if not isinstance(owner.node, (ast.Module, ast.FunctionDef)):
            return None
        if self._rebound_elsewhere(everything, owner.node):
            return None
        return self._walk_back(name, statement, everything)

    def _rebound_elsewhere(self, bindings: list[Binding], owner: ast.AST) -> bool:
        """Whether another function writes the variable through `global` or `nonlocal`."""
        return any(
            not isinstance(binding.node, ast.arg)
            and _definition(self._source, binding.node) is not owner
            for binding in bindings
        )

    def _walk_back(self, name: str, use: ast.stmt, everything: list[Binding]) -> list[Binding]:
        found: list[Binding] = []
        statement = use
        # A walrus in the statement of the use may come before it.
        found += [b for b in self._within(use, name) if isinstance(b.node, ast.NamedExpr)]
        if isinstance(use, (ast.While, *_WITHS)):
            # A loop's test comes after its body, a manager after those before it.
            found += self._within(use, name)
        while True:
            block, index = self._source.position(statement)
            for earlier in reversed(block[:index]):
                bindings = list(self._within(earlier, name))
                found += bindings
                if any(self._surely_binds(earlier, binding) for binding in bindings):
                    return _unique(found)
            owner = self._source.parent(statement)
            if isinstance(owner, ast.ExceptHandler):
                found += [b for b in everything if b.node is owner]
                owner = self._source.parent(owner)
            if owner is None or isinstance(owner, _DEFINITIONS):
                found += [b for b in everything if isinstance(b.node, ast.arg)]
                return _unique(found)
            if not isinstance(owner, ast.stmt):  # a match case
                return everything
            if isinstance(owner, _LOOPS):
                inside = list(self._within(owner, name))
                turned = [b for b in inside if b.node is owner and b.how is How.LOOP]
                if block is owner.body and turned:
                    return _unique([*found, *turned])  # each turn begins with it
                found += inside
            elif isinstance(owner, _WITHS):
                own = [b for b in self._within(owner, name) if b.node is owner]
                if own:
                    return _unique([*found, *own])
            elif not isinstance(owner, ast.If):  # a try statement, which may be left anywhere
                found += self._within(owner, name)
            statement = owner

    def _within(self, statement: ast.stmt, name: str) -> Iterator[Binding]:
        """The bindings of a name in a statement and, for a compound one, in its blocks."""
        for binding in self._bindings_at.get(statement, ()):
            if binding.name == name:
                yield binding
        if isinstance(statement, _DEFINITIONS):
            return
        for nested in _nested_statements(statement):
            yield from self._within(nested, name)

    def _surely_binds(self, statement: ast.stmt, binding: Binding) -> bool:
        if isinstance(statement, _WITHS):
            return binding.node is statement or (
                self._managers.known(statement)
                and any(self._surely_binds(nested, binding) for nested in statement.body)
            )
        if isinstance(statement, (ast.If, *_LOOPS, ast.Try, ast.Match)):
            return False
        return self._source.statement(binding.node) is statement and not isinstance(
            binding.node, ast.NamedExpr
        )


def evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """A node and what is evaluated with it: everything in it but the bodies of functions."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        if isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef)):
            stack.extend(current.decorator_list)
            stack.extend(current.args.defaults)
            stack.extend(default for default in current.args.kw_defaults if default)
        elif isinstance(current, ast.Lambda):
            stack.extend(current.args.defaults)
        else:
            stack.extend(ast.iter_child_nodes(current))


def _nested_statements(statement: ast.stmt) -> Iterator[ast.stmt]:
    for block in blocks_of(statement):
        yield from block
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield from part.body


def _definition(source: Source, node: ast.AST) -> ast.AST | None:
    for outer in source.ancestors(node):
        if isinstance(outer, _DEFINITIONS):
            return outer
    return None


def _unique(bindings: list[Binding]) -> list[Binding]:
    return list(dict.fromkeys(bindings))
