"""Which tensor a key of a feed is, where all that is asked is its type, before a loop begins.

A run that takes a batch and is no more than that leaves the placeholder as it is. So it need not be
reached from where it is made: it may be one that callers give, of one of several objects, or out of
a dict, and of any shape, as long as the key means the same tensor before the loop as in it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.nodes import Kind, Node
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_MAX_STEPS = 4
# What these make of numbers are dense tensors of numbers.
_ARITHMETIC = frozenset({"add", "subtract", "multiply", "truediv", "floordiv", "negative"})


@dataclass(frozen=True, eq=False)
class FedKey:
    """A dense tensor of numbers, which has a key of a feed."""

    call: ast.Call
    """What makes its placeholder."""
    dtype: str
    """Its type as the file says it; keys of one type may say it in two ways."""


class FedKeys:
    """Goes from the key of a feed to what its tensor is made of."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._tracer = facts.graph
        self._classes = facts.classes
        self._own = facts.own_calls
        self._hoisting = facts.hoisting
        self._placeholders = facts.placeholders

    def of(self, key: ast.expr, loop: ast.stmt) -> FedKey | Obstacle:
        """What a key is in a loop, if it is surely the same before the outermost loop around."""
        text = ast.unparse(key)
        node = self._traced(key, 0)
        call = _placeholder(node) if node is not None else None
        if node is None or call is None:
            message = f"`{text}` is not known to be a placeholder made in this file"
            return Obstacle("placeholder-elsewhere", message)
        dtype = self._placeholders.number(call)
        if dtype is None or not isinstance(call.func, ast.Attribute):
            message = f"it is not told which numbers the placeholder of line {call.lineno} takes"
            return Obstacle("placeholder-unclear", message)
        unsure = self._unsure(key, self._hoisting.outermost(loop))
        if unsure is not None and isinstance(self._placeholders.of(key, loop), Obstacle):
            return Obstacle("placeholder-elsewhere", unsure.message)
        written = self._names.dotted(dtype) or ast.unparse(dtype)
        return FedKey(call, written if node.expr is call else f"{text}.dtype")

    def is_placeholder(self, expr: ast.expr) -> bool:
        """Whether a name or an attribute stands for a placeholder of `tf.placeholder`."""
        plain = isinstance(expr, (ast.Name, ast.Attribute))
        return plain and self._tracer.trace(expr).symbol == "placeholder"

    def becomes_key(self, call: ast.Call, argument: ast.expr) -> bool:
        """Whether a function of the file does no more with an argument than to feed it."""
        parameter = self._own.parameter(call, argument)
        return parameter is not None and all(map(self._is_key, self._own.uses(parameter)))

    def _is_key(self, use: ast.Name) -> bool:
        match self._source.parent(use):
            case ast.Dict(keys=keys):
                return use in keys
            case ast.Subscript(slice=key, ctx=ast.Store()):
                return use is key
        return False

    def _traced(self, key: ast.expr, steps: int) -> Node | None:
        """The operation whose result a key is, here or in what callers and objects give for it."""
        node = self._tracer.trace(key)
        if node.kind is Kind.OP or steps == _MAX_STEPS:
            return node
        found = [self._traced(one, steps + 1) for one in self._given(key)]
        types = {self._type(one) for one in found if one is not None}
        return found[0] if found and None not in found and len(types) == 1 else None

    def _type(self, node: Node) -> str:
        """The type of a placeholder, or of what one is computed from, as the file says it."""
        call = _placeholder(node)
        dtype = self._placeholders.number(call) if call is not None else None
        return ast.unparse(dtype) if dtype is not None else ""

    def _given(self, key: ast.expr) -> list[ast.expr]:
        """All that a parameter or an attribute may be set to; nothing where that is not known."""
        if isinstance(key, ast.Name):
            bindings = self._scopes.bindings(key)
            if len(bindings) != 1:
                return []
            if bindings[0].how is How.PARAMETER:
                return self._own.given(bindings[0]) or []
            value = bindings[0].value if bindings[0].how is How.ASSIGN else None
            return [value] if value is not None else []
        if not isinstance(key, ast.Attribute):
            return []
        cls = self._hoisting.class_of(key.value)
        stores = (self._classes.stores(cls, key.attr) if cls is not None else None) or []
        value = stores[0].value if len(stores) == 1 and stores[0].index is None else None
        return [value] if value is not None and not stores[0].augmented else []

    def _unsure(self, key: ast.expr, place: ast.stmt) -> Obstacle | None:
        """Why a key may be another tensor before a loop; an item of a dict is what it is traced to.

        The tracer knows no item of a dict that is changed anywhere.
        """
        if isinstance(key, ast.Subscript) and isinstance(key.slice, ast.Constant):
            if isinstance(key.value, ast.Name) and self._tracer.trace(key).kind is Kind.OP:
                key = key.value
        return self._hoisting.unsure(key, place)


def _placeholder(node: Node) -> ast.Call | None:
    """What makes the placeholder that a value is, or is computed from."""
    if node.symbol == "placeholder" and isinstance(node.expr, ast.Call):
        return node.expr
    if node.symbol not in _ARITHMETIC:
        return None
    made = (one.expr for one in node.values if one.symbol == "placeholder")
    return next((one for one in made if isinstance(one, ast.Call)), None)
