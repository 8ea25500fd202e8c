"""Placeholders that can be given a default: what they are made with, and where."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.nodes import Kind
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.arguments import arguments
from tfrewrite.analysis.program.ways import Way

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_PARAMETERS = ("dtype", "shape", "name")
_NUMBERS = frozenset(
    "float16 float32 float64 half double float int int8 int16 int32 int64 uint8 uint16 bool".split()
)
_SHAPES = (ast.Constant, ast.Name, ast.List, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.Attribute,
           ast.Subscript, ast.operator, ast.unaryop, ast.expr_context)  # fmt: skip
_HERE = Way()
_PASSED = frozenset({"name_scope", "variable_scope", "Session", "InteractiveSession"})
# Keras feeds, and looks for, what is a placeholder by the type of its op.
_TENSORS_FOR_INPUT = frozenset({"input_tensor", "input_tensors", "target_tensors"})


@dataclass(frozen=True, eq=False)
class Placeholder:
    """`x = tf.placeholder(dtype, shape, name)`."""

    call: ast.Call
    statement: ast.Assign
    target: ast.Name | ast.Attribute
    dtype: ast.expr
    shape: ast.expr | None
    name: ast.expr | None
    way: Way = _HERE
    """How a loop that feeds it gets what is made beside it."""


class Placeholders:
    """Goes from the key of a feed to the placeholder that it is."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._flow = facts.flow
        self._tracer = facts.graph
        self._hoisting = facts.hoisting
        self._ways = facts.ways

    def of(self, key: ast.expr, loop: ast.stmt) -> Placeholder | Obstacle:
        """The placeholder that a key stands for in a loop, if that can be given a default."""
        text = ast.unparse(key)
        node = self._tracer.trace(key)
        call = node.expr
        if (
            node.kind is not Kind.OP
            or node.symbol != "placeholder"
            or not isinstance(call, ast.Call)
        ):
            message = f"`{text}` is not known to be a placeholder made in this file"
            return Obstacle("placeholder-elsewhere", self._ways.given(key) or message)
        statement = self._source.statement(call)
        found = self._read(call, statement)
        if found is None:
            message = f"it is not told what the placeholder of line {call.lineno} is made with"
            return Obstacle("placeholder-unclear", message)
        if self._hoisting.loops(found.statement):
            message = f"the placeholder of line {call.lineno} is made in a loop"
            return Obstacle("placeholder-elsewhere", message)
        way = self._ways.to(key, found.statement, loop)
        if isinstance(way, str):
            return Obstacle("placeholder-elsewhere", way)
        around = (self.scopes_around(one) for one in (found.statement, *way.calls))
        return next(filter(None, around), None) or replace(found, way=way)

    def set_between(self, first: Placeholder, later: Placeholder) -> ast.Name | None:
        """A name in the shape of a placeholder that gets its value after another is made."""
        block, start = self._source.position(first.statement)
        _, end = self._source.position(later.statement)
        roots = [one for one in (later.shape, later.dtype) if one is not None]
        for name in (node for root in roots for node in ast.walk(root)):
            if isinstance(name, ast.Name):
                for binding in self._scopes.bindings(name):
                    for between in block[start:end]:
                        if between is binding.node or between in self._source.ancestors(
                            binding.node
                        ):
                            return name
        return None

    def together(self, placeholders: list[Placeholder]) -> Obstacle | None:
        """Whether one iterator can stand before all placeholders."""
        if len({one.call for one in placeholders}) != len(placeholders):
            return Obstacle("placeholder-unclear", "one placeholder is fed twice")
        blocks = {id(self._source.position(one.statement)[0]) for one in placeholders}
        if len(blocks) != 1 or len({one.way for one in placeholders}) != 1:
            message = "the placeholders are made in different places"
            return Obstacle("placeholder-elsewhere", message)
        first = min(placeholders, key=lambda one: self._source.span(one.statement))
        for one in placeholders:
            between = self.set_between(first, one)
            if between is not None:
                message = f"`{between.id}` gets its value after the first placeholder is made"
                return Obstacle("placeholder-unclear", message)
        return self._looked_at(placeholders)

    def _looked_at(self, placeholders: list[Placeholder]) -> Obstacle | None:
        """Who asks what sort of op a placeholder is, or what TensorFlow calls it."""
        for name in self._source.all(ast.Attribute):
            if name.attr == "op" and any(
                ast.unparse(name.value) == ast.unparse(one.target) for one in placeholders
            ):
                return Obstacle("graph-read", f"line {name.lineno} looks at the placeholder's op")
        for call in self._source.all(ast.Call):
            is_input = ast.unparse(call.func).endswith(("Input", "InputLayer"))
            for keyword in call.keywords:
                if keyword.arg in _TENSORS_FOR_INPUT or (is_input and keyword.arg == "tensor"):
                    message = f"line {call.lineno} has Keras look whether a tensor is a placeholder"
                    return Obstacle("graph-read", message)
        for constant in self._source.all(ast.Constant):
            if isinstance(constant.value, str) and constant.value.startswith("Placeholder"):
                message = f"line {constant.lineno} names a placeholder by what TensorFlow calls it"
                return Obstacle("graph-read", message)
        return None

    def _read(self, call: ast.Call, statement: ast.stmt) -> Placeholder | None:
        if not isinstance(statement, ast.Assign) or statement.value is not call:
            return None
        target = statement.targets[0]
        if len(statement.targets) != 1 or not isinstance(target, (ast.Name, ast.Attribute)):
            return None
        given = arguments(call, _PARAMETERS) if isinstance(call.func, ast.Attribute) else None
        dtype = self.number(call)
        if given is None or dtype is None:
            return None
        shape = given.get("shape")
        if shape is not None and not all(isinstance(node, _SHAPES) for node in ast.walk(shape)):
            return None
        return Placeholder(call, statement, target, dtype, shape, given.get("name"))

    def number(self, call: ast.Call) -> ast.expr | None:
        """The type of numbers that a placeholder is made for; none where it is not told."""
        given = arguments(call, _PARAMETERS)
        dtype = given.get("dtype") if given is not None else None
        return dtype if dtype is not None and self._is_number(dtype) else None

    def _is_number(self, dtype: ast.expr) -> bool:
        if isinstance(dtype, ast.Constant):
            return dtype.value in _NUMBERS
        path = self._names.dotted(dtype) or ""
        module, _, name = path.rpartition(".")
        return module in ("tensorflow", "numpy", "builtins") and name in _NUMBERS

    def scopes_around(self, statement: ast.stmt) -> Obstacle | None:
        """Whether what stands around would place, or bind, the ops of a pipeline as well."""
        for outer in self._flow.enclosing(statement):
            for item in outer.items if isinstance(outer, ast.With) else ():
                manager = item.context_expr
                symbol = self._names.tf(manager.func) if isinstance(manager, ast.Call) else None
                default = isinstance(manager, ast.Call) and ast.unparse(manager.func).endswith(
                    ".as_default"
                )
                cpu = symbol == "device" and "cpu" in ast.unparse(manager).lower()
                session = isinstance(manager, (ast.Name, ast.Attribute)) and "sess" in (
                    ast.unparse(manager).lower()
                )
                opened = isinstance(manager, ast.Call) and (
                    self._names.dotted(manager.func) == "builtins.open"
                )
                passed = default or cpu or session or opened
                if symbol not in _PASSED and not passed:
                    message = f"the pipeline would be made under `with {ast.unparse(manager)}`"
                    return Obstacle("placeholder-scope", message)
        return None
