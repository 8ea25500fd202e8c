"""What becomes of lists and dicts: what is put into them, and who may change them unseen."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.classes import Method
from tfrewrite.analysis.program.python_calls import CallEffect, effect_of_method, effect_of_path
from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts


_OF_SESSIONS_AND_OPTIMIZERS = frozenset("run minimize apply_gradients compute_gradients".split())
# By these a dict or list gives what it holds.
_GIVING_ELEMENTS = frozenset("get values items copy".split())


class Containers:
    """Answers for each use of a variable what it may do to a container that the variable holds."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._classes = facts.classes
        self._checking: set[Method] = set()
        self._returning: set[str] = set()

    def changes(self, use: ast.expr) -> bool:
        """Whether a use changes an object as only a container can be changed."""
        parent = self._source.parent(use)
        if isinstance(parent, ast.Subscript):
            return parent.value is use and not isinstance(parent.ctx, ast.Load)
        return (
            isinstance(parent, ast.Attribute)
            and isinstance(self._source.parent(parent), ast.Call)
            and effect_of_method(parent.attr) is CallEffect.MUTATES
        )

    def added_through(self, use: ast.expr) -> tuple[list[ast.expr], bool]:
        """What a use of a container adds to it, and whether that is all that it may do."""
        parent = self._source.parent(use)
        if isinstance(parent, ast.Attribute):
            call = self._source.parent(parent)
            if not (isinstance(call, ast.Call) and call.func is parent):
                return [], False
            if parent.attr in ("append", "extend", "insert", "update", "add"):
                return [*call.args, *(k.value for k in call.keywords)], True
            return [], effect_of_method(parent.attr) is CallEffect.PURE
        if isinstance(parent, ast.Subscript) and parent.value is use:
            if isinstance(parent.ctx, ast.Load):
                return [], not self.changes(parent) and not self._changed_under_a_name(parent)
            statement = self._source.statement(parent)
            return ([statement.value], True) if isinstance(statement, ast.Assign) else ([], False)
        if isinstance(parent, (ast.List, ast.Tuple)) and isinstance(parent.ctx, ast.Load):
            if isinstance(self._source.parent(parent), ast.Return):
                return [], self._returned(use)
            return self.added_through(parent)
        if isinstance(parent, (ast.Call, ast.keyword)):
            call = parent if isinstance(parent, ast.Call) else self._source.parent(parent)
            return [], isinstance(call, ast.Call) and self._keeps(call, use)
        if isinstance(parent, ast.arguments):
            return [], self._default_kept(use, parent)
        if isinstance(parent, ast.Return):
            return [], self._returned(use)
        return [], isinstance(parent, (ast.For, ast.comprehension, ast.BinOp, ast.Compare))

    def hands_on(self, use: ast.expr) -> bool:
        """Whether somebody may get hold of a list that the container holds, and change it."""
        parent = self._source.parent(use)
        match parent:
            case ast.Subscript(value=value, ctx=ast.Load()) if value is use:
                return self.hands_on(parent)
            case ast.Subscript(value=value, ctx=ast.Store()) if value is use:
                return False
            case ast.Attribute(attr=method):
                call = self._source.parent(parent)
                called = isinstance(call, ast.Call) and call.func is parent
                return not called or method in _GIVING_ELEMENTS
            case ast.Call():
                path = self._names.dotted(parent.func) or ""
                if path == "builtins.len" or path.startswith("tensorflow."):
                    return False
                method = parent.func.attr if isinstance(parent.func, ast.Attribute) else ""
                return method != "run" or self._classes.has_method(method)
            case ast.Compare():
                return False
        return True

    def _returned(self, use: ast.expr) -> bool:
        """Whether a container that a function returns is left as it is by the callers.

        One that the function has made for itself is the callers' own.
        """
        function = self._source.function(use)
        if isinstance(use, ast.Name) and function is not None:
            owner = self._scopes.of(use).owner(use.id)
            if owner is not None and owner.node is function:
                return True
        name = getattr(function, "name", "")
        if not name or name in self._returning:
            return bool(name)
        self._returning.add(name)
        kept = all(
            self.added_through(call) == ([], True) or self._is_only_named(call)
            for call in self._classes.calls(name)
        )
        self._returning.discard(name)
        return kept

    def _is_only_named(self, call: ast.Call) -> bool:
        """Whether a call's result gets a name, and is left as it is under that."""
        statement = self._source.parent(call)
        if not isinstance(statement, ast.Assign):
            return False
        names = [one for target in statement.targets for one in ast.walk(target)]
        return all(
            self.added_through(use) == ([], True)
            for name in names
            if isinstance(name, ast.Name)
            for use in self._scopes.uses(name)
        )

    def _changed_under_a_name(self, element: ast.expr) -> bool:
        """Whether an element of a container gets a name, and may be changed under it."""
        statement = self._source.parent(element)
        if not isinstance(statement, (ast.Assign, ast.NamedExpr)):
            return False
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return any(
            not isinstance(target, ast.Name)
            or any(self.changes(use) for use in self._scopes.uses(target))
            or any(binding.how is How.AUGMENT for binding in self._scopes.bindings(target))
            for target in targets
        )

    def _keeps(self, call: ast.Call, container: ast.expr) -> bool:
        """Whether a call leaves a container that is passed to it as it is."""
        path = self._names.dotted(call.func)
        if path is not None:
            known = effect_of_path(path) in (CallEffect.PURE, CallEffect.HOST)
            return known or path.startswith("tensorflow.")
        function = self._called(call)
        if function is not None:
            return self._parameter_kept(call, container, function)
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        return method in _OF_SESSIONS_AND_OPTIMIZERS and not self._classes.has_method(method)

    def _called(self, call: ast.Call) -> Method | None:
        """The function or method of this file that a call runs."""
        if isinstance(call.func, ast.Name):
            return self._scopes.function(call.func)
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
            cls = self._classes.of_self(call.func.value)
            return self._classes.method(cls, call.func.attr) if cls else None
        return None

    def _parameter_kept(self, call: ast.Call, container: ast.expr, function: Method) -> bool:
        """Whether a function only reads the parameter that a container is given for."""
        if container not in call.args or function in self._checking:
            return function in self._checking
        offset = 1 if isinstance(call.func, ast.Attribute) else 0
        position = call.args.index(container) + offset
        parameters = [*function.args.posonlyargs, *function.args.args]
        if position >= len(parameters):
            return False
        return self._only_read(parameters[position].arg, function)

    def _default_kept(self, default: ast.expr, arguments: ast.arguments) -> bool:
        """Whether a function only reads the parameter that a container is the default of."""
        function = self._source.parent(arguments)
        positional = [*arguments.posonlyargs, *arguments.args][::-1]
        pairs = list(zip(positional, arguments.defaults[::-1], strict=False))
        pairs += [
            (p, d) for p, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d
        ]
        names = [parameter.arg for parameter, given in pairs if given is default]
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        return function not in self._checking and self._only_read(names[0], function)

    def _only_read(self, name: str, function: Method) -> bool:
        """Whether a function leaves the container that a parameter of it holds as it is."""
        self._checking.add(function)
        inside = (node for statement in function.body for node in ast.walk(statement))
        uses = [node for node in inside if isinstance(node, ast.Name) and node.id == name]
        kept = all(
            self.added_through(use) == ([], True) for use in uses if isinstance(use.ctx, ast.Load)
        ) and all(isinstance(use.ctx, ast.Load) for use in uses)
        self._checking.discard(function)
        return kept
