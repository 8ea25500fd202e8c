"""Which calls and operators may add ops to a graph, and which of those may draw random numbers."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.graphs.nodes import Kind, is_python
from tfrewrite.analysis.program.python_calls import CallEffect, effect_of_path, gives_data
from tfrewrite.analysis.program.scopes import How
from tfrewrite.analysis.symbols import BUILDING_NOTHING, HOLDING_NO_OPS, SESSIONS, SUMMARY_WRITERS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.nodes import Node

_MAX_PARAMETERS = 4
_REGISTERING = frozenset({"registers", "creates", "calls"})
# A tensor of a graph prints its name; it has no length and is no number, so the others raise.
_ASKING_NO_OPERATOR = frozenset({"builtins.print", "builtins.len", "builtins.range"})
_GIVING_LISTS = (
    "variables", "get_collection", "gradients", "split", "unstack", "meshgrid", "losses",
)  # fmt: skip
_DRAWING = frozenset({"random", "creates", "calls"})


class Building:
    """Questions about what a piece of the program adds to a graph."""

    def __init__(self, facts: Facts) -> None:
        self._scopes = facts.scopes
        self._names = facts.names
        self._classes = facts.classes
        self._own = facts.own_calls
        self._tracer = facts.graph
        self._sessions = facts.sessions
        self._moves = facts.moves
        self._plain = facts.plain_values
        self._seeds = facts.seeds

    def first_draw(self, nodes: Iterable[ast.AST]) -> ast.Call | None:
        """A call that may make a random op without a seed of its own."""
        calls = (node for node in nodes if isinstance(node, ast.Call) and self._draws(node))
        return min(calls, key=lambda call: call.lineno, default=None)

    def first_op(self, nodes: Iterable[ast.AST]) -> ast.expr | ast.stmt | None:
        """A call or an operator that may make an op, or that cannot be shown to make none."""
        found = (
            node for node in nodes if isinstance(node, (ast.expr, ast.stmt)) and self._builds(node)
        )
        return min(found, key=lambda node: node.lineno, default=None)

    def first_registration(self, nodes: Iterable[ast.AST]) -> ast.Call | None:
        """A call that may make variables or add to a collection of the graph."""
        calls = (node for node in nodes if isinstance(node, ast.Call) and self._registers(node))
        return min(calls, key=lambda call: call.lineno, default=None)

    def _registers(self, call: ast.Call) -> bool:
        if self.makes_none(call):
            return False
        symbol = self._names.tf(call.func)
        effect = effect_of(symbol) if symbol is not None else None
        if symbol is None:
            value = self._tracer.trace(call)
            effect = value.effect if value.kind in (Kind.OP, Kind.OBJECT) else None
        return effect is None or bool(effect.flags & _REGISTERING)

    def holds_tensor(self, value: Node) -> bool:
        """Whether a value is a tensor or a container with one in it, as far as that is seen."""
        seen: set[Node] = set()
        stack = [value]
        while stack:
            node = stack.pop()
            if node.kind in (Kind.OP, Kind.VARIABLE, Kind.ELEMENT):
                return True
            if node.kind in (Kind.STRUCTURE, Kind.CHOICE) and node not in seen:
                seen.add(node)
                stack.extend(node.values)
        return False

    # Random ops

    def _draws(self, call: ast.Call) -> bool:
        if self.makes_none(call):
            return False
        symbol = self._names.tf(call.func)
        if symbol is not None:
            return self._seeds.symbol_draws(symbol, call)
        if self._names.dotted(call.func) is not None:
            return True
        value = self._tracer.trace(call)
        if value.effect is None or value.kind not in (Kind.OP, Kind.OBJECT):
            return True
        return bool(value.effect.flags & _DRAWING)

    # Any ops

    def _builds(self, node: ast.expr | ast.stmt) -> bool:
        match node:
            case ast.Call():
                return not self.makes_none(node) or self._operates(node)
            case ast.AugAssign(target=target, value=value):
                return self._may_be_tensor(target) or self._may_be_tensor(value)
            case ast.Import() | ast.ImportFrom():
                modules = [alias.name for alias in node.names]
                if isinstance(node, ast.ImportFrom):
                    modules = ["." * node.level + (node.module or "")]
                return not all(
                    self._of_no_graph(one) or one.startswith("tensorflow") for one in modules
                )
            case ast.BinOp():
                return self._may_be_tensor(node)
            case ast.UnaryOp(op=operator, operand=operand):
                return not isinstance(operator, ast.Not) and self._may_be_tensor(operand)
            case ast.Compare(left=left, ops=operators, comparators=others):
                if all(isinstance(operator, (ast.Is, ast.IsNot)) for operator in operators):
                    return False
                if all(isinstance(operator, (ast.In, ast.NotIn)) for operator in operators):
                    return self.holds_tensor(self._tracer.trace(left))  # it may be compared
                return any(map(self._may_be_tensor, (left, *others)))
            case ast.For(iter=looped) | ast.Starred(value=looped, ctx=ast.Load()):
                return self._loops_over(looped)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return any(self._loops_over(one.iter) for one in node.generators)
            case ast.Assign(targets=targets, value=value):
                unpacks = any(isinstance(target, (ast.Tuple, ast.List)) for target in targets)
                return unpacks and self._loops_over(value)
            case ast.Subscript(value=value, ctx=ast.Load()):
                return self._may_be_tensor(value)
            case ast.Attribute(value=value, ctx=ast.Load()):
                return self._may_be_computed(value)
        return False

    def _loops_over(self, looped: ast.expr) -> bool:
        """Whether taking one element after the other may make ops, beside in code of this file."""
        value = self._tracer.trace(looped)
        if value.kind in (Kind.OP, Kind.VARIABLE):
            return not value.symbol.endswith(_GIVING_LISTS)
        if value.kind in (Kind.STRUCTURE, Kind.CONSTANT, Kind.INSTANCE):
            return False
        if isinstance(looped, (ast.Tuple, ast.List, ast.Call)):
            return False  # of a call, what it makes is asked for itself
        bound = self._scopes.bindings(looped) if isinstance(looped, ast.Name) else []
        if bound and all(self._is_own_call(binding.value) for binding in bound):
            return False
        return self._may_be_tensor(looped)

    def _is_own_call(self, value: ast.expr | None) -> bool:
        return isinstance(value, ast.Call) and self._own.function(value) is not None

    def _may_be_computed(self, owner: ast.expr) -> bool:
        """Whether reading an attribute may run code that is not in this file: Keras' `losses`."""
        value = self._tracer.trace(owner)
        if value.kind is Kind.INSTANCE and value.instance_of is not None:
            return self._classes.family(value.instance_of) is None
        return value.kind is Kind.OBJECT and value.symbol.startswith("keras.")

    def _operates(self, call: ast.Call) -> bool:
        """Whether a call of Python's may use the operators of a tensor that it is given."""
        if self._runs(call) or self._own.function(call) is not None:
            return False
        path = self._names.dotted(call.func)
        if path is None and isinstance(call.func, ast.Attribute):
            if self._tracer.trace(call.func.value).kind in (Kind.OBJECT, Kind.INSTANCE):
                return False
        elif path is None or path in _ASKING_NO_OPERATOR or self._names.tf(call.func) is not None:
            return False
        return any(map(self._may_be_tensor, _given(call)))

    def makes_none(self, call: ast.Call) -> bool:
        """Whether a call is known to add nothing to a graph, beside what it runs of this file."""
        if self._runs(call) or self._own.function(call) is not None:
            return True
        if self._classes.defined(call.func) is not None:
            return True
        symbol = self._names.tf(call.func)
        if symbol is not None:
            return symbol in SESSIONS | SUMMARY_WRITERS or symbol.startswith(BUILDING_NOTHING)
        if any(map(self._hands_on_api, _given(call))):
            return False
        path = self._names.dotted(call.func)
        if path is not None:
            return self._of_no_graph(path)
        if self._moves.effect(call) is not CallEffect.UNKNOWN:
            return True
        return isinstance(call.func, ast.Attribute) and self._method_makes_none(call.func)

    def _method_makes_none(self, func: ast.Attribute) -> bool:
        receiver = self._tracer.trace(func.value)
        if receiver.kind is Kind.OBJECT:
            if any(key == "defer_build" for key, _ in receiver.inputs):
                return False
            return receiver.symbol in SESSIONS | SUMMARY_WRITERS | HOLDING_NO_OPS
        if receiver.kind is Kind.INSTANCE and receiver.instance_of is not None:
            return self._classes.method(receiver.instance_of, func.attr) is not None
        if not self._may_be_tensor(func.value):
            return True
        of_session = isinstance(func.value, ast.Attribute) and func.value.attr == "graph"
        return of_session and func.attr == "finalize"

    def _may_be_tensor(self, expr: ast.expr, depth: int = 0) -> bool:
        """Whether a value may be a tensor, or hold one."""
        match expr:
            case ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str())):
                return False
            case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.Subscript() | ast.Starred():
                parts = _operands(expr)
            case ast.Tuple() | ast.List() | ast.Set() | ast.Dict():
                parts = _operands(expr)
            case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element):
                parts = [element]
            case _:
                return self._one_may(expr, depth)
        return any(self._may_be_tensor(part, depth) for part in parts)

    def _one_may(self, expr: ast.expr, depth: int) -> bool:
        if self.holds_tensor(self._tracer.trace(expr)):
            return True
        if self._plain.expr(expr):
            return False
        match expr:
            case ast.Call() if self._runs(expr):
                return False
            case ast.Call():
                return self._call_may(expr, depth)
            case ast.Name():
                return self._name_may(expr, depth)
        return not self._is_python(self._tracer.trace(expr))

    def _call_may(self, call: ast.Call, depth: int) -> bool:
        """Whether a call may give a tensor."""
        path = self._names.dotted(call.func)
        data = path is not None and self._of_no_graph(path)
        if path is None and isinstance(call.func, ast.Attribute):
            data = not self._may_be_tensor(call.func.value, depth)
        if data and not any(self._may_be_tensor(one, depth) for one in _given(call)):
            return False
        return not self._is_python(self._tracer.trace(call))

    def _runs(self, call: ast.Call) -> bool:
        """Whether a call runs the graph, and gives arrays."""
        return call in self._sessions.runs or self._sessions.is_callable(call.func)

    def _of_no_graph(self, path: str) -> bool:
        """Whether a library's function makes no ops, beside those of functions that it is given."""
        root = path.partition(".")[0]
        if root == "builtins":
            return True
        known = effect_of_path(path) is not CallEffect.UNKNOWN or gives_data(path)
        return known or root in sys.stdlib_module_names

    def _hands_on_api(self, argument: ast.expr) -> bool:
        """Whether a function of TensorFlow is given to be called."""
        if self._names.tf(argument) is None:
            return False
        return self._tracer.trace(argument).kind is not Kind.CONSTANT

    def _name_may(self, name: ast.Name, depth: int) -> bool:
        if self._is_python(self._tracer.trace(name)):
            return False
        bindings = self._scopes.bindings(name)
        if not bindings or depth > _MAX_PARAMETERS:
            return True
        for binding in bindings:
            if binding.how is How.PARAMETER and isinstance(binding.node, ast.arg):
                given = self._own.given(binding)
                if given is None or any(self._may_be_tensor(one, depth + 1) for one in given):
                    return True
            elif binding.value is None or not self._gives_data(binding.value, depth):
                return True
        return False

    def _gives_data(self, value: ast.expr, depth: int) -> bool:
        """Whether neither a value nor what it holds is a tensor."""
        match value:
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return not any(self._may_be_tensor(one, depth + 1) for one in elements)
        return not self._may_be_tensor(value, depth + 1)

    def _is_python(self, value: Node) -> bool:
        return is_python(value) and (value.kind is not Kind.CHOICE or bool(value.inputs))


def _operands(expr: ast.expr) -> list[ast.expr]:
    """The values that an operator takes, or a container holds."""
    if isinstance(expr, ast.Subscript):
        return [expr.value]
    return [part for part in ast.iter_child_nodes(expr) if isinstance(part, ast.expr)]


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]
