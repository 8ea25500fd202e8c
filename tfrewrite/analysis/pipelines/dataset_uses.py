"""Who uses a dataset: the consumers that take its elements, and whether there is anybody else."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.scopes import Binding, How

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts

_KERAS = ("fit", "evaluate", "predict", "fit_generator", "evaluate_generator", "predict_generator")
_GRAPH_ITERATORS = ("make_one_shot_iterator", "make_initializable_iterator")
_DESCRIBING = frozenset(
    ["element_spec", "output_types", "output_shapes", "output_classes", "cardinality"]
)
_DESCRIBING_CALLS = frozenset(
    [
        "builtins.len",
        *(f"tensorflow.data.get_output_{what}" for what in ("types", "shapes", "classes")),
        "tensorflow.data.experimental.cardinality",
    ]
)
_DATASETS = ("tensorflow.data.Dataset", "tensorflow.data.DatasetV2", "builtins.list")


class Taking(Enum):
    """In which way a consumer takes elements."""

    LOOP = "loop"
    ITERATOR = "iterator"  # iter(ds), and `next` on it
    GRAPH = "graph iterator"  # make_one_shot_iterator and its kin
    KERAS = "keras"  # fit, evaluate, predict
    VALIDATION = "validation"  # the validation data of a fit


@dataclass(frozen=True, eq=False)
class Consumer:
    """Something that takes the elements of a dataset one after the other."""

    expr: ast.expr
    taking: Taking
    node: ast.AST
    """The loop, comprehension or call."""
    beside: bool = False
    """Whether it is looped over beside something else that may end first (`zip`)."""


class DatasetUses:
    """Finds the consumers of a file, and follows values forward to all that sees them."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._flow = facts.flow
        self._late = facts.late_reads
        self._classes = facts.classes
        self._own = facts.own_calls

    @cached_property
    def candidates(self) -> list[Consumer]:
        """Everything that would consume a dataset, were its expression one."""
        found: dict[ast.expr, Consumer] = {}
        for node in self._places():
            for consumer in self._at(node):
                found.setdefault(consumer.expr, consumer)
        return sorted(found.values(), key=lambda consumer: self._source.span(consumer.expr))

    def only_consumed(self, expr: ast.expr) -> bool:
        """Whether nothing but consumers ever sees the value of an expression."""
        return self._only_consumed(expr, set())

    def describes(self, use: ast.expr) -> bool:
        """Whether a use asks only what kind of dataset it is."""
        parent = self._source.parent(use)
        if isinstance(parent, ast.Attribute):
            return parent.attr in _DESCRIBING
        if not isinstance(parent, ast.Call):
            return False
        return self._names.dotted(parent.func) in (*_DESCRIBING_CALLS, "builtins.isinstance")

    # Consumers

    def _places(self) -> Iterator[ast.AST]:
        yield from self._source.all(ast.For)
        yield from self._source.all(ast.AsyncFor)
        yield from self._source.all(ast.comprehension)
        yield from self._source.all(ast.Call)

    def _at(self, node: ast.AST) -> Iterator[Consumer]:
        if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            yield from self._looped(node.iter, node, beside=False)
        elif isinstance(node, ast.Call):
            yield from self._called(node)

    def _looped(self, expr: ast.expr, node: ast.AST, *, beside: bool) -> Iterator[Consumer]:
        if isinstance(expr, ast.Call):
            path = self._names.dotted(expr.func) or ""
            if path == "builtins.zip":
                for argument in expr.args:
                    yield from self._looped(argument, node, beside=len(expr.args) > 1)
                return
            if path in ("builtins.enumerate", "builtins.iter", "tensorflow_datasets.as_numpy") or (
                path.partition(".")[0] == "tqdm" or path == "itertools.islice"
            ):
                stopped = beside or path == "itertools.islice"
                for argument in expr.args[:1]:
                    yield from self._looped(argument, node, beside=stopped)
                return
            if isinstance(expr.func, ast.Attribute) and expr.func.attr == "as_numpy_iterator":
                yield from self._looped(expr.func.value, node, beside=beside)
                return
        yield Consumer(expr, Taking.LOOP, node, beside)

    def _called(self, call: ast.Call) -> Iterator[Consumer]:
        path = self._names.dotted(call.func) or ""
        if path == "builtins.iter" and len(call.args) == 1:
            if not self._is_first_only(call):
                yield from self._stripped(call.args[0], call)
        elif path.startswith("tensorflow.") and path.rpartition(".")[2] in _GRAPH_ITERATORS:
            yield from self._first(call, "dataset", Taking.GRAPH)
        elif path or not isinstance(call.func, ast.Attribute):
            return
        elif call.func.attr in _GRAPH_ITERATORS:
            yield Consumer(call.func.value, Taking.GRAPH, call)
        elif call.func.attr == "make_initializer":
            yield from self._first(call, "dataset", Taking.GRAPH)
        elif call.func.attr in _KERAS and self._own.function(call) is None:
            yield from self._first(call, "x", Taking.KERAS)
            for keyword in call.keywords:
                if keyword.arg == "validation_data":
                    yield Consumer(keyword.value, Taking.VALIDATION, call)

    def _stripped(self, expr: ast.expr, call: ast.Call) -> Iterator[Consumer]:
        for consumer in self._looped(expr, call, beside=False):
            yield Consumer(consumer.expr, Taking.ITERATOR, call, consumer.beside)

    def _first(self, call: ast.Call, name: str, taking: Taking) -> Iterator[Consumer]:
        for keyword in call.keywords:
            if keyword.arg == name:
                yield Consumer(keyword.value, taking, call)
        for argument in call.args[:1]:
            if not isinstance(argument, ast.Starred):
                yield Consumer(argument, taking, call)

    def _is_first_only(self, call: ast.Call) -> bool:
        """Whether an iterator is only there for its first element: `next(iter(ds))`."""
        parent = self._source.parent(call)
        if isinstance(parent, ast.Attribute):
            return parent.attr in ("next", "get_next", "__next__")
        return isinstance(parent, ast.Call) and self._names.dotted(parent.func) == "builtins.next"

    # Everybody who sees a value

    @cached_property
    def _consumed(self) -> frozenset[ast.expr]:
        return frozenset(consumer.expr for consumer in self.candidates)

    def _only_consumed(self, expr: ast.expr, seen: set[object]) -> bool:
        if expr in self._consumed or expr in seen:
            return True
        seen.add(expr)
        parent = self._source.parent(expr)
        match parent:
            case ast.Assign(targets=[target]):
                return self._target(target, seen)
            case ast.AnnAssign(target=target):
                return self._target(target, seen)
            case ast.Return():
                return self._returned(parent, None, seen)
            case ast.Tuple() | ast.List():
                return self._in_tuple(parent, parent.elts.index(expr), seen)
            case ast.IfExp(body=body, orelse=orelse) if expr in (body, orelse):
                return self._only_consumed(parent, seen)
            case ast.Attribute(attr=attribute):
                return attribute in _DESCRIBING
            case ast.keyword():
                call = self._source.parent(parent)
                return isinstance(call, ast.Call) and self._passed(call, expr, seen)
            case ast.Call() if parent.func is not expr:
                return self._passed(parent, expr, seen)
            case ast.Expr():
                return True
        return False

    def _target(self, target: ast.expr, seen: set[object]) -> bool:
        if isinstance(target, ast.Name):
            return all(self._bound(binding, seen) for binding in self._own.bindings_at(target))
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            if self._classes.of_self(target.value) is None:
                return False
            return all(
                self._only_consumed(read, seen)
                for read in self._classes.reads(target.attr)
                if not self._comes_before(read, target)
            )
        return False

    def _comes_before(self, read: ast.expr, store: ast.expr) -> bool:
        """Whether a read of an attribute sees what was in it before a store."""
        return (
            self._source.function(read) is self._source.function(store)
            and self._source.statement(read).lineno <= self._source.statement(store).lineno
            and self._flow.loop(read) is None
        )

    def _bound(self, binding: Binding, seen: set[object]) -> bool:
        """Whether every use of a name that may see a binding is a consumer's."""
        if binding in seen:
            return True
        seen.add(binding)
        return all(
            self._only_consumed(use, seen)
            for use in self._own.uses(binding)
            if binding in self._late.reaching(use)
        )

    def _in_tuple(self, group: ast.Tuple | ast.List, index: int, seen: set[object]) -> bool:
        parent = self._source.parent(group)
        if isinstance(parent, ast.Return):
            return self._returned(parent, index, seen)
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            return self._unpacked(parent.targets[0], index, seen)
        return False

    def _unpacked(self, target: ast.expr, index: int, seen: set[object]) -> bool:
        if not isinstance(target, (ast.Tuple, ast.List)) or index >= len(target.elts):
            return False
        if any(isinstance(element, ast.Starred) for element in target.elts):
            return False
        return self._target(target.elts[index], seen)

    def _returned(self, statement: ast.Return, index: int | None, seen: set[object]) -> bool:
        function = self._source.function(statement)
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        calls = self._own.calls(function) if self._own.returned(function) else None
        if not calls:
            return False
        if index is None:
            return all(self._only_consumed(call, seen) for call in calls)
        for call in calls:
            parent = self._source.parent(call)
            if isinstance(parent, ast.Return):
                if not self._returned(parent, index, seen):
                    return False
            elif (
                not isinstance(parent, ast.Assign)
                or len(parent.targets) != 1
                or not self._unpacked(parent.targets[0], index, seen)
            ):
                return False
        return True

    def _passed(self, call: ast.Call, argument: ast.expr, seen: set[object]) -> bool:
        path = self._names.dotted(call.func)
        if path in _DESCRIBING_CALLS:
            return True
        if path == "builtins.isinstance" and len(call.args) == 2:
            return self._names.dotted(call.args[1]) in _DATASETS  # of any kind, also prefetched
        parameter = self._own.parameter(call, argument)
        if parameter is None or parameter.how is not How.PARAMETER:
            return False
        return self._bound(parameter, seen)
