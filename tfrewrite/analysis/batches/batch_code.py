"""What the code that makes a batch does, beside making it: from which streams it draws, which
objects it moves on, which files it reads.

Such code runs ahead, and in another thread, where it is put behind a tf.data pipeline. It may do so
where nothing that it uses is used by others meanwhile, and where it leaves nothing behind but the
position of a stream or of an object that is its own. What is not known is in the way.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.batches.batch_effects import BatchEffects
from tfrewrite.analysis.batches.batch_libraries import (
    computes,
    draws,
    only_makes,
    reads_files,
    stream_of,
)
from tfrewrite.analysis.batches.batch_scope import BatchScope
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.python_calls import (
    STREAM_OBJECTS,
    CallEffect,
    effect_of_method,
    effect_of_path,
    writes_to_argument,
)
from tfrewrite.analysis.program.scopes import COMPREHENSIONS, How

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfrewrite.analysis.facts import Facts

_ABOUT_IT = frozenset("shape size ndim dtype T".split())
_EXPRESSIONS = (
    ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Slice, ast.BinOp, ast.UnaryOp,
    ast.Compare, ast.BoolOp, ast.IfExp, ast.Yield, ast.JoinedStr, ast.FormattedValue, ast.Starred,
    *COMPREHENSIONS,
)  # fmt: skip
_STATEMENTS = (
    ast.Expr, ast.Return, ast.If, ast.Pass, ast.Break, ast.Continue, ast.While, ast.Assert,
)  # fmt: skip
_MAX_DEPTH = 6


class BatchCode:
    """Looks at code that makes batches."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def effects(
        self, code: Iterable[ast.AST], local: frozenset[str], source: ast.Call | None = None
    ) -> BatchEffects:
        """What code of one scope does, of which the names in `local` are its own.

        `source` is the generator of the file that it goes over.
        """
        look = _Look(self._facts, local)
        if source is not None:
            look.goes_over(source)
        return look.all_of(code)


class _Look:
    """One look at a piece of code and at all that it calls."""

    def __init__(self, facts: Facts, local: frozenset[str]) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._classes = facts.classes
        self._own = facts.own_calls
        self._owned = facts.ownership
        self._data = facts.data_values
        self._keys = facts.fed_keys
        self._scope = BatchScope(facts, local)
        self._seen: set[ast.AST] = set()
        self.found = BatchEffects()

    def all_of(self, code: Iterable[ast.AST]) -> BatchEffects:
        for node in code:
            self._scope.begin(node)
            self._node(node)
        return self.found

    def goes_over(self, call: ast.Call) -> None:
        """Looks at a generator of the file, and at what it is given."""
        self._scope.begin(call)
        self._arguments(call)
        function = self._own.function(call)
        method = call.func if isinstance(call.func, ast.Attribute) else None
        receiver = self._scope.object_of(method) if method is not None else None
        if function is None or (receiver is None and method is not None):
            self._unknown(call, f"it is not known what else `{_short(call.func)}` goes by")
            return
        self.found.own_code = True
        self._body(call, function, receiver)
        self._changes_self(call, receiver)

    def _changes_self(self, call: ast.Call, receiver: ast.expr | None) -> None:
        """Refuses a method that changes the `self` of the code that calls it."""
        if self._scope.is_own(receiver) and receiver in self.found.states:
            message = f"`{_short(call.func)}` changes its object, which has other names elsewhere"
            self._refuse("shared-state", message)

    def _refuse(self, reason: str, message: str) -> None:
        if self.found.obstacle is None:
            self.found.obstacle = Obstacle(reason, message)

    def _unknown(self, node: ast.AST, what: str) -> None:
        line = getattr(node, "lineno", 0)
        self._refuse("batch-code-not-seen", f"line {line}: {what}")

    def _children(self, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            self._node(child)

    def _node(self, node: ast.AST) -> None:
        match node:
            case ast.Call():
                self._call(node)
            case ast.Attribute():
                self._attribute(node)
            case ast.Name():
                self._name(node)
            case ast.Subscript():
                self._subscript(node)
            case ast.Assign(targets=targets):
                self._children(node)
                if not all(_binds_names(target) for target in targets):
                    self._stores(node, targets)
            case ast.AugAssign():
                self._augmented(node)
            case ast.Dict(keys=keys, values=values):
                for part in (*keys, *values):
                    if part is not None and not (part in keys and self._keys.is_placeholder(part)):
                        self._node(part)
            case ast.For() if not node.orelse:
                self.found.own_code = True
                if not _binds_names(node.target):
                    self._unknown(node, "the loop stores what it takes")
                self._children(node)
            case ast.comprehension() if not _binds_names(node.target):
                self._unknown(node.target, "the comprehension stores what it takes")
            case ast.Global() if self._scope.inside:
                self.found.variables |= set(node.names)
            case ast.expr() if not isinstance(node, _EXPRESSIONS):
                self._unknown(node, f"it is not known what `{_short(node)}` does")
            case ast.stmt() if not isinstance(node, _STATEMENTS):
                self._unknown(node, f"it is not known what `{_short(node)}` does")
            case _:
                if isinstance(node, (*COMPREHENSIONS, ast.While)):
                    self.found.own_code = True
                if self._classes.overloads and isinstance(node, (ast.BinOp, ast.Compare)):
                    self._unknown(node, "a class of this file redefines operators")
                self._children(node)

    # Values

    def _name(self, name: ast.Name) -> None:
        if not isinstance(name.ctx, ast.Load) or self._scope.is_local(name):
            return
        path = self._names.dotted(name)
        if path is not None:
            if not path.startswith(("numpy.", "builtins.")):
                self._unknown(name, f"it is not known what `{name.id}` does")
            return
        if name.id in self.found.variables and self._scope.inside:
            return
        if not self._scopes.bindings(name):
            self._unknown(name, f"`{name.id}` is not bound in this file")
            return
        self.found.reads.append(name)
        if self._scope.of_turn(name):
            function = getattr(self._scope.inside[-1], "name", "")
            message = f"`{function}` reads `{name.id}`, which the loop sets in each turn"
            self._refuse("depends-on-loop", message)
        if self._data.used_up(name):
            self._unknown(name, f"`{name.id}` may be something that can be gone over only once")
        if not self._data.expr(name):
            self._unknown(name, f"it is not known what `{name.id}` is: indexing it may run code")

    def _attribute(self, node: ast.Attribute) -> None:
        if not isinstance(node.ctx, ast.Load):
            return
        path = self._names.dotted(node)
        if path is not None:
            if not path.startswith(("numpy.", "math.")):
                self._unknown(node, f"it is not known what `{_short(node)}` is")
            return
        if self._classes.runs_code(node):
            self._unknown(node, f"`{_short(node)}` runs a method of this file")
            return
        if self._scope.is_receiver(node.value) and self._classes.calls(node.attr):
            self._unknown(node, f"`{_short(node)}` may be a method")
            return
        if self._scope.of_self(node) is not None or self._data.dataset(node.value):
            self.found.reads.append(node)
            if not self._data.expr(node) or self._data.used_up(node):
                self._unknown(node, f"it is not known what `{_short(node)}` is")
            return
        if node.attr not in _ABOUT_IT and not self._data.expr(node):
            self._unknown(node, f"it is not known what `{_short(node)}` is")
            return
        self._node(node.value)

    def _subscript(self, node: ast.Subscript) -> None:
        if "__getitem__" in self._classes.magic:
            self._unknown(node, "a class of this file redefines what `[...]` does")
        if isinstance(node.ctx, ast.Store) and self._keys.is_placeholder(node.slice):
            self._node(node.value)  # `feed[x] = ...`
        else:
            self._children(node)

    # Changes

    def _stores(self, node: ast.Assign, targets: list[ast.expr]) -> None:
        for target in targets:
            for part in getattr(target, "elts", [target]):
                if isinstance(part, ast.Name):
                    continue
                if isinstance(part, ast.Subscript) and self._scope.made_here(part.value):
                    continue
                if isinstance(part, ast.Attribute) and self._goes_on(part):
                    continue
                message = f"line {node.lineno} changes `{_short(part)}`"
                self._refuse("batch-changes-state", message)

    def _augmented(self, node: ast.AugAssign) -> None:
        self._children(node)
        if isinstance(node.target, ast.Name):
            if self._scope.is_local(node.target) and self._owned.number(node.target):
                return
            if self._scope.made_here(node.target):
                return
            if node.target.id in self.found.variables and self._scope.starts_as_number(node.target):
                return
        elif isinstance(node.target, ast.Subscript):
            if self._scope.numbers_made_here(node.target.value):
                return
        elif self._goes_on(node.target) and self._scope.counts(node.target):
            return
        message = f"line {node.lineno} changes `{_short(node.target)}` in place"
        self._refuse("batch-changes-state", message)

    def _goes_on(self, target: ast.Attribute) -> bool:
        """Whether a method sets an attribute of its object, which then is a state of the batch."""
        if not self._scope.is_receiver(target.value) or self._classes.runs_code(target):
            return False
        receiver = self._scope.receiver
        assert receiver is not None
        if receiver not in self.found.states:
            self.found.states.append(receiver)
        return True

    # Calls

    def _call(self, call: ast.Call) -> None:
        path = self._names.dotted(call.func)
        if path == "builtins.next":
            self._next(call)
            return
        if path is not None:
            self._arguments(call)
            self._library(call, path)
            return
        function = self._own.function(call)
        if function is not None:
            self._arguments(call)
            self._own_function(call, function)
            return
        if isinstance(call.func, ast.Attribute):
            self._arguments(call)
            self._method(call, call.func)
            return
        self._arguments(call)
        self._unknown(call, f"it is not known what `{_short(call.func)}(...)` does")

    def _arguments(self, call: ast.Call) -> None:
        for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
            if not (self._keys.is_placeholder(argument) and self._keys.becomes_key(call, argument)):
                self._node(argument)

    def _library(self, call: ast.Call, path: str) -> None:
        if path.startswith("numpy.") and self._classes.resemble_arrays:
            self._unknown(call, "a class of this file is made to look like an array")
        stream = stream_of(path)
        if stream is not None:
            self.found.streams.add(stream)
            given = call.args[0] if call.args else None
            if path.endswith(".shuffle") and not (given and self._scope.made_here(given)):
                message = f"line {call.lineno} shuffles what others may hold"
                self._refuse("batch-changes-state", message)
        elif only_makes(path):
            pass
        elif reads_files(path):
            self.found.files = True
        elif computes(path):
            if any(keyword.arg in ("out", "dst", None) for keyword in call.keywords):
                self._unknown(call, f"`{_short(call.func)}` is given something to write to")
            self.found.own_code |= not path.startswith("numpy.")
        elif effect_of_path(path) is not CallEffect.PURE or writes_to_argument(call, path):
            what = f"what `{_short(call.func)}(...)` does is seen, or not known"
            self._unknown(call, what)

    def _next(self, call: ast.Call) -> None:
        """Goes into a generator of the file, which goes on by one element."""
        given = call.args[0] if len(call.args) == 1 else None
        bindings = self._scopes.bindings(given) if isinstance(given, ast.Name) else []
        made = bindings[0].value if len(bindings) == 1 else None
        function = self._own.function(made) if isinstance(made, ast.Call) else None
        if (
            given is None
            or bindings[0].how is not How.ASSIGN
            or not isinstance(function, ast.FunctionDef)
            or isinstance(self._source.parent(function), ast.ClassDef)
            or not any(isinstance(node, ast.Yield) for node in ast.walk(function))
        ):
            self._unknown(call, f"it is not known what `{_short(call)}` goes on with")
            return
        self.found.states.append(given)
        self.found.own_code = True
        assert isinstance(made, ast.Call)
        self._arguments(made)
        self._body(call, function, None)

    def _method(self, call: ast.Call, func: ast.Attribute) -> None:
        receiver = func.value
        if self._data.dataset(receiver) and func.attr == "next_batch":
            # Once it comes to the end of its arrays, it shuffles by numpy's global stream.
            self.found.states.append(receiver)
            self.found.streams.add("numpy.random")
            return
        if self._is_stream(receiver) and draws(func.attr) and func.attr != "shuffle":
            self.found.states.append(receiver)
            return
        if effect_of_method(func.attr) is CallEffect.PURE and not writes_to_argument(call, None):
            self._node(receiver)
            if not self._is_plain_receiver(receiver):
                self._unknown(call, f"it is not known what `{_short(func)}(...)` does")
            return
        if effect_of_method(func.attr) is CallEffect.MUTATES and self._scope.made_here(receiver):
            self._node(receiver)
            return
        self._unknown(call, f"it is not known what `{_short(func)}(...)` does")

    def _is_plain_receiver(self, receiver: ast.expr) -> bool:
        return self._data.expr(receiver) or (
            isinstance(receiver, ast.Name) and self._scope.is_local(receiver)
        )

    def _is_stream(self, receiver: ast.expr) -> bool:
        """Whether a name stands for a random stream of the file's own."""
        bindings = self._scopes.bindings(receiver) if isinstance(receiver, ast.Name) else []
        value = bindings[0].value if len(bindings) == 1 else None
        return (
            bindings != []
            and bindings[0].how is How.ASSIGN
            and isinstance(value, ast.Call)
            and self._names.dotted(value.func) in STREAM_OBJECTS
        )

    def _own_function(self, call: ast.Call, function: ast.AST) -> None:
        self.found.own_code = True
        receiver: ast.expr | None = None
        if isinstance(call.func, ast.Attribute):
            receiver = self._scope.object_of(call.func)
            if receiver is None:
                message = f"it is not known what else `{_short(call.func.value)}` goes by"
                self._unknown(call, message)
                return
            others = not self._scope.is_own(receiver) or bool(self.found.states)
            if function in self._seen and others and receiver not in self.found.states:
                self.found.states.append(receiver)  # what it does to one object, it does to another
        looped = self._source.parent(call)
        gone_over = isinstance(looped, ast.For) and looped.iter is call
        if not gone_over and any(
            isinstance(node, (ast.Yield, ast.YieldFrom)) for node in ast.walk(function)
        ):
            self._unknown(call, f"`{_short(call.func)}` is a generator")
            return
        self._body(call, function, receiver)
        self._changes_self(call, receiver)

    def _body(self, call: ast.Call, function: ast.AST, receiver: ast.expr | None) -> None:
        """Goes into a function of the file."""
        if function in self._seen:
            return
        self._seen.add(function)
        if not isinstance(function, ast.FunctionDef) or function.decorator_list:
            self._unknown(call, f"`{_short(call.func)}` is decorated")
            return
        if len(self._scope.inside) >= _MAX_DEPTH:
            self._unknown(call, "too many functions call each other")
            return
        defaults = [*function.args.defaults, *filter(None, function.args.kw_defaults)]
        for default in defaults:
            if not isinstance(default, ast.Constant):
                self._unknown(default, f"`{_short(default)}` is kept from call to call")
        with self._scope.within(function, receiver):
            for statement in function.body:
                if not _is_docstring(statement):
                    self._node(statement)


def _binds_names(target: ast.expr) -> bool:
    if isinstance(target, (ast.Tuple, ast.List)):
        return all(_binds_names(part) for part in target.elts)
    return isinstance(target, ast.Name)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _short(node: ast.AST) -> str:
    text = ast.unparse(node).splitlines()[0]
    return text if len(text) <= 60 else f"{text[:57]}..."
