"""The functions without a tape that loops call turn by turn, and that do enough to be traced.

An evaluation, an update of a target network, a model that is asked for the next word. A call of
what is compiled costs as much as some ops do (`docs/measurements.md`), so a small function is left
alone; and so is one that is called now and then only, since tracing it takes long.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import Code, Group, Number, Own, Thing, Value, parts
from tfrewrite.analysis.eager.array_shapes import rows
from tfrewrite.analysis.eager.step_functions import Step
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.flow import evaluated
from tfrewrite.analysis.program.scopes import COMPREHENSIONS
from tfrewrite.analysis.program.turns import turns
from tfrewrite.analysis.traces.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfrewrite.analysis.facts import Facts

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FEWEST_OPS = 16
_FEWEST_LAYERS = 2
_FEW_TURNS = 50
_SIDE_BY_SIDE = frozenset({"builtins.zip", "builtins.enumerate"})
_OF_KERAS = frozenset({"model", "layer"})
# Keras calls them itself.
_HOOKS = frozenset(
    "call build get_config train_step test_step predict_step compute_loss"
    " compute_metrics compute_mask compute_output_shape".split()
)
# They go through all their data, in loops of their own.
_LONG = frozenset("fit fit_generator evaluate predict evaluate_generator predict_generator".split())


@dataclass(frozen=True)
class Forward:
    """A function that makes a step without a tape, and what a trace of it does."""

    step: Step
    found: Trace | Obstacle


class ForwardSteps:
    """Finds functions without a tape that are worth a trace."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._names = facts.names
        self._flow = facts.flow
        self._own = facts.own_calls
        self._values = facts.eager_values
        self._steps = facts.step_functions
        self._traces = facts.step_traces

    @cached_property
    def all(self) -> list[Forward]:
        """What can be compiled and does enough, and what asks a model and cannot be compiled."""
        if not self._facts.eager_code.is_tf2:
            return []
        traced = self._traced
        return [
            one for one in self._found if not self._is_reached(one.step.function, traced, set())
        ]

    @cached_property
    def compiled(self) -> set[ast.FunctionDef]:
        """Those that can be compiled."""
        return {one.step.function for one in self.all if isinstance(one.found, Trace)}

    def is_compiled(self, function: ast.FunctionDef) -> bool:
        """Whether a function can be compiled, with a tape or without, or one that calls it."""
        return function in self._traced or self._is_reached(function, self._traced, set())

    def is_compiled_itself(self, function: ast.FunctionDef) -> bool:
        """Whether a function can be compiled, with a tape or without."""
        return function in self._traced

    @cached_property
    def _found(self) -> list[Forward]:
        judged = [self._judged(step) for step in self._candidates()]
        return [one for one in judged if one is not None]

    @cached_property
    def _traced(self) -> set[ast.FunctionDef]:
        with_tape = {one.function for one in self._steps.all() if self._is_replayed(one)}
        return with_tape | {
            one.step.function for one in self._found if isinstance(one.found, Trace)
        }

    def _is_replayed(self, step: Step) -> bool:
        return isinstance(self._traces.replayed(step), Trace)

    def _candidates(self) -> Iterator[Step]:
        for function in sorted(self._source.all(ast.FunctionDef), key=lambda one: one.lineno):
            if function.decorator_list or self._is_hook(function):
                continue
            calls = self._steps.calls(function)
            if not calls or not any(self._is_often(call, 1.0, {function}) for call in calls):
                continue
            if any(self._steps.is_tape(node) for node in self._within(function)):
                continue
            if self._builds(function) or self._steps.is_traced(function.body[0]):
                continue
            if not any(self._is_of_a_step(call, set()) for call in calls):
                yield Step(function, tuple(calls))

    def _judged(self, step: Step) -> Forward | None:
        found = self._traces.replayed(step)
        if isinstance(found, Trace):
            return Forward(step, found) if found.ops >= _FEWEST_OPS else None
        called = self._called(step.function)
        return Forward(step, found) if self.is_enough(called) else None

    def _is_reached(
        self, function: ast.FunctionDef, traced: set[ast.FunctionDef], seen: set[ast.AST]
    ) -> bool:
        """Whether a function that is compiled calls this one, itself or through others."""
        seen.add(function)
        for call in self._steps.calls(function) or ():
            around = self._source.function(call)
            if not isinstance(around, ast.FunctionDef) or around in seen:
                continue
            if around in traced or self._is_reached(around, traced, seen):
                return True
        return False

    # What stretches of loops ask

    def asked(self, call: ast.Call) -> list[Thing | Own]:
        """The models and layers that a call asks, but for those it puts together or makes.

        So it may do through a function that steps call as well, which is not compiled by itself.
        """
        if isinstance(call.func, ast.Call):
            return []
        found = self._of_keras(call) or self._asked_by(self._function(call))
        symbolic = found and any(map(_is_symbolic, parts(self._values.value(call))))
        return [] if symbolic else found

    def _asked_by(self, function: ast.FunctionDef | None) -> list[Thing | Own]:
        """What a function asks that steps call, and perhaps others."""
        if function is None or function.decorator_list or self.is_compiled_itself(function):
            return []
        calls = self._steps.calls(function) or ()
        shared = any(self._is_of_a_step(call, set()) for call in calls)
        return list(self._called_beneath(function, set())) if shared else []

    def _called_beneath(
        self, function: ast.FunctionDef, seen: set[ast.AST]
    ) -> Iterator[Thing | Own]:
        """The models and layers that a function calls, itself or through others."""
        seen.add(function)
        yield from self._called(function)
        for node in self._within(function):
            inner = self._function(node) if isinstance(node, ast.Call) else None
            if inner is not None and inner not in seen:
                yield from self._called_beneath(inner, seen)

    def _function(self, call: ast.Call) -> ast.FunctionDef | None:
        """The function of the file that a call runs."""
        found = self._values.value(call.func) if self._names.dotted(call.func) is None else None
        node = found.node if isinstance(found, Code) else None
        return node if isinstance(node, ast.FunctionDef) else None

    def is_enough(self, called: Iterable[Thing | Own]) -> bool:
        """Whether a model is among what is called, or several layers are."""
        every = list(called)
        return any(map(self._is_model, every)) or len(every) >= _FEWEST_LAYERS

    def may_be_alone(self, node: ast.AST) -> bool:
        """Whether a place is reached turn by turn of a loop, and in no trace, tape or model."""
        function = self._source.function(node)
        if isinstance(function, ast.FunctionDef) and (
            self._is_hook(function) or self._builds(function) or self.is_compiled(function)
        ):
            return False
        return not self._is_of_a_step(node, set()) and self._is_often(node, 1.0, set())

    # What it does

    def _is_hook(self, function: ast.FunctionDef) -> bool:
        """Whether it is a method that Keras, or whatever a class is made from, calls by itself."""
        cls = self._source.parent(function)
        if function.name == "__init__" or not isinstance(cls, ast.ClassDef):
            return function.name == "__init__"
        return function.name in _HOOKS and bool(cls.bases)

    def _within(self, function: ast.FunctionDef) -> Iterator[ast.AST]:
        for statement in function.body:
            yield from evaluated(statement)

    def _builds(self, function: ast.FunctionDef) -> bool:
        """Whether a function makes the layers that it calls, or is given parts of a model."""
        for called in self._called(function):
            if any(function in self._source.ancestors(made) for made in called.made):
                return True
        arguments = function.args
        names = {one.arg for one in (*arguments.args, *arguments.kwonlyargs)}
        for name in self._source.all(ast.Name):
            if name.id in names and self._source.function(name) is function:
                found = self._values.value(name)
                if any(map(_is_symbolic, parts(found))):
                    return True
        return False

    def _called(self, function: ast.FunctionDef) -> Iterator[Thing | Own]:
        """The models and layers that a function calls, but for those in loops over data."""
        for node in self._within(function):
            if isinstance(node, ast.Call) and not self._is_in_long_loop(node):
                yield from self._of_keras(node)

    def _of_keras(self, call: ast.Call) -> list[Thing | Own]:
        """The models and layers that may be called there."""
        if not isinstance(call.func, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
            return []
        if self._names.dotted(call.func) is not None:
            return []
        return [
            part
            for part in parts(self._values.value(call.func))
            if (isinstance(part, Thing) and part.kind in _OF_KERAS)
            or (isinstance(part, Own) and self._values.members.is_keras(part.cls))
        ]

    def _is_model(self, value: Thing | Own) -> bool:
        if isinstance(value, Own):
            return (self._values.members.base(value.cls) or "").endswith("Model")
        return value.kind == "model"

    def _is_in_long_loop(self, node: ast.AST) -> bool:
        """Whether a place of a function is in a loop that runs over more than a list of layers."""
        for outer in self._flow.enclosing(node):
            if isinstance(outer, ast.For) and self.is_short(outer):
                continue
            if isinstance(outer, (*_LOOPS, *COMPREHENSIONS)):
                return True
        return False

    # How often it is called

    def _is_of_a_step(self, node: ast.AST, seen: set[ast.AST]) -> bool:
        """Whether a place is recorded by a tape, or part of a step that is written out."""
        if self._facts.inline_steps.holds(node):
            return True
        if any(
            isinstance(o, ast.With) and self._steps.is_tape(o) for o in self._source.ancestors(node)
        ):
            return True
        function = self._source.function(node)
        if not isinstance(function, ast.FunctionDef) or function in seen:
            return False
        seen.add(function)
        calls = self._steps.calls(function)
        return any(self._is_of_a_step(call, seen) for call in calls or ())

    def _is_often(self, node: ast.AST, outside: float, seen: set[ast.AST]) -> bool:
        """Whether a place is reached turn by turn of a loop, here or around a caller."""
        around = list(self._flow.enclosing(node))
        loops = [one for one in around if isinstance(one, (*_LOOPS, *COMPREHENSIONS))]
        if self._is_now_and_then(node, loops[0] if loops else None):
            return False
        if loops and outside == 1.0 and self._holds_long_loops(loops[0], seen):
            return False
        outside *= turns(loops, self._count)
        if outside > _FEW_TURNS:
            return True
        function = self._source.function(node)
        if not isinstance(function, ast.FunctionDef) or function in seen:
            return False
        seen.add(function)
        calls = self._steps.calls(function)
        return any(self._is_often(call, outside, seen) for call in calls or ())

    def _count(self, number: ast.expr) -> int | None:
        """The integer that an expression surely is."""
        found = self._values.value(number)
        literal = found.literal if isinstance(found, Number) and not found.varies else None
        return literal.value if literal is not None and isinstance(literal.value, int) else None

    def _is_now_and_then(self, node: ast.AST, loop: ast.AST | None) -> bool:
        """Whether a place is for some turns of a loop only, as `if step % 100 == 0:` says."""
        child = node
        for outer in self._flow.enclosing(node):
            if outer is loop:
                return False
            if isinstance(outer, ast.ExceptHandler):
                return True
            if isinstance(outer, ast.If) and child in outer.body and _is_of_one_turn(outer.test):
                return True
            child = outer
        return False

    def _holds_long_loops(self, loop: ast.AST, but: set[ast.AST]) -> bool:
        """Whether the turns of a loop take long, as those of one over epochs do."""
        body = getattr(loop, "body", [])
        return any(self._takes_long(node, {*but}) for one in body for node in evaluated(one))

    def _takes_long(self, node: ast.AST, seen: set[ast.AST]) -> bool:
        if isinstance(node, _LOOPS):
            return not (isinstance(node, ast.For) and self.is_short(node))
        if not isinstance(node, ast.Call):
            return False
        if isinstance(node.func, ast.Attribute) and node.func.attr in _LONG:
            return self._own.function(node) is None and self._names.dotted(node.func) is None
        function = self._own.function(node)
        if not isinstance(function, ast.FunctionDef) or function in seen:
            return False
        seen.add(function)
        return any(self._takes_long(inner, seen) for inner in self._within(function))

    def is_short(self, loop: ast.For) -> bool:
        """Whether a loop runs over a list, as one of layers or variables, or makes few turns.

        So it does over the rows of an array that has few.
        """
        over = [loop.iter]
        if isinstance(loop.iter, ast.Call) and self._names.dotted(loop.iter.func) in _SIDE_BY_SIDE:
            over = loop.iter.args
        values = [self._values.value(one) for one in over]
        lists = all(isinstance(one, Group) or rows(one) is not None for one in values)
        return lists or turns([loop], self._count) <= _FEW_TURNS


def _is_of_one_turn(test: ast.expr) -> bool:
    return any(isinstance(node, (ast.Mod, ast.Eq)) for node in ast.walk(test))


def _is_symbolic(value: Value) -> bool:
    """Whether a value stands for what a model will be given."""
    return isinstance(value, Thing) and value.kind == "symbolic"
