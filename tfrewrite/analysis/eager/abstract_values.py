"""What is known of a value in eager TensorFlow 2 code, as far as tracing a function asks for it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tfrewrite.analysis.traces.gradient_flow import NO_FLOW, Flow

if TYPE_CHECKING:
    from collections.abc import Callable


Place = tuple["ast.AST", ...]
"""An expression, behind the calls that lead to it."""


@dataclass(frozen=True)
class Unknown:
    """Anything; `why` says in words what is not known."""

    why: str


@dataclass(frozen=True)
class Bottom:
    """No value at all: what a name adds that is bound to something made of itself."""


@dataclass(frozen=True)
class Tensor:
    """A tensor."""

    static: bool = True
    """Whether its shape is known when it is traced, where those of the arguments are."""
    nest: bool = False
    """It may also be a structure of tensors: an element of a dataset."""
    array: bool = False
    """It is a numpy array in eager mode, and a tensor only where it is handed to a trace."""
    size: bool = False
    """It holds sizes, which are constants in a trace where the shape is known."""
    flow: Flow = NO_FLOW
    layered: bool = False
    """It may be the very tensor that a layer gave, with a mask that Keras put on it."""
    squashed: bool = False
    """It may be the very tensor that a softmax or sigmoid of TensorFlow gave, none of Keras.

    Or one of Keras gave it outside of the trace, and there is nothing of that on it any more.
    """


@dataclass(frozen=True)
class Number:
    """A Python value that cannot be changed in place: a number, a text, None, a type, a shape."""

    literal: ast.Constant | None = None
    varies: bool = False
    """Whether it may be another one the next time that it is evaluated."""
    tensor: Tensor | None = None
    """The tensor that it may be instead: a sum that began with a number."""
    flow: Flow = NO_FLOW

    @property
    def tensors(self) -> bool:
        """Whether it may be a tensor instead."""
        return self.tensor is not None


@dataclass(frozen=True)
class Array:
    """A numpy array, or a part of one."""

    steady: bool = True
    """Whether it has the same shape each time, but perhaps for the last batch."""
    shape: tuple[int, ...] | None = None
    """Its shape, where the text says it."""


@dataclass(frozen=True)
class Group:
    """A list, tuple or dict that nobody changes any more."""

    items: tuple[Value, ...] | None
    each: Value
    own: frozenset[Place] = frozenset()
    """Where the function that is looked at made it, which may still change it.

    Two values with a place in common may be the same list or dict.
    """
    lazy: bool = False
    """Whether it gives its items once: what `zip` or a generator expression makes."""
    apart: bool = False
    """Whether each of its items was made for itself, so that no two are one object."""


@dataclass(frozen=True)
class Thing:
    """An object of TensorFlow or Keras; `symbol` is its class."""

    kind: str
    symbol: str
    made: frozenset[ast.AST] = frozenset()
    """The calls that may have made it."""
    code: frozenset[ast.AST] = frozenset()
    """Functions and classes of the file that run when it is called."""
    draws: bool = False
    """Whether calling it may draw random numbers."""
    built: bool = False
    """Whether it surely has its variables from the start."""
    of: tuple[frozenset[ast.AST], ...] = ()
    """What made the objects that it is a part of, from the outermost inwards."""
    gives: int = 0
    """How many tensors it gives when it is called, in a list; 0 where it gives one."""
    squashes: bool = False
    """Whether it may end in a softmax or sigmoid of TensorFlow's, none of Keras."""
    awake: bool = False
    """Whether a part of it was told to train when it was put together."""


@dataclass(frozen=True)
class Own:
    """An object of a class of the file."""

    cls: ast.ClassDef
    made: frozenset[ast.AST] = frozenset()
    of: tuple[frozenset[ast.AST], ...] = ()


@dataclass(frozen=True)
class Code:
    """A function of the file, with the object that it is a method of."""

    node: ast.FunctionDef | ast.Lambda
    owner: Own | None = None


@dataclass(frozen=True)
class Library:
    """A function or class of a library, by its dotted path."""

    path: str


@dataclass(frozen=True)
class Dataset:
    """A tf.data pipeline."""


@dataclass(frozen=True)
class Done:
    """What an update gives: not the same in eager mode as in a trace."""

    words: str


Value = (
    Unknown
    | Bottom
    | Tensor
    | Number
    | Array
    | Group
    | Thing
    | Own
    | Code
    | Library
    | Dataset
    | Done
)


def join(a: Value, b: Value) -> Value:
    """What is known of something that is one of two."""
    if isinstance(a, Bottom) or a == b:
        return b
    if isinstance(b, Bottom):
        return a
    match a, b:
        case Unknown(), _:
            return a
        case _, Unknown():
            return b
        case Tensor(), Tensor():
            return Tensor(
                a.static and b.static,
                a.nest or b.nest,
                a.array or b.array,
                a.size and b.size,
                a.flow | b.flow,
                a.layered or b.layered,
                a.squashed or b.squashed,
            )
        case Number(), Number():
            same = a.literal is not None and b.literal is not None and _same(a.literal, b.literal)
            return Number(
                a.literal if same else None,
                a.varies or b.varies,
                _either(a.tensor, b.tensor),
                a.flow | b.flow,
            )
        case (Number() as number, Tensor() as tensor) | (Tensor() as tensor, Number() as number):
            apart = _either(number.tensor, replace(tensor, flow=NO_FLOW))
            return Number(None, varies=False, tensor=apart, flow=number.flow | tensor.flow)
        case Array(), Array():
            return Array(a.steady and b.steady, a.shape if a.shape == b.shape else None)
        case Group(), Group():
            items = None
            if a.items is not None and b.items is not None and len(a.items) == len(b.items):
                items = tuple(map(join, a.items, b.items))
            own = a.own | b.own if a.own and b.own else frozenset()
            return Group(items, join(a.each, b.each), own, a.lazy or b.lazy)
        case Thing(), Thing() if a.kind == b.kind:
            return Thing(
                a.kind,
                a.symbol if a.symbol == b.symbol else "",
                a.made | b.made,
                a.code | b.code,
                a.draws or b.draws,
                a.built and b.built,
                _both(a.of, b.of),
                a.gives if a.gives == b.gives else 0,
                a.squashes or b.squashes,
                a.awake or b.awake,
            )
        case Own(), Own() if a.cls is b.cls:
            return Own(a.cls, a.made | b.made, _both(a.of, b.of))
    return Unknown("it is not always of the same kind")


def _either(a: Tensor | None, b: Tensor | None) -> Tensor | None:
    found = joined(*filter(None, (a, b)))
    return found if isinstance(found, Tensor) else None


def _both(
    a: tuple[frozenset[ast.AST], ...], b: tuple[frozenset[ast.AST], ...]
) -> tuple[frozenset[ast.AST], ...]:
    return tuple(x | y for x, y in zip(a, b, strict=False))


def turned(op: ast.unaryop, number: Number) -> Number:
    """What `not`, `-` and the like make of a number."""
    literal = None
    if number.literal is not None:
        value = number.literal.value
        if isinstance(op, ast.Not):
            literal = ast.Constant(not value)
        elif isinstance(op, ast.USub) and isinstance(value, (int, float)):
            literal = ast.Constant(-value)
    return replace(number, literal=literal)


def flow_of(value: Value) -> Flow:
    """What all the tensors of a value are computed from."""
    found = NO_FLOW
    for part in parts(value):
        if isinstance(part, (Tensor, Number)):
            found |= part.flow
    return found


def part_of(value: Value, owner: Own, makers: Callable[[ast.AST], bool]) -> Value:
    """What an object holds, where it made that itself: other objects have one of their own."""
    match value:
        case Thing() | Own() if value.made and all(map(makers, value.made)):
            return replace(value, of=(*owner.of, owner.made))
        case Group(items=items, each=each):
            known = None if items is None else tuple(part_of(i, owner, makers) for i in items)
            return replace(value, items=known, each=part_of(each, owner, makers))
    return value


def may_be_one(a: Thing | Own, b: Thing | Own) -> bool:
    """Whether two values may be the same object; a class stands for any object of it."""
    if not a.made & b.made and a.made != b.made:
        return False
    return all(
        one & other or any(isinstance(maker, ast.ClassDef) for maker in one | other)
        for one, other in zip(a.of, b.of, strict=False)
    )


def layered(value: Value) -> Value:
    """The same, as what a layer gives."""
    match value:
        case Tensor():
            return replace(value, layered=True)
        case Group(items=items, each=each):
            known = None if items is None else tuple(map(layered, items))
            return replace(value, items=known, each=layered(each))
    return value


def joined(*values: Value) -> Value:
    found: Value = Bottom()
    for value in values:
        found = join(found, value)
    return found


def group(*items: Value, own: frozenset[Place] = frozenset()) -> Group:
    return Group(items, joined(*items), own)


def with_parts(value: Value) -> Value:
    """What a value is where its attributes or items are asked for: a tensor, if it may be one."""
    if isinstance(value, Number) and value.tensor is not None:
        return replace(value.tensor, flow=value.flow)
    return value


def changed(value: Value, places: frozenset[Place], new: Group) -> Value:
    """A value after a list or dict that was made at some places has become another one."""
    if not isinstance(value, Group):
        return value
    items = value.items
    if items is not None:
        items = tuple(changed(item, places, new) for item in items)
    found = replace(value, items=items, each=changed(value.each, places, new))
    return join(found, new) if found.own & places else found


def is_nested(value: Group) -> bool:
    """Whether there are lists or dicts in a list or dict."""
    return any(isinstance(one, Group) for one in (value.each, *(value.items or ())))


def made_by(value: Value, call: ast.AST) -> Value:
    """The same, as what a call gives: each call of a function makes objects of its own."""
    match value:
        case Thing() | Own():
            return replace(value, made=frozenset({call})) if value.made else value
        case Group(items=items, each=each):
            known = None if items is None else tuple(made_by(item, call) for item in items)
            return Group(known, made_by(each, call))
    return value


def at(value: Value, path: tuple[int, ...]) -> Value:
    """A part of a value that is unpacked."""
    for position in path:
        match value:
            case Group(items=items, each=each):
                known = items is not None and 0 <= position < len(items)
                value = items[position] if known and items is not None else each
            case Number():
                value = Number(None, varies=value.varies)
    return value


def parts(value: Value) -> list[Value]:
    """A value and all that is known to be in it, or that it may be instead."""
    if isinstance(value, Number) and value.tensor is not None:
        return [value, value.tensor]
    if not isinstance(value, Group):
        return [value]
    inner = [value.each] if value.items is None else [*value.items]
    return [part for one in inner for part in parts(one)]


def _same(a: ast.Constant, b: ast.Constant) -> bool:
    return type(a.value) is type(b.value) and bool(a.value == b.value)
