"""What names hold while a function is traced: its own, and what it finds outside of it."""

from __future__ import annotations

import ast
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from tfrewrite.analysis.eager.abstract_values import (
    Array,
    Bottom,
    Group,
    Number,
    Tensor,
    Thing,
    Unknown,
    Value,
    changed,
    join,
    parts,
)
from tfrewrite.analysis.traces.trace import TraceError
from tfrewrite.analysis.traces.trace_borders import mask_lost
from tfrewrite.analysis.traces.traced_expressions import bends

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfrewrite.analysis.program.flow import Loop
    from tfrewrite.analysis.program.scopes import Scope
    from tfrewrite.analysis.traces.tracing import Tracer

    Held: TypeAlias = dict[tuple[Scope, str], Value]

# So many elements of an array may become a part of a graph.
_MOST_KEPT = 100_000


class TracedNames:
    """Answers what a name holds at the moment of a trace, and notes what it gets."""

    def __init__(self, tracer: Tracer, during: Loop | None) -> None:
        self._tracer = tracer
        self._facts = tracer.facts
        self._scopes = tracer.facts.scopes
        self._during = during
        self._held: Held = {}

    def enter(self, scope: Scope, arguments: Mapping[str, Value]) -> None:
        """A function is called: its names hold what it is given, and nothing else as yet."""
        for key in [key for key in self._held if key[0] is scope]:
            del self._held[key]
        for parameter, value in arguments.items():
            self._held[scope, parameter] = value

    # What they may hold after this or that

    def held(self) -> Held:
        """What all names hold now."""
        return dict(self._held)

    def take_back(self, held: Held) -> None:
        """All names hold again what they held before."""
        self._held = held

    def merge(self, other: Held) -> None:
        """Each name may hold what it holds, or what it holds there."""
        for key, value in other.items():
            self._held[key] = join(self._held[key], value) if key in self._held else value

    # What they get

    def hold(self, node: ast.AST, name: str, value: Value) -> None:
        """A statement gives a name its value, which must be one that no other code sees."""
        owner = self._scopes.of(node).owner(name)
        if owner is None or owner.node not in {*self._tracer.running, self._scopes.of(node).node}:
            line = getattr(node, "lineno", 0)
            raise TraceError("python-effect", f"line {line} binds `{name}` for others to see")
        self._held[owner, name] = value

    def bind(self, target: ast.expr, value: Value) -> None:
        """The target of an assignment or a loop gets a value."""
        match target:
            case ast.Name(id=name):
                self.hold(target, name, value)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                self._unpack(target, elements, value)
            case ast.Subscript(value=ast.Name() as owner, slice=index):
                holder = self._tracer.value(owner)
                self._tracer.value(index)
                if not isinstance(holder, Group) or not holder.own:
                    message = f"line {target.lineno} writes to `{ast.unparse(owner)}`"
                    raise TraceError("python-effect", message)
                self.change(owner, holder, value)
            case _:
                message = f"line {target.lineno} writes `{ast.unparse(target)}`"
                raise TraceError("python-effect", message)

    def _unpack(self, target: ast.expr, elements: list[ast.expr], value: Value) -> None:
        if isinstance(value, Number):  # a shape
            value = Group(None, Number(varies=value.varies))
        if not isinstance(value, Group):
            message = (
                f"line {target.lineno} unpacks what may be a tensor, which a trace cannot; pass"
                " its parts as arguments of their own"
            )
            raise TraceError("fails-when-traced", message)
        for position, element in enumerate(elements):
            if isinstance(element, ast.Starred):
                raise TraceError("not-followed", f"line {target.lineno} unpacks with a star")
            known = value.items is not None and position < len(value.items)
            part = value.items[position] if known and value.items is not None else value.each
            self.bind(element, part)

    def augment(self, target: ast.Name, op: ast.operator, added: Value) -> None:
        """A name gets what it holds with something added, subtracted and so on."""
        current, line = self.value(target), target.lineno
        if isinstance(current, Group):
            if not current.own or not isinstance(added, Group):
                raise TraceError("python-effect", f"line {line} changes `{target.id}` in place")
            self.change(target, current, added.each)
        elif isinstance(current, Thing) or any(
            isinstance(part, Tensor) and part.array for part in parts(current)
        ):
            raise TraceError("python-effect", f"line {line} changes `{target.id}` in place")
        else:
            bent = bends(op, None, None)
            self.hold(target, target.id, self._tracer.computed([current, added], target, bent))

    def change(self, name: ast.Name, before: Group, added: Value) -> None:
        """A list or dict that the function made gets another item, under all of its names."""
        new = Group(None, join(before.each, added), before.own)
        for key, held in self._held.items():
            self._held[key] = changed(held, before.own, new)
        self.hold(name, name.id, new)

    # What they hold

    def own(self, name: ast.Name) -> Value | None:
        """What a name of the functions that are gone through holds."""
        owner = self._scopes.of(name).owner(name.id)
        return None if owner is None else self._held.get((owner, name.id))

    def value(self, name: ast.Name) -> Value:
        """What a name gives that the function reads; stops where that is not the same each time."""
        owner = self._scopes.of(name).owner(name.id)
        if owner is not None and (owner, name.id) in self._held:
            return self._held[owner, name.id]
        if owner is not None and owner.node in self._tracer.running:
            message = f"`{name.id}` may have no value yet in line {name.lineno}"
            raise TraceError("not-followed", message)
        found = self._facts.eager_values.captured(name, self._during)
        if isinstance(found, Unknown):
            raise TraceError("captured-not-fixed", found.why)
        if isinstance(found, Array):
            return self._array(name, found)
        if isinstance(found, Group) and found.lazy:
            return self.known(found, name.id, name.lineno)
        if isinstance(found, Thing) and found.kind == "symbolic":
            raise TraceError("captured-not-fixed", f"`{name.id}` is a part of a model")
        self.check_mask(found, name.id)
        return found

    def _array(self, name: ast.Name, found: Array) -> Value:
        """An array that a trace keeps as it is at first."""
        small = found.shape is not None and prod(found.shape) <= _MOST_KEPT
        data = self._facts.untouched_data
        if small and data.holds(name, self._tracer.running[0], data.is_given_to_op):
            return Number()
        message = f"`{name.id}` is a numpy array, which a trace keeps as it is at first"
        raise TraceError("captured-not-fixed", message)

    def known(self, found: Value, text: str, line: int) -> Value:
        """A value that is found outside of the function, where it is the same at each call."""
        match found:
            case Unknown(why=why):
                raise TraceError("captured-not-fixed", f"`{text}` in line {line}: {why}")
            case Bottom():
                raise TraceError("not-followed", f"`{text}` in line {line} is not followed")
            case Array():
                message = f"`{text}` in line {line} is a numpy array, which may change in place"
                raise TraceError("captured-not-fixed", message)
            case Group(lazy=True):
                message = f"`{text}` in line {line} gives its items only once"
                raise TraceError("captured-not-fixed", message)
        self.check_mask(found, text)
        return found

    def check_mask(self, value: Value, text: str) -> None:
        """Notes what comes from outside and may have a mask of Keras, which stays there."""
        trace = self._tracer.trace
        trace.masked = trace.masked or mask_lost(self._facts, value, f"`{text}`")
