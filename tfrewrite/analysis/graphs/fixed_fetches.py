"""Whether a run fetches the same tensors and operations in each turn of a loop."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.fetches import leaves
from tfrewrite.analysis.graphs.nodes import Kind, Node, plain
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.scopes import Binding

_MAX_CALLERS = 8
_FETCHED = (Kind.OP, Kind.VARIABLE, Kind.ELEMENT)
_OPERATORS = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.AugAssign)
# A list of them may be empty, or hold what cannot be fetched.
_LISTS = ("variables", "collection", "compute_gradients", "collection_ref", "losses")


class FixedFetches:
    """Questions about the first argument of a run that stands in a loop."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._classes = facts.classes
        self._containers = facts.containers
        self._tracer = facts.graph
        self._own = facts.own_calls
        self._hoisting = facts.hoisting

    def operands(self, fetches: ast.expr) -> tuple[ast.expr, ...]:
        """What the lists, tuples and dicts that are written in a run are made of."""
        match fetches:
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                pass
            case ast.Dict(keys=keys, values=parts) if all(
                isinstance(key, ast.Constant) for key in keys
            ):
                pass
            case _:
                return (fetches,)
        return tuple(operand for part in parts for operand in self.operands(part))

    def obstacle(self, operands: Sequence[ast.expr]) -> Obstacle | None:
        """Why an operand may not be tensors and operations of the graph, and at least one."""
        for operand in operands:
            if not self._is_fetched(operand, 0):
                why = self._why(operand)
                message = f"it is not known whether `{ast.unparse(operand)}` is a tensor{why}"
                return Obstacle("fetch-unknown", message)
        if not any(self._is_one(operand) for operand in operands):
            what = ast.unparse(operands[0]) if operands else "[]"
            return Obstacle("fetch-unknown", f"`{what}` may be empty, so that nothing is fetched")
        return None

    def _is_one(self, operand: ast.expr) -> bool:
        """Whether an operand is a tensor, or a container that surely holds one."""
        if self._parameter(operand) is not None:
            return True  # never a container
        return self._holds_one(self._tracer.trace(operand), 0)

    def _holds_one(self, value: Node, depth: int) -> bool:
        value = plain(value)
        if value.kind in _FETCHED:
            return True
        if depth > _MAX_CALLERS:
            return False
        if value.kind is Kind.CHOICE:
            return all(self._holds_one(one, depth + 1) for one in value.values if one != value)
        if isinstance(value.expr, (ast.Name, ast.Attribute)):
            return self._begins_with_one(value.expr)
        written = isinstance(value.expr, (ast.List, ast.Tuple, ast.Dict, ast.BinOp))
        return written and any(self._holds_one(one, depth + 1) for one in value.values)

    def _begins_with_one(self, name: ast.Name | ast.Attribute) -> bool:
        """Whether a list or dict that things are added to held something from the beginning."""
        made: list[ast.expr | None] = []
        if isinstance(name, ast.Name):
            made = [one.value for one in self._scopes.bindings(name) if one.how is not How.AUGMENT]
        else:
            cls = self._classes.of_self(name.value) if isinstance(name.value, ast.Name) else None
            stores = self._classes.stores(cls, name.attr) if cls is not None else None
            made = [store.value for store in stores or () if not store.augmented]
        return bool(made) and all(map(_is_filled, made))

    def changed(self, operands: Sequence[ast.expr], loop: ast.stmt) -> Obstacle | None:
        """What may put something else into a list or dict while a loop fetches what is in it."""
        for operand in operands:
            for use in self._uses(operand):
                if self._may_change(operand, use) and not self._adds_before(use, loop):
                    message = f"line {use.lineno} may change `{ast.unparse(operand)}`"
                    return Obstacle("fetch-changes", message)
        return None

    def _is_fetched(self, operand: ast.expr, depth: int) -> bool:
        parameter = self._parameter(operand)
        if parameter is not None:
            given = self._own.given(parameter) if depth < _MAX_CALLERS else None
            return bool(given) and all(
                self._is_fetched(one, depth + 1) and not self._is_container(one)
                for one in given or ()
            )
        value = self._tracer.trace(operand)
        return all(map(_is_tensor, leaves(value)))

    def _parameter(self, expr: ast.expr) -> Binding | None:
        bindings = self._scopes.bindings(expr) if isinstance(expr, ast.Name) else []
        if len(bindings) != 1 or bindings[0].how is not How.PARAMETER:
            return None
        return bindings[0]

    def _why(self, operand: ast.expr) -> str:
        for leaf in leaves(self._tracer.trace(operand)):
            if leaf.kind is Kind.UNKNOWN and leaf.why:
                return f": it depends on {leaf.why}"
        return ""

    def _is_container(self, operand: ast.expr) -> bool:
        return self._tracer.trace(operand).kind is Kind.STRUCTURE

    def _may_change(self, operand: ast.expr, use: ast.expr) -> bool:
        """Whether a use may change what an operand holds, if it is a list or a dict."""
        if self._is_container(operand):
            return self._containers.added_through(use) != ([], True)
        return self._containers.changes(use) or any(map(self._containers.changes, self._alias(use)))

    def _alias(self, use: ast.expr) -> Sequence[ast.Name | ast.Attribute]:
        """Where the file reads another name that is given to a value."""
        statement = self._source.parent(use)
        if not isinstance(statement, ast.Assign) or statement.value is not use:
            return ()
        return [one for target in statement.targets for one in self._uses(target)]

    def _uses(self, operand: ast.expr) -> Sequence[ast.Name | ast.Attribute]:
        """Where the file reads the variable or the attribute, beside the run itself."""
        if isinstance(operand, ast.Name):
            return self._scopes.uses(operand)
        return self._classes.reads(operand.attr) if isinstance(operand, ast.Attribute) else ()

    def _adds_before(self, use: ast.expr, loop: ast.stmt) -> bool:
        """Whether a use does no more than to add something, before the loop begins."""
        if not self._containers.added_through(use)[1]:
            return False
        if self._source.function(use) is not self._source.function(loop):
            return False
        statement: ast.AST | None = self._source.statement(use)
        while isinstance(statement, ast.stmt):
            if self._hoisting.comes_first(statement, loop):
                return True
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                return False
            statement = self._source.parent(statement)
        return False


def _is_filled(value: ast.expr | None) -> bool:
    """Whether a list or dict is written down with something in it."""
    match value:
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return not all(isinstance(part, ast.Starred) for part in parts)
        case ast.Dict(keys=keys):
            return any(key is not None for key in keys)
    return False


def _is_tensor(value: Node) -> bool:
    """Whether a value is something that every run can fetch, and that it gives as it is."""
    if value.kind is Kind.CHOICE:
        return bool(value.inputs) and all(_is_tensor(one) for one in value.values if one != value)
    if value.kind not in _FETCHED:
        return False
    if isinstance(value.expr, _OPERATORS) and not any(map(_is_tensor, map(plain, value.values))):
        return False  # two lists, perhaps
    return not value.symbol.endswith((*_LISTS, "get_session_handle"))
