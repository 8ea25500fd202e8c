"""Losses that layers add when they are called, and who looks for them afterwards.

They are tensors that a call leaves behind in its model. Those of a trace are of no use outside of
it, and those that were left outside stay in a trace as they were at first.
"""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.scopes import COMPREHENSIONS

if TYPE_CHECKING:
    from collections.abc import Container

    from tfrewrite.analysis.facts import Facts

# `compute_loss` adds the losses of layers.
_READING = frozenset({"losses", "compute_loss"})


class KeptLosses:
    """Finds where layers of the file add losses, and where these are read."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._names = facts.names

    @cached_property
    def are_added(self) -> bool:
        """Whether a layer may add a loss that is made of what it is given."""
        return any(
            getattr(node, "arg", "") == "activity_regularizer"
            or getattr(node, "attr", "") in ("ActivityRegularization", "add_loss")
            for node in (*self._source.all(ast.keyword), *self._source.all(ast.Attribute))
        )

    def read_outside(self, step: ast.FunctionDef, traced: Container[ast.AST]) -> Obstacle | None:
        """Why a step leaves losses behind that are looked for outside of its trace.

        The trace goes through some functions; one that others call, too, is not of the trace alone.
        """
        if not self.are_added:
            return None
        for read in self._reads:
            function = self._source.function(read)
            if self._is_after_call(read, function):
                continue
            if function is not step and not self._is_of_trace(function, traced):
                message = (
                    f"line {read.lineno} reads `{ast.unparse(read)}`, where a layer may have left"
                    " what a trace does not give"
                )
                return Obstacle("python-effect", message)
        return None

    def _is_after_call(self, read: ast.expr, function: ast.AST | None) -> bool:
        """Whether a function calls a model itself before it reads what that has left behind."""
        if function is None or not isinstance(read, ast.Attribute):
            return False
        model = ast.unparse(read.value)
        above = [one for one in self._source.all(ast.Call) if one.lineno < read.lineno]
        return any(
            ast.unparse(call.func) == model and self._is_always_run(call)
            for call in above
            if self._source.function(call) is function
        )

    def _is_always_run(self, call: ast.Call) -> bool:
        """Whether a call stands in its function under no condition and in no loop."""
        for outer in self._source.ancestors(call):
            if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
                break
            if isinstance(outer, (*COMPREHENSIONS, ast.Lambda, ast.IfExp, ast.BoolOp)):
                return False
            if isinstance(outer, (ast.If, ast.For, ast.While, ast.Try, ast.Match)):
                return False
        return True

    def _is_of_trace(self, function: ast.AST | None, traced: Container[ast.AST]) -> bool:
        if function not in traced or not isinstance(function, ast.FunctionDef):
            return False
        calls = self._facts.step_functions.calls(function)
        return bool(calls) and all(self._source.function(call) in traced for call in calls or ())

    @cached_property
    def _reads(self) -> list[ast.expr]:
        reads = [node for node in self._source.all(ast.Attribute) if node.attr in _READING]
        found: list[ast.expr] = [one for one in reads if self._names.dotted(one) is None]
        found += [
            call
            for call in self._source.all(ast.Call)
            if self._names.dotted(call.func) == "builtins.getattr"
            and any(isinstance(one, ast.Constant) and one.value == "losses" for one in call.args)
        ]
        return sorted(found, key=self._source.span)
