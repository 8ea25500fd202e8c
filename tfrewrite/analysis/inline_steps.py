"""Training steps that stand in the body of a loop, and the function that each could be."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.source import Block

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.flow import Loop

_UPDATING = frozenset(
    "gradient apply_gradients apply assign assign_add assign_sub minimize".split()
)
_FOLLOWING = frozenset({"update_state"})
_LOOPS = (ast.For, ast.While)
_LEAVING = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Await)


@dataclass(frozen=True)
class InlineStep:
    """A stretch of a loop's body that opens a tape, and updates by what it gives."""

    tape: ast.With
    loop: Loop
    """The outermost loop around it, before which a function would stand."""
    statements: tuple[ast.stmt, ...]
    parameters: tuple[str, ...] = ()
    """The names that it reads and that get other values in the loop."""
    results: tuple[str, ...] = ()
    """The names that it binds and that are read elsewhere."""


class InlineSteps:
    """Finds steps that are written out in a loop."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._flow = facts.flow
        self._scopes = facts.scopes
        self._steps = facts.step_functions
        self._values = facts.eager_values

    def all(self) -> list[InlineStep]:
        """Every tape that is opened in the body of a loop, in the order of the text."""
        found: list[InlineStep] = []
        for node in sorted(self._source.all(ast.With), key=lambda one: one.lineno):
            loops = [one for one in self._flow.enclosing(node) if isinstance(one, _LOOPS)]
            if not loops or not self._opens_tape(node) or self._is_inside_another(node):
                continue
            if node not in loops[0].body or self._steps.is_traced(node):
                continue
            if isinstance(self._scopes.of(node).node, ast.ClassDef):
                continue  # a name bound there is an attribute
            if any(node in one.statements for one in found):
                continue
            found.append(InlineStep(node, loops[-1], self._stretch(node)))
        return found

    def shorter(self, step: InlineStep) -> InlineStep | None:
        """The same up to the update before its last one; None where there is none."""
        for last in range(len(step.statements) - 2, 0, -1):
            if self._calls_one_of(step.statements[last], _UPDATING):
                return replace(step, statements=step.statements[: last + 1])
        return None

    def obstacle(self, step: InlineStep) -> Obstacle | None:
        """Why a function of the step would be traced more than once."""
        if self._values.runs_once(step.loop):
            return None
        message = (
            f"the function around line {step.tape.lineno} may be called again, and the step would"
            " be traced anew each time; make the step a function of the module or a method"
        )
        return Obstacle("traced-again", message)

    def with_names(self, step: InlineStep) -> InlineStep | Obstacle:
        """The step with its parameters and results."""
        inside = {node for statement in step.statements for node in ast.walk(statement)}
        for node in inside:
            if isinstance(node, _LEAVING):
                line = getattr(node, "lineno", step.tape.lineno)
                return Obstacle("not-followed", f"line {line} leaves the step before its end")
        home = self._scopes.of(step.tape)
        parameters: list[str] = []
        results: list[str] = []
        for name in sorted(
            (one for one in inside if isinstance(one, ast.Name)),
            key=lambda one: (one.lineno, one.col_offset),
        ):
            owner = self._scopes.of(name).owner(name.id)
            if owner is not home:
                continue
            if isinstance(name.ctx, ast.Load) and self._changes(name, step, inside):
                parameters.append(name.id)
            elif isinstance(name.ctx, ast.Store):
                if any(use not in inside for use in self._uses(name)):
                    results.append(name.id)
        for result in results:
            if not any(self._surely_binds(one, result) for one in step.statements):
                message = f"`{result}` gets a value in the step under a condition only"
                return Obstacle("not-followed", message)
        return replace(
            step,
            parameters=tuple(dict.fromkeys(parameters)),
            results=tuple(dict.fromkeys(results)),
        )

    def _uses(self, name: ast.Name) -> list[ast.Name]:
        """Every place that reads a variable, deletes it, or changes it in place."""
        owner = self._scopes.of(name).owner(name.id)
        return [
            *self._scopes.uses(name),
            *(
                one
                for one in self._source.all(ast.Name)
                if one.id == name.id
                and not isinstance(one.ctx, ast.Load)
                and isinstance(self._source.parent(one), (ast.AugAssign, ast.Delete))
                and self._scopes.of(one).owner(one.id) is owner
            ),
        ]

    def _surely_binds(self, statement: ast.stmt, name: str) -> bool:
        if isinstance(statement, ast.With):
            return any(self._surely_binds(one, name) for one in statement.body)
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
            return False
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return any(
            isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
            for target in targets
            for node in ast.walk(target)
        )

    def _changes(self, name: ast.Name, step: InlineStep, inside: set[ast.AST]) -> bool:
        """Whether a name that the step reads has a value from elsewhere in the loop."""
        reaching = self._flow.reaching(name)
        outer = [one for one in reaching if one.node not in inside]
        return any(
            one.node is step.loop or step.loop in self._source.ancestors(one.node) for one in outer
        ) or (bool(outer) and len(outer) < len(reaching))

    def _stretch(self, tape: ast.With) -> tuple[ast.stmt, ...]:
        """The tape with all down to the last update by it, and what only updates metrics."""
        block, index = self._source.position(tape)
        last = index
        for position in range(index + 1, len(block)):
            if self._calls_one_of(block[position], _UPDATING):
                last = position
        while last + 1 < len(block) and self._is_metric(block, last + 1):
            last += 1
        return tuple(block[index : last + 1])

    def _calls_one_of(self, statement: ast.stmt, names: frozenset[str]) -> bool:
        return any(
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in names
            for node in ast.walk(statement)
        )

    def _is_metric(self, block: Block, position: int) -> bool:
        statement = block[position]
        return isinstance(statement, ast.Expr) and self._calls_one_of(statement, _FOLLOWING)

    def _opens_tape(self, node: ast.With) -> bool:
        return any(
            isinstance(item.context_expr, ast.Call)
            and self._names.tf(item.context_expr.func) == "GradientTape"
            for item in node.items
        )

    def _is_inside_another(self, node: ast.With) -> bool:
        return any(
            isinstance(outer, ast.With) and self._opens_tape(outer)
            for outer in self._flow.enclosing(node)
        )
