"""Loops that take the first element of a dataset in each turn: `next(iter(ds))`."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.pipelines.dataset_calls import is_peek
from tfrewrite.analysis.pipelines.dataset_uses import Consumer, Taking
from tfrewrite.analysis.pipelines.stages import Lost, Stage, Ways, stages
from tfrewrite.analysis.program.hoisting import Place

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.pipelines.stages import Value

_TAKING = frozenset({"next", "get_next", "__next__"})
_REPEATING = frozenset({"repeat", "shuffle_and_repeat"})
_ENDLESS_IF_BENEATH = frozenset(
    "map filter batch padded_batch prefetch shuffle enumerate with_options unbatch map_and_batch"
    " skip".split()
)
_BATCHING = frozenset({"batch", "padded_batch", "map_and_batch"})
_TRAINING = frozenset({"fit", "train_on_batch", "fit_generator", "evaluate", "predict"})


@dataclass(frozen=True, eq=False)
class FirstElement:
    """A place in a loop where an iterator is made, for one element."""

    call: ast.Call
    """The whole call: `next(iter(ds))`."""
    made: ast.Call
    """The call that makes the iterator."""
    dataset: ast.expr
    loop: ast.AST


class FirstElements:
    """Questions about iterators that are made for one element each."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._hoisting = facts.hoisting
        self._pipelines = facts.pipelines
        self._ahead = facts.read_ahead
        self._changed = facts.changed_sources

    @cached_property
    def all(self) -> list[FirstElement]:
        """Every such place, in the order of the text, where it is the loop's way to its data."""
        found = [self._at(call) for call in self._source.all(ast.Call)]
        taken = [one for one in found if one is not None and self._feeds_loop(one)]
        return sorted(taken, key=lambda one: self._source.span(one.call))

    def shuffled(self, first: FirstElement) -> bool:
        """Whether each new iterator begins with elements of its own."""
        return any(
            isinstance(part, Stage) and self._ahead.draws_anew(part)
            for part in stages(self._pipelines.value(first.dataset))
        )

    def endless(self, first: FirstElement) -> bool:
        """Whether the dataset never ends."""
        return _endless(self._pipelines.value(first.dataset))

    def place(self, first: FirstElement) -> Place | Obstacle:
        """Before which loop one iterator could be made for all turns."""
        place = self._hoisting.place(first.made, self._operands(first.dataset))
        if isinstance(place, Obstacle):
            return place
        return self._obstacle(first) or place

    def _obstacle(self, first: FirstElement) -> Obstacle | None:
        """What makes the elements depend on the turn of the loop, or differ in size."""
        value = self._pipelines.value(first.dataset)
        parts = list(stages(value))
        consumer = Consumer(first.dataset, Taking.LOOP, first.loop)
        checks = [
            self._hoisting.resumed(first.call),
            self._ahead.whole_file(),
            *(self._ahead.stage(part) for part in parts),
            self._changed.obstacle(consumer, parts),
            _uneven(value),
        ]
        return next((found for found in checks if found is not None), None)

    def _at(self, call: ast.Call) -> FirstElement | None:
        made: ast.expr | None = None
        if self._names.dotted(call.func) == "builtins.next":
            made = call.args[0] if len(call.args) == 1 else None
        elif isinstance(call.func, ast.Attribute) and call.func.attr in _TAKING:
            made = call.func.value
        if not isinstance(made, ast.Call) or len(made.args) != 1:
            return None
        if self._names.dotted(made.func) != "builtins.iter":
            return None
        loops = self._hoisting.loops(call)
        dataset = made.args[0]
        if not loops or is_peek(dataset) or self._pipelines.value(dataset) is None:
            return None
        return FirstElement(call, made, dataset, loops[0])

    def _feeds_loop(self, first: FirstElement) -> bool:
        """Whether a loop takes its data so, and not a sample beside data of another kind.

        A sample is taken under a condition, or beside a loop or a `fit` that does the training.
        """
        for outer in self._source.ancestors(first.call):
            if outer is first.loop:
                break
            if isinstance(outer, (ast.If, ast.IfExp)):
                return False
        for operand in self._operands(first.dataset):
            found = self._hoisting.unsure(operand, first.loop)
            if found is not None and found.reason == "rebound-in-loop":
                return False
        return not any(self._trains(node, first) for node in ast.walk(first.loop))

    def _trains(self, node: ast.AST, first: FirstElement) -> bool:
        if node is first.loop:
            return False
        if isinstance(node, ast.For) and first.call not in ast.walk(node):
            return self._pipelines.value(node.iter) is not None or any(
                isinstance(inner, ast.Call) and inner.args and self._is_dataset(inner.args[0])
                for inner in ast.walk(node.iter)
            )
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return False
        return node.func.attr in _TRAINING and any(map(self._is_dataset, node.args))

    def _is_dataset(self, expr: ast.expr) -> bool:
        return self._pipelines.value(expr) is not None

    def _operands(self, dataset: ast.expr) -> list[ast.expr]:
        """The names and attributes of the file that a dataset's expression is made of."""
        found: list[ast.expr] = []
        stack: list[ast.AST] = [dataset]
        while stack:
            node = stack.pop()
            if isinstance(node, (ast.Name, ast.Attribute)):
                if self._names.dotted(node) is not None:
                    continue
                parent = self._source.parent(node)
                method = isinstance(parent, ast.Call) and parent.func is node
                if isinstance(node, ast.Name) or not method:
                    found.append(node)
                    continue
            stack += self._source.children(node)
        return found


def _endless(value: Value) -> bool:
    if isinstance(value, Ways):
        return all(map(_endless, value.values))
    if not isinstance(value, Stage):
        return False
    if value.name in _REPEATING:
        given = value.making.args[(1 if value.name == "shuffle_and_repeat" else 0) :]
        counts = [*given, *(k.value for k in value.making.keywords if k.arg == "count")]
        if all(ast.unparse(count) in ("None", "-1") for count in counts):
            return True
    beneath = value.beneath[:1]
    kept = value.name in _ENDLESS_IF_BENEATH or value.name in _REPEATING
    return kept and bool(beneath) and _endless(beneath[0])


def _uneven(value: Value) -> Obstacle | None:
    """Whether the last batch of a pass may be smaller than the first."""
    for part in stages(value):
        if isinstance(part, Lost) or part.name not in _BATCHING:
            continue
        given = [k.value for k in part.making.keywords if k.arg == "drop_remainder"]
        dropped = given or part.making.args[1:2]
        if any(isinstance(one, ast.Constant) and one.value is True for one in dropped):
            continue
        if not (part.beneath and _endless(part.beneath[0])):
            message = (
                f"the last batch of line {part.making.end_lineno} may be smaller than the first;"
                " say `drop_remainder=True` there"
            )
            return Obstacle("last-batch-smaller", message)
    return None
