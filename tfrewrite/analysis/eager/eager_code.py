"""Whether a place of the file surely runs op by op: as TensorFlow 2 does it, and in no trace.

In a trace a loop is unrolled or made an op, and what stands in it is evaluated once in any case.
"""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.flow import evaluated

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_OF_TF2 = frozenset(
    "GradientTape function random.set_seed keras.utils.set_random_seed Module".split()
)
# What they do holds for all that is run later, or may be done at the start of a program only.
_SETTING = ("config.", "experimental.", "debugging.", "tpu.", "compat.v1.", "distribute.")


class EagerCode:
    """Questions about places that may be traced."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._names = facts.names
        self._own = facts.own_calls
        self._classes = facts.classes
        self._steps = facts.step_functions
        self._inline = facts.inline_steps
        self._compiled = facts.compiled_functions
        self._afterwards = facts.afterwards
        self._target_tf = facts.target_tf

    @cached_property
    def is_tf2(self) -> bool:
        """Whether the file is surely for TensorFlow 2, and builds no graph by hand."""
        if self._facts.otherwise_run or self._compiled.in_graphs:
            return False
        if self._target_tf is not None:
            return True
        nodes = [*self._source.all(ast.Attribute), *self._source.all(ast.Name)]
        return any(self._names.tf(node) in _OF_TF2 or self._reads_tensor(node) for node in nodes)

    def traced(self, node: ast.AST) -> bool:
        """Whether a place is in a trace, or in a step that another rule compiles."""
        return self._is_compiled(node, set()) or self.in_step(node)

    def in_step(self, node: ast.AST) -> bool:
        """Whether a place belongs to a step that is written out in a loop."""
        if self._inline.holds(node):
            return True
        around = {node, *self._source.ancestors(node)}
        return any(not around.isdisjoint(one.parts) for one in self._facts.forward_stretches.all)

    def unsure(self, node: ast.AST) -> Obstacle | None:
        """Why a place that is in no trace of this file may be in one all the same."""
        return self._unsure(node, set())

    def sets_up(self, loop: ast.stmt) -> ast.Call | None:
        """A call in the turns of a loop, or behind it, that changes how ops are run or where.

        Behind it, since some of this must be done before the first op of all.
        """
        for node in [*self._afterwards.within(loop), *self._behind(loop)]:
            if isinstance(node, (ast.Yield, ast.YieldFrom)):
                manager = self._manager_around(node)
                if manager is not None:
                    return manager
            elif isinstance(node, ast.Call):
                symbol = self._names.tf(node.func) or ""
                setting = ".set_" in symbol and symbol != "random.set_seed"
                if symbol.startswith(_SETTING) or setting or "enable_" in symbol:
                    return node
        return None

    def _behind(self, loop: ast.stmt) -> list[ast.Call]:
        """The calls that the same function or module makes after a loop, by the lines."""
        home = self._source.function(loop)
        end = loop.end_lineno or loop.lineno
        return [
            call
            for call in self._source.all(ast.Call)
            if call.lineno > end and self._source.function(call) is home
        ]

    def _manager_around(self, node: ast.AST) -> ast.Call | None:
        """A manager of TensorFlow's under which a generator is left, which then goes on to hold."""
        function = self._source.function(node)
        for outer in self._source.ancestors(node):
            if outer is function:
                break
            for item in outer.items if isinstance(outer, ast.With) else ():
                made = item.context_expr
                if isinstance(made, ast.Call) and self._names.tf(made.func) is not None:
                    return made
        return None

    @cached_property
    def _step_functions(self) -> set[ast.FunctionDef]:
        found = {one.function for one in self._steps.all()}
        return found | self._facts.forward_steps.compiled

    def _is_compiled(self, node: ast.AST, seen: set[ast.AST]) -> bool:
        function = self._source.function(node)
        if function is None or function in seen:
            return False
        seen.add(function)
        if self._steps.is_traced(node) or function in self._step_functions:
            return True
        if self._compiled.traced(function) or not isinstance(function, ast.FunctionDef):
            return True  # a lambda or a coroutine: whoever calls it, at some time
        return any(self._is_compiled(call, seen) for call in self._own.calls(function) or ())

    def _unsure(self, node: ast.AST, seen: set[ast.AST]) -> Obstacle | None:
        function = self._source.function(node)
        if function is None or function in seen or self._reads_on_the_host(function):
            return None
        seen.add(function)
        calls = self._own.calls(function) if isinstance(function, ast.FunctionDef) else None
        if not calls or self._is_for_library(function):
            name = getattr(function, "name", "a lambda")
            message = f"`{name}` may be called in a trace: not all callers of it are in this file"
            return Obstacle("callers-not-seen", message)
        return next(filter(None, (self._unsure(call, seen) for call in calls)), None)

    def _is_for_library(self, function: ast.AST) -> bool:
        """Whether it is a method that a base class of a library may call, as Keras calls `call`."""
        cls = self._source.parent(function)
        return isinstance(cls, ast.ClassDef) and any(
            self._classes.defined(base) is None and self._names.dotted(base) != "builtins.object"
            for base in cls.bases
        )

    def _reads_on_the_host(self, function: ast.AST) -> bool:
        """Whether a function reads a tensor for Python, which fails in a trace."""
        return any(
            self._reads_tensor(node)
            for statement in getattr(function, "body", ())
            for node in evaluated(statement)
        )

    def _reads_tensor(self, node: ast.AST) -> bool:
        call = self._source.parent(node)
        return (
            isinstance(node, ast.Attribute)
            and node.attr == "numpy"
            and isinstance(call, ast.Call)
            and call.func is node
            and not call.args
            and self._names.dotted(node) is None
        )
