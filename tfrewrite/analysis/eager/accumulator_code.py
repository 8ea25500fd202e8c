"""What a statement does with an accumulator: a list of tensors in which gradients are summed.

Only what the text itself shows is told here. Anything that is not one of the known forms is OTHER,
so that who asks can keep silent.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfrewrite.analysis.facts import Facts

_ZEROS = frozenset({"tensorflow.zeros_like", "tensorflow.zeros", "numpy.zeros_like", "numpy.zeros"})
_WRAPPERS = frozenset(
    f"tensorflow.{name}" for name in ("Variable", "constant", "cast", "convert_to_tensor")
)
_ADDING = frozenset({"tensorflow.add", "tensorflow.math.add"})
_MAPPING = frozenset({"tensorflow.nest.map_structure", "builtins.map"})
_COPYING = frozenset({"builtins.list", "builtins.tuple"})
_CLIPPING = frozenset({"tensorflow.clip_by_global_norm"})
_OF_ONE = frozenset(
    f"tensorflow.{name}"
    for name in ("clip_by_norm", "clip_by_value", "cast", "identity", "math.divide", "divide")
)
_MAX_DEPTH = 5

Held = ast.Name | ast.Attribute


class Deed(Enum):
    """What a statement does with it."""

    RESET = "reset"  # all its tensors become zeros
    SUM = "sum"  # something is added to each of its tensors
    NOTHING = "nothing"  # something is added to a name that stands for each, and is lost
    SCALE = "scale"  # each tensor becomes a multiple of itself
    OTHER = "other"


@dataclass(frozen=True)
class _Items:
    """Which names stand for a tensor of an accumulator, or for its index, in a loop over it."""

    name: str
    items: frozenset[str]
    indices: frozenset[str]

    def has(self, expr: ast.expr) -> bool:
        return text_of(expr) in self.items or self.has_indexed(expr)

    def has_indexed(self, expr: ast.expr) -> bool:
        match expr:
            case ast.Subscript(value=value, slice=ast.Name(id=index)):
                return text_of(value) == self.name and index in self.indices
        return False

    def mentioned(self, expr: ast.AST) -> bool:
        texts = {text_of(node) for node in ast.walk(expr)}
        return self.name in texts or not texts.isdisjoint(self.items)


class AccumulatorCode:
    """Tells the forms of zeros, sums and multiples apart."""

    def __init__(self, facts: Facts) -> None:
        self._names = facts.names
        self._own = facts.own_calls

    def many_zeros(self, expr: ast.expr | None, depth: int = 0) -> bool:
        """Whether it is a list of zeros, one for each of something."""
        match expr:
            case ast.ListComp(elt=element, generators=[_]):
                return self.zero(element)
            case ast.List(elts=elements) if elements:
                return all(map(self.zero, elements))
            case ast.BinOp(left=ast.List(elts=[element]), op=ast.Mult()):
                return self.zero(element)
            case ast.Call(func=func, args=[made]) if self._names.dotted(func) in _COPYING:
                return self.many_zeros(made) or self._zeros_mapped(made)
            case ast.Call():
                return self._zeros_mapped(expr) or self._zeros_returned(expr, depth)
        return False

    def _zeros_mapped(self, expr: ast.expr) -> bool:
        match expr:
            case ast.Call(func=func, args=[what, _]) if self._names.dotted(func) in _MAPPING:
                if isinstance(what, ast.Lambda):
                    return self.zero(what.body)
                return self._names.dotted(what) in _ZEROS
            case ast.GeneratorExp(elt=element, generators=[_]):
                return self.zero(element)
        return False

    def _zeros_returned(self, call: ast.Call, depth: int) -> bool:
        function = self._own.function(call)
        if function is None or depth > _MAX_DEPTH:
            return False
        given = self._own.given_back(function)
        return bool(given) and all(self.many_zeros(one, depth + 1) for one in given)

    def zero(self, expr: ast.expr | None) -> bool:
        """Whether it is a zero, or a tensor of zeros."""
        match expr:
            case ast.Constant(value=value):
                return type(value) in (int, float) and value == 0
            case ast.Call(func=func, args=[first, *_]):
                path = self._names.dotted(func)
                return path in _ZEROS or (path in _WRAPPERS and self.zero(first))
            case ast.Call(func=func, args=[], keywords=given):
                path = self._names.dotted(func)
                values = [one.value for one in given if one.arg in ("initial_value", "value")]
                return path in _ZEROS or (path in _WRAPPERS and any(map(self.zero, values)))
        return False

    def is_tensors(self, expr: ast.expr | None) -> bool:
        """Whether zeros are tensors: no arrays, which change in place, and no variables."""
        paths = {
            self._names.dotted(node.func) for node in ast.walk(expr or ast.Pass())
            if isinstance(node, ast.Call)
        }  # fmt: skip
        return "tensorflow.zeros_like" in paths and not any(
            path == "tensorflow.Variable" or (path or "").startswith("numpy.") for path in paths
        )

    def deed(self, statement: ast.stmt, name: str, *, many: bool) -> Deed:
        """What a statement does with the accumulator of that name, a list or a single tensor."""
        match statement:
            case ast.For(target=target, iter=over, orelse=[]):
                items = self._items(target, over, name)
                body = _without_gaps(statement.body)
                if items is None or body is None:
                    return Deed.OTHER
                return self._item_deed(body, items)
            case ast.Expr(value=ast.ListComp(elt=element, generators=[one])) if not one.ifs:
                items = self._items(one.target, one.iter, name)
                return self._item_deed(ast.Expr(element), items) if items else Deed.OTHER
            case (
                ast.Assign(targets=[target], value=value)
                | ast.AnnAssign(target=target, value=ast.expr() as value)
            ) if text_of(target) == name:
                return self._bound(value, name, many=many)
            case _ if not many:
                own = _Items(name, frozenset({name}), frozenset())
                found = self._item_deed(statement, own)
                return Deed.SUM if found is Deed.NOTHING else found
        return Deed.OTHER

    def _bound(self, value: ast.expr, name: str, *, many: bool) -> Deed:
        """What a new value of the name is."""
        if not many:
            own = _Items(name, frozenset({name}), frozenset())
            if self.zero(value):
                return Deed.RESET
            return self._new_item(value, own)
        if self.many_zeros(value):
            return Deed.RESET
        match value:
            case ast.Call(func=func, args=[made]) if self._names.dotted(func) in _COPYING:
                return self._bound(made, name, many=True)
            case ast.Call(func=func, args=[what, *given]) if self._names.dotted(func) in _MAPPING:
                return self._mapped(what, given, name)
            case (
                ast.ListComp(elt=element, generators=[one])
                | ast.GeneratorExp(elt=element, generators=[one])
            ) if not one.ifs:
                items = self._items(one.target, one.iter, name)
                return self._new_item(element, items) if items else Deed.OTHER
        return Deed.OTHER

    def _mapped(self, what: ast.expr, given: list[ast.expr], name: str) -> Deed:
        own = [text_of(one) == name for one in given]
        if sum(own) != 1:
            return Deed.OTHER
        if isinstance(what, ast.Lambda):
            parameters = [one.arg for one in what.args.args]
            if len(parameters) != len(given):
                return Deed.OTHER
            items = _Items(name, frozenset({parameters[own.index(True)]}), frozenset())
            return self._new_item(what.body, items)
        adding = self._names.dotted(what) in _ADDING or _is_operator_add(self._names.dotted(what))
        return Deed.SUM if adding and len(given) == 2 else Deed.OTHER

    def _items(self, target: ast.expr, over: ast.expr, name: str) -> _Items | None:
        """Which names a loop has for the items of an accumulator."""
        items: set[str] = set()
        indices: set[str] = set()

        def pair(target: ast.expr, over: ast.expr) -> None:
            path = self._names.dotted(over.func) if isinstance(over, ast.Call) else None
            match target, over:
                case ast.Name(id=bound), _ if text_of(over) == name:
                    items.add(bound)
                case ast.Name(id=bound), ast.Call() if path == "builtins.range":
                    indices.add(bound)
                case ast.Tuple(elts=targets), ast.Call(args=given) if path == "builtins.zip":
                    for one, other in zip(targets, given, strict=False):
                        pair(one, other)
                case ast.Tuple(elts=[ast.Name(id=index), inner]), ast.Call(args=[given]):
                    if path == "builtins.enumerate":
                        indices.add(index)
                        pair(inner, given)

        pair(target, over)
        found = _Items(name, frozenset(items), frozenset(indices))
        return found if items or indices else None

    def _item_deed(self, statement: ast.stmt, items: _Items) -> Deed:
        """What is done with one tensor of it."""
        match statement:
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=on, attr=attr), args=[given, *_])
            ):
                if not items.has(on) or (items.mentioned(given) and attr != "assign"):
                    return Deed.OTHER
                if attr == "assign_add":
                    return Deed.SUM
                return self._new_item(given, items) if attr == "assign" else Deed.OTHER
            case ast.AugAssign(target=target, op=ast.Add(), value=value):
                if items.mentioned(value) or not items.has(target):
                    return Deed.OTHER
                return Deed.SUM if items.has_indexed(target) else Deed.NOTHING
            case ast.AugAssign(target=target, op=ast.Div() | ast.Mult()):
                return Deed.SCALE if items.has_indexed(target) else Deed.OTHER
            case ast.Assign(targets=[target], value=value) if items.has(target):
                found = self._new_item(value, items)
                if items.has_indexed(target):
                    return found
                return Deed.NOTHING if found is Deed.SUM else Deed.OTHER
        return Deed.OTHER

    def _new_item(self, value: ast.expr, items: _Items) -> Deed:
        """What a new value for one tensor is."""
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            if value.func.attr in ("assign", "assign_add"):  # these give the variable back
                return self._item_deed(ast.Expr(value), items)
        if self.zero(value):
            return Deed.RESET
        if self._adds(value, items.has, items.mentioned):
            return Deed.SUM
        return Deed.SCALE if self._multiple(value, items) else Deed.OTHER

    def _multiple(self, value: ast.expr, items: _Items) -> bool:
        match value:
            case ast.BinOp(left=left, op=ast.Div() | ast.Mult(), right=right):
                one, other = (left, right) if items.has(left) else (right, left)
                return items.has(one) and not items.mentioned(other)
            case ast.Call(func=func, args=[first, *rest]) if self._names.dotted(func) in _OF_ONE:
                return items.has(first) and not any(map(items.mentioned, rest))
        return False

    def _adds(
        self,
        value: ast.expr,
        has: Callable[[ast.expr], bool],
        mentioned: Callable[[ast.AST], bool],
    ) -> bool:
        """Whether a value is a tensor of the accumulator and one addend that is not of it."""
        match value:
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return (has(left) and not mentioned(right)) or (has(right) and not mentioned(left))
            case ast.Call(func=func, args=[left, right]) if self._names.dotted(func) in _ADDING:
                return (has(left) and not mentioned(right)) or (has(right) and not mentioned(left))
            case ast.IfExp(body=body, orelse=orelse):
                one, other = self._adds(body, has, mentioned), self._adds(orelse, has, mentioned)
                return (one or has(body)) and (other or has(orelse)) and (one or other)
        return False

    def made_of(self, expr: ast.expr) -> list[Held]:
        """What holds the lists of gradients that a list, or pairs with variables, is made of.

        Each gradient of it must come from one tensor of such a list and from nothing else that
        differs from tensor to tensor; where that is not so, there are none.
        """
        match expr:
            case ast.Name() | ast.Attribute():
                return [expr]
            case ast.Subscript(value=value, slice=ast.Constant(value=0)):
                return self.made_of(value) if isinstance(value, ast.Call) else []
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                found = [self._single(one) for one in elements]
                return [one for one in found if one is not None] if all(found) else []
            case ast.Call(func=func, args=[first, *rest]):
                path = self._names.dotted(func)
                if path in _COPYING or path in _CLIPPING or path == "builtins.zip":
                    return self.made_of(first)
                return self.made_of(rest[0]) if path in _MAPPING and len(rest) == 1 else []
            case (
                ast.ListComp(elt=element, generators=[one])
                | ast.GeneratorExp(elt=element, generators=[one])
            ):
                return self._from_comprehension(element, one)
        return []

    def _from_comprehension(self, element: ast.expr, one: ast.comprehension) -> list[Held]:
        first = element.elts[0] if isinstance(element, ast.Tuple) and element.elts else element
        used = {node.id for node in ast.walk(first) if isinstance(node, ast.Name)}
        target, over = one.target, one.iter
        path = self._names.dotted(over.func) if isinstance(over, ast.Call) else None
        if path == "builtins.enumerate" and isinstance(over, ast.Call) and over.args:
            if not isinstance(target, ast.Tuple) or len(target.elts) != 2:
                return []
            target, over = target.elts[1], over.args[0]
            path = self._names.dotted(over.func) if isinstance(over, ast.Call) else None
        if path == "builtins.range" and isinstance(target, ast.Name):
            return _only_indexed(first, target.id)
        if isinstance(target, ast.Name):
            return self.made_of(over) if target.id in used else []
        if path == "builtins.zip" and isinstance(target, ast.Tuple) and isinstance(over, ast.Call):
            bound = [getattr(item, "id", "") for item in target.elts]
            taken = [index for index, name in enumerate(bound) if name in used]
            if len(taken) == 1 and taken[0] < len(over.args):
                return self.made_of(over.args[taken[0]])
        return []

    def _single(self, expr: ast.expr) -> Held | None:
        """The tensor that a gradient, or its pair with a variable, is a multiple of."""
        match expr:
            case ast.Name() | ast.Attribute():
                return expr
            case ast.Tuple(elts=[first, _]):
                return self._single(first)
            case ast.BinOp(left=(ast.Name() | ast.Attribute()) as name, op=ast.Div() | ast.Mult()):
                return name
            case ast.Call(func=func, args=[(ast.Name() | ast.Attribute()) as name, *_]):
                return name if self._names.dotted(func) in _OF_ONE else None
        return None


def _without_gaps(body: list[ast.stmt]) -> ast.stmt | None:
    """The one statement of a loop over gradients, which may leave out those that are None."""
    match body:
        case [ast.If(body=[ast.Continue()], orelse=[]), one]:
            return one
        case [ast.If(test=ast.Compare(ops=[ast.IsNot()]), body=[one], orelse=[])]:
            return one
        case [one]:
            return one
    return None


def text_of(expr: ast.AST) -> str | None:
    """A name or an attribute of a name as it is written."""
    match expr:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=name), attr=attr):
            return f"{name}.{attr}"
    return None


def _only_indexed(expr: ast.expr, index: str) -> list[Held]:
    """The list that an expression takes an item of, where it takes one of a single list."""
    found = [
        node.value
        for node in ast.walk(expr)
        if isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Name)
        and node.slice.id == index
    ]
    names = [one for one in found if isinstance(one, (ast.Name, ast.Attribute))]
    return names if len(found) == 1 else []


def _is_operator_add(path: str | None) -> bool:
    return path == "operator.add"
