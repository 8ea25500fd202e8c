"""Whether anybody could tell that the function of a `map` runs for several elements at a time.

A parallel map gives its results in the order of its input, and each is what the function makes of
its element. What is left to see: the function at work (state, random draws, effects), its input
being read ahead, and an order that the script itself gives away.
"""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.pipelines.dataset_calls import WITH_FUNCTIONS, functions_given
from tfrewrite.analysis.pipelines.dataset_uses import Consumer, Taking
from tfrewrite.analysis.pipelines.stages import Lost, Stage, Ways, stages
from tfrewrite.analysis.program.python_calls import CallEffect, effect_of_path
from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.pipelines.stages import Value

_DRAWING_DATASETS = frozenset(
    "shuffle shuffle_and_repeat list_files random RandomDataset sample_from_datasets"
    " rejection_resample make_csv_dataset make_batched_features_dataset".split()
)
# What takes elements from a map to the end, if it is itself taken from to the end.
_TAKING_ALL = frozenset(
    "batch padded_batch map filter unbatch flat_map prefetch prefetch_to_device cache shuffle"
    " enumerate with_options repeat skip shard ragged_batch assert_cardinality window"
    " dense_to_ragged_batch unique concatenate ignore_errors shuffle_and_repeat".split()
)
_ORDER = frozenset({"deterministic", "experimental_deterministic"})
_NOT_SHOWING = frozenset(
    f"builtins.{name}" for name in "zip enumerate iter next len list tuple isinstance".split()
)
_ARRAYS = frozenset({"from_tensors", "from_tensor_slices"})
_MAKING_NEW = frozenset(
    [
        *(f"builtins.{name}" for name in "sorted list range tuple".split()),
        *(f"numpy.{name}" for name in "array arange zeros ones full load loadtxt".split()),
        "os.listdir",
        "glob.glob",
    ]
)
_MODULES_MAKING_NEW = ("numpy.random.", "tensorflow.io.gfile.", "tensorflow.gfile.")
# Since then an eager dataset has a copy of an array of its own. Measured on 1.15 and on 2.21.
_COPIES_ARRAYS = (2, 21)


class ParallelMaps:
    """Questions about calls of `map` that run their function for one element after the other."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._scopes = facts.scopes
        self._flow = facts.flow
        self._own = facts.own_calls
        self._classes = facts.classes
        self._pipelines = facts.pipelines
        self._ahead = facts.read_ahead
        self._code = facts.element_code
        self._changed = facts.changed_sources
        self._captured = facts.captured
        self._graph_readers = facts.graph_readers
        self._target_tf = facts.target_tf

    @cached_property
    def all(self) -> list[Stage]:
        """Every map of a pipeline, in the order of the text, whose function computes something.

        A map within the function of another transformation is left out: there the elements of a
        small dataset are made one by one, several of those at a time if at all.
        """
        found = []
        for call in self._source.all(ast.Call):
            if isinstance(call.func, ast.Attribute) and call.func.attr == "map":
                stage = self._pipelines.value(call) if _is_sequential(call) else None
                if isinstance(stage, Stage) and self._pays(stage):
                    found.append(stage)
        return sorted(found, key=lambda stage: self._source.span(stage.call))

    def consumers(self, stage: Stage) -> list[Consumer]:
        """All those in the file who take elements that a map has made."""
        return [
            consumer
            for consumer in self._pipelines.consumers
            if stage in stages(self._pipelines.value(consumer.expr))
        ]

    def obstacle(self, stage: Stage) -> Obstacle | None:
        """What could be seen of a map's function running for several elements at a time."""
        return next((found for found in self._obstacles(stage) if found is not None), None)

    def _obstacles(self, stage: Stage) -> Iterator[Obstacle | None]:
        parts = list(stages(stage))
        consumers = self.consumers(stage)
        yield self._ahead.whole_file()
        yield self._order()
        yield self._function(stage)
        for part in parts:
            yield self._ahead.stage(part)
        yield self._ahead.device(stage.call, parts)
        yield self._errors()
        yield self._shown(stage)
        yield self._redrawn(stage, consumers)
        if any(consumer.taking is Taking.GRAPH for consumer in consumers):
            yield self._graph_readers.counting()
        for consumer in consumers:
            yield self._changed.obstacle(consumer, parts)
            yield self._ahead.saved(consumer)
            yield self._ahead.left_open(consumer, parts)
        if not consumers:
            yield self._unseen(parts)

    # Which maps

    def _pays(self, stage: Stage) -> bool:
        """Whether there is anything to gain, in a TensorFlow that has parallel maps."""
        old = any(
            isinstance(part, Stage)
            and (self._names.tf(part.call.func) or "").startswith("contrib.data.")
            for part in stages(stage)
        )
        return not old and not self._is_per_element(stage.call) and self._computes(stage)

    def _is_per_element(self, call: ast.Call) -> bool:
        """Whether a map is made within a function that a pipeline calls on its elements."""
        for outer in self._source.ancestors(call):
            uses: list[ast.AST] = []
            if isinstance(outer, ast.Lambda):
                uses = [outer]
            elif isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
                uses = [
                    node
                    for kind in (ast.Name, ast.Attribute)
                    for node in self._source.all(kind)
                    if getattr(node, "id", getattr(node, "attr", "")) == outer.name
                ]
            for use in uses:
                taker = self._source.parent(use)
                if isinstance(taker, ast.keyword):
                    taker = self._source.parent(taker)
                name = getattr(getattr(taker, "func", None), "attr", "")
                if isinstance(taker, ast.Call) and taker.func is not use and name in WITH_FUNCTIONS:
                    return True
        return False

    def _computes(self, stage: Stage) -> bool:
        """Whether a map does more than to put its elements together in another way."""
        bodies = [self._code.bodies(func) for func in functions_given(stage)]
        if not bodies or any(body is None for body in bodies):
            return True
        work = (ast.Call, ast.BinOp, ast.Compare, ast.UnaryOp, ast.BoolOp, ast.If, ast.IfExp)
        return any(
            isinstance(node, work)
            for found in bodies
            for body in found or ()
            for node in ast.walk(body)
        )

    # The order

    def _order(self) -> Obstacle | None:
        """Whether a pipeline may be told that the order of its elements does not matter."""
        for node in self._source.all(ast.Attribute):
            if node.attr == "__setattr__":
                return _unordered(node.lineno)
            if node.attr in _ORDER and not isinstance(node.ctx, ast.Load):
                statement = self._source.parent(node)
                value = statement.value if isinstance(statement, ast.Assign) else None
                if not isinstance(value, ast.Constant) or value.value not in (True, None):
                    return _unordered(node.lineno)
        for call in self._source.all(ast.Call):
            for keyword in call.keywords:
                value = keyword.value
                fixed = isinstance(value, ast.Constant) and value.value in (True, None)
                if keyword.arg in _ORDER and not fixed:
                    return _unordered(call.lineno)
            if getattr(call.func, "attr", "") == "with_options" and not self._options_seen(call):
                message = f"line {call.lineno} sets options that are not made in this file"
                return Obstacle("order-may-change", message)
        return None

    def _options_seen(self, call: ast.Call) -> bool:
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        return all(self._are_options(one) for one in given)

    def _are_options(self, expr: ast.expr) -> bool:
        if isinstance(expr, ast.Call):
            if self._names.tf(expr.func) == "data.Options":
                return True
            function = self._own.function(expr)
            returned = self._own.returned(function) if function is not None else []
            return bool(returned) and all(self._are_options(one) for one in returned)
        if isinstance(expr, ast.Name):
            bindings = self._flow.reaching(expr)
            return bool(bindings) and all(
                binding.how is How.ASSIGN
                and binding.value is not None
                and binding.value is not expr
                and self._are_options(binding.value)
                and all(self._keeps_order(use) for use in self._own.uses(binding))
                for binding in bindings
            )
        return False

    def _keeps_order(self, use: ast.Name) -> bool:
        """Whether a use of options sets them, if at all, where it can be seen."""
        parent = self._source.parent(use)
        if isinstance(parent, ast.keyword):
            parent = self._source.parent(parent)
        if isinstance(parent, ast.Call):
            given = getattr(parent.func, "attr", "") == "with_options"
            return given or self._own.function(parent) is not None
        outer = self._source.parent(parent) if parent is not None else None
        return not (isinstance(outer, ast.Call) and outer.func is parent)

    # The function

    def _function(self, stage: Stage) -> Obstacle | None:
        """Whether the order in which elements are computed could be seen.

        Measured: with parallel calls the draws of a random op go to other elements, with an op
        seed, a graph seed or both.
        """
        for func in functions_given(stage):
            for body in [func, *(self._code.bodies(func) or ())]:
                for node in ast.walk(body):
                    if isinstance(node, (ast.Name, ast.Attribute)) and self._draws(node):
                        text = ast.unparse(node)
                        message = (
                            f"`{text}` in line {node.lineno} draws for one element after the"
                            " other: in parallel they would get each other's draws"
                        )
                        return Obstacle("random-draws", message)
        return None

    def _draws(self, node: ast.Name | ast.Attribute) -> bool:
        symbol = self._names.tf(node)
        if symbol is None:
            method = isinstance(node, ast.Attribute) and node.attr in _DRAWING_DATASETS
            return method and self._names.dotted(node) is None
        effect = effect_of(symbol)
        drawing = effect is not None and effect.random
        dataset = symbol.startswith("data.") and symbol.rpartition(".")[2] in _DRAWING_DATASETS
        return drawing or dataset

    def _errors(self) -> Obstacle | None:
        for call in self._source.all(ast.Call):
            if getattr(call.func, "attr", getattr(call.func, "id", "")) == "ignore_errors":
                message = f"line {call.lineno} drops the elements for which a function fails"
                return Obstacle("errors-matter", message)
        return None

    # The dataset itself

    def _shown(self, stage: Stage) -> Obstacle | None:
        """Whether the dataset is printed or asked what it is: it has another class then."""
        for kind in (ast.Name, ast.Attribute, ast.Call):
            for node in self._source.all(kind):
                if isinstance(getattr(node, "ctx", None), ast.Store):
                    continue
                if not _may_be(self._pipelines.value(node), stage):
                    continue
                if self._is_shown(node, set()):
                    message = f"line {node.lineno} shows the dataset, whose class would be another"
                    return Obstacle("dataset-shown", message)
        return None

    def _is_shown(self, node: ast.expr, seen: set[ast.expr]) -> bool:
        """Whether a value may be shown, by itself or in a list, tuple or dict.

        It may be built on, taken from, named, returned, or given to a function; what is done with
        it otherwise might show it.
        """
        seen.add(node)
        parent = self._source.parent(node)
        if isinstance(parent, ast.keyword):
            parent = self._source.parent(parent)
        match parent:
            case ast.List() | ast.Tuple() | ast.Dict() | ast.IfExp() | ast.NamedExpr():
                return self._is_shown(parent, seen)
            case ast.Assign(targets=targets):
                return any(self._shows_target(target, node, seen) for target in targets)
            case ast.Attribute(attr=attribute):
                return attribute.startswith("_")
            case ast.Call() if parent.func is not node:
                return self._shows(parent)
            case ast.Expr():
                return not isinstance(node, ast.Call)  # a notebook shows what stands alone
            case ast.For() | ast.comprehension():
                return not self._is_dataset(node)
        return not isinstance(parent, (ast.Return, ast.AnnAssign, ast.Subscript, ast.Lambda))

    def _shows_target(self, target: ast.expr, value: ast.expr, seen: set[ast.expr]) -> bool:
        """Whether what is assigned may be shown by way of its new name."""
        if isinstance(target, ast.Attribute):
            owner = target.value
            return not isinstance(owner, ast.Name) or self._classes.of_self(owner) is None
        if not isinstance(target, ast.Name) or self._is_dataset(value):
            return False
        uses = [use for b in self._own.bindings_at(target) for use in self._own.uses(b)]
        return any(self._is_shown(use, seen) for use in uses if use not in seen)

    def _is_dataset(self, node: ast.expr) -> bool:
        return self._pipelines.value(node) is not None

    def _shows(self, call: ast.Call) -> bool:
        path = self._names.dotted(call.func)
        if path is None:
            return getattr(call.func, "attr", "") == "format"
        if path.startswith("builtins."):
            return path not in _NOT_SHOWING
        return effect_of_path(path) is CallEffect.HOST

    # Reading ahead

    def _redrawn(self, stage: Stage, consumers: list[Consumer]) -> Obstacle | None:
        """Whether an order of the input depends on how far another iterator has read."""
        parts = list(stages(stage))
        graph = bool(consumers) and all(one.taking is Taking.GRAPH for one in consumers)
        known = [part for part in parts if isinstance(part, Stage)]
        drawn = next((part for part in known if self._ahead.redraws(part, parts)), None)
        if drawn is None or graph:
            return None
        name = f"`{drawn.name}` in line {drawn.call.end_lineno}"
        if len(consumers) == 1 and not self._leaves(stage, drawn, consumers[0]):
            return None
        message = (
            "the map may be left before its end and begun again: the next order of"
            f" {name} would depend on how far was read ahead"
        )
        return Obstacle("left-early", message)

    def _leaves(self, stage: Stage, drawn: Stage, consumer: Consumer) -> bool:
        above = [
            part
            for part in stages(self._pipelines.value(consumer.expr))
            if part is not stage and stage in stages(part)
        ]
        stopped = any(not isinstance(part, Stage) or part.name not in _TAKING_ALL for part in above)
        return self._ahead.left_by(consumer, drawn, stopped=stopped)

    def _unseen(self, parts: list[Stage | Lost]) -> Obstacle | None:
        """What a consumer in another file could change while the map reads ahead.

        Files that are read are taken to stay as they are. Arrays are not: on 1.15 an eager dataset
        looks into the array itself.
        """
        copied = self._target_tf is not None and self._target_tf >= _COPIES_ARRAYS
        for part in parts:
            if not isinstance(part, Stage) or part.name not in _ARRAYS or copied:
                continue
            given = [*part.making.args, *(keyword.value for keyword in part.making.keywords)]
            if not all(self._is_private(one) for one in given):
                message = (
                    f"who takes the elements is not in this file, and could change what line"
                    f" {part.making.lineno} reads"
                )
                return Obstacle("consumer-not-seen", message)
        return None

    def _is_private(self, expr: ast.expr) -> bool:
        """Whether nobody else has hold of a value: it is made in the function that uses it."""
        match expr:
            case ast.Constant() | ast.JoinedStr() | ast.ListComp() | ast.List() | ast.BinOp():
                return True  # lists are copied into a tensor
            case ast.Tuple(elts=values):
                return all(self._is_private(value) for value in values)
            case ast.Dict(values=values):
                return all(self._is_private(value) for value in values)
            case ast.Call():
                path = self._names.dotted(expr.func) or ""
                if path in _MAKING_NEW or path.startswith(_MODULES_MAKING_NEW):
                    return True
                return path.startswith("tensorflow.") and all(map(self._is_private, expr.args))
            case ast.Name():
                return self._is_private_name(expr)
        return False

    def _is_private_name(self, name: ast.Name) -> bool:
        here = self._source.function(name)
        return here is not None and all(
            self._source.function(binding.node) is here
            and binding.how is How.ASSIGN
            and binding.value is not None
            and binding.value is not name
            and self._is_private(binding.value)
            and not any(self._is_handed_out(use) for use in self._own.uses(binding))
            for binding in self._scopes.bindings(name)
        )

    def _is_handed_out(self, use: ast.Name) -> bool:
        parent = self._source.parent(use)
        while isinstance(parent, (ast.Tuple, ast.List, ast.Dict)):
            parent = self._source.parent(parent)
        return isinstance(parent, (ast.Return, ast.Assign, ast.Yield))


def _is_sequential(call: ast.Call) -> bool:
    """Whether a map is given its function, and nothing that says how many calls there may be."""
    names = [keyword.arg for keyword in call.keywords]
    if names == ["map_func"]:
        return not call.args
    return len(call.args) == 1 and not names and not isinstance(call.args[0], ast.Starred)


def _may_be(value: Value, stage: Stage) -> bool:
    """Whether a value is the dataset of a stage itself, on some way."""
    if isinstance(value, Ways):
        return any(_may_be(way, stage) for way in value.values)
    return value is stage


def _unordered(line: int) -> Obstacle:
    message = (
        f"line {line} lets results come in another order than their elements: that would come true"
    )
    return Obstacle("order-may-change", message)
