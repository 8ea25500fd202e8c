"""What may be crossed when a run of the graph is moved up past other statements.

The run's arguments must mean the same at its new place, nothing between may notice that it has
happened, and nothing between may change what it computes. Whatever is not known is in the way.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.nodes import Kind
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.flow import evaluated
from tfrewrite.analysis.program.python_calls import (
    CONSUMING,
    LAZY,
    SET_IN_ARRAYS,
    CallEffect,
    effect_of_method,
    effect_of_path,
    gives_data,
    writes_to_argument,
)
from tfrewrite.analysis.program.scopes import Binding, How
from tfrewrite.analysis.program.statement_names import read_in
from tfrewrite.analysis.symbols import SUMMARY_WRITERS

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_LOG_METHODS = frozenset("debug info warning warn error critical exception log".split())
_MAX_DEPTH = 8
_OF_ARRAYS = frozenset("T shape size ndim dtype real imag flat".split())
_OPAQUE = (
    ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef,
    ast.With, ast.AsyncWith, ast.AsyncFor, ast.Try, ast.Match, ast.Global, ast.Nonlocal,
)  # fmt: skip


class Moves:
    """Decides which Python code a run can be moved past."""

    def __init__(self, facts: Facts) -> None:
        self._plain_values = facts.plain_values
        self._owned = facts.ownership
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._flow = facts.flow
        self._classes = facts.classes
        self._tracer = facts.graph
        self._sessions = facts.sessions

    def obstacle(
        self, crossed: Iterable[ast.AST], needs: Iterable[ast.expr], moving: frozenset[ast.AST]
    ) -> Obstacle | None:
        """What stands in the way of evaluating `needs` before `crossed` instead of after it.

        `moving` are the runs that belong to the move themselves.
        """
        needed = list(needs)
        for node in crossed:
            if self._classes.overloads and not _only_moves_values(node, moving):
                message = "a class of this file redefines operators or printing"
                return Obstacle("call-between", message)
            found = self._crossing(node, needed, moving, depth=0)
            if found is not None:
                return found
        return None

    def repeatable(self, expr: ast.expr) -> bool:
        """Whether evaluating an expression once more, or earlier, is the same and unseen."""
        magic = self._classes.magic
        for node in ast.walk(expr):
            if isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda)):
                return False
            if isinstance(node, ast.Call):
                # A function of the file may read what changes meanwhile.
                own = self._called(node) is not None
                if own or self._call(node, 0) is not CallEffect.PURE:
                    return False
            if isinstance(node, ast.Attribute) and self._may_be_computed(node):
                return False
            if isinstance(node, ast.Subscript) and "__getitem__" in magic:
                return False
            if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare)) and magic:
                return False
        return True

    def _may_be_computed(self, attribute: ast.Attribute) -> bool:
        """Whether an attribute may be a property, which can give something else each time."""
        if self._classes.runs_code(attribute):
            return True
        if attribute.attr in _OF_ARRAYS:
            return False
        path = self._names.dotted(attribute)
        if path is not None and (path.startswith("tensorflow.") or gives_data(path)):
            return False
        owner = attribute.value
        if isinstance(owner, ast.Name):
            bindings = self._scopes.bindings(owner)
            if bindings and all(isinstance(b.node, ast.Import) for b in bindings):
                return False  # a module's own name
            cls = self._classes.of_self(owner)
            if cls is not None:
                return self._classes.family(cls) is None
        value = self._tracer.trace(owner)
        if value.kind is Kind.INSTANCE and value.instance_of is not None:
            return self._classes.family(value.instance_of) is None
        return value.kind in (Kind.UNKNOWN, Kind.CHOICE)

    def mentions(self, node: ast.AST) -> set[str]:
        """The variables that a piece of code reads, by name."""
        return read_in(node)

    def names_seen(self, node: ast.AST) -> set[str]:
        """The names that code reads or writes, also inside the functions of the file it calls."""
        seen: set[str] = set()
        stack: list[ast.AST] = [node]
        visited: set[ast.AST] = set()
        while stack:
            current = stack.pop()
            for inner in ast.walk(current):
                if isinstance(inner, ast.Name):
                    seen.add(inner.id)
                function = self._called(inner)
                if function is not None and function not in visited:
                    visited.add(function)
                    stack.append(function)
        return seen

    def _crossing(
        self, node: ast.AST, needs: list[ast.expr], moving: frozenset[ast.AST], depth: int
    ) -> Obstacle | None:
        for inner in evaluated(node):
            if inner in moving:
                continue
            found = self._one(inner, needs, depth)
            if found is not None:
                return found
        if isinstance(node, ast.stmt) and not isinstance(node, ast.Return):
            if self._flow.jumps(node):
                line = node.lineno
                return Obstacle("jump-between", f"line {line} may leave the step in between")
        return None

    def _one(self, node: ast.AST, needs: list[ast.expr], depth: int) -> Obstacle | None:
        for looped in (*_looped_over(node), *self._added_to_list(node)):
            if not self._iterable(looped):
                message = f"going through `{ast.unparse(looped)}` may run code that is not known"
                return Obstacle("call-between", message)
        if isinstance(node, ast.Call):
            return self._crossed_call(node, needs, depth)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            return self._rebound(node, needs)
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            return self._stored(node, needs)
        if isinstance(node, ast.Attribute) and self._classes.runs_code(node):
            message = f"reading `{node.attr}` in line {node.lineno} runs a method of this file"
            return Obstacle("call-between", message)
        if isinstance(node, _OPAQUE):
            return Obstacle("call-between", f"line {node.lineno} runs code that is not known")
        return None

    def _added_to_list(self, node: ast.AST) -> list[ast.expr]:
        """What `seen += more` goes through, where that may be a list."""
        match node:
            case ast.AugAssign(target=ast.Name() as target, value=value):
                return [] if self._owned.number(target) else [value]
        return []

    def _crossed_call(self, call: ast.Call, needs: list[ast.expr], depth: int) -> Obstacle | None:
        if call in self._sessions.runs:
            return Obstacle("run-between", f"line {call.lineno} runs the graph in between")
        effect = self._call(call, depth)
        if effect is CallEffect.UNKNOWN:
            message = (
                f"it is not known what `{ast.unparse(call.func)}(...)` in line {call.lineno} does"
            )
            return Obstacle("call-between", message)
        if effect is CallEffect.MUTATES:
            target = self._mutated(call)
            if target is None or self._may_share(target, needs):
                message = f"line {call.lineno} may change what is fed or fetched"
                return Obstacle("feed-changes", message)
        return None

    def _rebound(self, name: ast.Name, needs: list[ast.expr]) -> Obstacle | None:
        statement = self._source.statement(name)
        in_place = isinstance(statement, ast.AugAssign) and statement.target is name
        mentioned = any(name.id in self.mentions(need) for need in needs)
        if mentioned:
            message = f"`{name.id}` gets another value in line {name.lineno}"
            return Obstacle("rebound-between", message)
        if in_place and not self._owned.number(name) and self._may_share(name, needs):
            return Obstacle("feed-changes", f"line {name.lineno} may change what is fed in place")
        return None

    def _stored(
        self, target: ast.Attribute | ast.Subscript, needs: list[ast.expr]
    ) -> Obstacle | None:
        if isinstance(target, ast.Attribute):
            harmless = self._attribute_set(target, needs)
        else:
            # `held[0] += 1` changes the element, wherever else it is held.
            in_place = isinstance(self._source.parent(target), ast.AugAssign)
            harmless = not in_place and not self._may_share(target.value, needs)
        if harmless:
            return None
        return Obstacle("feed-changes", f"line {target.lineno} may change what is fed or fetched")

    def _attribute_set(self, target: ast.Attribute, needs: list[ast.expr]) -> bool:
        """Whether an attribute that gets a value has nothing to do with what is needed."""
        needed = {n.attr for need in needs for n in ast.walk(need) if isinstance(n, ast.Attribute)}
        if target.attr in needed or self._classes.runs_code(target):
            return False
        root: ast.expr = target.value
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        is_self = isinstance(root, ast.Name) and self._classes.of_self(root) is not None
        if target.attr in SET_IN_ARRAYS and not (is_self and root is target.value):
            return False  # of an array, of which others may hold a view
        origins = set().union(*(self._origins(need) for need in needs))
        if not is_self and self.mentions(root) & origins:
            return False  # `array.shape = ...`
        if "__setattr__" in self._classes.magic or "__set__" in self._classes.magic:
            return False
        # `object.attribute += value` changes an array where it is.
        return not isinstance(self._source.parent(target), ast.AugAssign)

    # Calls

    def effect(self, call: ast.Call) -> CallEffect:
        """What a call of ordinary Python does; `UNKNOWN` for all that is not known to be such."""
        return self._call(call, 0)

    def _call(self, call: ast.Call, depth: int) -> CallEffect:
        if call in self._sessions.runs:
            return CallEffect.UNKNOWN
        path = self._names.dotted(call.func)
        if writes_to_argument(call, path):
            return CallEffect.UNKNOWN
        if path is not None and path.startswith("numpy.") and self._classes.resemble_arrays:
            return CallEffect.UNKNOWN
        if path is not None and "logging." in path and self._classes.sees_logs:
            return CallEffect.UNKNOWN
        if path is not None:
            loops = path in CONSUMING and not all(self._iterable(a) for a in call.args)
            return CallEffect.UNKNOWN if loops else effect_of_path(path)
        function = self._called(call)
        if function is not None:
            return self._own_function(function, depth)
        if isinstance(call.func, ast.Attribute):
            return self._method(call.func)
        return CallEffect.UNKNOWN

    def _iterable(self, expr: ast.expr) -> bool:
        """Whether looping over a value runs no code but what is written here."""
        if isinstance(expr, ast.Call) and self._names.dotted(expr.func) in LAZY:
            return all(self._iterable(argument) for argument in expr.args)
        return isinstance(expr, ast.GeneratorExp) or self._is_plain(expr)

    def _called(self, node: ast.AST) -> ast.FunctionDef | None:
        """The function of this file that a node calls, if it is such a call."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self._scopes.function(node.func)
        return None

    def _own_function(self, function: ast.FunctionDef, depth: int) -> CallEffect:
        """A function of this file is harmless if all that it does is, and stays inside it."""
        if depth > _MAX_DEPTH or function.decorator_list:
            return CallEffect.UNKNOWN
        worst = CallEffect.PURE
        for statement in function.body:
            for node in evaluated(statement):
                if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Raise, ast.Assert)):
                    return CallEffect.UNKNOWN
                if isinstance(node, _OPAQUE):
                    return CallEffect.UNKNOWN
                if not all(self._iterable(looped) for looped in _looped_over(node)):
                    return CallEffect.UNKNOWN
                if isinstance(node, ast.Attribute) and self._classes.runs_code(node):
                    return CallEffect.UNKNOWN
                if isinstance(node, (ast.Attribute, ast.Subscript)):
                    if not isinstance(node.ctx, ast.Load):
                        return CallEffect.UNKNOWN
                if isinstance(node, ast.AugAssign) and not (
                    isinstance(node.target, ast.Name) and self._owned.number(node.target)
                ):
                    return CallEffect.UNKNOWN
                if isinstance(node, ast.Call):
                    effect = self._call(node, depth + 1)
                    local = effect is CallEffect.MUTATES and self._fresh_here(node, function)
                    if effect in (CallEffect.UNKNOWN, CallEffect.MUTATES) and not local:
                        return CallEffect.UNKNOWN
                    if effect is CallEffect.HOST:
                        worst = CallEffect.HOST
        return worst

    def _fresh_here(self, call: ast.Call, function: ast.FunctionDef) -> bool:
        target = self._mutated(call)
        return isinstance(target, ast.Name) and all(
            self._source.function(binding.node) is function and self._is_fresh(binding)
            for binding in self._scopes.bindings(target)
        )

    def _method(self, func: ast.Attribute) -> CallEffect:
        receiver = self._tracer.trace(func.value)
        if receiver.symbol in SUMMARY_WRITERS and receiver.kind is Kind.OBJECT:
            return CallEffect.HOST
        if func.attr == "format" and not _is_plain_format(func.value):
            return CallEffect.UNKNOWN
        if func.attr in _LOG_METHODS and self._is_logger(func.value):
            return CallEffect.UNKNOWN if self._classes.sees_logs else CallEffect.HOST
        return effect_of_method(func.attr) if self._is_plain(func.value) else CallEffect.UNKNOWN

    def _is_logger(self, expr: ast.expr) -> bool:
        bindings = self._scopes.bindings(expr) if isinstance(expr, ast.Name) else []
        return bool(bindings) and all(
            binding.how is How.ASSIGN
            and isinstance(binding.value, ast.Call)
            and self._names.dotted(binding.value.func) == "logging.getLogger"
            for binding in bindings
        )

    # Values

    def _mutated(self, call: ast.Call) -> ast.expr | None:
        """What a mutating call changes."""
        path = self._names.dotted(call.func)
        if path is not None:
            return call.args[0] if call.args else None
        return call.func.value if isinstance(call.func, ast.Attribute) else None

    def _may_share(self, target: ast.expr, needs: list[ast.expr]) -> bool:
        """Whether changing an object in place may be seen through one of the expressions."""
        if not isinstance(target, ast.Name):
            asked = (node for need in needs for node in ast.walk(need))
            named = getattr(target, "attr", "")
            seen = any(isinstance(node, ast.Attribute) and node.attr == named for node in asked)
            return seen or not self._is_own_list(target)
        needed: set[str] = set()
        for need in needs:
            needed |= self._origins(need)
        return not self._owned.alone(target) or bool(self._origins(target) & needed)

    def _is_own_list(self, target: ast.expr) -> bool:
        """An attribute that only ever holds lists which the class makes itself, and keeps."""
        if not (isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)):
            return False
        cls = self._classes.of_self(target.value)
        stores = self._classes.stores(cls, target.attr) if cls else None
        made = bool(stores) and all(
            isinstance(store.value, (ast.List, ast.Dict)) and not store.augmented
            for store in stores or ()
        )
        if not made or self._classes.read_by_text(target.attr):
            return False
        return self._owned.stays(self._classes.reads(target.attr), is_list=True)

    def _origins(self, expr: ast.expr) -> set[str]:
        """The variables that an object may come from, through all their bindings."""
        found: set[str] = set()
        stack: list[ast.AST] = [expr]
        while stack:
            for node in self._outside_runs(stack.pop()):
                if isinstance(node, ast.Name) and node.id not in found:
                    bindings = self._scopes.bindings(node)
                    if bindings and self._names.dotted(node) is None:
                        found.add(node.id)
                        stack += [binding.value for binding in bindings if binding.value]
        return found

    def _outside_runs(self, root: ast.AST) -> Iterable[ast.AST]:
        """The nodes of an expression, not those of runs in it, whose results are new objects."""
        stack = [root]
        while stack:
            node = stack.pop()
            if node not in self._sessions.runs:
                yield node
                stack.extend(ast.iter_child_nodes(node))

    def _is_plain(self, expr: ast.expr) -> bool:
        return self._plain_values.expr(expr)

    def _is_fresh(self, binding: Binding) -> bool:
        return self._plain_values.fresh(binding)


def _only_moves_values(node: ast.AST, moving: frozenset[ast.AST]) -> bool:
    """Whether code only runs the moved calls and binds names, with no operator at work."""
    harmless = (ast.Assign, ast.Expr, ast.Name, ast.Tuple, ast.List, ast.Constant, ast.expr_context)
    return all(
        isinstance(inner, harmless) or any(inner in ast.walk(run) for run in moving)
        for inner in ast.walk(node)
    )


def _looped_over(node: ast.AST) -> list[ast.expr]:
    """What a node takes one element after the other from."""
    match node:
        case ast.For(iter=looped) | ast.comprehension(iter=looped):
            return [looped]
        case ast.Starred(value=looped, ctx=ast.Load()):
            return [looped]
        case ast.Assign(targets=targets, value=value):
            unpacks = any(isinstance(target, (ast.Tuple, ast.List)) for target in targets)
            fills = any(map(_is_stretch, targets))
            return [value] if fills or (unpacks and not isinstance(value, ast.Tuple)) else []
        case ast.Compare(ops=operators, comparators=containers):
            tests = zip(operators, containers, strict=True)
            return [c for operator, c in tests if isinstance(operator, (ast.In, ast.NotIn))]
        case ast.Call(func=ast.Attribute(attr="join" | "extend" | "update"), args=arguments):
            return list(arguments)
    return []


def _is_stretch(target: ast.expr) -> bool:
    """Whether a target is a stretch of a list, into which all elements of a value go."""
    return isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice)


def _is_plain_format(text: ast.expr) -> bool:
    """Whether a text to format is written here, and asks its arguments for nothing."""
    written = text.value if isinstance(text, ast.Constant) else None
    return isinstance(written, str) and re.search(r"\{[^}:]*[.\[]", written) is None
