"""Where a value is made: under which `with` statements, and whether more than once.

What stands around the calls of a function holds for everything that is made in it.
"""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.nodes import Frame, Surroundings
from tfrewrite.analysis.program.catching import left_to_others
from tfrewrite.analysis.program.flow import evaluated
from tfrewrite.analysis.program.scopes import COMPREHENSIONS, How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.graph import Tracer


class Placement:
    """Looks around an expression for the tracer, which follows the control inputs found there."""

    def __init__(self, facts: Facts, tracer: Tracer) -> None:
        self._source = facts.source
        self._flow = facts.flow
        self._classes = facts.classes
        self._managers = facts.managers
        self._tracer = tracer
        self._names = facts.names
        self._scopes = facts.scopes
        self._looking: set[ast.AST] = set()

    def surroundings(self, expr: ast.AST, frame: Frame | None) -> Surroundings:
        """What the `with` statements around an expression, and around its callers, do to it."""
        if frame is not None:
            found = Surroundings(list(frame.around.controls), frame.around.obstacle)
        else:
            function = self._source.function(expr)
            found = self.called_under(function) if function is not None else Surroundings()
        inner = expr
        for outer in self._flow.enclosing(expr):
            if isinstance(outer, (ast.With, ast.AsyncWith)) and inner in outer.body:
                if isinstance(outer, ast.AsyncWith) or not self._managers.known(outer):
                    found.obstacle = f"the `with` of line {outer.lineno}, which may change it"
                else:
                    inputs = self._managers.control_inputs(outer)
                    found.controls += [self._tracer.trace(control, frame) for control in inputs]
            inner = outer
        return found

    def called_under(self, function: ast.AST) -> Surroundings:
        """The same for all calls of a function that the file makes, by its name."""
        name = getattr(function, "name", "")
        maker = self._source.parent(function)
        if name == "__init__" and isinstance(maker, ast.ClassDef):
            name = maker.name
        result = Surroundings()
        if not name or function in self._looking:
            return result
        self._looking.add(function)
        for call in self._classes.calls(name):
            around = self.surroundings(call, None)
            result.controls += around.controls
            result.obstacle = result.obstacle or around.obstacle
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if left_to_others(function, self._source, self._names, self._classes):
                result.obstacle = result.obstacle or self._unseen_callers
        self._looking.discard(function)
        return result

    @cached_property
    def _unseen_callers(self) -> str:
        """The words for a `with` that changes what is made under it, and may call any function."""
        for outer in self._source.all(ast.With):
            if self._managers.known(outer) and not self._managers.control_inputs(outer):
                continue
            inside = (node for statement in outer.body for node in evaluated(statement))
            if any(map(self._may_call_any, inside)):
                return f"the `with` of line {outer.lineno}, which may be around a call of it"
        return ""

    def _may_call_any(self, node: ast.AST) -> bool:
        """Whether a node may run a function of the file that it does not name."""
        if isinstance(node, ast.Attribute):
            return isinstance(node.ctx, ast.Load) and self._classes.runs_code(node)
        if not isinstance(node, ast.Call):
            return False
        if isinstance(node.func, ast.Name):
            bound = self._scopes.bindings(node.func)
            own = (How.FUNCTION, How.CLASS, How.IMPORT)
            calling = node.func.id in ("getattr", "map", "next") and not bound
            return calling or any(one.how not in own for one in bound)
        if isinstance(node.func, ast.Attribute):
            return self._classes.is_stored(node.func.attr)
        return True

    def repeated(self, expr: ast.AST, frame: Frame | None) -> bool:
        if frame is not None and frame.many:
            return True
        comprehension = any(
            isinstance(outer, COMPREHENSIONS) for outer in self._source.ancestors(expr)
        )
        return comprehension or self._flow.loop(expr) is not None
