"""What the expressions of a TensorFlow 2 script give, outside of any trace."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager import array_shapes
from tfrewrite.analysis.eager.abstract_values import (
    Array,
    Bottom,
    Code,
    Dataset,
    Group,
    Library,
    Number,
    Own,
    Tensor,
    Thing,
    Unknown,
    Value,
    group,
    joined,
    turned,
)
from tfrewrite.analysis.eager.eager_calls import EagerCalls

if TYPE_CHECKING:
    from tfrewrite.analysis.eager.eager_values import EagerValues
    from tfrewrite.analysis.facts import Facts

_CONSTANTS = ("numpy.pi", "numpy.e", "numpy.inf", "math.pi", "math.e", "math.inf")
_KNOWN_LIBRARIES = frozenset("tensorflow numpy math builtins functools operator".split())
_PROGRESS = frozenset({"tqdm.tqdm", "tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm"})


class EagerExpressions:
    """Answers what an expression gives, as far as the file shows it."""

    def __init__(self, facts: Facts, values: EagerValues) -> None:
        self._facts = facts
        self._names = facts.names
        self._classes = facts.classes
        self._values = values
        self._calls = EagerCalls(facts, values)

    def value(self, expr: ast.expr) -> Value:
        """What an expression gives where it stands."""
        match expr:
            case ast.Constant():
                return Number(expr)
            case ast.Name():
                return self._values.of_name(expr)
            case ast.Attribute():
                return self._attribute(expr)
            case ast.Call():
                return self._calls.call(expr)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return group(*(self._values.value(element) for element in elements))
            case ast.Dict(keys=keys, values=values) if all(keys):
                return Group(None, joined(*(self._values.value(value) for value in values)))
            case ast.ListComp(elt=element):
                each = self._values.value(element)
                apart = isinstance(each, (Thing, Own)) and each.made == {element}
                return Group(None, each, apart=apart)
            case ast.DictComp(value=element):
                return Group(None, self._values.value(element))
            case ast.IfExp(body=body, orelse=orelse):
                return joined(self._values.value(body), self._values.value(orelse))
            case ast.JoinedStr() | ast.Compare() | ast.BoolOp():
                inner = [one for one in ast.iter_child_nodes(expr) if isinstance(one, ast.expr)]
                return self._computed([self._values.value(one) for one in inner])
            case ast.BinOp(left=left, op=op, right=right):
                sides = [self._values.value(left), self._values.value(right)]
                both = _put_together(*sides) if isinstance(op, ast.Add) else None
                return both or self._computed(sides)
            case ast.UnaryOp(op=op, operand=operand):
                found = self._values.value(operand)
                return turned(op, found) if isinstance(found, Number) else self._computed([found])
            case ast.Subscript():
                return self._subscript(expr)
            case ast.Starred(value=value):
                return self._values.value(value)
            case ast.Lambda():
                return Code(expr)
        return Unknown(f"`{ast.unparse(expr)}` in line {expr.lineno} is not followed")

    def _computed(self, values: list[Value]) -> Value:
        """What an operator makes of values."""
        for value in values:
            if isinstance(value, Unknown):
                return value
        circular = any(isinstance(value, Bottom) for value in values)
        values = [value for value in values if not isinstance(value, Bottom)]
        symbolic = [v for v in values if isinstance(v, Thing) and v.kind == "symbolic"]
        if symbolic:
            return joined(*symbolic)
        if any(isinstance(v, Thing) and v.kind == "variable" for v in values):
            return Tensor()
        tensors = [v for v in values if isinstance(v, Tensor)]
        if tensors:
            return Tensor(static=all(t.static for t in tensors))
        if any(isinstance(value, Array) for value in values):
            return joined(*(value for value in values if isinstance(value, Array)))
        if all(isinstance(value, Number) for value in values):
            varies = any(isinstance(value, Number) and value.varies for value in values)
            return Bottom() if circular or not values else Number(None, varies=varies)
        return Unknown("what an operator makes of it is not known")

    def _attribute(self, attribute: ast.Attribute) -> Value:
        path = self._names.dotted(attribute)
        if path is not None:
            return of_library(path)
        owner = attribute.value
        if isinstance(owner, ast.Name):
            cls = self._classes.of_self(owner)
            if cls is not None:
                held = self._values.members.member(cls, attribute.attr)
                if isinstance(held, Unknown) and self._facts.number_uses.changes(attribute):
                    return Number(None, varies=True)
                return held
        found = self._values.of_attribute(self._values.value(owner), attribute.attr)
        if isinstance(found, Unknown) and self._facts.captured.data(attribute):
            return Number(None, varies=bool(self._values.members.stores(attribute.attr)))
        return found

    def _subscript(self, subscript: ast.Subscript) -> Value:
        owner = self._values.value(subscript.value)
        match owner:
            case Group(items=items, each=each):
                match subscript.slice:
                    case ast.Constant(value=int(position)) if items is not None:
                        return items[position] if position < len(items) else each
                    case ast.Slice():
                        return Group(None, each)
                return each
            case Number():
                return Number(None, varies=True)
            case Array(steady=steady, shape=shape):
                shape = array_shapes.of_part(shape, self._values.value(subscript.slice))
                return Array(steady and self._is_steady(subscript.slice), shape)
            case Tensor():
                if self._is_steady(subscript.slice):
                    return owner
                return Unknown(f"the part that line {subscript.lineno} takes differs in its shape")
            case Thing(kind="symbolic") | Bottom():
                return owner
            case Thing(kind="variable"):
                return Tensor()
        return owner if isinstance(owner, Unknown) else Unknown("what is taken of it is not known")

    def _is_steady(self, index: ast.expr) -> bool:
        """Whether the part that an index takes has the same shape each time."""
        match index:
            case ast.Tuple(elts=elements):
                return all(self._is_steady(element) for element in elements)
            case ast.Slice(lower=lower, upper=upper):
                only = lower if upper is None else upper
                if only is None or (lower is not None and upper is not None):
                    return True
                found = self._values.value(only)
                return isinstance(found, Number) and not found.varies
            case ast.Compare():
                return False
        found = self._values.value(index)
        return isinstance(found, (Number, Library)) or (
            isinstance(found, (Array, Tensor))
            and not (isinstance(found, Array) and not found.steady)
        )

    def turn(self, iterable: ast.expr) -> Value:
        """What a loop gives in each of its turns."""
        if isinstance(iterable, ast.Call):
            path = self._names.dotted(iterable.func)
            if path == "builtins.range":
                return Number(None, varies=True)
            if path == "builtins.enumerate" and iterable.args:
                return group(Number(None, varies=True), self.turn(iterable.args[0]))
            if path == "builtins.zip":
                return group(*(self.turn(argument) for argument in iterable.args))
            if path in _PROGRESS and iterable.args:
                return self.turn(iterable.args[0])
        found = self._values.value(iterable)
        match found:
            case Dataset():
                return Tensor(nest=True)
            case Group(each=each):
                return each
            case Array(shape=shape):
                return replace(found, shape=shape[1:] if shape else None)
            case Number():
                return Number(None, varies=True)
            case Unknown() | Bottom():
                return found
        return Unknown("what the loop runs over")


def of_library(path: str) -> Value:
    """What a name of a library stands for."""
    if path in _CONSTANTS:
        return Number(None)
    if path.partition(".")[0] in _KNOWN_LIBRARIES:
        return Library(path)
    return Unknown(f"`{path}` is not in this file")


def _put_together(left: Value, right: Value) -> Group | None:
    """The list that two lists make."""
    if not isinstance(left, Group) or not isinstance(right, Group) or left.lazy or right.lazy:
        return None
    known = left.items is not None and right.items is not None
    items = (*(left.items or ()), *(right.items or ())) if known else None
    return Group(items, joined(left.each, right.each))
