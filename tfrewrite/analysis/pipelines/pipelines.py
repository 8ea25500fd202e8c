"""The tf.data pipelines of a script: what they are made of, who consumes them, where they end.

A pipeline is followed from the expression that is consumed back to its sources: through names and
attributes, over several statements and ways, into the functions of the file and out to their
callers. Where the way is lost the result says so (`Lost`); what is no dataset is `None`.
"""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.pipelines.dataset_calls import (
    ALREADY_AHEAD,
    BATCHING,
    KEEPING_THE_END,
    SHOWS_DATASET,
    TRANSFORMATIONS,
    WORKLESS,
    is_peek,
    root_of,
    source_name,
    transformation_of,
)
from tfrewrite.analysis.pipelines.dataset_uses import Consumer, DatasetUses
from tfrewrite.analysis.pipelines.stages import End, Lost, Stage, Value, Ways, stages
from tfrewrite.analysis.program.scopes import Binding, How

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts

_CYCLE = Lost(ast.Constant(None), "a name that is rebound from itself")


_JOINING = frozenset({"zip", "concatenate", "sample_from_datasets", "choose_from_datasets"})
_NO_DATASETS = frozenset({"seed", "stop_on_empty_dataset", "name", "rerandomize_each_iteration"})


class Pipelines:
    """Questions about the datasets of a file."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._late = facts.late_reads
        self._classes = facts.classes
        self._own = facts.own_calls
        self.uses = DatasetUses(facts)
        self._known: dict[ast.expr, Value] = {}
        self._open: set[ast.expr] = set()

    @cached_property
    def consumers(self) -> list[Consumer]:
        """Every loop, iterator and Keras call that takes a dataset's elements one by one."""
        return [
            consumer
            for consumer in self.uses.candidates
            if self.value(consumer.expr) is not None and not is_peek(consumer.expr)
        ]

    def value(self, expr: ast.expr) -> Value:
        """The pipeline that an expression gives; None where it is not known to be one."""
        if expr not in self._known:
            if expr in self._open:
                return _CYCLE
            self._open.add(expr)
            self._known[expr] = self._value(expr)
            self._open.discard(expr)
        return self._known[expr]

    def end(self, value: Value) -> End:
        """Whether the last thing that a pipeline does is to read ahead."""
        if isinstance(value, Ways):
            ends = {self.end(way) for way in value.values}
            return ends.pop() if len(ends) == 1 else End.MIXED
        if not isinstance(value, Stage):
            return End.OPEN
        if value.name in ALREADY_AHEAD:
            return End.AHEAD
        if value.name in KEEPING_THE_END and value.beneath:
            return self.end(value.beneath[0])
        return End.OPEN

    def works(self, value: Value) -> bool:
        """Whether a pipeline does anything that could be done ahead of time."""
        return any(isinstance(part, Lost) or part.name not in WORKLESS for part in stages(value))

    def places(self, consumer: Consumer) -> list[ast.expr]:
        """The expressions that end the pipeline of a consumer: as near to its definition as no
        other use of the dataset would be met.

        Where several ways lead to the consumer it is the place where they have joined. Empty where
        the ways differ in whether they read ahead, and cannot be told apart.
        """
        return list(dict.fromkeys(self._places(consumer.expr, frozenset())))

    # What an expression is

    def _value(self, expr: ast.expr) -> Value:
        match expr:
            case ast.Name():
                return self._join(expr, [self._bound(b) for b in self._late.reaching(expr)])
            case ast.Attribute(value=ast.Name() as owner, attr=attribute):
                stored = self._stored(owner, attribute)
                values = [
                    self.value(v) if index is None else self._element(v, index)
                    for v, index in stored
                ]
                return self._join(expr, values)
            case ast.Call():
                return self._call(expr)
            case ast.IfExp(body=body, orelse=orelse):
                return self._join(expr, [self.value(body), self.value(orelse)])
            case ast.NamedExpr(value=value):
                return self.value(value)
            case ast.Subscript(value=value):
                return self._element(value, None)
        return None

    def _join(self, expr: ast.expr, values: list[Value]) -> Value:
        """One value of several ways; a name that is rebound from itself is no way of its own."""
        ways = list(dict.fromkeys(value for value in values if value is not _CYCLE))
        if not any(ways):
            return None
        if None in ways:
            why = f"`{self._source.segment(expr)}` is not always a dataset of this file"
            ways = [*(way for way in ways if way is not None), Lost(expr, why)]
        return ways[0] if len(ways) == 1 else Ways(expr, tuple(ways))

    def _bound(self, binding: Binding) -> Value:
        if binding.how is How.PARAMETER and isinstance(binding.node, ast.arg):
            given = self._own.given(binding)
            if given is None:
                return None
            return self._join(given[0], [self.value(value) for value in given]) if given else None
        if binding.value is None:
            return None
        if binding.how is How.ASSIGN:
            return self.value(binding.value)
        if binding.how is How.UNPACK:
            return self._element(binding.value, binding.index)
        return None

    def _element(self, expr: ast.expr, index: int | None) -> Value:
        """One of the values that an expression gives: of a tuple, also one that is returned."""
        match expr:
            case ast.Tuple(elts=elements) | ast.List(elts=elements) if index is not None:
                return self.value(elements[index]) if index < len(elements) else None
            case ast.Name():
                found = [(b, b.value) for b in self._late.reaching(expr) if b.value is not None]
                assigned = [self._element(v, index) for b, v in found if b.how is How.ASSIGN]
                splits = [self._splits(v) for b, v in found if b.how is How.UNPACK]
                return self._join(expr, [*assigned, *splits])
            case ast.Call():
                loaded = self._splits(expr)
                if loaded is not None:
                    return loaded
                function = self._own.function(expr)
                returned = self._own.returned(function) if function is not None else []
                return self._join(expr, [self._element(value, index) for value in returned])
        return None

    def _splits(self, expr: ast.expr) -> Value:
        """The datasets that are loaded together by name; `info` comes beside them, or not."""
        if (
            isinstance(expr, ast.Call)
            and source_name(self._names, expr) == "tensorflow_datasets.load"
        ):
            return Stage(expr, "tensorflow_datasets.load", expr)
        return None

    def _stored(self, owner: ast.Name, attribute: str) -> list[tuple[ast.expr, int | None]]:
        """What may be in an attribute: the last value, where one method sets it several times."""
        cls = self._classes.of_self(owner)
        stores = (self._classes.stores(cls, attribute) if cls else None) or []
        if any(store.value is None or store.augmented for store in stores):
            return []
        statements = [self._source.statement(store.target) for store in stores]
        if stores and len({id(self._source.position(s)[0]) for s in statements}) == 1:
            before = [s for s in statements if s.lineno < owner.lineno]
            method = self._source.function(statements[0])
            inside = self._source.function(owner) is method
            choice = before if inside else statements
            if choice:
                last = max(choice, key=lambda s: s.lineno)
                stores = [stores[statements.index(last)]]
        return [(store.value, store.index) for store in stores if store.value is not None]

    def _call(self, call: ast.Call) -> Value:
        name = source_name(self._names, call)
        if name is not None:
            inputs = (
                self._inputs(call)
                if name in ("zip", "distribute") or "from_datasets" in name
                else []
            )
            return Stage(call, name, call, tuple(inputs))
        function = self._own.function(call)
        if function is not None:
            return self._join(call, [self.value(value) for value in self._own.returned(function)])
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in TRANSFORMATIONS:
            return self._unknown_method(call)
        beneath = self.value(call.func.value)
        if beneath is None:
            if not self._looks_like_dataset(call, call.func):
                return None
            root = root_of(call.func.value)
            text = self._source.segment(root)
            beneath = Lost(root, f"what `{text}` in line {root.lineno} gives is not in this file")
        name, making = transformation_of(self._names, call)
        return Stage(call, name, making, (beneath, *self._inputs(call)))

    def _looks_like_dataset(self, call: ast.Call, func: ast.Attribute) -> bool:
        """Whether a chain of methods is tf.data's, though what it begins with is not known."""
        if any(keyword.arg in SHOWS_DATASET for keyword in call.keywords):
            return True
        below = [func.value]
        if isinstance(func.value, ast.Name):
            below = [b.value for b in self._late.reaching(func.value) if b.value is not None]
        methods = {
            value.func.attr
            for value in below
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)
        }
        return bool(methods & TRANSFORMATIONS) and bool({*methods, func.attr} & BATCHING)

    def _unknown_method(self, call: ast.Call) -> Value:
        """A method that gives a dataset's elements, or something that is not known."""
        if (
            isinstance(call.func, ast.Attribute)
            and call.func.attr == "experimental_distribute_dataset"
        ):
            return Stage(call, "distribute", call, tuple(self._inputs(call)))
        return None

    def _inputs(self, call: ast.Call) -> Iterator[Value]:
        """The datasets among the arguments of a call."""
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        joins = method in _JOINING
        given = [k.value for k in call.keywords if k.arg not in _NO_DATASETS]
        weights = [k.value for k in call.keywords if k.arg == "weights"]
        stack: list[ast.expr] = [*call.args, *given]
        if method == "sample_from_datasets":  # the weights may be a dataset too
            weights += call.args[1:2]
            stack = [one for one in (*call.args[:2], *given) if not self._is_number(one, weights)]
        while stack:
            argument = stack.pop(0)
            if isinstance(argument, (ast.Tuple, ast.List)):
                stack += argument.elts
            elif isinstance(argument, ast.Dict):
                stack += argument.values
            elif not isinstance(argument, ast.Lambda):
                value = self.value(argument)
                if value is not None:
                    yield value
                elif joins and not isinstance(argument, ast.Constant):
                    text = ast.unparse(argument)
                    yield Lost(argument, f"`{text}` is not shown to be a dataset of this file")

    def _is_number(self, expr: ast.expr, weights: list[ast.expr]) -> bool:
        """Whether an argument is a list or array of weights, and surely no dataset of them."""
        match expr:
            case _ if expr not in weights:
                return False
            case ast.List() | ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.ListComp():
                return True
            case ast.Call():
                return (self._names.dotted(expr.func) or "").startswith("numpy.")
            case ast.Name():
                values = [binding.value for binding in self._late.reaching(expr)]
                return bool(values) and all(
                    isinstance(value, (ast.List, ast.Tuple))
                    and all(isinstance(element, ast.Constant) for element in value.elts)
                    for value in values
                )
        return False

    # Where a pipeline ends

    def _places(self, expr: ast.expr, seen: frozenset[ast.expr]) -> list[ast.expr]:
        if expr in seen:
            return [expr]
        seen |= {expr}
        if self.end(self.value(expr)) is End.AHEAD:
            return []
        origins = self._origins(expr)
        mixed = self.end(self.value(expr)) is End.MIXED
        if not origins or (len(origins) > 1 and not mixed and isinstance(expr, ast.Name)):
            return [] if mixed else [expr]
        if not all(self._movable(origin) for origin in origins):
            return [] if mixed else [expr]
        return [place for origin in origins for place in self._places(origin, seen)]

    def _movable(self, origin: ast.expr) -> bool:
        """Whether an origin may end in a prefetch: nothing but consumers ever sees its value."""
        if self.value(origin) is None:
            return False
        return self.end(self.value(origin)) is End.AHEAD or self.uses.only_consumed(origin)

    def _origins(self, expr: ast.expr) -> list[ast.expr]:
        """The expressions whose value an expression hands on unchanged."""
        match expr:
            case ast.Name():
                found: list[ast.expr] = []
                for binding in self._late.reaching(expr):
                    found += self._origins_of(binding)
                return list(dict.fromkeys(found))
            case ast.Attribute(value=ast.Name() as owner, attr=attribute):
                stored = self._stored(owner, attribute)
                return [v for value, index in stored for v in self._elements(value, index)]
            case ast.Call():
                function = self._own.function(expr)
                if function is not None and source_name(self._names, expr) is None:
                    return self._own.returned(function)
        return []

    def _origins_of(self, binding: Binding) -> list[ast.expr]:
        if binding.how is How.PARAMETER and isinstance(binding.node, ast.arg):
            return self._own.given(binding) or []
        if binding.value is None or binding.how not in (How.ASSIGN, How.UNPACK):
            return []
        index = binding.index if binding.how is How.UNPACK else None
        return self._elements(binding.value, index)

    def _elements(self, expr: ast.expr, index: int | None) -> list[ast.expr]:
        if index is None:
            return [expr]
        if isinstance(expr, (ast.Tuple, ast.List)):
            return [expr.elts[index]] if index < len(expr.elts) else []
        function = self._own.function(expr) if isinstance(expr, ast.Call) else None
        if function is None:
            return []
        return [v for value in self._own.returned(function) for v in self._elements(value, index)]
