"""Training steps that stand in the body of a loop, and the function that each could be."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tfrewrite.analysis.abstract_values import Library, Number, Tensor, Thing
from tfrewrite.analysis.deferred import Deferred
from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.scopes import How
from tfrewrite.analysis.source import Block

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.flow import Loop

_UPDATING = frozenset(
    "gradient apply_gradients apply assign assign_add assign_sub minimize".split()
)
_FOLLOWING = frozenset({"update_state"})
_LOOPS = (ast.For, ast.While)
_BINDING = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom,
    ast.Global, ast.Nonlocal,
)  # fmt: skip
_NEW = (
    ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Constant, ast.JoinedStr,
    ast.ListComp, ast.GeneratorExp, ast.Lambda,
)  # fmt: skip
_NO_DATA = frozenset({How.IMPORT, How.FUNCTION, How.CLASS})
_OF_OPS = (
    ast.Attribute, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.keyword,
    ast.List, ast.Tuple, ast.expr_context,
)  # fmt: skip
_LEAVING = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Await)


@dataclass(frozen=True)
class InlineStep:
    """A stretch of a loop's body that opens a tape, and updates by what it gives."""

    tape: ast.With
    loop: Loop
    """The outermost loop around it."""
    statements: tuple[ast.stmt, ...]
    place: Loop | ast.FunctionDef
    """What a function of it would stand before: the loop, or the function that it is in."""
    owner: str = ""
    """What the method around it calls its object, where a method would stand before that."""
    deferred: tuple[ast.stmt, ...] = ()
    """Those of its statements that are left to do after it."""
    parameters: tuple[str, ...] = ()
    """The names that it reads and that get other values in the loop."""
    results: tuple[str, ...] = ()
    """The names that it binds and that are read elsewhere."""


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

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.If(test=test, body=body, orelse=orelse):
                self._read(test)
                before = set(self.bound)
                self.go_through(body)
                after, self.bound = self.bound, before
                self.go_through(orelse)
                self.bound &= after
            case ast.For(target=target, iter=iterable, body=body):
                self._read(iterable)
                before = set(self.bound)
                self._bind(target)
                self.go_through(body)
                self.bound = before
            case ast.With(items=items, body=body):
                for item in items:
                    self._read(item.context_expr)
                    if item.optional_vars is not None:
                        self._bind(item.optional_vars)
                self.go_through(body)
            case ast.Assign(targets=targets, value=value):
                self._read(value)
                for target in targets:
                    self._bind(target)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._read(value)
                self._bind(target)
            case ast.AugAssign(target=ast.Name() as target, value=value):
                self._read(value)
                self._need(target)
            case ast.Delete(targets=targets):
                for target in targets:
                    self._read(target)
                    self.bound -= {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
            case _:
                self._read(statement)

    def _read(self, node: ast.AST) -> None:
        for name in ast.walk(node):
            if isinstance(name, ast.Name) and not isinstance(name.ctx, ast.Store):
                self._need(name)

    def _need(self, name: ast.Name) -> None:
        if name in self._names and name.id in self._asked - self.bound and self.missing is None:
            self.missing = name

    def _bind(self, target: ast.expr) -> None:
        self._read(target)
        self.bound |= {
            name.id
            for name in ast.walk(target)
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        }


class InlineSteps:
    """Finds steps that are written out in a loop."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._flow = facts.flow
        self._scopes = facts.scopes
        self._steps = facts.step_functions
        self._values = facts.eager_values
        self._own = facts.own_calls
        self._deferred = Deferred(facts)

    def all(self) -> list[InlineStep]:
        """Every tape that is opened in the body of a loop, in the order of the text."""
        found: list[InlineStep] = []
        for node in sorted(self._source.all(ast.With), key=lambda one: one.lineno):
            loops = [one for one in self._flow.enclosing(node) if isinstance(one, _LOOPS)]
            if not loops or not self._opens_tape(node) or self._is_inside_another(node):
                continue
            if not self._is_of_the_turn(node, loops[0]) or self._steps.is_traced(node):
                continue
            if isinstance(self._scopes.of(node).node, ast.ClassDef):
                continue  # a name bound there is an attribute
            if any(node in one.statements for one in found):
                continue
            loop = loops[-1]
            found.append(InlineStep(node, loop, self._stretch(node), loop))
        return found

    def _is_of_the_turn(self, tape: ast.With, loop: Loop) -> bool:
        """Whether a tape stands in the body of a loop, at most under conditions."""
        child: ast.AST = tape
        for outer in self._flow.enclosing(tape):
            if outer is loop:
                return child in loop.body
            if not isinstance(outer, ast.If):
                return False
            child = outer
        return False

    def longer(self, step: InlineStep) -> InlineStep | None:
        """The same with what only computes with tensors right before it; None for nothing."""
        block, index = self._source.position(step.tape)
        first = index
        while first and self._only_computes(block[first - 1]):
            first -= 1
        if first == index:
            return None
        return replace(step, statements=(*block[first:index], *step.statements))

    def _only_computes(self, statement: ast.stmt) -> bool:
        """Whether a statement gives a name to what ops make of tensors."""
        match statement:
            case ast.Assign(targets=[ast.Name()], value=ast.Call() as value):
                return all(self._is_op_on_tensors(node) for node in ast.walk(value))
        return False

    def _is_op_on_tensors(self, node: ast.AST) -> bool:
        match node:
            case ast.Call(func=func):
                effect = effect_of(self._names.tf(func) or "", "2")
                return (
                    effect is not None
                    and effect.stateless
                    and effect.leaves_no_trace
                    and effect.returns_tensor
                    and not effect.calls
                )
            case ast.Name():
                value = self._values.value(node)
                array = isinstance(value, Tensor) and value.array
                return isinstance(value, (Tensor, Number, Library)) and not array
        return isinstance(node, _OF_OPS)

    def shorter(self, step: InlineStep) -> InlineStep | None:
        """The same up to the update before its last one; None where there is none."""
        for last in range(len(step.statements) - 2, 0, -1):
            if self._calls_one_of(step.statements[last], _UPDATING):
                return replace(step, statements=step.statements[: last + 1])
        return None

    def placed(self, step: InlineStep) -> InlineStep | Obstacle:
        """The step with a place where a function of it is made only once."""
        if self._values.runs_once(step.loop) and self._is_run(step.loop):
            return step
        function = self._source.function(step.loop)
        home = self._source.parent(function) if function is not None else None
        if isinstance(function, ast.FunctionDef) and not function.decorator_list:
            if isinstance(home, ast.Module):
                return replace(step, place=function)
            owner = function.args.args[0].arg if function.args.args else ""
            bindings = self._scopes.inside(function).bindings.get(owner, [])
            of_module = isinstance(home, ast.ClassDef) and home in self._source.tree.body
            if of_module and not function.args.posonlyargs and len(bindings) == 1:
                return replace(step, place=function, owner=owner)
        message = (
            f"the function around line {step.tape.lineno} may be called again, and the step would"
            " be traced anew each time; make the step a function of the module or a method"
        )
        return Obstacle("traced-again", message)

    def _is_run(self, node: ast.AST) -> bool:
        """Whether this file itself runs a place of it; what others run may run again."""
        function = self._source.function(node)
        if function is None:
            return True
        calls = self._own.calls(function) if isinstance(function, ast.FunctionDef) else []
        if calls is None or len(calls) > 1:
            return True  # it is handed to what starts the program
        return any(self._is_run(call) for call in calls)

    def with_names(self, step: InlineStep) -> InlineStep | Obstacle:
        """The step with its parameters and results."""
        step = replace(step, deferred=self._deferred.of(step.statements))
        inside = {node for statement in step.statements for node in ast.walk(statement)}
        inside -= {node for statement in step.deferred for node in ast.walk(statement)}
        unfit = self._leaves(step, inside) or self._binds_more(step, inside)
        if unfit is not None:
            return unfit
        names = self._own_names(step, inside)
        given = [name for name in names if self._reads(name) and self._is_given(name, step, inside)]
        for name in given:
            if any(one.how in _NO_DATA for one in self._flow.reaching(name)):
                message = f"`{name.id}` is made in the function around line {step.tape.lineno}"
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
        assigned = SureValues(names, [*parameters, step.owner], step.deferred)
        assigned.go_through(step.statements)
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
        return replace(
            step,
            parameters=tuple(dict.fromkeys(parameters)),
            results=tuple(dict.fromkeys(results)),
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
                    if self._asks_which(use):
                        message = f"line {use.lineno} asks which object `{name.id}` is"
                        return Obstacle("returns-python", message)
        return None

    def _asks_which(self, use: ast.Name) -> bool:
        parent = self._source.parent(use)
        if isinstance(parent, ast.Compare):
            sides = [parent.left, *parent.comparators]
            none = any(isinstance(one, ast.Constant) for one in sides)
            return not none and any(isinstance(op, (ast.Is, ast.IsNot)) for op in parent.ops)
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name):
            return parent.func.id == "id"
        return isinstance(parent, ast.Attribute) and parent.attr in ("ref", "experimental_ref")

    def _own_names(self, step: InlineStep, inside: set[ast.AST]) -> list[ast.Name]:
        """The places in the step that use variables of the loop's scope, as they stand."""
        home = self._scopes.of(step.tape)
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
                line = getattr(node, "lineno", step.tape.lineno)
                return Obstacle("not-followed", f"line {line} leaves the step before its end")
        block, index = self._source.position(step.statements[0])
        after = index + len(step.statements)
        end = step.statements[-1].end_lineno
        if after < len(block) and block[after].lineno == end:
            message = f"line {end} goes on after the end of the step"
            return Obstacle("not-followed", message)
        return None

    def _binds_more(self, step: InlineStep, inside: set[ast.AST]) -> Obstacle | None:
        """Why what the step binds would not be seen where it is seen now."""
        home = self._scopes.of(step.tape)
        if home is self._scopes.module and "__all__" in home.bindings:
            message = "`__all__` hands names of the module out, which may be those of the step"
            return Obstacle("python-effect", message)
        for node in inside:
            line = getattr(node, "lineno", step.tape.lineno)
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
        if step.place is not step.loop and name.id != step.owner and outer:
            return True
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
        while last + 1 < len(block) and (
            self._is_metric(block, last + 1) or _deletes(block[last + 1], tape)
        ):
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
        """Whether a statement only updates a metric."""
        match block[position]:
            case ast.Expr(value=ast.Call(func=func)) as statement:
                if self._calls_one_of(statement, _FOLLOWING):
                    return True
                if isinstance(func, ast.Name) and self._names.dotted(func) is None:
                    found = self._values.value(func)
                    return isinstance(found, Thing) and found.kind == "metric"
        return False

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


def _deletes(statement: ast.stmt, tape: ast.With) -> bool:
    """Whether a statement only deletes tapes that were opened."""
    opened = [ast.unparse(one.optional_vars) for one in tape.items if one.optional_vars]
    return isinstance(statement, ast.Delete) and all(
        ast.unparse(target) in opened for target in statement.targets
    )


def _kept(value: ast.expr) -> list[ast.expr]:
    """The parts of a value that are objects which were there before."""
    if isinstance(value, _NEW):
        return []
    if isinstance(value, (ast.Tuple, ast.List)):
        return [part for one in value.elts for part in _kept(one)]
    if isinstance(value, ast.Dict):
        return [part for one in value.values for part in _kept(one)]
    return [value]
