"""Objects of the file's own classes: what their attributes hold, and who called their methods."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.nodes import (
    Frame,
    Kind,
    Node,
    Surroundings,
    choice,
    plain,
    text,
    unknown,
)
from tfrewrite.analysis.program.classes import Classes, Method, Store
from tfrewrite.analysis.program.names import Names
from tfrewrite.analysis.program.scopes import How, Scopes
from tfrewrite.analysis.program.source import Source

if TYPE_CHECKING:
    from tfrewrite.analysis.graphs.graph import Tracer


class Objects:
    """Follows attributes for the tracer: all that a class may store in one, seen from an object."""

    def __init__(
        self, source: Source, scopes: Scopes, names: Names, classes: Classes, tracer: Tracer
    ) -> None:
        self._source = source
        self._scopes = scopes
        self._names = names
        self._classes = classes
        self._tracer = tracer
        self._attributes: dict[tuple[Node, str], Node] = {}
        self._frames: dict[tuple[Node, Method], Frame] = {}
        self._selves: dict[ast.ClassDef, Node] = {}

    def of_class(self, cls: ast.ClassDef) -> Node:
        if cls not in self._selves:
            self._selves[cls] = Node(Kind.INSTANCE, cls, instance_of=cls)
        return self._selves[cls]

    def attribute(self, instance: Node, expr: ast.Attribute) -> Node:
        key = (instance, expr.attr)
        if key not in self._attributes:
            node = self._attributes[key] = Node(Kind.CHOICE, expr)
            for value in self._stored_values(instance, expr):
                node.inputs.append(("", value))
        return plain(self._attributes[key])

    def _stored_values(self, instance: Node, expr: ast.Attribute) -> list[Node]:
        cls = instance.instance_of
        assert cls is not None
        getter = self._classes.method(cls, expr.attr)
        if getter is not None:
            if not self.sure(instance, expr.attr):
                return [unknown(expr, f"`{expr.attr}`, which a subclass may replace")]
            if [self._names.dotted(d) for d in getter.decorator_list] == ["builtins.property"]:
                return [self._tracer.inlining.returned(getter, self.frame(instance, getter), expr)]
            return [unknown(expr, f"method `{expr.attr}` of `{cls.name}`")]
        if instance.expr is cls and self._classes.replaced(cls, expr.attr):
            return [unknown(expr, f"`{expr.attr}`, which a subclass may replace")]
        stores = self._classes.stores(cls, expr.attr)
        if not stores:
            reason = f"attribute `{expr.attr}` of `{cls.name}`, which this file does not set"
            return [unknown(expr, reason)]
        return [self._store(instance, store) for store in stores]

    def sure(self, instance: Node, name: str) -> bool:
        """Whether a method found in an object's class is the one that will run."""
        cls = instance.instance_of
        return cls is not None and not (instance.expr is cls and self._classes.replaced(cls, name))

    def _store(self, instance: Node, store: Store) -> Node:
        if store.value is None or store.augmented:
            return unknown(store.target, f"`{text(store.target)}`, which is rebound")
        frame = self.frame(instance, store.method) if store.method else None
        value = self._tracer.trace(store.value, frame)
        if store.index is not None:
            value = self._tracer.element(store.target, value, store.index)
        attribute = store.target.attr
        if value.kind is Kind.STRUCTURE and self._classes.read_by_text(attribute):
            return unknown(store.target, f"`{attribute}`, which is also read by its name as a text")
        uses = self._classes.reads(attribute)
        return self._tracer.with_additions(store.target, value, frame, uses)

    def frame(self, instance: Node, method: Method) -> Frame:
        """The call of a method that an object sees: for `__init__` the one that made the object."""
        key = (instance, method)
        if key not in self._frames:
            arguments = {method.args.args[0].arg: instance} if method.args.args else {}
            frame = self._frames[key] = Frame(method, arguments, many=True)
            frame.around = self._around(instance, method)
            calls = self._calls_of(instance, method)
            if calls:
                frame.many = len(calls) > 1 or self._tracer.placement.repeated(*calls[0])
                self._bind_any(frame, calls)
            elif method.name == "__init__":
                frame.many = False
        return self._frames[key]

    def _around(self, instance: Node, method: Method) -> Surroundings:
        """What is around the calls of a method, or around what makes the object."""
        if method.name != "__init__":
            return self._tracer.placement.called_under(method)
        result = Surroundings()
        for call, outer in self._calls_of(instance, method):
            around = self._tracer.placement.surroundings(call, outer)
            result.controls += around.controls
            result.obstacle = result.obstacle or around.obstacle
        return result

    def _bind_any(self, frame: Frame, calls: list[tuple[ast.Call, Frame | None]]) -> None:
        """Gives each parameter what one or the other of several calls gives it."""
        ways = []
        for call, outer in calls:
            way = Frame(frame.function, {})
            self._tracer.inlining.bind(way, call, outer, skip_first=True)
            ways.append(way.arguments)
        for name in set.intersection(*(set(way) for way in ways)):
            values = [way[name] for way in ways]
            value = values[0] if len(values) == 1 else choice(frame.function, values)
            frame.arguments.setdefault(name, value)

    def _calls_of(self, instance: Node, method: Method) -> list[tuple[ast.Call, Frame | None]]:
        """The calls, from within the same object or by its only name, that run a method."""
        if method.name == "__init__":
            made = instance.expr
            if isinstance(made, ast.ClassDef):
                if self._classes.extended(made):
                    return []
                return [(call, None) for call in self._classes.instantiations(made)]
            return [(made, None)] if isinstance(made, ast.Call) else []
        found: list[tuple[ast.Call, Frame | None]] = []
        if len(self._classes.reads(method.name)) != len(self._classes.calls(method.name)):
            return []  # the method is also handed on
        for node in self._source.all(ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr == method.name:
                caller = self._source.function(node)
                receiver = node.func.value
                inner = isinstance(receiver, ast.Name) and self._classes.of_self(receiver)
                if inner and isinstance(caller, ast.FunctionDef) and caller is not method:
                    found.append((node, self.frame(instance, caller)))
                elif not inner and self._is_by_name(instance, receiver):
                    found.append((node, None))
                else:
                    return []
        return found

    def _is_by_name(self, instance: Node, receiver: ast.expr) -> bool:
        """Whether an expression is a name that is given the object when it is made, and no other.

        Seen from within its methods, an object is the one that is made in the file.
        """
        bindings = self._scopes.bindings(receiver) if isinstance(receiver, ast.Name) else []
        if len(bindings) != 1 or bindings[0].how is not How.ASSIGN:
            return False
        if self._source.function(receiver) is not self._source.function(bindings[0].node):
            return False  # which may be called again
        made, cls = instance.expr, instance.instance_of
        if isinstance(made, ast.ClassDef) and cls is not None:
            calls = [] if self._classes.extended(cls) else self._classes.instantiations(cls)
            return calls == [bindings[0].value]
        return bindings[0].value is made
