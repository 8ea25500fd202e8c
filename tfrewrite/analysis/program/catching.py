"""Who may see in which order an exception and something else came."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.python_calls import CallEffect, effect_of_path
from tfrewrite.analysis.program.scopes import Function
from tfrewrite.analysis.program.source import Block

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.classes import Classes
    from tfrewrite.analysis.program.names import Names
    from tfrewrite.analysis.program.source import Source

_ENDING = frozenset({"builtins.KeyboardInterrupt", "tensorflow.errors.OutOfRangeError"})
_STARTING = frozenset({"tensorflow.app.run", "absl.app.run"})
# What these decorators make lets exceptions of the function pass.
_CALLING_AS_IT_IS = frozenset(
    {
        "builtins.staticmethod", "builtins.classmethod", "builtins.property", "tensorflow.function",
        "abc.abstractmethod", "functools.lru_cache", "functools.wraps", "contextlib.contextmanager",
    }
)  # fmt: skip
_AT_THE_EXIT = frozenset({"atexit.register", "weakref.finalize"})
# They show nothing of what was done before, but that it is done.
_CLOSING = frozenset({"close", "flush"})
_SETTING_UP = ("tensorflow.config.", "builtins.print", "builtins.len")
_GOING_ON = (ast.Return, ast.Break, ast.Continue, ast.Yield)


class Catching:
    """Finds what may catch an exception of a statement and let the program go on."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._flow = facts.flow
        self._classes = facts.classes
        self._managers = facts.managers
        self._scopes = facts.scopes
        self._sessions = facts.sessions
        self._outsiders = facts.outsiders
        self._afterwards = facts.afterwards

    def caught(self, block: Block, statement: ast.stmt, *, updates: bool = False) -> str:
        """The words for what may catch an exception of a statement of a block, if anything.

        Callers, and what runs at the exit, count where the block does something that outlives the
        exception, as it does where a run that comes earlier now `updates`.
        """
        found = self._around(statement)
        moved_past = block[block.index(statement) :]
        if found or (not updates and all(map(self._is_forgotten, moved_past))):
            return found
        return self._around_callers(statement, set()) or self.at_the_exit

    def _is_forgotten(self, statement: ast.stmt) -> bool:
        """Whether all that a statement does is gone when its function is left."""
        value = statement.value if isinstance(statement, (ast.Assign, ast.Return)) else None
        calls = (node for node in ast.walk(value) if isinstance(node, ast.Call)) if value else ()
        if not all(call in self._sessions.runs or self._is_pure(call) for call in calls):
            return False
        if isinstance(statement, ast.Assign):
            return all(map(self._is_local, statement.targets))
        return isinstance(statement, (ast.Return, ast.Pass))

    def _is_pure(self, call: ast.Call) -> bool:
        path = self._names.dotted(call.func)
        return path is not None and effect_of_path(path) is CallEffect.PURE

    def _is_local(self, target: ast.expr) -> bool:
        """Whether a target binds names that nobody sees outside of this call of the function."""
        if isinstance(target, (ast.Tuple, ast.List)):
            return all(map(self._is_local, target.elts))
        if not isinstance(target, ast.Name):
            return False
        home = self._scopes.of(target)
        uses = self._scopes.uses(target)
        return home.owner(target.id) is home and all(
            self._source.function(use) is self._source.function(target) for use in uses
        )

    def seen(self, statement: ast.stmt) -> str:
        """The words for what may catch an exception of a statement, here or around a caller."""
        return self._around(statement) or self._around_callers(statement, set())

    def _around_callers(self, node: ast.AST, seen: set[ast.AST]) -> str:
        function = self._source.function(node)
        if function is None or function in seen:
            return ""
        seen.add(function)
        name = called_by(function, self._source)
        if left_to_others(function, self._source, self._names, self._classes):
            if self._anywhere:
                return (
                    f"{self._anywhere} may be around a call of `{name}`, and sees exceptions of it"
                )
        outsider = self._outsiders.calling(function)
        if outsider:
            return f"{outsider} may go on after an exception of `{name}`"
        if isinstance(function, ast.Lambda):
            return self._around_callers(function, seen)
        for call in self._classes.calls(name):
            found = self._around(call) or self._around_callers(call, seen)
            if found:
                return found
        return ""

    @cached_property
    def at_the_exit(self) -> str:
        """The words for what looks at the end of the program at how far it has come."""
        for register in (*self._source.all(ast.Attribute), *self._source.all(ast.Name)):
            if self._names.dotted(register) in _AT_THE_EXIT and not self._only_closes(register):
                return (
                    f"what line {register.lineno} leaves for the end runs after an exception, too"
                )
        return ""

    def _only_closes(self, register: ast.expr) -> bool:
        """Whether a function for the end is a library's, or closes something."""
        call = self._source.parent(register)
        if not isinstance(call, ast.Call) or call.func is not register or not call.args:
            return False
        (given, *_) = call.args
        closes = isinstance(given, ast.Attribute) and given.attr in _CLOSING
        return closes or self._names.dotted(given) is not None

    @cached_property
    def _anywhere(self) -> str:
        """The words for something in the file that goes on after an exception."""
        for handling in self._source.all(ast.Try):
            goes_on = bool(handling.finalbody) or not self._all_end(handling)
            if goes_on and not self.only_sets_up(handling):
                return f"the `try` of line {handling.lineno}"
        for managed in self._source.all(ast.With):
            if not self._managers.known(managed) and not self._of_tensorflow(managed):
                return f"the `with` of line {managed.lineno}"
        return ""

    def only_sets_up(self, handling: ast.Try) -> bool:
        """Whether a `try` is around imports, or settings of devices, which call no other code."""
        calls = [n for one in handling.body for n in ast.walk(one) if isinstance(n, ast.Call)]
        if calls:
            paths = [self._names.dotted(call.func) or "" for call in calls]
            return all(path.startswith(_SETTING_UP) for path in paths)
        return all(isinstance(one, (ast.Import, ast.ImportFrom)) for one in handling.body)

    def _of_tensorflow(self, managed: ast.With) -> bool:
        """Whether all managers are made by functions of TensorFlow's, which let exceptions pass."""
        calls = [item.context_expr for item in managed.items]
        return all(isinstance(one, ast.Call) and self._names.tf(one.func) for one in calls)

    def _around(self, node: ast.AST) -> str:
        child = node
        for outer in self._flow.enclosing(node):
            if _is_try(outer):
                final = getattr(outer, "finalbody", [])
                handled = child in getattr(outer, "body", ()) and not self._all_end(outer)
                if handled or (final and child not in final):
                    return f"the `try` of line {getattr(outer, 'lineno', 0)} sees exceptions of it"
            if isinstance(outer, (ast.With, ast.AsyncWith)) and child in outer.body:
                if isinstance(outer, ast.AsyncWith) or not self._managers.known(outer):
                    return f"the `with` of line {outer.lineno} may catch exceptions of it"
            child = outer
        return ""

    def _all_end(self, outer: ast.AST) -> bool:
        body = getattr(outer, "body", [])
        return all(self._ends(handler, body) for handler in getattr(outer, "handlers", []))

    def _ends(self, handler: ast.ExceptHandler, body: Block) -> bool:
        """Whether a handler ends the work, or is for what merging does not touch.

        One that looks at what was done before the exception could see a difference, whatever
        functions did it.
        """
        paths = caught_types(handler, self._names)
        if paths and paths <= _ENDING:
            return True
        looks = self._names_read(handler) & _names_changed(self._afterwards.within_all(body))
        return raises_again(handler) and not looks

    def _names_read(self, handler: ast.ExceptHandler) -> set[str]:
        """The names that a handler reads, without those of modules and of the exception."""
        nodes = self._afterwards.within_all(handler.body)
        names = [node for node in nodes if isinstance(node, ast.Name)]
        found = {name.id for name in names if self._names.dotted(name) is None}
        return found - {handler.name or ""}


def called_by(function: Function, source: Source) -> str:
    """The name that calls of a function say: that of the class for the one that makes objects."""
    name = "a lambda" if isinstance(function, ast.Lambda) else function.name
    cls = source.parent(function)
    return cls.name if name == "__init__" and isinstance(cls, ast.ClassDef) else name


def left_to_others(function: Function, source: Source, names: Names, classes: Classes) -> bool:
    """Whether a function is called out of sight: by its decorator, or by who it is given to.

    What Python calls itself is, such as `__call__`, and so is what a generator does.
    """
    name = called_by(function, source)
    if isinstance(function, ast.Lambda) or name.startswith("__") or is_generator(function, source):
        return True
    for decorator in function.decorator_list:
        made = decorator.func if isinstance(decorator, ast.Call) else decorator
        if names.dotted(made) not in _CALLING_AS_IT_IS:
            return True
    loads: list[ast.Name | ast.Attribute] = []
    loads += [one for one in source.all(ast.Name) if one.id == name]
    if isinstance(source.parent(function), ast.ClassDef):
        loads += [one for one in classes.reads(name) if names.dotted(one) is None]
        if classes.read_by_text(name):
            return True
    for load in loads:
        parent = source.parent(load)
        if isinstance(parent, ast.keyword):
            parent = source.parent(parent)
        if isinstance(parent, ast.Attribute) or not isinstance(load.ctx, ast.Load):
            continue  # something else of that name
        if not isinstance(parent, ast.Call):
            return True
        if parent.func is not load and names.dotted(parent.func) not in _STARTING:
            return True
    return False


def caught_types(handler: ast.ExceptHandler, names: Names) -> set[str]:
    """The paths of the types that a handler is for, "" where not known; none if it is for all."""
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {names.dotted(one) or "" for one in types if one is not None}


def raises_again(handler: ast.ExceptHandler) -> bool:
    """Whether a handler surely ends in an exception."""
    goes_on = any(isinstance(node, _GOING_ON) for node in ast.walk(handler))
    return isinstance(handler.body[-1], ast.Raise) and not goes_on


def is_generator(function: Function, source: Source) -> bool:
    yields = (*source.all(ast.Yield), *source.all(ast.YieldFrom))
    return any(source.function(node) is function for node in yields)


def _is_try(node: ast.AST) -> bool:
    return isinstance(node, ast.Try) or type(node).__name__ == "TryStar"


def _names_changed(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that code binds, and those of objects that it stores in or calls methods of."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        stored = isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(
            node.ctx, ast.Load
        )
        called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if stored or called:
            holder = node.func if isinstance(node, ast.Call) else node
            found |= {one.id for one in ast.walk(holder) if isinstance(one, ast.Name)}
    return found
