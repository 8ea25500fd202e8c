"""What a step that is written out in a loop is given by names, and what it gives back."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.deferred import Deferred
from tfrewrite.analysis.eager.drawn_earlier import DrawnEarlier
from tfrewrite.analysis.eager.held_numbers import HeldNumbers
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.scopes import How
from tfrewrite.analysis.program.sure_values import SureValues

if TYPE_CHECKING:
    from tfrewrite.analysis.eager.inline_steps import InlineStep
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.source import Source

_BINDING = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom,
    ast.Global, ast.Nonlocal,
)  # fmt: skip
_NEW = (
    ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Constant, ast.JoinedStr,
    ast.ListComp, ast.GeneratorExp, ast.Lambda,
)  # fmt: skip
_NO_DATA = frozenset({How.IMPORT, How.FUNCTION, How.CLASS})
_LEAVING = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Await)


class StepNames:
    """Finds the parameters and results that a step would have as a function."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._flow = facts.flow
        self._scopes = facts.scopes
        self._deferred = Deferred(facts)
        self._drawn = DrawnEarlier(facts)
        self._numbers = HeldNumbers(facts)

    def of(self, step: InlineStep) -> InlineStep | Obstacle:
        """The step with its parameters and results."""
        deferred = self._deferred.of(step.statements)
        earlier = self._drawn.of(step.statements, deferred)
        step = replace(step, deferred=deferred, earlier=earlier)
        inside = set(step.nodes)
        inside -= {node for statement in step.outside for node in ast.walk(statement)}
        unfit = self._leaves(step, inside) or self._binds_more(step, inside)
        if unfit is not None:
            return unfit
        names = self._own_names(step, inside)
        given = [name for name in names if self._reads(name) and self._is_given(name, step, inside)]
        for name in given:
            if any(one.how in _NO_DATA for one in self._flow.reaching(name)):
                message = f"`{name.id}` is made in the function around line {step.anchor.lineno}"
                return Obstacle("not-followed", message)
        parameters = [name.id for name in given]
        # What it reads at its start, and binds for the next turn, goes through the loop.
        carried = {
            name.id
            for name in given
            if any(one.node in inside for one in self._flow.reaching(name))
        }
        results = [
            name.id
            for name in names
            if isinstance(name.ctx, ast.Store)
            and (name.id in carried or self._is_seen(name, inside))
        ]
        assigned = SureValues(names, [*parameters, step.owner], step.outside)
        assigned.go_through(step.statements)
        if step.value is not None:
            assigned.read(step.value)
        if assigned.missing is not None:
            name = assigned.missing
            message = f"`{name.id}` in line {name.lineno} may be of the turn before"
            if isinstance(name.ctx, ast.Del):
                message = f"line {name.lineno} deletes `{name.id}`, which is not of the step alone"
            return Obstacle("not-followed", message)
        for result in results:
            if result not in assigned.bound:
                message = f"`{result}` gets a value in the step under a condition only"
                return Obstacle("not-followed", message)
        for name in names:
            if isinstance(name.ctx, ast.Del) and name.id in {*parameters, *results}:
                message = f"line {name.lineno} deletes `{name.id}`, which is not of the step alone"
                return Obstacle("not-followed", message)
        same = self._is_another(step, inside, set(results))
        if same is not None:
            return same
        if step.value is not None and (results or step.outside):
            return Obstacle("not-followed", f"more than the value of line {step.value.lineno}")
        numbers = self._numbers.of(inside)
        return replace(
            step,
            parameters=tuple(dict.fromkeys([*parameters, *(name for _, name in numbers)])),
            results=tuple(dict.fromkeys(results)),
            numbers=numbers,
        )

    def _is_another(
        self, step: InlineStep, inside: set[ast.AST], results: set[str]
    ) -> Obstacle | None:
        """Why it may be seen that a compiled function gives copies of tensors and of lists."""
        new = {
            target.id
            for node in inside
            if isinstance(node, ast.Assign) and isinstance(node.value, _NEW)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        shared: set[str] = set()
        for node in inside:
            if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            bound = {n.id for one in targets for n in ast.walk(one) if isinstance(n, ast.Name)}
            if not bound & results:
                continue
            kept = _kept(node.value)
            names = {one.id for one in kept if isinstance(one, ast.Name)}
            fine = len(names) == len(kept) and names <= new - results - shared
            if len(targets) > 1 or kept == [node.value] or not fine:
                message = f"what line {node.lineno} gives a name to may have another name too"
                return Obstacle("not-followed", message)
            shared |= names
        for name in self._own_names(step, inside):
            if name.id in results and isinstance(name.ctx, ast.Store):
                for use in self._uses(name):
                    if asks_which(self._source, use):
                        message = f"line {use.lineno} asks which object `{name.id}` is"
                        return Obstacle("returns-python", message)
        return None

    def _own_names(self, step: InlineStep, inside: set[ast.AST]) -> list[ast.Name]:
        """The places in the step that use variables of the loop's scope, as they stand."""
        home = self._scopes.of(step.anchor)
        return sorted(
            (
                one
                for one in inside
                if isinstance(one, ast.Name) and self._scopes.of(one).owner(one.id) is home
            ),
            key=lambda one: (one.lineno, one.col_offset),
        )

    def _leaves(self, step: InlineStep, inside: set[ast.AST]) -> Obstacle | None:
        """Why the statements of the step cannot be lifted out as they stand."""
        for node in inside:
            if isinstance(node, _LEAVING):
                line = getattr(node, "lineno", step.anchor.lineno)
                return Obstacle("not-followed", f"line {line} leaves the step before its end")
        if not step.statements:
            return None
        block, index = self._source.position(step.statements[0])
        after = index + len(step.statements)
        end = step.statements[-1].end_lineno
        if after < len(block) and block[after].lineno == end:
            message = f"line {end} goes on after the end of the step"
            return Obstacle("not-followed", message)
        return None

    def _binds_more(self, step: InlineStep, inside: set[ast.AST]) -> Obstacle | None:
        """Why what the step binds would not be seen where it is seen now."""
        home = self._scopes.of(step.anchor)
        if home is self._scopes.module and "__all__" in home.bindings:
            message = "`__all__` hands names of the module out, which may be those of the step"
            return Obstacle("python-effect", message)
        for node in inside:
            line = getattr(node, "lineno", step.anchor.lineno)
            if isinstance(node, _BINDING):
                return Obstacle("not-followed", f"line {line} makes more than values in the step")
            if not isinstance(node, ast.Name) or isinstance(node.ctx, ast.Load):
                continue
            owner = self._scopes.of(node).owner(node.id)
            if owner is not home and (owner is None or owner.node not in inside):
                message = f"line {line} binds `{node.id}` outside of the function around the loop"
                return Obstacle("python-effect", message)
        return None

    def _reads(self, name: ast.Name) -> bool:
        return isinstance(name.ctx, ast.Load) or isinstance(
            self._source.parent(name), ast.AugAssign
        )

    def _is_seen(self, name: ast.Name, inside: set[ast.AST]) -> bool:
        """Whether a value that the step binds is used elsewhere."""
        home = self._scopes.of(name)
        for use in self._uses(name):
            if use in inside:
                continue
            reaching = self._flow.reaching(use) if self._scopes.of(use) is home else []
            if not reaching or any(one.node in inside for one in reaching):
                return True
        return False

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

    def _is_given(self, name: ast.Name, step: InlineStep, inside: set[ast.AST]) -> bool:
        """Whether a name that the step reads has a value that its function would not see."""
        reaching = self._flow.reaching(name)
        outer = [one for one in reaching if one.node not in inside]
        if name.id == step.owner:
            return False
        if step.place is not step.around and outer:
            return True
        return any(
            one.node is step.around or step.around in self._source.ancestors(one.node)
            for one in outer
        ) or (bool(outer) and len(outer) < len(reaching))


def _kept(value: ast.expr) -> list[ast.expr]:
    """The parts of a value that are objects which were there before."""
    if isinstance(value, _NEW):
        return []
    if isinstance(value, (ast.Tuple, ast.List)):
        return [part for one in value.elts for part in _kept(one)]
    if isinstance(value, ast.Dict):
        return [part for one in value.values for part in _kept(one)]
    return [value]


def asks_which(source: Source, use: ast.expr) -> bool:
    """Whether a use of a value asks which object it is: by `is`, `id` or `ref`."""
    parent = source.parent(use)
    if isinstance(parent, ast.Compare):
        sides = [parent.left, *parent.comparators]
        none = any(isinstance(one, ast.Constant) for one in sides)
        return not none and any(isinstance(op, (ast.Is, ast.IsNot)) for op in parent.ops)
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name):
        return parent.func.id == "id"
    return isinstance(parent, ast.Attribute) and parent.attr in ("ref", "experimental_ref")
