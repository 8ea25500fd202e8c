"""Tensors that a run is fed with, which TensorFlow refuses, and the data sets they come from."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.next_elements import Origin
from tfrewrite.analysis.graphs.nodes import Kind, Node, plain
from tfrewrite.analysis.pipelines.stages import Stage
from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.sessions import SessionRun
    from tfrewrite.analysis.pipelines.stages import Value

_ONE_SHOT = "make_one_shot_iterator"
# What these make has the structure of what they are made of.
_SAME_STRUCTURE = frozenset(
    "batch cache filter prefetch repeat shard shuffle skip take with_options".split()
)
# They are several tensors, and are fed in other ways.
_COMPOSITE = ("sparse", "Sparse", "ragged", "Ragged")


@dataclass(frozen=True, eq=False)
class FedTensor:
    """An entry of a feed whose value is a tensor."""

    run: SessionRun
    feed: ast.Dict
    key: ast.expr
    value: ast.expr


@dataclass(frozen=True, eq=False)
class Elements:
    """The statements by which a script takes elements from a dataset, once for all runs."""

    dataset: ast.expr
    statements: tuple[ast.Assign, ...]
    """The iterator, and its next element; one statement where they are made in one."""
    parts: tuple[str, ...]
    """How each of the fed tensors is written, if the parts of an element are called `element`."""


class FedTensors:
    """Finds tensors in feeds, and follows them to a dataset."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._sessions = facts.sessions
        self._tracer = facts.graph
        self._next_elements = facts.next_elements
        self._pipelines = facts.pipelines

    def all(self) -> Iterator[list[FedTensor]]:
        """The tensors that each run is fed with, for the runs that have any."""
        for run in sorted(self._sessions.runs.values(), key=lambda one: one.call.lineno):
            feed = self._written(run.feed) if run.feed is not None else None
            if feed is None:
                continue
            found = [
                FedTensor(run, feed, key, value)
                for key, value in zip(feed.keys, feed.values, strict=True)
                if key is not None and self._is_tensor(value)
            ]
            if found:
                yield found

    def elements(self, fed: list[FedTensor]) -> Elements | None:
        """Where a run's tensors are taken from, if nothing is done with them but to feed them."""
        parts = [self._part(one.value) for one in fed]
        names = {name.id for name, _ in parts if name is not None}
        bindings = [b for name, _ in parts if name is not None for b in self._scopes.bindings(name)]
        taking = bindings[0].node if bindings else None
        if not isinstance(taking, ast.Assign) or any(one.node is not taking for one in bindings):
            return None
        if any(name is None for name, _ in parts) or len(taking.targets) != 1:
            return None
        if not self._only_fed(taking.targets[0], names, [one.value for one in fed]):
            return None
        made = self._made(taking)
        if made is None:
            return None
        iterators, dataset = made
        spelled = [
            self._spelled(taking.targets[0], name, index, dataset)
            for name, index in parts
            if name is not None
        ]
        known = tuple(part for part in spelled if part is not None)
        return Elements(dataset, (*iterators, taking), known) if len(known) == len(fed) else None

    # What is fed

    def _written(self, feed: ast.expr) -> ast.Dict | None:
        """The dict that a feed is, where it is written out."""
        if isinstance(feed, ast.Name):
            bindings = self._scopes.bindings(feed)
            if len(bindings) != 1 or bindings[0].how is not How.ASSIGN:
                return None
            return bindings[0].value if isinstance(bindings[0].value, ast.Dict) else None
        return feed if isinstance(feed, ast.Dict) else None

    def _is_tensor(self, value: ast.expr) -> bool:
        node = self._tracer.trace(value)
        return _surely_made(node) and not node.symbol.startswith(_COMPOSITE)

    # Where it comes from

    def _part(self, value: ast.expr) -> tuple[ast.Name | None, int | None]:
        """The name that holds an element, and which part of it is meant."""
        if isinstance(value, ast.Name):
            return value, None
        if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name):
            index = value.slice
            if isinstance(index, ast.Constant) and type(index.value) is int and index.value >= 0:
                return value.value, index.value
        return None, None

    def _only_fed(self, target: ast.expr, names: set[str], fed: list[ast.expr]) -> bool:
        """Whether all that is done with an element is to feed it here."""
        targets = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        inside = {node for value in fed for node in ast.walk(value)}
        for one in targets:
            if not isinstance(one, ast.Name) or one.id not in names:
                return False
            if not set(self._scopes.uses(one)) <= inside:
                return False
        return True

    def _made(self, taking: ast.Assign) -> tuple[list[ast.Assign], ast.expr] | None:
        """The statement of the iterator, if it has one, and the dataset that it goes over."""
        call = taking.value
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return None
        if call.func.attr != "get_next" or call.args or call.keywords:
            return None
        iterator: ast.expr = call.func.value
        statements: list[ast.Assign] = []
        if isinstance(iterator, ast.Name):
            bindings = self._scopes.bindings(iterator)
            if len(bindings) != 1 or not isinstance(bindings[0].node, ast.Assign):
                return None
            if len(self._scopes.uses(iterator)) != 1 or len(bindings[0].node.targets) != 1:
                return None
            statements.append(bindings[0].node)
            iterator = bindings[0].node.value
        if self._next_elements.origin(iterator) is not Origin.GRAPH:
            return None
        dataset = self._one_shot(iterator)
        return None if dataset is None else (statements, dataset)

    def _one_shot(self, iterator: ast.expr) -> ast.expr | None:
        """The dataset that an iterator goes over once, from the beginning to the end."""
        if not isinstance(iterator, ast.Call) or not isinstance(iterator.func, ast.Attribute):
            return None
        if iterator.func.attr != _ONE_SHOT or iterator.keywords:
            return None
        if self._names.tf(iterator.func) is not None:
            return iterator.args[0] if len(iterator.args) == 1 else None
        return None if iterator.args else iterator.func.value

    def _spelled(
        self, target: ast.expr, name: ast.Name, index: int | None, dataset: ast.expr
    ) -> str | None:
        """How a part of an element is written, if the parts together are called `element`."""
        if isinstance(target, (ast.Tuple, ast.List)):
            names = [getattr(one, "id", "") for one in target.elts]
            return f"element[{names.index(name.id)}]" if index is None else None
        given = _structure(self._pipelines.value(dataset))
        if index is None:
            is_single = isinstance(given, ast.Attribute) and self._names.tf(given) is not None
            return "element" if is_single else None
        if not isinstance(given, ast.Tuple) or any(isinstance(o, ast.Starred) for o in given.elts):
            return None
        return f"element[{index}]" if index < len(given.elts) else None


def _surely_made(node: Node, above: tuple[Node, ...] = ()) -> bool:
    """Whether a call of TensorFlow makes a value, or makes what an operator is used on.

    An operator by itself may as well be one on arrays. A name that is set to a part of itself leads
    back to a node that is asked about `above`.
    """
    if node in above:
        return False
    above = (*above, node)
    if node.kind is Kind.ELEMENT:
        return all(_surely_made(one, above) for one in node.values)
    if node.kind is not Kind.OP:
        return False
    if isinstance(node.expr, (ast.BinOp, ast.UnaryOp)):
        return any(_surely_made(plain(one), above) for one in node.values)
    if isinstance(node.expr, ast.Subscript):
        return _surely_made(plain(node.values[0]), above)
    return isinstance(node.expr, ast.Call)


def _structure(value: Value) -> ast.expr | None:
    """What tells of which parts the elements of a dataset are: types or arrays."""
    while isinstance(value, Stage) and value.name in _SAME_STRUCTURE and value.beneath:
        value = value.beneath[0]
    if not isinstance(value, Stage) or value.beneath:
        return None
    call = value.making
    if value.name == "from_generator":
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        return call.args[1] if len(call.args) > 1 else given.get("output_types")
    if value.name in ("from_tensors", "from_tensor_slices"):
        return call.args[0] if call.args else None
    return None
