"""On which way a value comes from the statement that makes it to a loop that uses it.

What is made beside the value has to take the same way: a variable that both see, an attribute of
the same object, one more value that a function gives back.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.classes import Store

_MAX_STEPS = 4


@dataclass(frozen=True)
class Returned:
    """What a function gives back, at its end, and where its only call takes it."""

    given: ast.Tuple | ast.Name
    taken: ast.Tuple | ast.Name | ast.Attribute
    owner: str = ""
    """What stands before the name of one more value that is taken there: nothing, or `self.`."""


@dataclass(frozen=True)
class Way:
    """How one more value, made beside another, gets to where that one is used."""

    start: str = ""
    """What stands before its name where it is made."""
    returned: tuple[Returned, ...] = ()
    """The functions that hand it on, from the inside out."""
    end: str = ""
    """What stands before its name where it is used."""
    calls: tuple[ast.stmt, ...] = ()
    """The statements that call those functions, or make the object that holds it."""

    @property
    def direct(self) -> bool:
        """Whether nothing has to hand it on."""
        return not self.returned and self.start == self.end


class Ways:
    """Finds them. Where there is none, the answer says in words what is in the way."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._flow = facts.flow
        self._classes = facts.classes
        self._own = facts.own_calls
        self._hoisting = facts.hoisting
        self._unread = facts.unread

    def to(self, use: ast.expr, made: ast.Assign, loop: ast.stmt) -> Way | str:
        """The way from an assignment to a loop that uses its value, surely made by then."""
        way = self._to(use, made, loop, 0)
        if isinstance(way, str) or self._hoisting.unsure(use, loop) is None:
            return way
        built = self._built_before(use, loop)
        if built is None:
            return f"the placeholder of line {made.lineno} may not be there before the loop"
        return replace(way, calls=(*way.calls, built))

    def given(self, use: ast.expr) -> str:
        """What says that callers give a value; empty where they do not."""
        while isinstance(use, (ast.Attribute, ast.Subscript)):
            use = use.value
        bindings = self._scopes.bindings(use) if isinstance(use, ast.Name) else []
        if len(bindings) != 1 or bindings[0].how is not How.PARAMETER:
            return ""
        if isinstance(use, ast.Name) and self._classes.of_self(use) is not None:
            return ""
        function = getattr(self._source.function(bindings[0].node), "name", "a lambda")
        return (
            f"the callers of `{function}` give `{bindings[0].name}`, which is not followed to them"
        )

    def _to(self, use: ast.expr, made: ast.Assign, at: ast.stmt, steps: int) -> Way | str:
        if isinstance(use, ast.Name):
            return self._to_name(use, made, at, steps)
        if isinstance(use, ast.Attribute):
            return self._to_attribute(use, made, steps)
        return _nameless(made)

    # Names

    def _to_name(self, name: ast.Name, made: ast.Assign, at: ast.stmt, steps: int) -> Way | str:
        bindings = self._flow.reaching(name)
        if len(bindings) != 1 or steps > _MAX_STEPS:
            return f"`{name.id}` is not only the placeholder of line {made.lineno}"
        binding = bindings[0]
        given = self.given(name)
        if given:
            return given
        statement = self._source.statement(binding.node)
        home = self._scopes.of(name).owner(name.id)
        if home is None or home.node is not (self._source.function(statement) or self._source.tree):
            return f"`{name.id}` is set by another function"
        several = len(self._scopes.bindings(name)) > 1
        same = self._source.function(statement) is self._source.function(at)
        if several or (same and statement is not made):
            if self._hoisting.loops(statement):
                return f"`{name.id}` gets its value in a loop, in line {statement.lineno}"
            if not same or not self._hoisting.comes_first(statement, at):
                return f"`{name.id}` is not only the placeholder of line {made.lineno}"
        if statement is made:
            return Way()
        return self._through(statement, binding.index, made, steps)

    def _through(
        self, statement: ast.stmt, index: int | None, made: ast.Assign, steps: int
    ) -> Way | str:
        """The way by an assignment that takes the value from elsewhere."""
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return f"it is not told what line {statement.lineno} makes of the placeholder"
        if isinstance(statement.value, ast.Call):
            return self._returned(statement, statement.value, index, made, steps)
        if index is not None:
            return f"line {statement.lineno} takes the placeholder out of something"
        return self._to(statement.value, made, statement, steps + 1)

    # Functions that give it back

    def _returned(
        self, statement: ast.Assign, call: ast.Call, index: int | None, made: ast.Assign, steps: int
    ) -> Way | str:
        function = self._own.function(call)
        if not isinstance(function, ast.FunctionDef) or not self._own.returned(function):
            return f"it is not known what `{ast.unparse(call.func)}(...)` gives back"
        name = function.name
        if self._own.calls(function) != [call]:
            return f"`{name}`, which makes the placeholder, is called or used elsewhere as well"
        if self._importable(function) and not self._run_by_import(call, set()):
            return (
                f"another module may import `{name}`, which would give back an iterator as well:"
                f" call it `_{name}`"
            )
        last, taken = function.body[-1], statement.targets[0]
        given = last.value if isinstance(last, ast.Return) else None
        part = _part(given, taken, index)
        if len(self._own.returned(function)) != 1 or not isinstance(part, ast.Name):
            return f"`{name}` does not give the placeholder back by its name, at its end"
        inner = self._to_name(part, made, last, steps + 1)
        if isinstance(inner, str):
            return inner
        if inner.end:
            return f"`{name}` gives back what an object holds"
        assert isinstance(given, (ast.Tuple, ast.Name))
        assert isinstance(taken, (ast.Tuple, ast.Name, ast.Attribute))
        hands = (*inner.returned, Returned(given, taken))
        return Way(inner.start, hands, "", (*inner.calls, statement))

    def _importable(self, function: ast.FunctionDef) -> bool:
        owner = self._source.parent(function)
        if isinstance(owner, ast.ClassDef):
            return not function.name.startswith("_") and self._unread.importable(owner)
        return self._unread.importable(function)

    def _run_by_import(self, node: ast.AST, seen: set[ast.AST]) -> bool:
        """Whether a module that imports this one runs a piece of code by that."""
        for outer in self._source.ancestors(node):
            if isinstance(outer, ast.If) and "__name__" in ast.unparse(outer.test):
                return False
        function = self._source.function(node)
        if function is None:
            return True
        if not isinstance(function, ast.FunctionDef) or function in seen:
            return False
        calls = self._own.calls(function) or []
        owner = self._source.parent(function)
        if function.name == "__init__" and isinstance(owner, ast.ClassDef):
            calls = self._classes.instantiations(owner)
        return any(self._run_by_import(call, seen | {function}) for call in calls)

    # Attributes

    def _to_attribute(self, use: ast.Attribute, made: ast.Assign, steps: int) -> Way | str:
        store = self._store(use)
        if store is None:
            return self._which(use) or _nameless(made)
        if "__slots__" in self._source.text:
            return "`__slots__` says which attributes objects have, and one more is needed"
        listing = self._classes.listing
        if listing is not None:
            return f"line {listing.lineno} lists the attributes of objects, and there is one more"
        owner, end = f"{ast.unparse(store.target.value)}.", f"{ast.unparse(use.value)}."
        statement = self._source.statement(store.target)
        if statement is made:
            return Way(owner, (), end, self._making(use))
        inner = self._through(statement, store.index, made, steps)
        if isinstance(inner, str):
            return inner
        calls = (*inner.calls, *self._making(use))
        if inner.end:
            return f"line {statement.lineno} takes the placeholder from another object"
        if inner.returned:
            *others, last = inner.returned
            if self._source.function(last.taken) is not store.method:
                return _nameless(made)
            return Way(inner.start, (*others, replace(last, owner=owner)), end, calls)
        if self._source.function(made) is not store.method:
            return _nameless(made)
        return Way(owner, (), end, calls)

    def _store(self, use: ast.Attribute) -> Store | None:
        """The only place that sets an attribute, of the only object that can be meant."""
        own = self._classes.of_self(use.value) if isinstance(use.value, ast.Name) else None
        cls = own or self._hoisting.class_of(use.value)
        if cls is None or self._classes.extended(cls):
            return None
        if own is None and len(self._classes.instantiations(cls)) != 1:
            return None
        stores = self._classes.stores(cls, use.attr) or []
        if len(stores) != 1 or stores[0].augmented or stores[0].owner is not cls:
            return None
        return stores[0] if stores[0].method is not None else None

    def _which(self, use: ast.Attribute) -> str:
        """What tells why it is not one attribute of one object; empty where that is not known."""
        cls = self._hoisting.class_of(use.value)
        if cls is None:
            return ""
        if self._classes.extended(cls):
            return f"`{cls.name}` has subclasses, or is used for more than to make objects"
        count = len(self._classes.instantiations(cls))
        own = isinstance(use.value, ast.Name) and self._classes.of_self(use.value) is not None
        if not own and count != 1:
            return f"objects of `{cls.name}` are made in {count} places"
        return f"`{ast.unparse(use)}` is not set once for all"

    def _making(self, use: ast.Attribute) -> tuple[ast.stmt, ...]:
        """The statement that makes the object whose attribute is used outside of its class."""
        if isinstance(use.value, ast.Name) and self._classes.of_self(use.value) is not None:
            return ()
        cls = self._hoisting.class_of(use.value)
        made = self._classes.instantiations(cls) if cls is not None else []
        return tuple(self._source.statement(call) for call in made)

    def _built_before(self, use: ast.expr, loop: ast.stmt) -> ast.stmt | None:
        """`model.build()`, which sets `model.x`, where it surely comes before the loop."""
        store = self._store(use) if isinstance(use, ast.Attribute) else None
        base = use.value if isinstance(use, ast.Attribute) else None
        if store is None or not isinstance(base, ast.Name):
            return None
        bindings = self._scopes.bindings(base)
        calls = self._hoisting.setting(store)
        receiver = getattr(calls[0].func, "value", None) if len(calls) == 1 else None
        if not isinstance(receiver, ast.Name) or self._scopes.bindings(receiver) != bindings:
            return None
        if len(bindings) != 1 or self._hoisting.unsure(base, loop) is not None:
            return None
        statement = self._source.statement(calls[0])
        alone = isinstance(statement, (ast.Expr, ast.Assign)) and statement.value is calls[0]
        same = self._source.function(statement) is self._source.function(loop)
        if not alone or not same or self._hoisting.loops(statement):
            return None
        return statement if self._hoisting.comes_first(statement, loop) else None


def _part(given: ast.expr | None, taken: ast.expr, index: int | None) -> ast.expr | None:
    """What comes to a place in what is taken, of what is given back."""
    if index is None:
        return given if isinstance(taken, (ast.Name, ast.Attribute)) else None
    if not isinstance(given, ast.Tuple) or not isinstance(taken, ast.Tuple):
        return None
    if len(given.elts) != len(taken.elts):
        return None
    if any(isinstance(one, ast.Starred) for one in (*given.elts, *taken.elts)):
        return None
    return given.elts[index]


def _nameless(made: ast.Assign) -> str:
    return f"the placeholder of line {made.lineno} has no name that the loop sees"
