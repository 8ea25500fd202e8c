"""Training steps that are written out in a loop, and the function that each could be.

So are those in a function that loops call turn by turn and that cannot be compiled as a whole: what
it does in Python before and after its step stays where it is. Stretches without a tape are found by
`forward_stretches`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import Code, Own, Thing, parts
from tfrewrite.analysis.eager.tensor_work import TensorWork
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.source import Block

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.eager.step_functions import Step
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.flow import Loop

_UPDATING = frozenset(
    "gradient apply_gradients apply assign assign_add assign_sub minimize".split()
)
_FOLLOWING = frozenset({"update_state"})
_LOOPS = (ast.For, ast.While)
_WITH_VARIABLES = ("model", "layer")
_BY_HELPERS = (("predict", "predict_on_batch"), ("fit", "train_on_batch"))


class Kind(Enum):
    """What a stretch of code that is run turn by turn is there for."""

    STEP = "step"  # it opens a tape, and updates by what that gives
    UPDATE = "update"  # it updates by what the tape of another stretch has given
    FORWARD = "forward"  # it asks models, and no tape looks on


@dataclass(frozen=True)
class InlineStep:
    """A stretch of a loop's body, or of a function that loops call, that could be a function."""

    kind: Kind
    anchor: ast.stmt
    """The statement that opens the tape, makes the first update or asks the first model."""
    heart: ast.expr
    """The call in it that does."""
    around: Loop | ast.FunctionDef
    """The outermost loop around it, or the function that loops call."""
    statements: tuple[ast.stmt, ...]
    place: Loop | ast.FunctionDef
    """What a function of it would stand before: the loop, or the function that it is in."""
    value: ast.expr | None = None
    """What it computes of the statement behind it, which reads that in Python."""
    owner: str = ""
    """What the method around it calls its object, where a method would stand before that."""
    deferred: tuple[ast.stmt, ...] = ()
    """Those of its statements that are left to do after it."""
    earlier: tuple[ast.stmt, ...] = ()
    """Those of its statements that are done before it."""
    numbers: tuple[tuple[ast.Attribute, str], ...] = ()
    """Attributes in it that hold other numbers in other turns, each with its parameter."""
    parameters: tuple[str, ...] = ()
    """The names that it reads and that get other values in the loop or the function."""
    results: tuple[str, ...] = ()
    """The names that it binds and that are read elsewhere."""

    @property
    def parts(self) -> tuple[ast.AST, ...]:
        """Its statements, and what it computes of the one behind them."""
        return self.statements if self.value is None else (*self.statements, self.value)

    @property
    def outside(self) -> tuple[ast.stmt, ...]:
        """Those of its statements that stay outside of the function."""
        return (*self.earlier, *self.deferred)

    @property
    def nodes(self) -> Iterator[ast.AST]:
        """All that is in it."""
        for one in self.parts:
            yield from ast.walk(one)


class InlineSteps:
    """Finds steps that are written out in a loop."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._flow = facts.flow
        self._scopes = facts.scopes
        self._steps = facts.step_functions
        self._traces = facts.step_traces
        self._values = facts.eager_values
        self._once = facts.reached_once
        self._own = facts.own_calls
        self._keras_calls = facts.keras_calls
        self._work = TensorWork(facts)

    @cached_property
    def all(self) -> list[InlineStep]:
        """Every tape that is opened turn by turn, and every update that goes to none of them.

        They are in the order of the text.
        """
        found: list[InlineStep] = []
        taken: set[ast.AST] = set()
        for kind, anchor, heart in self._anchors():
            around = self._repeated(anchor)
            if around is None or self._steps.is_traced(anchor):
                continue
            if isinstance(self._scopes.of(anchor).node, ast.ClassDef):
                continue  # a name bound there is an attribute
            if not taken.isdisjoint({anchor, *self._flow.enclosing(anchor)}):
                continue
            step = InlineStep(kind, anchor, heart, around, self._stretch(anchor), around)
            taken.update(step.statements)
            found.append(step)
        return sorted(found, key=lambda one: one.anchor.lineno)

    def _repeated(self, anchor: ast.stmt) -> Loop | ast.FunctionDef | None:
        """The outermost loop around a statement of its turns, or a function that loops call."""
        loops = [one for one in self._flow.enclosing(anchor) if isinstance(one, _LOOPS)]
        if loops:
            return loops[-1] if self.is_of_the_turn(anchor, loops[0]) else None
        function = self._source.function(anchor)
        if not isinstance(function, ast.FunctionDef):
            return None
        is_step = self.is_of_the_turn(anchor, function) and self._is_kept(function)
        return function if is_step else None

    def _is_kept(self, function: ast.FunctionDef) -> bool:
        """Whether a function with a step stays as it is, though all about its callers is known."""
        step = self._steps.eager(function)
        if step is None or not self.may_be_taken_apart(step):
            return False
        return isinstance(self._traces.replayed(step), Obstacle)

    def may_be_taken_apart(self, step: Step) -> bool:
        """Whether all is known about the callers of a function, and its place is its own.

        Where a function of the module asks Keras' loops, the helpers for these go before it.
        """
        function = step.function
        if self._traces.around(step) is not None:
            return False
        return not isinstance(self._source.parent(function), ast.Module) or not any(
            self._source.function(one.call) is function
            for methods in _BY_HELPERS
            for one in self._keras_calls.repeated(*methods)
        )

    def _anchors(self) -> Iterator[tuple[Kind, ast.stmt, ast.expr]]:
        """The statements that make steps: the tapes first, which have updates of their own."""
        for tape in sorted(self._source.all(ast.With), key=lambda one: one.lineno):
            if self._steps.is_tape(tape) and not self._is_inside_another(tape):
                yield Kind.STEP, tape, tape.items[0].context_expr
        for update in sorted(self._source.all(ast.Expr), key=lambda one: one.lineno):
            if self._is_update(update):
                yield Kind.UPDATE, update, update.value

    def _is_update(self, statement: ast.stmt) -> bool:
        """Whether a statement is an update by an optimizer."""
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=receiver, attr=name) as func)):
                if self._names.dotted(func) is not None:
                    return False
                found = self._values.value(receiver) if name == "apply" else None
                is_optimizer = isinstance(found, Thing) and found.kind == "optimizer"
                return name == "apply_gradients" or is_optimizer
        return False

    def is_of_the_turn(self, anchor: ast.stmt, around: Loop | ast.FunctionDef) -> bool:
        """Whether a statement stands in the body of something, at most under conditions."""
        child: ast.AST = anchor
        for outer in self._source.ancestors(anchor):
            if outer is around:
                return child in around.body
            if not isinstance(outer, ast.If):
                return False
            child = outer
        return False

    def holds(self, node: ast.AST) -> bool:
        """Whether a place belongs to such a step."""
        around = {node, *self._source.ancestors(node)}
        return any(not around.isdisjoint(one.parts) for one in self.all)

    def wider(self, step: InlineStep) -> list[InlineStep]:
        """The same with what only computes with tensors around it, the most of it first.

        The last one is the step alone.
        """
        block, first = self._source.position(step.statements[0])
        start, end = first, first + len(step.statements)
        while start and self._only_computes(block[start - 1]):
            start -= 1
        last = end
        while last < len(block) and self._work.gives_lists(block[last]):
            last += 1
        bounds = dict.fromkeys([(start, last), (start, end), (first, last), (first, end)])
        return [replace(step, statements=tuple(block[left:right])) for left, right in bounds]

    def _only_computes(self, statement: ast.stmt) -> bool:
        return self._work.gives_tensor(statement) or self._work.gives_lists(statement)

    def shorter(self, step: InlineStep) -> InlineStep | None:
        """The same up to the update before its last one; None where there is none."""
        for last in range(len(step.statements) - 2, -1, -1):
            if self._calls_one_of(step.statements[last], _UPDATING):
                return replace(step, statements=step.statements[: last + 1])
        return None

    def races(self, step: InlineStep) -> Obstacle | None:
        """Why an update may come before something has been read that it changes.

        What a gradient is taken beneath is looked at in the trace. Beside a tape, an update waits
        for what it is given of each variable, and for nothing else.
        """
        if step.kind is not Kind.UPDATE:
            return None
        for call in step.nodes:
            if isinstance(call, ast.Call) and self._runs_code(call):
                message = (
                    f"`{ast.unparse(call.func)}` in line {call.lineno} may read what is updated"
                    " there, and nothing but the graph keeps the order"
                )
                return Obstacle("races-with-update", message)
        found = [one for part in step.statements for one in self._work.weights(part)]
        changed = {
            maker for weights, needed in found if not needed for maker in self._made(weights)
        }
        for weights, needed in found:
            makers = self._made(weights)
            if needed and (makers & changed or not self._are_apart(makers)):
                message = (
                    f"line {weights.lineno} computes with `{ast.unparse(weights)}`, which may be"
                    " changed there, and nothing but the graph makes an update wait for it"
                )
                return Obstacle("races-with-update", message)
        return None

    def _runs_code(self, call: ast.Call) -> bool:
        """Whether a call runs a model, a layer or code of the file."""
        return any(
            isinstance(part, (Code, Own))
            or (isinstance(part, Thing) and (part.kind in _WITH_VARIABLES or bool(part.code)))
            for part in parts(self._values.value(call.func))
        )

    def _made(self, weights: ast.expr) -> set[ast.AST]:
        """The calls that have made some variables."""
        return {
            maker
            for part in parts(self._values.value(weights))
            if isinstance(part, Thing)
            for maker in part.made
        }

    def _are_apart(self, makers: set[ast.AST]) -> bool:
        """Whether variables were made by the script, and for no model."""
        return bool(makers) and not any(
            isinstance(outer, ast.ClassDef)
            for maker in makers
            for outer in self._source.ancestors(maker)
        )

    def placed(self, step: InlineStep) -> InlineStep | Obstacle:
        """The step with a place where a function of it is made only once."""
        around = step.around
        is_loop = not isinstance(around, ast.FunctionDef)
        function = self._source.function(around) if is_loop else around
        home = self._source.parent(function) if function is not None else None
        once = self._once.holds(around) and self._is_run(around)
        if once and not isinstance(home if around is function else None, ast.ClassDef):
            return step
        if isinstance(function, ast.FunctionDef) and not function.decorator_list:
            if isinstance(home, ast.Module):
                return replace(step, place=function)
            owner = function.args.args[0].arg if function.args.args else ""
            bindings = self._scopes.inside(function).bindings.get(owner, [])
            of_module = isinstance(home, ast.ClassDef) and home in self._source.tree.body
            if of_module and not function.args.posonlyargs and len(bindings) == 1:
                return replace(step, place=function, owner=owner)
        message = (
            f"the function around line {step.anchor.lineno} may be called again, and the step would"
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

    def _stretch(self, anchor: ast.stmt) -> tuple[ast.stmt, ...]:
        """All down to the last update, and what only updates metrics.

        From a tape this is the last one of its block, and else that of a row of updates.
        """
        block, index = self._source.position(anchor)
        last = index
        for position in range(index + 1, len(block)):
            if isinstance(anchor, ast.With):
                if self._calls_one_of(block[position], _UPDATING):
                    last = position
            elif self._is_update(block[position]) and last == position - 1:
                last = position
        while last + 1 < len(block) and (
            self._is_metric(block, last + 1) or _deletes(block[last + 1], anchor)
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
                    return self._values.is_metric(func)
        return False

    def _is_inside_another(self, node: ast.With) -> bool:
        return any(map(self._steps.is_tape, self._flow.enclosing(node)))


def _deletes(statement: ast.stmt, anchor: ast.stmt) -> bool:
    """Whether a statement only deletes tapes that were opened."""
    items = anchor.items if isinstance(anchor, ast.With) else ()
    opened = [ast.unparse(one.optional_vars) for one in items if one.optional_vars]
    return isinstance(statement, ast.Delete) and all(
        ast.unparse(target) in opened for target in statement.targets
    )
