"""Which names and objects are those of the code that makes a batch, and of nobody else."""

from __future__ import annotations

import ast
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.scopes import COMPREHENSIONS, How

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.scopes import Binding, Scope


class BatchScope:
    """Where the code is that is looked at: in a turn of the loop, or in functions called there."""

    def __init__(self, facts: Facts, local: frozenset[str]) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._flow = facts.flow
        self._classes = facts.classes
        self._new = facts.new_objects
        self._local = local
        self._home: Scope | None = None
        self._receivers: list[ast.expr | None] = []
        self.inside: list[ast.AST] = []
        """The functions of the file that are gone into."""

    def begin(self, node: ast.AST) -> None:
        """What is looked at next stands here."""
        self._home = self._scopes.of(node)

    @contextmanager
    def within(self, function: ast.AST, receiver: ast.expr | None) -> Iterator[None]:
        """What is looked at meanwhile is a function, called as a method of an object or not."""
        self.inside.append(function)
        self._receivers.append(receiver)
        yield
        self.inside.pop()
        self._receivers.pop()

    # Names

    def is_local(self, name: ast.Name) -> bool:
        """Whether a name is bound by the code that is looked at."""
        if name.id in self._local and not self.inside:
            return True
        owner = self._scopes.of(name).owner(name.id)
        if owner is None:
            return False
        if isinstance(owner.node, COMPREHENSIONS):
            return True
        return any(owner.node is one for one in self.inside)

    def _is_home(self, name: ast.Name) -> bool:
        """Whether a function called means the variable of the code that calls it."""
        owner = self._scopes.of(name).owner(name.id)
        return self._home is not None and owner is self._home.owner(name.id)

    def of_turn(self, name: ast.Name) -> bool:
        """Whether a function called reads what the loop sets in each turn."""
        return bool(self.inside) and name.id in self._local and self._is_home(name)

    # Objects

    @property
    def receiver(self) -> ast.expr | None:
        """The object whose method is looked at."""
        return self._receivers[-1] if self._receivers else None

    def of_self(self, node: ast.Attribute) -> ast.ClassDef | None:
        """The class whose objects have an attribute, where it is one of `self`."""
        return self._classes.of_self(node.value) if isinstance(node.value, ast.Name) else None

    def is_receiver(self, owner: ast.expr) -> bool:
        """Whether a name is the `self` of a method that is looked into."""
        return (
            bool(self._receivers)
            and self._receivers[-1] is not None
            and isinstance(owner, ast.Name)
            and self._classes.of_self(owner) is not None
        )

    def is_own(self, receiver: ast.expr | None) -> bool:
        """Whether an object is the `self` of the method in which the batch is made."""
        return isinstance(receiver, ast.Name) and self._classes.of_self(receiver) is not None

    def object_of(self, func: ast.Attribute) -> ast.expr | None:
        """The object whose method is called, where it is of a class of the file, by one name.

        It may also be the `self` of the method in which the batch is made.
        """
        owner = func.value
        cls = self._classes.of_self(owner) if isinstance(owner, ast.Name) else None
        if cls is None or self.is_receiver(owner):
            return self._receiver(func)
        return owner if not self._classes.extended(cls) and self._keeps_itself(cls) else None

    def _receiver(self, func: ast.Attribute) -> ast.expr | None:
        """The same, leaving that out."""
        owner = func.value
        if not isinstance(owner, ast.Name):
            return None
        if self.is_receiver(owner):
            return self._receivers[-1]
        bindings = self._scopes.bindings(owner)
        value = bindings[0].value if len(bindings) == 1 else None
        made = self._classes.defined(value.func) if isinstance(value, ast.Call) else None
        if made is None or bindings[0].how is not How.ASSIGN or self._classes.extended(made):
            return None
        return owner if self._keeps_itself(made) else None

    def _keeps_itself(self, cls: ast.ClassDef) -> bool:
        """Whether no method hands `self` on."""
        return all(
            isinstance(self._source.parent(node), ast.Attribute)
            for node in ast.walk(cls)
            if isinstance(node, ast.Name) and self._classes.of_self(node) is not None
        )

    # What is made here

    def counts(self, target: ast.Attribute) -> bool:
        """Whether an attribute starts as a number, and gets nothing but what is computed."""
        cls = self.of_self(target)
        stores = (self._classes.stores(cls, target.attr) if cls is not None else None) or []
        return self._new.is_counted([store.value for store in stores])

    def starts_as_number(self, name: ast.Name) -> bool:
        """Whether a variable does so."""
        return self._new.is_counted([binding.value for binding in self._scopes.bindings(name)])

    def made_here(self, target: ast.expr) -> bool:
        """Whether a name holds an object that this code made itself, in this turn."""
        if not isinstance(target, ast.Name) or not self.is_local(target):
            return False
        bindings = [_unpacked(binding) for binding in self._flow.reaching(target)]
        if any(self._new.handed_out(binding, target) for binding in bindings):
            return False
        return bool(bindings) and all(self._makes(binding) for binding in bindings)

    def _makes(self, binding: Binding) -> bool:
        if binding.how is How.AUGMENT:
            return True
        if binding.how is not How.ASSIGN or binding.value is None:
            return False
        if not any(binding.node in ast.walk(one) for one in self.inside) and self.inside:
            return False
        return self._new.is_new(binding.value)

    def numbers_made_here(self, target: ast.expr) -> bool:
        """Whether a name holds numbers, so that none of its parts is an object of others."""
        return (
            isinstance(target, ast.Name)
            and self.made_here(target)
            and all(self._new.is_of_numbers(one.value) for one in self._scopes.bindings(target))
        )


def _unpacked(binding: Binding) -> Binding:
    """`a, b = [], []` as `a = []` and `b = []`."""
    match binding.node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            starred = any(isinstance(one, ast.Starred) for one in (*targets, *values))
            if binding.index is not None and len(targets) == len(values) and not starred:
                return replace(binding, how=How.ASSIGN, value=values[binding.index])
    return binding
