"""The functions that make one step of a training loop, and their callers."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeGuard

from tfrewrite.analysis.eager.abstract_values import (
    Array,
    Dataset,
    Group,
    Number,
    Own,
    Tensor,
    Thing,
    Value,
)

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
# They run the functions that they are given in a trace of their own.
_COMPILING = frozenset({"function", "autograph.to_graph", "compat.v1.wrap_function"})


@dataclass(frozen=True)
class Step:
    """A function that makes a step, with all its calls; None where they are not all known."""

    function: ast.FunctionDef
    calls: tuple[ast.Call, ...] | None


class StepFunctions:
    """Finds the functions that loops call to make a step."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._names = facts.names
        self._flow = facts.flow
        self._scopes = facts.scopes
        self._values = facts.eager_values
        self._once = facts.reached_once
        self._classes = facts.classes
        self._own = facts.own_calls

    def all(self) -> list[Step]:
        """Every function with a tape that a loop calls, or that nothing in the file calls."""
        functions = sorted(self._source.all(ast.FunctionDef), key=lambda node: node.lineno)
        found = [self.eager(one) for one in functions if self._has_tape(one)]
        return [one for one in found if one is not None]

    def eager(self, function: ast.FunctionDef) -> Step | None:
        """A function that a loop calls, or nothing in the file, where no trace goes through it."""
        if function.decorator_list or self._is_for_fit(function):
            return None
        if self._is_compiled(function, set()):
            return None
        return self._in_loops(function)

    def compiled(self) -> list[Step]:
        """Every function with a tape that is a `tf.function` and that loops outside of it call."""
        found = []
        for one in self._facts.compiled_functions.all:
            if not one.decorated or not isinstance(one.code, ast.FunctionDef):
                continue
            if not self._has_tape(one.code) or self._is_for_fit(one.code):
                continue
            found.append(self._in_loops(one.code))
        return [one for one in found if one is not None]

    def step(self, function: ast.FunctionDef) -> Step:
        """A function as a step, whatever it does and whoever calls it."""
        calls = self.calls(function)
        return Step(function, None if calls is None else tuple(calls))

    def _in_loops(self, function: ast.FunctionDef) -> Step | None:
        """The same, unless something calls it and no loop does."""
        step = self.step(function)
        called = not step.calls or any(self._is_repeated(call, set()) for call in step.calls)
        return step if called else None

    # Who calls it

    def calls(self, function: ast.FunctionDef) -> list[ast.Call] | None:
        """Every call of a function; None where it is also used, or may be, in another way."""
        cls = self._source.parent(function)
        if not isinstance(cls, ast.ClassDef):
            return self._own.calls(function)
        if self._values.members.subclassed(cls) or self._values.members.family(cls) is None:
            return None
        found = []
        for use in self._classes.reads(function.name):
            if self._names.dotted(use) is not None:
                continue
            owner = self._receiver(use)
            if isinstance(owner, Own) and owner.cls is not cls:
                continue
            if isinstance(owner, (Thing, Dataset, Tensor, Array, Group, Number)):
                continue
            parent = self._source.parent(use)
            if not isinstance(owner, Own) or not isinstance(parent, ast.Call):
                return None
            if parent.func is not use or not isinstance(use.value, (ast.Name, ast.Attribute)):
                return None  # what is compiled holds its object weakly, and a new one is gone
            found.append(parent)
        return found

    def _receiver(self, use: ast.Attribute) -> Value:
        if isinstance(use.value, ast.Name):
            cls = self._classes.of_self(use.value)
            if cls is not None:
                return Own(cls)
        return self._values.value(use.value)

    def is_traced(self, node: ast.AST) -> bool:
        """Whether a place is in a function that is compiled, or that a compiled one calls."""
        function = self._source.function(node)
        if not isinstance(function, ast.FunctionDef):
            return function is not None
        return self._is_for_fit(function) or self._is_compiled(function, set())

    def _has_tape(self, function: ast.FunctionDef) -> bool:
        """Whether a function opens a tape, once in each call."""
        tape = self._tapes.get(function)
        return tape is not None and not any(
            isinstance(outer, _LOOPS) for outer in self._flow.enclosing(tape)
        )

    @cached_property
    def _tapes(self) -> dict[ast.AST | None, ast.With]:
        """The first tape of each function that opens some."""
        found: dict[ast.AST | None, ast.With] = {}
        for node in sorted(self._source.all(ast.With), key=lambda one: one.lineno):
            if self.is_tape(node):
                found.setdefault(self._source.function(node), node)
        return found

    def is_tape(self, node: ast.AST) -> TypeGuard[ast.With]:
        """Whether a statement opens a tape."""
        made = [item.context_expr for item in getattr(node, "items", ())]
        return isinstance(node, ast.With) and any(
            isinstance(one, ast.Call) and self._names.tf(one.func) == "GradientTape" for one in made
        )

    def _is_for_fit(self, function: ast.FunctionDef) -> bool:
        """Whether it is the step of a model that `fit` compiles."""
        cls = self._source.parent(function)
        if not isinstance(cls, ast.ClassDef) or function.name not in ("train_step", "test_step"):
            return False
        bases = [self._names.tf(base) or ast.unparse(base) for base in cls.bases]
        return any(base.endswith("Model") for base in bases)

    def _is_compiled(self, function: ast.FunctionDef, seen: set[ast.AST]) -> bool:
        """Whether a function runs in the trace of another one, or is compiled by hand."""
        if function in seen:
            return False
        seen.add(function)
        for decorator in function.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if self._names.tf(called) == "function":
                return True
        uses: list[ast.expr] = [
            name
            for name in self._source.all(ast.Name)
            if name.id == function.name and self._scopes.function(name) is function
        ]
        if isinstance(self._source.parent(function), ast.ClassDef):
            uses += self._classes.reads(function.name)
        for use in uses:
            parent = self._source.parent(use)
            if isinstance(parent, ast.keyword):
                parent = self._source.parent(parent)
            if not isinstance(parent, ast.Call):
                continue
            if parent.func is not use:
                symbol = self._names.tf(parent.func)
                if symbol in _COMPILING or _runs_replicas(parent):
                    return True
            around = self._source.function(parent)
            if isinstance(around, ast.FunctionDef) and self._is_compiled(around, seen):
                return True
        return False

    def _is_repeated(self, node: ast.AST, seen: set[ast.AST]) -> bool:
        """Whether a place is reached in the turns of a loop, here or around a caller."""
        if self._once.in_turns(node):
            return True
        function = self._source.function(node)
        if not isinstance(function, ast.FunctionDef) or function in seen:
            return False
        seen.add(function)
        calls = self.calls(function)
        return any(self._is_repeated(call, seen) for call in calls or ())


def _runs_replicas(call: ast.Call) -> bool:
    """Whether a call is `strategy.run(function, ...)` or the like."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return name in ("run", "experimental_run_v2", "map", "map_fn", "vectorized_map")
