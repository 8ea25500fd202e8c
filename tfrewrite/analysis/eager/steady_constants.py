"""Tensors that each turn of an eager loop makes of the same values, and where to make them once.

A tensor is made of numbers, texts, types, and arrays that nothing changes. It may be made before a
loop where making it cannot fail, or where the loop surely makes it too.
"""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.constant_values import ConstantValues
from tfrewrite.analysis.program.hoisting import Place
from tfrewrite.analysis.program.scopes import COMPREHENSIONS, How
from tfrewrite.analysis.program.turns import in_most_turns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts

# They put the elements of tensors elsewhere, and compute nothing.
_SHAPING = frozenset("expand_dims reshape stack concat tile transpose squeeze".split())
MAKING = _SHAPING | frozenset(
    "constant convert_to_tensor zeros ones fill eye range linspace cast one_hot".split()
)
"""The symbols by which tensors are made of values."""
_OF_NUMPY = frozenset(
    f"numpy.{name}"
    for name in "array asarray zeros ones full eye arange linspace float32 float64 int32 int64"
    " float16 int8 uint8 int16 bool_".split()
)
_NUMBERS = ("numpy.pi", "numpy.e", "numpy.inf", "numpy.nan", "math.pi", "math.e", "math.inf")
_PARTS = (
    ast.Constant, ast.List, ast.Tuple, ast.UnaryOp, ast.BinOp, ast.Name, ast.Attribute, ast.Call,
    ast.keyword, ast.operator, ast.unaryop, ast.expr_context,
)  # fmt: skip
_LEAVING = frozenset(
    "sys.exit builtins.exit builtins.quit builtins.SystemExit os._exit os.abort".split()
)
# Code that looks at ops as they run.
_WATCHING = frozenset(
    "set_log_device_placement enable_dump_debug_info enable_check_numerics add_op_callback".split()
)


class SteadyConstants:
    """Finds tensors that could be made once."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._flow = facts.flow
        self._hoisting = facts.hoisting
        self._operands = facts.operands
        self._untouched = facts.untouched_data
        self._values = ConstantValues(facts)

    def all(self) -> Iterator[ast.Call]:
        """The calls that make a tensor of nothing that the loop around them sets, outermost."""
        within: set[ast.AST] = set()
        for call in sorted(self._source.all(ast.Call), key=self._source.span):
            if call in within or not self._makes(call, MAKING):
                continue
            loops = self._hoisting.loops(call)
            if not loops or isinstance(self._scopes.of(call).node, ast.ClassDef):
                continue
            if in_most_turns(self._flow, call, loops[0]) and self._is_outline(call, loops[0]):
                within |= set(ast.walk(call))
                if not isinstance(self._source.parent(call), COMPREHENSIONS):
                    yield call

    def place(self, call: ast.Call) -> Place | Obstacle:
        """Where a tensor can be made once for all turns."""

        def obstacle_in(loop: ast.AST) -> Obstacle | None:
            return self._changes(call, loop)

        found = self._hoisting.place_by(call, obstacle_in)
        if isinstance(found, Obstacle) or self._values.surely_made(call):
            return found
        if self._surely_reached(call, found.before):
            return found
        text = self._source.in_one_line(call)
        message = f"`{text}` may fail, and it is not sure that the loop makes it even once"
        return Obstacle("may-fail", message)

    @cached_property
    def watched(self) -> str:
        """The words for what looks at each op that runs, where something does."""
        nodes = self._source.all(ast.Attribute)
        for node in sorted(nodes, key=self._source.span):
            if node.attr in _WATCHING and self._names.dotted(node) is not None:
                return f"`{ast.unparse(node)}` in line {node.lineno} shows each op that runs"
        return ""

    # The outline

    def _makes(self, call: ast.Call, symbols: frozenset[str]) -> bool:
        return self._names.tf(call.func) in symbols

    def _is_outline(self, call: ast.Call, loop: ast.AST) -> bool:
        """Whether a tensor is made of numbers and of names that the loop leaves alone."""
        for node in ast.walk(call):
            if not isinstance(node, _PARTS):
                return False
            if isinstance(node, ast.Call) and not self._is_maker(node):
                return False
            if isinstance(node, ast.keyword) and node.arg is None:
                return False
            if isinstance(node, ast.Name) and self._is_set_in(node, loop):
                return False
        given = self._argument(call)
        return given is not None and (
            not self._makes(call, _SHAPING)
            or any(isinstance(one, ast.Call) for one in ast.walk(given))
        )

    def _is_maker(self, call: ast.Call) -> bool:
        if self._names.dotted(call.func) in _OF_NUMPY:
            return True
        return self._makes(call, MAKING)

    def _argument(self, call: ast.Call) -> ast.expr | None:
        """What a tensor is made of."""
        given = [*call.args, *(one.value for one in call.keywords)]
        return given[0] if given else None

    def _is_set_in(self, name: ast.Name, loop: ast.AST) -> bool:
        return any(
            loop is binding.node or loop in self._source.ancestors(binding.node)
            for binding in self._scopes.bindings(name)
        )

    # What it is made of

    def _changes(self, expr: ast.expr, loop: ast.AST) -> Obstacle | None:
        """Why a value may not be, before a loop, what it is in each turn of it."""
        match expr:
            case ast.Constant():
                return None
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                pass
            case ast.UnaryOp(operand=operand):
                parts = [operand]
            case ast.BinOp(left=left, right=right):
                parts = [left, right]
            case ast.Call(func=func, args=args, keywords=keywords):
                parts = [*args, *(one.value for one in keywords)]
                imported = self._operands.imported(func, loop)
                if imported is not None:
                    return imported
            case ast.Name() | ast.Attribute():
                return self._operand(expr, loop)
            case _:
                return Obstacle("operand-unknown", f"`{ast.unparse(expr)}` is not followed")
        return next(filter(None, (self._changes(part, loop) for part in parts)), None)

    def _operand(self, expr: ast.Name | ast.Attribute, loop: ast.AST) -> Obstacle | None:
        path = self._names.dotted(expr)
        if path is not None and (path in _NUMBERS or _is_type(path)):
            return self._operands.imported(expr, loop)
        found = self._hoisting.unsure(expr, loop)
        if found is not None:
            return found
        if self._operands.is_number(expr):
            return None
        if isinstance(expr, ast.Name):
            copied = self._untouched.is_given_to_op
            if self._untouched.holds(expr, expr, copied) or self._is_tensor(expr):
                return None
        message = f"it is not known what `{ast.unparse(expr)}` is, and whether it stays so"
        return Obstacle("operand-unknown", message)

    def _is_tensor(self, name: ast.Name) -> bool:
        """Whether a name stands for a tensor made of constants, through which no gradient goes."""
        bindings = self._scopes.bindings(name)
        value = bindings[0].value if len(bindings) == 1 else None
        made = bindings and bindings[0].how is How.ASSIGN and isinstance(value, ast.Call)
        if not made or self._watches or not isinstance(value, ast.Call):
            return False
        return self._makes(value, MAKING)

    @cached_property
    def _watches(self) -> bool:
        """Whether the file asks for gradients with respect to tensors."""
        return any(
            node.attr in ("watch", "ForwardAccumulator") for node in self._source.all(ast.Attribute)
        )

    # Whether the loop makes it

    def _surely_reached(self, node: ast.AST, before: ast.stmt) -> bool:
        """Whether a loop comes to a node of it, if nothing fails on the way."""
        for inner in self._facts.afterwards.within(before):
            if isinstance(inner, (ast.Name, ast.Attribute)):
                if self._names.dotted(inner) in _LEAVING:
                    return False
        if self._facts.catching.seen(before) or self._facts.catching.seen(
            self._source.statement(node)
        ):
            return False
        child = node
        for outer in self._flow.enclosing(node):
            if isinstance(child, ast.stmt):
                block, index = self._source.position(child)
                if any(self._flow.jumps(earlier) for earlier in block[:index]):
                    return False
            if not self._is_entered(outer, child):
                return False
            if outer is before:
                return True
            child = outer
        return False

    def _is_entered(self, outer: ast.AST, child: ast.AST) -> bool:
        """Whether a part of a node is surely evaluated when the node is."""
        match outer:
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                always = isinstance(test, ast.Constant) and bool(test.value)
                return child is test or (isinstance(outer, ast.While) and always)
            case ast.BoolOp(values=values):
                return child is values[0]
            case ast.For(iter=over, body=body):
                return child is over or (child in body and self._values.has_elements(over))
            case ast.ListComp(generators=[one]) | ast.SetComp(generators=[one]):
                return child is one or (not one.ifs and self._values.has_elements(one.iter))
            case ast.With():
                return child not in outer.body or self._facts.managers.known(outer)
            case ast.Try() | ast.ExceptHandler() | ast.match_case() | ast.Match() | ast.AsyncFor():
                return False
        return isinstance(outer, (ast.expr, ast.stmt, ast.keyword)) and not isinstance(
            outer, (ast.Lambda, ast.GeneratorExp, ast.DictComp, ast.AsyncWith)
        )


def _is_type(path: str) -> bool:
    """Whether a path of TensorFlow or numpy names a type of numbers."""
    module, _, name = path.rpartition(".")
    types = ("float", "int", "uint", "bool", "complex", "string", "double", "half", "bfloat")
    return module in ("tensorflow", "numpy", "tensorflow.dtypes") and name.startswith(types)
