"""What the attributes of objects of the file's classes hold, once `__init__` is done."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import (
    Bottom,
    Code,
    Group,
    Library,
    Number,
    Own,
    Tensor,
    Thing,
    Unknown,
    Value,
    at,
    is_nested,
    joined,
    parts,
)
from tfrewrite.analysis.keras import keras_things

if TYPE_CHECKING:
    from tfrewrite.analysis.eager.eager_values import EagerValues
    from tfrewrite.analysis.facts import Facts


class Members:
    """Answers what a class of the file gives its objects."""

    def __init__(self, facts: Facts, values: EagerValues) -> None:
        self._facts = facts
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._own = facts.own_calls
        self._classes = facts.classes
        self._values = values

    def member(self, cls: ast.ClassDef, name: str) -> Value:
        """What an attribute of an object holds from the end of `__init__` on."""
        family = self.family(cls)
        if family is None:
            return Unknown(f"what `{cls.name}` inherits is not in this file")
        for owner in family:
            found = self._in_class(owner, name)
            if found is not None:
                return found
        stored = self._stored(family, name)
        if isinstance(stored, Unknown) or stored:
            return stored if isinstance(stored, Unknown) else self._joined_member(stored, name)
        return self._inherited(cls, name)

    def all(self, cls: ast.ClassDef) -> list[Value] | None:
        """All that `__init__` stores in objects of a class; None where that is not known."""
        found = []
        for store in self._source.all(ast.Attribute):
            if not isinstance(store.ctx, ast.Load) and isinstance(store.value, ast.Name):
                if self._classes.of_self(store.value) in (self.family(cls) or ()):
                    value = self.member(cls, store.attr)
                    if any(isinstance(part, (Unknown, Bottom)) for part in parts(value)):
                        return None
                    found.append(value)
        return found

    def family(self, cls: ast.ClassDef) -> list[ast.ClassDef] | None:
        """A class with those of its bases that are of this file; None where one is unknown."""
        found: list[ast.ClassDef] = []
        current: ast.ClassDef | None = cls
        while current is not None:
            if current in found or current.decorator_list or current.keywords:
                return None
            if len(current.bases) > 1 or len(self._scopes.of(current).bindings[current.name]) > 1:
                return None
            found.append(current)
            base = current.bases[0] if current.bases else None
            current = None
            if base is not None:
                current = self._classes.defined(base)
                path = self._names.dotted(base)
                known = path == "builtins.object" or self._names.tf(base) in keras_things.BASES
                if current is None and not known:
                    return None
        return found

    def base(self, cls: ast.ClassDef) -> str | None:
        """The class of TensorFlow or Keras that a class of the file is made from."""
        family = self.family(cls) or [cls]
        return self._names.tf(family[-1].bases[0]) if family[-1].bases else None

    def is_keras(self, cls: ast.ClassDef) -> bool:
        """Whether a class is made from one of Keras or TensorFlow that calls its methods."""
        return self.base(cls) in keras_things.BASES

    def method(self, cls: ast.ClassDef, name: str) -> ast.FunctionDef | None:
        """The plain method that objects of a class have under a name."""
        for owner in self.family(cls) or ():
            bound = self._scopes.inside(owner).bindings.get(name, [])
            if bound:
                node = bound[0].node
                return node if len(bound) == 1 and isinstance(node, ast.FunctionDef) else None
        return None

    def subclassed(self, cls: ast.ClassDef) -> bool:
        """Whether a class has subclasses here, or is handed on so that it may have."""
        for use in self._source.all(ast.Name):
            if use.id != cls.name or not isinstance(use.ctx, ast.Load):
                continue
            parent = self._source.parent(use)
            called = isinstance(parent, ast.Call) and (
                parent.func is use
                or self._names.dotted(parent.func) in ("builtins.super", "builtins.isinstance")
            )
            if not called and not isinstance(parent, (ast.arg, ast.AnnAssign)):
                return True
        return False

    def _in_class(self, owner: ast.ClassDef, name: str) -> Value | None:
        bound = self._scopes.inside(owner).bindings.get(name, [])
        if not bound:
            return None
        node = bound[0].node
        if len(bound) > 1 or self.stores(name):
            return Unknown(f"`{name}` of `{owner.name}` is bound in several places")
        if isinstance(node, ast.FunctionDef):
            if not self._own.is_plain(node):
                return Unknown(f"`{owner.name}.{name}` is decorated")
            return Code(node, Own(owner))
        value = self._values.bound(bound[0])
        if isinstance(value, Group):
            return self._member_group(value, name)
        return replace(value, varies=False) if isinstance(value, Number) else value

    def _stored(self, family: list[ast.ClassDef], name: str) -> list[ast.Attribute] | Unknown:
        """The places in `__init__` that give an attribute its value."""
        again = self._made_again
        if again is not None:
            return Unknown(f"line {again.lineno} may make an object anew")
        found = []
        for store in self.stores(name):
            receiver = store.value
            cls = self._classes.of_self(receiver) if isinstance(receiver, ast.Name) else None
            function = self._source.function(store)
            if cls is None:
                other = self._values.value(receiver)
                if isinstance(other, Own) and other.cls not in family:
                    continue
                return Unknown(f"`{ast.unparse(store)}` is set in line {store.lineno}")
            if cls not in family:
                if self._related(cls, family):
                    return Unknown(f"`{ast.unparse(store)}` is set in line {store.lineno}")
                continue
            making = isinstance(function, ast.FunctionDef) and function.name in (
                "__init__", "build",
            )  # fmt: skip
            statement = self._source.parent(store)
            plain = isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Tuple))
            if not making or not plain or self._source.parent(function or store) is not cls:
                message = f"`{ast.unparse(store)}` is set in line {store.lineno}, not only at first"
                return Unknown(message)
            found.append(store)
        return found

    @cached_property
    def _made_again(self) -> ast.Attribute | None:
        """A use of `__init__` other than to call that of a base class from `__init__`."""
        for use in self._classes.reads("__init__"):
            function = self._source.function(use)
            inside = isinstance(function, ast.FunctionDef) and function.name == "__init__"
            receiver = use.value
            base = isinstance(receiver, ast.Call) and (
                self._names.dotted(receiver.func) == "builtins.super"
            )
            named = self._names.dotted(receiver) is not None or (
                self._classes.defined(receiver) is not None
            )
            if not inside or not (base or named):
                return use
        return None

    def _related(self, cls: ast.ClassDef, family: list[ast.ClassDef]) -> bool:
        return any(one in family for one in self.family(cls) or [family[0]])

    def stores(self, name: str) -> list[ast.Attribute]:
        return [
            node
            for node in self._source.all(ast.Attribute)
            if node.attr == name and not isinstance(node.ctx, ast.Load)
        ]

    def _joined_member(self, stores: list[ast.Attribute], name: str) -> Value:
        values = []
        for store in stores:
            parent: ast.AST | None = self._source.parent(store)
            if isinstance(parent, ast.Tuple):
                part: ast.expr = store
                path: tuple[int, ...] = ()
                while isinstance(parent, ast.Tuple):
                    path = (parent.elts.index(part), *path)
                    part, parent = parent, self._source.parent(parent)
                starred = any(isinstance(one, ast.Starred) for one in ast.walk(part))
                if not isinstance(parent, ast.Assign) or starred:
                    return Unknown(f"`{name}` is set in line {store.lineno}")
                values.append(at(self._values.value(parent.value), path))
            elif isinstance(parent, (ast.Assign, ast.AnnAssign)) and parent.value is not None:
                values.append(self._values.value(parent.value))
        found = joined(*values)
        if isinstance(found, Number):
            return replace(found, varies=False)
        return self._member_group(found, name) if isinstance(found, Group) else found

    def _member_group(self, found: Group, name: str) -> Value:
        """A list of an object, with what `__init__` appends to it."""
        items: list[Value] = []
        for use in self._classes.reads(name):
            if self._names.dotted(use) is not None or self._facts.list_uses.leaves(
                use, nested=is_nested(found)
            ):
                continue  # `tf.keras.layers` is another thing
            parent = self._source.parent(use)
            call = self._source.parent(parent) if isinstance(parent, ast.Attribute) else None
            function = self._source.function(use)
            making = isinstance(function, ast.FunctionDef) and function.name == "__init__"
            if not (
                isinstance(parent, ast.Attribute)
                and parent.attr == "append"
                and isinstance(call, ast.Call)
                and len(call.args) == 1
                and making
            ):
                return Unknown(f"`{ast.unparse(use)}` may be changed in line {use.lineno}")
            items.append(self._values.value(call.args[0]))
        return Group(None, joined(found.each, *items)) if items else found

    def _inherited(self, cls: ast.ClassDef, name: str) -> Value:
        if self.is_keras(cls):
            if name in keras_things.VARIABLES:
                return Group(None, Thing("variable", "Variable"))
            if name == "losses":
                return Group(None, Tensor())
            if name == "add_weight":
                return Library("keras.add_weight")
        return Unknown(f"`{cls.name}` has no `{name}` that this file shows")
