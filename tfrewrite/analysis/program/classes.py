"""The classes of a file: their methods, and every value that an attribute may be given."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.python_calls import REDUCING_METHODS
from tfrewrite.analysis.program.scopes import Binding, How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

Method = ast.FunctionDef | ast.AsyncFunctionDef
_METHODS = (ast.FunctionDef, ast.AsyncFunctionDef)
# By these, numpy makes an array or a number of an object.
_CONVERTING = frozenset(
    "__array__ __array_interface__ __array_struct__ __float__ __int__ __index__ __complex__".split()
)
# By which argument these read an attribute.
_READING_BY_TEXT = {"getattr": 1, "attrgetter": 0, "methodcaller": 0}
_MAX_NAMES = 4
_ORDINARY = frozenset("__init__ __enter__ __exit__ __call__ __new__ __metaclass__".split())
_LISTING = ("dir", "getmembers")


@dataclass(frozen=True, eq=False)
class Store:
    """One place where an attribute gets a value; `value` is None where it cannot be told."""

    target: ast.Attribute
    value: ast.expr | None
    index: int | None
    """The position in the value, where the target is one of several."""
    augmented: bool
    method: Method | None
    owner: ast.ClassDef | None
    """The class whose `self` is the target's receiver; None for any other receiver."""


class Classes:
    """Questions about the classes that a file defines."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._flow = facts.flow

    def defined(self, func: ast.expr) -> ast.ClassDef | None:
        """The class of this file that a name stands for."""
        if not isinstance(func, ast.Name):
            return None
        bindings = self._scopes.bindings(func)
        if len(bindings) == 1 and isinstance(bindings[0].node, ast.ClassDef):
            return bindings[0].node
        return None

    def of_self(self, name: ast.Name) -> ast.ClassDef | None:
        """The class whose method has this name as its `self`."""
        bindings = self._scopes.bindings(name)
        if len(bindings) != 1 or bindings[0].how is not How.PARAMETER or bindings[0].index != 0:
            return None
        function = self._source.function(bindings[0].node)
        parent = self._source.parent(function) if function else None
        if not isinstance(parent, ast.ClassDef) or isinstance(function, ast.Lambda):
            return None
        decorators = [self._names.dotted(d) for d in function.decorator_list] if function else []
        if any(d in ("builtins.staticmethod", "builtins.classmethod") for d in decorators):
            return None
        return parent

    def family(self, cls: ast.ClassDef) -> list[ast.ClassDef] | None:
        """A class with its bases, nearest first; None where a base is not of this file."""
        return None if cls in self._above(cls) else self._family(cls)

    def _family(self, cls: ast.ClassDef) -> list[ast.ClassDef] | None:
        found = [cls]
        if cls.keywords or cls.decorator_list or len(cls.bases) > 1:
            return None
        if any(self._bound(cls, maker) for maker in ("__new__", "__init_subclass__")):
            return None
        for base in cls.bases:
            if self._names.dotted(base) == "builtins.object":
                continue
            parent = self.defined(base)
            if parent is None or parent is cls:
                return None
            above = self._family(parent)
            if above is None:
                return None
            found += above
        return found

    def method(self, cls: ast.ClassDef, name: str) -> Method | None:
        """The method that a class has under a name, where it surely is that one."""
        related = {None, cls, *(self.family(cls) or ()), *self._subclasses(cls)}
        if any(store.owner in related for store in self._stores.get(name, ())):
            return None  # `Class.name = other`, `object.name = other` or `self.name = other`
        for owner in self.family(cls) or ():
            bound = self._bound(owner, name)
            if bound:
                only = bound[0].node if len(bound) == 1 else None
                return only if isinstance(only, ast.FunctionDef) else None
        return None

    def is_stored(self, attribute: str) -> bool:
        """Whether the file gives an attribute of that name a value, of whatever object."""
        return attribute in self._stores

    def has_method(self, name: str) -> bool:
        """Whether a class of the file has something of a certain name."""
        return any(self._bound(cls, name) for cls in self._all)

    def extended(self, cls: ast.ClassDef) -> bool:
        """Whether a class has subclasses here, or is used other than by calling it."""
        subclasses = any(cls in self._above(other) for other in self._all)
        owner = self._scopes.of(cls).owner(cls.name)
        uses = [
            name
            for name in self._source.all(ast.Name)
            if name.id == cls.name and self._scopes.of(name).owner(name.id) is owner
        ]
        return subclasses or len(uses) != len(self.instantiations(cls))

    def replaced(self, cls: ast.ClassDef, name: str) -> bool:
        """Whether `self` may be of a class of this file that has something else under a name."""
        family = self.family(cls) or []
        for other in self._all:
            above = self._above(other)
            if other is not cls and cls in above:
                for owner in (other, *above):
                    if owner not in family and self._gives(owner, name):
                        return True
        return False

    def _above(self, cls: ast.ClassDef) -> list[ast.ClassDef]:
        """The classes of this file that a class inherits from, whatever else it inherits from."""
        found: list[ast.ClassDef] = []
        stack = [cls]
        while stack:
            for base in stack.pop().bases:
                parent = self.defined(base)
                if parent is not None and parent not in found:
                    found.append(parent)
                    stack.append(parent)
        return found

    def _gives(self, cls: ast.ClassDef, name: str) -> bool:
        """Whether a class binds a name in its body or stores it in its objects."""
        if self._bound(cls, name):
            return True
        return any(store.owner is cls for store in self._stores.get(name, ()))

    def calls(self, name: str) -> list[ast.Call]:
        """Every call of something of that name, be it a function or a method."""
        return self._calls.get(name, [])

    @cached_property
    def _calls(self) -> dict[str, list[ast.Call]]:
        found: dict[str, list[ast.Call]] = {}
        for call in self._source.all(ast.Call):
            name = call.func.id if isinstance(call.func, ast.Name) else ""
            if isinstance(call.func, ast.Attribute):
                name = call.func.attr
            found.setdefault(name, []).append(call)
        return found

    def stores(self, cls: ast.ClassDef, attribute: str) -> list[Store] | None:
        """All that may be stored in an attribute of an object; None where that is not known."""
        family = self.family(cls)
        if family is None or self.dynamic or self._overridden(cls):
            return None
        hooks = ("__getattr__", "__getattribute__", "__setattr__", "__slots__")
        if any(self.method(cls, hook) for hook in hooks):
            return None
        related = {*family, *self._subclasses(cls)}
        found = self._stores.get(attribute, [])
        own = [s for s in found if s.owner is None or s.owner in related]
        for owner in family:
            if self._bound(owner, attribute):
                return None
        return own

    def _bound(self, cls: ast.ClassDef, name: str) -> list[Binding]:
        """The bindings of a name in the body of a class."""
        bindings = self._scopes.inside(cls).bindings.get(name, [])
        return [b for b in bindings if b.value or not isinstance(b.node, ast.AnnAssign)]

    def _overridden(self, cls: ast.ClassDef) -> bool:
        """Whether the class's name is bound more than once in its scope."""
        owner = self._scopes.of(cls)
        return len(owner.bindings.get(cls.name, ())) != 1

    def instantiations(self, cls: ast.ClassDef) -> list[ast.Call]:
        """Every call of the file that makes an object of a class."""
        return [node for node in self._source.all(ast.Call) if self.defined(node.func) is cls]

    def _subclasses(self, cls: ast.ClassDef) -> set[ast.ClassDef]:
        return {c for c in self._all if c is not cls and cls in (self.family(c) or ())}

    def reads(self, attribute: str) -> list[ast.Attribute]:
        """Every place of the file that reads an attribute of that name, of whatever object."""
        return self._reads.get(attribute, [])

    def read_by_text(self, attribute: str) -> bool:
        """Whether an attribute may be read by its name as a text: `getattr(model, "train")`."""
        return any(
            attribute in (str(text.value).split("."))
            if isinstance(text, ast.Constant)
            else attribute.startswith(_beginning(text))
            for text in self._texts_read
        )

    @cached_property
    def _texts_read(self) -> list[ast.expr]:
        found: list[ast.expr] = []
        for name, place in _READING_BY_TEXT.items():
            for call in self.calls(name):
                if place == 0 or (call.args and self._names.dotted(call.args[0]) is None):
                    found += call.args[place : place + 1]
        return found

    @cached_property
    def _reads(self) -> dict[str, list[ast.Attribute]]:
        found: dict[str, list[ast.Attribute]] = {}
        for node in self._source.all(ast.Attribute):
            if isinstance(node.ctx, ast.Load):
                found.setdefault(node.attr, []).append(node)
        return found

    @cached_property
    def _all(self) -> list[ast.ClassDef]:
        return self._source.all(ast.ClassDef)

    @cached_property
    def undecided(self) -> ast.stmt | None:
        """A statement of a class's body that decides on its methods: an `if`, a `try`, a loop."""
        for cls in self._all:
            for statement in cls.body:
                if not isinstance(statement, (*_METHODS, ast.ClassDef)):
                    if any(isinstance(node, _METHODS) for node in ast.walk(statement)):
                        return statement
        return None

    @cached_property
    def dynamic(self) -> bool:
        """Whether the file sets attributes in ways that its text does not show."""
        if any(n.attr in ("__dict__", "__setattr__") for n in self._source.all(ast.Attribute)):
            return True
        if self.undecided is not None:
            return True
        hiding = ("builtins.setattr", "builtins.vars", "builtins.exec", "builtins.eval")
        return any(self._names.dotted(n.func) in hiding for n in self._source.all(ast.Call))

    @cached_property
    def listing(self) -> ast.Call | None:
        """A call that lists the attributes of objects, and so would show one more."""
        return next((call for name in _LISTING for call in self.calls(name)), None)

    @cached_property
    def magic(self) -> frozenset[str]:
        """The special methods by which classes of the file change what Python's syntax does."""
        return frozenset(
            name
            for name, given in self._bodies
            if name.startswith("__") and name not in _ORDINARY and _may_be_code(given)
        )

    @cached_property
    def _bodies(self) -> list[tuple[str, ast.AST]]:
        """The names that the bodies of classes bind, each with a function or a value."""
        found: list[tuple[str, ast.AST]] = []
        for cls in self._all:
            for name, bindings in self._scopes.inside(cls).bindings.items():
                for binding in bindings:
                    given: ast.AST = binding.value or binding.node
                    if binding.how is How.UNPACK and isinstance(given, (ast.Tuple, ast.List)):
                        found += [(name, element) for element in given.elts]
                    else:
                        found.append((name, given))
        return found

    @cached_property
    def resemble_arrays(self) -> bool:
        """Whether objects of the file's classes may be asked by numpy for what arrays can do."""
        named = {name for name, given in self._bodies if _may_be_code(given)}
        named |= {
            name
            for name in REDUCING_METHODS
            for store in self._stores.get(name, ())
            if isinstance(store.value, ast.Lambda) or self._is_function(store.value)
        }
        return bool(named & REDUCING_METHODS)

    def _is_function(self, value: ast.expr | None) -> bool:
        return isinstance(value, ast.Name) and self._scopes.function(value) is not None

    @property
    def become_arrays(self) -> bool:
        """Whether objects of the file's classes run code when an array is made of them."""
        return bool(self.magic & _CONVERTING)

    @cached_property
    def sees_logs(self) -> bool:
        """Whether code of the file runs when something is logged."""
        bases = [self._names.dotted(base) or "" for cls in self._all for base in cls.bases]
        hooks = ("addFilter", "setLogRecordFactory", "setLoggerClass")
        return any(base.startswith("logging.") for base in bases) or any(map(self.calls, hooks))

    @property
    def overloads(self) -> bool:
        """Whether a class of the file changes what operators, printing or looping do."""
        return bool(self.magic)

    def runs_code(self, attribute: ast.Attribute) -> bool:
        """Whether reading an attribute may run code of this file."""
        return attribute.attr in self.properties or bool(
            self.magic & {"__getattr__", "__getattribute__", "__get__"}
        )

    @cached_property
    def properties(self) -> frozenset[str]:
        """Names in this file's classes by which code may run when an attribute is read."""
        return frozenset(name for name, given in self._bodies if self._runs_when_read(given))

    def _runs_when_read(self, given: ast.AST, depth: int = 0) -> bool:
        """Whether what a class has under a name is a property, or may be one."""
        match given:
            case ast.FunctionDef(decorator_list=decorators):
                return bool(decorators)
            case ast.Call(func=func) if self.defined(func) is None:
                path = self._names.dotted(func)
                return path is None or "property" in path
            case ast.IfExp(body=body, orelse=orelse):
                return any(self._runs_when_read(one, depth) for one in (body, orelse))
            case ast.Name() if depth < _MAX_NAMES:
                bound = self._scopes.bindings(given)
                values = [binding.value for binding in bound if binding.value is not None]
                return any(self._runs_when_read(value, depth + 1) for value in values)
        return False

    @cached_property
    def _stores(self) -> dict[str, list[Store]]:
        found: dict[str, list[Store]] = {}
        for node in self._source.all(ast.Attribute):
            if not isinstance(node.ctx, ast.Load):
                found.setdefault(node.attr, []).append(self._store(node))
        return found

    def _store(self, target: ast.Attribute) -> Store:
        parent = self._source.parent(target)
        index: int | None = None
        if isinstance(parent, (ast.Tuple, ast.List)):
            starred = any(isinstance(element, ast.Starred) for element in parent.elts)
            index = None if starred else parent.elts.index(target)
            parent = self._source.parent(parent) if index is not None else None
        value: ast.expr | None = None
        match parent:
            case ast.Assign(value=value) | ast.AnnAssign(value=value):
                pass
            case ast.AugAssign(value=value):
                pass
        owner: ast.ClassDef | None = None
        method: Method | None = None
        if isinstance(target.value, ast.Name):
            owner = self.of_self(target.value)
        function = self._source.function(target)
        if owner is not None and not isinstance(function, ast.Lambda):
            method = function
            if function is not None and self._source.parent(function) is not owner:
                owner, method, value = None, None, None
        return Store(target, value, index, isinstance(parent, ast.AugAssign), method, owner)


def _may_be_code(given: ast.AST) -> bool:
    """Whether what the body of a class binds may be called, and is no plain data."""
    code = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Name, ast.Attribute)
    return isinstance(given, (*code, ast.Call, ast.IfExp))


def _beginning(text: ast.expr) -> str:
    """What a text begins with that is put together: `layer` of `"layer%d" % i`."""
    match text:
        case ast.Constant(value=str(value)):
            return value.partition("%")[0].partition("{")[0]
        case ast.JoinedStr(values=[first, *_]):
            return _beginning(first)
        case ast.BinOp(left=left):
            return _beginning(left)
        case ast.Call(func=ast.Attribute(value=value, attr="format")):
            return _beginning(value)
    return ""
