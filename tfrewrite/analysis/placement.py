"""Where a value is made: under which `with` statements, and whether more than once.

What stands around the calls of a function holds for everything that is made in it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.classes import Classes
from tfrewrite.analysis.flow import Flow
from tfrewrite.analysis.managers import Managers
from tfrewrite.analysis.nodes import Frame, Surroundings
from tfrewrite.analysis.scopes import COMPREHENSIONS
from tfrewrite.analysis.source import Source

if TYPE_CHECKING:
    from tfrewrite.analysis.graph import Tracer


class Placement:
    """Looks around an expression for the tracer, which follows the control inputs found there."""

    def __init__(
        self, source: Source, flow: Flow, classes: Classes, managers: Managers, tracer: Tracer
    ) -> None:
        self._source = source
        self._flow = flow
        self._classes = classes
        self._managers = managers
        self._tracer = tracer
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
        self._looking.discard(function)
        return result

    def repeated(self, expr: ast.AST, frame: Frame | None) -> bool:
        if frame is not None and frame.many:
            return True
        comprehension = any(
            isinstance(outer, COMPREHENSIONS) for outer in self._source.ancestors(expr)
        )
        return comprehension or self._flow.loop(expr) is not None
