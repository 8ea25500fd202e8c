"""What a program may still do once it has come to a certain statement."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.symbols import PYTHON_OPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfrewrite.analysis.facts import Facts

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
# Methods that a class names, or a call; all others of `__this__` kind run unnamed.
_NAMED_METHODS = frozenset("__init__ __new__ __call__ __init_subclass__".split())
_CALLED_LATER = ("builtins.map", "builtins.filter", "atexit.")
# What they are given first is Python that a run of the graph calls.
_CALLED_BY_RUNS = (*PYTHON_OPS, "data.Dataset.from_generator")
# Methods of `contextlib.ExitStack`, which calls what it is given when it is left.
_CALLED_AT_THE_EXIT = frozenset({"callback", "push", "enter_context"})
_CONSUMING = ("builtins.", "numpy.")


@dataclass(eq=False)
class Rest:
    """The rest of a program: all that may be evaluated from a statement on."""

    nodes: list[ast.AST] = field(default_factory=list)
    unseen: str = ""
    """The words for what goes on outside of the file, where that may be."""


class Afterwards:
    """Follows a program from a statement to its end, into functions and back to their callers."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._classes = facts.classes
        self._own = facts.own_calls
        self._known: dict[ast.stmt, Rest] = {}

    def rest(self, statement: ast.stmt) -> Rest:
        """All that may be evaluated in a statement and after it."""
        if statement not in self._known:
            walk = _Walk(self)
            walk.take(statement)
            walk.go_on(statement)
            for node in self.unnamed:
                walk.take(node)
            self._known[statement] = walk.rest
        return self._known[statement]

    @cached_property
    def unnamed(self) -> list[ast.AST]:
        """Code that may run, at any time after it was written down, where nothing names it.

        That is how an object is looped over, printed or entered, and what goes on in a generator,
        in a `map`, in an op that calls Python, when a `with` is left, or at the exit.
        """
        found: list[ast.AST] = []
        for cls in self._source.all(ast.ClassDef):
            for method in cls.body:
                if isinstance(method, _FUNCTIONS) and _is_unnamed(method.name):
                    found += method.body
        for function in self._source.all(ast.FunctionDef):
            used = self._own.calls(function) or function.decorator_list
            generates = used and any(
                isinstance(node, (ast.Yield, ast.YieldFrom)) for node in ast.walk(function)
            )
            if generates or any(map(self._is_for_later, function.decorator_list)):
                found += function.body
        for generator in self._source.all(ast.GeneratorExp):
            user = self._source.parent(generator)
            path = self._names.dotted(user.func) if isinstance(user, ast.Call) else None
            if path is None or not path.startswith(_CONSUMING) or path in _CALLED_LATER:
                found.append(generator)
        found += self._classes.calls("property")  # whose function runs where it is read
        found += self._called_by_runs()
        return found + [call for call in self._source.all(ast.Call) if self._is_for_later(call)]

    def _called_by_runs(self) -> list[ast.expr]:
        """The functions that are made ops of the graph, as `tf.py_func` does it."""
        found: list[ast.expr] = []
        for call in self._source.all(ast.Call):
            if self._names.tf(call.func) in _CALLED_BY_RUNS:
                named = [one.value for one in call.keywords if one.arg in ("func", "generator")]
                found += [*call.args[:1], *named]
        return found

    def _is_for_later(self, node: ast.expr) -> bool:
        called = node.func if isinstance(node, ast.Call) else node
        if isinstance(called, ast.Attribute) and called.attr in _CALLED_AT_THE_EXIT:
            return self._has_exit_stacks
        return (self._names.dotted(called) or "").startswith(_CALLED_LATER)

    @cached_property
    def _has_exit_stacks(self) -> bool:
        names = [*self._source.all(ast.Name), *self._source.all(ast.Attribute)]
        return any(
            (self._names.dotted(name) or "").startswith("contextlib.ExitStack") for name in names
        )

    def within(self, node: ast.AST, foreign: frozenset[ast.AST] = frozenset()) -> list[ast.AST]:
        """All that may be evaluated in a statement or an expression, in functions too.

        Attributes in `foreign` are methods of others, whatever functions of the file are called.
        """
        return self.within_all([node], foreign)

    def within_all(
        self, nodes: Iterable[ast.AST], foreign: frozenset[ast.AST] = frozenset()
    ) -> list[ast.AST]:
        """The same for several of them."""
        walk = _Walk(self, foreign)
        for node in nodes:
            walk.take(node)
        return walk.rest.nodes

    def entered(self, node: ast.AST) -> Iterator[ast.AST]:
        """The functions of the file that a name or an attribute may lead into.

        One that is decorated may be what a decorator of the file has made in its place.
        """
        seen: set[ast.AST] = set()
        stack = [node]
        while stack:
            for function in self._named(stack.pop()):
                if function not in seen:
                    seen.add(function)
                    yield function
                    for decorator in getattr(function, "decorator_list", ()):
                        stack += ast.walk(decorator)

    def _named(self, node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            for binding in self._scopes.bindings(node):
                if isinstance(binding.node, _FUNCTIONS):
                    yield binding.node
                elif isinstance(binding.node, ast.ClassDef):
                    yield from self._magic(binding.node)
                    for decorator in binding.node.decorator_list:
                        for part in ast.walk(decorator):
                            if getattr(part, "id", "") != binding.node.name:
                                yield from self._named(part)
        elif isinstance(node, ast.Attribute) and self._names.dotted(node) is None:
            for cls in self._source.all(ast.ClassDef):
                for method in cls.body:
                    if isinstance(method, _FUNCTIONS) and method.name == node.attr:
                        yield method

    def _magic(self, cls: ast.ClassDef) -> Iterator[ast.AST]:
        yield from (
            one for one in cls.body if isinstance(one, _FUNCTIONS) and one.name.startswith("__")
        )
        for base in cls.bases:
            parent = self._classes.defined(base)
            if parent is not None and parent is not cls:
                yield from self._magic(parent)

    def returns_to(self, function: ast.AST) -> list[ast.Call] | None:
        """The calls of a function; None where not all of them are seen."""
        if not isinstance(function, _FUNCTIONS):
            return None
        starts = self.starts(function)
        if starts:
            uses = self._uses(function)
            if all(any(use in ast.walk(start) for start in starts) for use in uses):
                return []  # `tf.app.run` ends the program
        calls = self._own.calls(function)
        return calls or None

    def starts(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.Call]:
        """The calls of `tf.app.run` that run a function as the program."""
        return [call for call in self._source.all(ast.Call) if self._is_start(call, function)]

    def _is_start(self, call: ast.Call, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        if self._names.dotted(call.func) not in ("tensorflow.app.run", "absl.app.run"):
            return False
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        named = any(self._own.named(argument) is function for argument in given)
        return named or (not given and function.name == "main")

    def _uses(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.Name]:
        return [
            name
            for name in self._source.all(ast.Name)
            if name.id == function.name and self._own.named(name) is function
        ]


def _annotations(arguments: ast.arguments) -> Iterator[ast.expr | None]:
    return (one.annotation for one in ast.walk(arguments) if isinstance(one, ast.arg))


def _is_unnamed(method: str) -> bool:
    return method.startswith("__") and method.endswith("__") and method not in _NAMED_METHODS


class _Walk:
    def __init__(self, afterwards: Afterwards, foreign: frozenset[ast.AST] = frozenset()) -> None:
        self._afterwards = afterwards
        self._foreign = foreign
        self._source = afterwards._source
        self._reached: set[ast.AST] = set()
        self._left: set[ast.AST] = set()
        self.rest = Rest()

    def go_on(self, statement: ast.stmt) -> None:
        """From the end of a statement to the end of its function, then to its callers."""
        while True:
            block, index = self._source.position(statement)
            for later in block[index + 1 :]:
                self.take(later)
            owner = self._source.parent(statement)
            while owner is not None and not isinstance(owner, (ast.stmt, ast.Module)):
                owner = self._source.parent(owner)  # a handler, a match case
            if isinstance(owner, _FUNCTIONS):
                self._leave(owner)
                return
            if owner is None or isinstance(owner, ast.Module):
                return
            assert isinstance(owner, ast.stmt)
            if isinstance(owner, (*_LOOPS, ast.Try)) or type(owner).__name__ == "TryStar":
                self.take(owner)
            statement = owner

    def _leave(self, function: ast.AST) -> None:
        if function in self._left:
            return
        self._left.add(function)
        calls = self._afterwards.returns_to(function)
        if calls is None:
            name = getattr(function, "name", "")
            self.rest.unseen = self.rest.unseen or f"who calls `{name}` is not all seen"
            for statement in self._source.tree.body:
                self.take(statement)
            return
        for call in calls:
            statement = self._source.statement(call)
            if getattr(statement, "value", None) is not call:
                self.take(statement)  # there is more in it than the call
            self.go_on(statement)

    def take(self, node: ast.AST) -> list[ast.AST]:
        """Adds all that may be evaluated in a node."""
        stack = [node]
        while stack:
            current = stack.pop()
            if current in self._reached:
                continue
            self._reached.add(current)
            self.rest.nodes.append(current)
            if isinstance(current, _FUNCTIONS):
                stack += current.decorator_list
                stack += current.args.defaults
                stack += [default for default in current.args.kw_defaults if default]
                stack += [one for one in (current.returns, *_annotations(current.args)) if one]
            else:
                stack += self._source.children(current)
            entered = () if current in self._foreign else self._afterwards.entered(current)
            for function in entered:
                stack += getattr(function, "body", [])
        return self.rest.nodes
