"""Stretches of a loop's body that ask a model and no tape looks on: evaluations written out.

So are those of a function that loops call and that cannot be compiled as a whole, as it reads in
Python what a model says. Such a stretch computes with tensors only, and does enough to be traced: a
call of what is compiled takes as long as some ops do. What the statement behind it reads of that in
Python, as `total += int(tf.reduce_sum(right))` does, is a part of it.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeGuard

from tfrewrite.analysis.eager.abstract_values import Dataset, Tensor, Thing
from tfrewrite.analysis.eager.inline_steps import InlineStep, Kind
from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.scopes import COMPREHENSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts

_LOOPS = (ast.For, ast.While)
_COUNTING = frozenset(f"builtins.{name}" for name in "range zip enumerate len list tuple".split())
_TO_PYTHON = frozenset(f"builtins.{name}" for name in "float int bool".split())
_ASKED = frozenset("model layer loss metric".split())
_OF_METRICS = frozenset("update_state result".split())


class ForwardStretches:
    """Finds them, where a loop comes by often enough and a model, or several layers, are asked."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._names = facts.names
        self._flow = facts.flow
        self._scopes = facts.scopes
        self._own = facts.own_calls
        self._values = facts.eager_values
        self._steps = facts.step_functions
        self._inline = facts.inline_steps
        self._forward = facts.forward_steps

    @cached_property
    def all(self) -> list[InlineStep]:
        """Every one, in the order of the text; each as long as it may be."""
        if not self._facts.eager_code.is_tf2:
            return []
        found: list[InlineStep] = []
        taken: set[ast.stmt] = set()
        calls = [one for one in self._source.all(ast.Call) if self._is_repeated(one)]
        for call in sorted(calls, key=lambda one: (one.lineno, one.col_offset)):
            anchor = self._anchor(call) if self._forward.asked(call) else None
            if anchor is None or not taken.isdisjoint({anchor, *self._source.ancestors(anchor)}):
                continue
            step = self._stretch(anchor, call)
            if step is not None and self._is_enough(step):
                taken.update({*step.statements, anchor})
                found.append(step)
        return found

    def from_long_to_short(self, step: InlineStep) -> list[InlineStep]:
        """The same with less and less around the calls of models."""
        asking = [number for number, one in enumerate(step.statements) if self._asks(one)]
        first = asking[0] if asking else len(step.statements)
        last = asking[-1] + 1 if asking else 0
        ends = [(None, step.value), (None, None), (last, None)]
        given = self._given(step.statements[last - 1]) if asking else None
        if given is not None:
            ends.append((last - 1, given))
        found = [
            replace(step, statements=step.statements[start:end], value=value)
            for start in (0, first)
            for end, value in ends
        ]
        return [one for one in dict.fromkeys(found) if one.statements or one.value is not None]

    def _is_enough(self, step: InlineStep) -> bool:
        inside = set(step.nodes)
        asked = []
        for call in inside:
            if isinstance(call, ast.Call):
                # In a loop over layers one call asks all of them.
                often = not inside.isdisjoint(self._repeating(call))
                asked += self._forward.asked(call) * (2 if often else 1)
        return self._forward.is_enough(asked)

    def _repeating(self, call: ast.Call) -> Iterator[ast.AST]:
        for outer in self._source.ancestors(call):
            if isinstance(outer, (ast.For, *COMPREHENSIONS)):
                yield outer

    def _asks(self, node: ast.AST) -> bool:
        return any(isinstance(one, ast.Call) and self._forward.asked(one) for one in ast.walk(node))

    # Where

    def _anchor(self, call: ast.Call) -> ast.stmt | None:
        """The statement of a loop's body that a call is in; None where the loop is not for it.

        A loop over a list, or of few turns, is a part of what a trace does.
        """
        anchor = self._source.statement(call)
        loops = [one for one in self._flow.enclosing(call) if isinstance(one, _LOOPS)]
        while loops and self._is_unrolled(loops[0]):
            anchor = loops.pop(0)
        around = loops[0] if loops else self._called(anchor)
        if around is None or not self._inline.is_of_the_turn(anchor, around):
            return None
        return anchor if self._is_alone(anchor) else None

    def _is_repeated(self, call: ast.Call) -> bool:
        return self._flow.loop(call) is not None or self._called(call) is not None

    def _called(self, node: ast.AST) -> ast.FunctionDef | None:
        """The function around a place that loops call for this, and that is not compiled."""
        function = self._source.function(node)
        return function if function in self._kept else None

    @cached_property
    def _kept(self) -> set[ast.FunctionDef]:
        """The functions that ask models and stay, though all about their callers is known."""
        return {
            one.step.function
            for one in self._forward.all
            if isinstance(one.found, Obstacle) and self._inline.may_be_taken_apart(one.step)
        }

    def _is_unrolled(self, loop: ast.AST) -> TypeGuard[ast.For]:
        """Whether a trace would hold all turns of a loop, and not many."""
        if not isinstance(loop, ast.For) or not self._forward.is_short(loop):
            return False
        return not isinstance(self._values.value(loop.iter), Dataset)

    def _is_alone(self, anchor: ast.stmt) -> bool:
        """Whether no trace and no tape has to do with a statement, and its loop comes by often."""
        if self._steps.is_traced(anchor) or isinstance(self._scopes.of(anchor).node, ast.ClassDef):
            return False
        return self._forward.may_be_alone(anchor)

    # What

    def _stretch(self, anchor: ast.stmt, call: ast.Call) -> InlineStep | None:
        block, index = self._source.position(anchor)
        start = end = index
        while start and self._is_work(block[start - 1]):
            start -= 1
        while end < len(block) and self._is_work(block[end]):
            end += 1
        value = None
        if end < len(block):
            value = self._read(block[end]) or self._given(block[end])
        if end == index and (value is None or call not in ast.walk(value)):
            return None
        loops = [one for one in self._flow.enclosing(anchor) if isinstance(one, _LOOPS)]
        around = loops[-1] if loops else self._called(anchor)
        assert around is not None
        return InlineStep(
            Kind.FORWARD, anchor, call, around, tuple(block[start:end]), around, value=value
        )

    def _read(self, statement: ast.stmt) -> ast.expr | None:
        """What a statement reads in Python, and computes with tensors before it does all else."""
        match statement:
            case (
                ast.Assign(targets=[ast.Name()], value=value)
                | ast.Return(value=ast.expr() as value)
                | ast.AugAssign(target=ast.Name(), value=value)
                | ast.Expr(
                    value=ast.Call(
                        func=ast.Attribute(value=ast.Name(), attr="append"),
                        args=[value],
                        keywords=[],
                    )
                )
            ):
                read = self._read_by(value)
                return read if read is not None and self._computes(read) else None
        return None

    def _given(self, statement: ast.stmt) -> ast.expr | None:
        """What a statement adds to something, or gives a metric, and computes before all else."""
        others: list[ast.expr] = []
        match statement:
            case (
                ast.AugAssign(target=ast.Name(), value=given)
                | ast.Expr(
                    value=ast.Call(
                        func=ast.Attribute(value=ast.Name(), attr="append"),
                        args=[given],
                        keywords=[],
                    )
                )
            ):
                pass
            case ast.Expr(value=ast.Call(func=func, args=[*others, given])) if self._is_metric(
                func
            ):
                pass
            case _:
                return None
        plain = all(isinstance(one, ast.Name) for one in others)
        return given if plain and self._asks(given) and self._computes(given) else None

    def _is_metric(self, func: ast.expr) -> bool:
        """Whether a call of something updates a metric."""
        if isinstance(func, ast.Attribute) and func.attr == "update_state":
            func = func.value
        return self._values.is_metric(func)

    def _read_by(self, value: ast.expr) -> ast.expr | None:
        """What an expression reads in Python before it does all else: `m(x)` of `m(x).numpy()`."""
        match value:
            case ast.Call(func=func, args=[ast.Call() as read], keywords=[]) if (
                self._names.dotted(func) in _TO_PYTHON
            ):
                return read
            case ast.Call(func=ast.Attribute(value=read, attr="numpy"), args=[], keywords=[]) if (
                isinstance(read, (ast.Call, ast.Subscript))
            ):
                return read
            case ast.Subscript(value=inner) | ast.Call(func=ast.Attribute(value=inner)) if (
                self._names.dotted(inner) is None
            ):
                return self._read_by(inner)
            case ast.Call(func=func, args=[inner, *_]) if self._is_of_numpy(func):
                return self._read_by(inner)
        return None

    def _is_of_numpy(self, func: ast.expr) -> bool:
        return (self._names.dotted(func) or "").startswith("numpy.")

    def _is_work(self, statement: ast.stmt) -> bool:
        """Whether a statement computes with tensors, and does nothing else."""
        match statement:
            case ast.Assign(targets=[target], value=value):
                return _is_of_names(target) and self._computes(value)
            case ast.AugAssign(target=ast.Name() as target, value=value):
                held = [self._values.bound(one) for one in self._flow.reaching(target)]
                return all(isinstance(one, Tensor) for one in held) and self._computes(value)
            case ast.Expr(value=ast.Call() as value):
                return self._is_fine(value) and self._computes(value)
            case ast.For(body=body, orelse=[], target=target) if self._is_unrolled(statement):
                return _is_of_names(target) and all(map(self._is_work, body))
        return False

    def _computes(self, value: ast.expr) -> bool:
        """Whether an expression computes with tensors, and does nothing else."""
        calls = [one for one in ast.walk(value) if isinstance(one, ast.Call)]
        return all(map(self._is_fine, calls)) and (
            bool(calls) or isinstance(self._values.value(value), Tensor)
        )

    def _is_fine(self, call: ast.Call) -> bool:
        symbol = self._names.tf(call.func)
        if symbol is not None:
            effect = effect_of(symbol, "2")
            return effect is not None and effect.returns_tensor and not effect.host
        path = self._names.dotted(call.func)
        if path is not None:
            return path in _COUNTING
        function = self._own.function(call)
        if isinstance(function, ast.FunctionDef):
            return not function.decorator_list and not self._forward.is_compiled_itself(function)
        if isinstance(call.func, ast.Attribute) and call.func.attr in _OF_METRICS:
            if self._values.is_metric(call.func.value):
                return True
        found = self._values.value(call.func)
        return bool(self._forward.asked(call)) or (
            isinstance(found, Thing) and found.kind in _ASKED
        )


def _is_of_names(target: ast.expr) -> bool:
    """Whether a target is made of names only."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return all(map(_is_of_names, target.elts))
    return isinstance(target, ast.Name)
