"""Traces an expression to the graph that it builds: which TensorFlow calls lie beneath it.

The tracer follows names to what they are bound to, attributes to what their class stores, and
calls into the functions of the file. Where the way is lost it says so with an `UNKNOWN` node that
tells why; it never guesses. Where a name may have several values, all of them are followed.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.graphs.inlining import Inlining
from tfrewrite.analysis.graphs.nodes import (
    Frame,
    Kind,
    Node,
    choice,
    is_python,
    may_grow,
    plain,
    text,
    unknown,
)
from tfrewrite.analysis.graphs.objects import Objects
from tfrewrite.analysis.graphs.placement import Placement
from tfrewrite.analysis.program.python_calls import CallEffect, effect_of_path, gives_data
from tfrewrite.analysis.program.scopes import Binding, How
from tfrewrite.analysis.symbols import (
    CONFIGURATION,
    DATASETS,
    SESSIONS,
    SUMMARY_WRITERS,
    VARIABLES,
)

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

GRAPH_MODE: Final = "1"
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "truediv",
    ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "pow", ast.MatMult: "matmul",
    ast.USub: "negative", ast.Invert: "logical_not", ast.BitAnd: "logical_and",
    ast.BitOr: "logical_or", ast.BitXor: "logical_xor",
    ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater", ast.GtE: "greater_equal",
    ast.Eq: "equal", ast.NotEq: "not_equal",
}  # fmt: skip
_STRUCTURING = frozenset(
    f"builtins.{name}" for name in "list tuple dict zip reversed enumerate sorted set".split()
)
# Whatever these are given, they give data, or fail.
_GIVING_DATA = frozenset(f"builtins.{name}" for name in "len int float str bool range".split())
_STATIC_ATTRIBUTES = frozenset({"shape", "dtype", "name", "device", "graph", "get_shape"})
_OBJECTS = SESSIONS | SUMMARY_WRITERS


class Tracer:
    """Follows expressions of one file to the values that they build."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._flow = facts.flow
        self._classes = facts.classes
        self._known: dict[tuple[ast.AST, Frame | None], Node] = {}
        self.placement = Placement(facts, self)
        self.inlining = Inlining(self)
        self.objects = Objects(facts.source, facts.scopes, facts.names, facts.classes, self)
        self.containers = facts.containers
        self._elements: dict[tuple[Node, int | None], Node] = {}

    def trace(self, expr: ast.expr, frame: Frame | None = None) -> Node:
        """The value of an expression, evaluated in a call of the function around it."""
        key = (expr, frame)
        if key not in self._known:
            if isinstance(expr, ast.Name):
                # Filed before it is followed: a name that is rebound in a loop leads to itself.
                node = self._known[key] = Node(Kind.CHOICE, expr)
                self._follow_name(node, expr, frame)
            else:
                self._known[key] = self._trace(expr, frame)
        return plain(self._known[key])

    def _trace(self, expr: ast.expr, frame: Frame | None) -> Node:
        match expr:
            case ast.Constant() | ast.JoinedStr() | ast.Lambda():
                if isinstance(expr, ast.Lambda):
                    return unknown(expr, "a lambda")
                return Node(Kind.CONSTANT, expr)
            case ast.Attribute():
                return self._attribute(expr, frame)
            case ast.Call():
                return self._call(expr, frame)
            case ast.BinOp(left=left, op=operator, right=right):
                return self._operator(expr, operator, [left, right], frame)
            case ast.UnaryOp(op=operator, operand=operand):
                return self._operator(expr, operator, [operand], frame)
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                return self._operator(expr, operator, [left, right], frame)
            case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                return self._structure(expr, elements, frame)
            case ast.Dict(values=values):
                return self._structure(expr, values, frame)
            case ast.Starred(value=value):
                return self._structure(expr, [value], frame)
            case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element):
                return self._structure(expr, [element], frame)
            case ast.Subscript():
                return self._subscript(expr, frame)
            case ast.IfExp(body=body, orelse=orelse):
                return choice(expr, [self.trace(body, frame), self.trace(orelse, frame)])
            case ast.BoolOp(values=values):
                return choice(expr, [self.trace(value, frame) for value in values])
            case ast.NamedExpr(value=value):
                return self.trace(value, frame)
        return unknown(expr, f"`{text(expr)}`")

    # Names

    def _follow_name(self, node: Node, name: ast.Name, frame: Frame | None) -> None:
        cls = self._classes.of_self(name)
        if cls is not None and not (frame and name.id in frame.arguments):
            node.inputs.append(("", self.objects.of_class(cls)))
            return
        path = self._names.dotted(name)
        if path is not None:
            node.inputs.append(("", self._api_reference(name, path)))
            return
        bindings = self._flow.reaching(name)
        if not bindings:
            node.inputs.append(("", unknown(name, f"`{name.id}` is not bound in this file")))
        for binding in bindings:
            if self._set_from_elsewhere(binding, name):
                why = f"`{name.id}`, which a function sets in line {_line(binding.node)}"
                node.inputs.append(("", unknown(name, why)))
                continue
            value = self._binding(binding, name, self._frame_of(binding, frame))
            node.inputs.append(
                ("", self.with_additions(name, value, frame, self._scopes.uses(name)))
            )

    def _frame_of(self, binding: Binding, frame: Frame | None) -> Frame | None:
        """The frame that a binding belongs to: the current one only for its own function."""
        function = self._source.function(binding.node)
        if isinstance(binding.node, (ast.FunctionDef, ast.ClassDef)):
            function = self._source.function(self._source.parent(binding.node) or binding.node)
        return frame if frame is not None and frame.function is function else None

    def _binding(self, binding: Binding, name: ast.Name, frame: Frame | None) -> Node:
        if binding.how is How.PARAMETER:
            return self._parameter(binding, name, frame)
        if binding.value is None:
            return unknown(name, f"`{name.id}`, bound in line {_line(binding.node)}")
        if binding.how is How.ASSIGN:
            return self.trace(binding.value, frame)
        if binding.how is How.AUGMENT and isinstance(binding.node, ast.AugAssign):
            return self._augmented(binding.node, frame)
        if binding.how in (How.UNPACK, How.LOOP):
            value = self.trace(binding.value, frame)
            exact = binding.how is How.UNPACK and binding.index is not None
            return self.element(name, value, binding.index if exact else None)
        if binding.how is How.WITH:
            manager = self.trace(binding.value, frame)
            if manager.kind is Kind.OBJECT and manager.symbol in SESSIONS:
                return manager
        return unknown(name, f"`{name.id}`, bound in line {_line(binding.node)}")

    def _set_from_elsewhere(self, binding: Binding, name: ast.Name) -> bool:
        """Whether a function that the use is not part of binds the name, by `global`."""
        function = self._source.function(binding.node)
        if function is None or isinstance(binding.node, ast.arg):
            return False
        if binding.node is function:
            function = self._source.function(function)
        return function is not None and function not in self._source.ancestors(name)

    def _parameter(self, binding: Binding, name: ast.Name, frame: Frame | None) -> Node:
        if frame is not None and binding.name in frame.arguments:
            return frame.arguments[binding.name]
        function = self._source.function(binding.node)
        owner = getattr(function, "name", "a lambda")
        return unknown(name, f"parameter `{name.id}` of `{owner}`, which a caller gives")

    def _augmented(self, statement: ast.AugAssign, frame: Frame | None) -> Node:
        target = statement.target
        assert isinstance(target, ast.Name)
        key = (statement, frame)
        if key not in self._known:
            left = self._known[key] = Node(Kind.CHOICE, target)
            for binding in self._scopes.bindings(target):
                if binding.node is not statement:
                    value = self._binding(binding, target, self._frame_of(binding, frame))
                    left.inputs.append(("", value))
            values = [plain(left), self.trace(statement.value, frame)]
            self._known[key] = self._operation(statement, statement.op, values, frame)
        return self._known[key]

    def with_additions(
        self,
        name: ast.Name | ast.Attribute,
        value: Node,
        frame: Frame | None,
        uses: Sequence[ast.Name | ast.Attribute],
    ) -> Node:
        """A value together with all that is put into it under this name, if it is a container."""
        if value.kind not in (Kind.STRUCTURE, Kind.OP, Kind.OBJECT, Kind.ELEMENT):
            return value
        container = value.kind is Kind.STRUCTURE
        added: list[ast.expr] = []
        for use in uses:
            more, known = self.containers.added_through(use)
            if not known and (container or self.containers.changes(use)):
                why = f"`{text(name)}`, which is changed in line {use.lineno}"
                return unknown(name, why)
            added += more if container or self.containers.changes(use) else []
        inputs = [*value.inputs] if container else [("", value)]
        inputs += [("", self.trace(expr, frame)) for expr in added]
        if (container or added) and any(map(may_grow, (one for _, one in inputs))):
            handed = next(filter(self.containers.hands_on, uses), None)
            if handed is not None:
                why = f"a list in `{text(name)}`, which may be changed by line {handed.lineno}"
                return unknown(name, why)
        if not added:
            return value
        return Node(Kind.STRUCTURE, name, inputs=inputs, many=value.many)

    # Attributes and subscripts

    def _attribute(self, expr: ast.Attribute, frame: Frame | None) -> Node:
        path = self._names.dotted(expr)
        if path is not None:
            return self._api_reference(expr, path)
        base = self.trace(expr.value, frame)
        if base.kind is Kind.INSTANCE:
            return self.objects.attribute(base, expr)
        if base.kind is Kind.CONSTANT:
            return Node(Kind.CONSTANT, expr)
        if base.kind in (Kind.OP, Kind.VARIABLE) and expr.attr in _STATIC_ATTRIBUTES:
            return Node(Kind.CONSTANT, expr)
        if base.kind is Kind.OP and expr.attr == "op":
            return base  # what makes the tensor: running it is running the tensor
        if base.kind is Kind.UNKNOWN:
            return unknown(expr, base.why)
        return unknown(expr, f"attribute `{expr.attr}` of `{text(expr.value)}`")

    def _api_reference(self, expr: ast.expr, path: str) -> Node:
        """A library's name that is used and not called: a function passed on, or a constant."""
        symbol = self._names.tf(expr)
        if symbol is None:
            known = effect_of_path(path) is not CallEffect.UNKNOWN or gives_data(path)
            return Node(Kind.CONSTANT, expr) if known else unknown(expr, f"`{path}`")
        if any(symbol == known or symbol.startswith(f"{known}.") for known in CONFIGURATION):
            return Node(Kind.CONSTANT, expr, symbol)
        effect = effect_of(symbol, GRAPH_MODE)
        if effect is None:
            return unknown(expr, f"`tf.{symbol}`, whose effect is not known")
        if not effect.returns_tensor and not effect.parameters:
            return Node(Kind.CONSTANT, expr, symbol)  # a dtype, a key, a flag
        return Node(Kind.OBJECT, expr, symbol, effect=effect)

    def _subscript(self, expr: ast.Subscript, frame: Frame | None) -> Node:
        base = self.trace(expr.value, frame)
        if base.kind is Kind.CONSTANT:
            return Node(Kind.CONSTANT, expr)
        if base.kind is Kind.STRUCTURE:
            position = expr.slice.value if isinstance(expr.slice, ast.Constant) else None
            if isinstance(base.expr, ast.Dict):
                return self._entry(expr, base, position)
            return self.element(expr, base, position if isinstance(position, int) else None)
        if base.kind in (Kind.OP, Kind.VARIABLE, Kind.CHOICE, Kind.ELEMENT):
            parts = [n for n in ast.walk(expr.slice) if isinstance(n, (ast.Name, ast.Constant))]
            inputs = [("input_", base)]
            inputs += [("begin", self.trace(part, frame)) for part in parts]
            return self._op(expr, "strided_slice", inputs, frame)
        return unknown(expr, base.why or f"`{text(expr)}`")

    def _entry(self, expr: ast.expr, structure: Node, key: object) -> Node:
        keys = getattr(structure.expr, "keys", [])
        plain_keys = all(isinstance(written, ast.Constant) for written in keys)
        if plain_keys and len(keys) == len(structure.inputs):
            for written, (_, value) in zip(reversed(keys), reversed(structure.inputs), strict=True):
                if written.value == key:
                    return value
        return self.element(expr, structure, None)

    def element(self, expr: ast.expr, value: Node, index: int | None) -> Node:
        """One element of a value, or any of them where the position is not known."""
        if value.kind is Kind.STRUCTURE:
            literal = isinstance(value.expr, (ast.List, ast.Tuple)) and not any(
                isinstance(element, ast.Starred) for element in value.expr.elts
            )
            if literal and index is not None and 0 <= index < len(value.inputs):
                if len(value.inputs) == len(getattr(value.expr, "elts", ())):
                    return value.inputs[index][1]
            return choice(expr, value.values) if value.inputs else Node(Kind.CONSTANT, expr)
        if value.kind in (Kind.CONSTANT, Kind.UNKNOWN):
            return value
        key = (value, index)
        if key not in self._elements:
            self._elements[key] = Node(Kind.ELEMENT, expr, inputs=[(str(index), value)])
        return self._elements[key]

    # Calls and operators

    def _call(self, call: ast.Call, frame: Frame | None) -> Node:
        symbol = self._names.tf(call.func)
        if symbol is not None:
            return self._api_call(call, symbol, None, frame)
        path = self._names.dotted(call.func)
        if path is not None:
            return self._library_call(call, path, frame)
        cls = self._classes.defined(call.func)
        if cls is not None:
            many = self.placement.repeated(call, frame)
            return Node(Kind.INSTANCE, call, instance_of=cls, many=many)
        if isinstance(call.func, ast.Name):
            function = self._scopes.function(call.func)
            if function is not None:
                return self.inlining.value(call, function, frame, None)
            receiver = self.trace(call.func, frame)
            if receiver.kind is Kind.OBJECT:
                return self._api_call(call, f"{receiver.symbol}.__call__", receiver, frame)
        elif isinstance(call.func, ast.Attribute):
            return self._method_call(call, call.func, frame)
        return unknown(call, f"the call `{text(call.func)}(...)`")

    def _library_call(self, call: ast.Call, path: str, frame: Frame | None) -> Node:
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        if path in _STRUCTURING:
            return self._structure(call, arguments, frame)
        if path in _GIVING_DATA:
            return Node(Kind.CONSTANT, call)
        if effect_of_path(path) in (CallEffect.PURE, CallEffect.HOST) or gives_data(path):
            values = [self.trace(argument, frame) for argument in arguments]
            if all(is_python(value) for value in values):
                return Node(Kind.CONSTANT, call)
        return unknown(call, f"the call `{text(call.func)}(...)`")

    def _method_call(self, call: ast.Call, func: ast.Attribute, frame: Frame | None) -> Node:
        receiver = self.trace(func.value, frame)
        if receiver.kind is Kind.OBJECT:
            symbol = _method_of(receiver.symbol, func.attr)
            return self._api_call(call, symbol, receiver, frame)
        if receiver.kind is Kind.VARIABLE:
            return self._api_call(call, f"Variable.{func.attr}", receiver, frame)
        if receiver.kind is Kind.OP and func.attr in _STATIC_ATTRIBUTES:
            return Node(Kind.CONSTANT, call)
        if receiver.kind is Kind.INSTANCE and receiver.instance_of is not None:
            method = self._classes.method(receiver.instance_of, func.attr)
            sure = self.objects.sure(receiver, func.attr)
            if method is not None and sure and not method.decorator_list:
                return self.inlining.value(call, method, frame, receiver)
        if receiver.kind in (Kind.CONSTANT, Kind.STRUCTURE):
            return self._python_method(call, func, receiver, frame)
        return unknown(call, receiver.why or f"the call `{text(func)}(...)`")

    def _python_method(
        self, call: ast.Call, func: ast.Attribute, receiver: Node, frame: Frame | None
    ) -> Node:
        values = [self.trace(argument, frame) for argument in call.args]
        if receiver.kind is Kind.STRUCTURE and func.attr in ("values", "items", "keys", "copy"):
            return receiver
        if receiver.kind is Kind.CONSTANT and all(is_python(value) for value in values):
            return Node(Kind.CONSTANT, call)
        return unknown(call, f"the call `{text(func)}(...)`")

    def _api_call(
        self, call: ast.Call, symbol: str, receiver: Node | None, frame: Frame | None
    ) -> Node:
        inputs = [("self", receiver)] if receiver is not None else []
        if symbol in VARIABLES:
            obstacle = self.placement.surroundings(call, frame).obstacle
            if obstacle:
                return unknown(call, obstacle)
            return Node(Kind.VARIABLE, call, symbol, many=self.placement.repeated(call, frame))
        if symbol in _OBJECTS:
            return Node(Kind.OBJECT, call, symbol)
        if symbol.startswith(DATASETS):
            return Node(Kind.CONSTANT, call)
        effect = effect_of(symbol, GRAPH_MODE)
        parameters = effect.parameters if effect is not None else ()
        for position, argument in enumerate(call.args):
            name = parameters[position] if position < len(parameters) else str(position)
            inputs.append((name, self.trace(argument, frame)))
        inputs += [(k.arg or "**", self.trace(k.value, frame)) for k in call.keywords]
        return self._op(call, symbol, inputs, frame)

    def _op(
        self, expr: ast.AST, symbol: str, inputs: list[tuple[str, Node]], frame: Frame | None
    ) -> Node:
        effect = effect_of(symbol, GRAPH_MODE)
        if effect is None:
            return unknown(expr, f"`tf.{symbol}`, whose effect is not known")
        kind = Kind.OP if effect.returns_tensor else Kind.OBJECT
        around = self.placement.surroundings(expr, frame)
        if around.obstacle:
            hidden = symbol if kind is Kind.OP else ""
            return Node(Kind.UNKNOWN, expr, why=around.obstacle, hidden=hidden)
        if kind is Kind.OBJECT:
            effect = effect.with_flags_of(effect_of(f"{symbol}.__call__", GRAPH_MODE))
        node = Node(kind, expr, symbol, inputs, effect=effect)
        node.controls = around.controls
        node.many = self.placement.repeated(expr, frame)
        return node

    def _operator(
        self, expr: ast.expr, operator: ast.AST, operands: list[ast.expr], frame: Frame | None
    ) -> Node:
        return self._operation(expr, operator, [self.trace(o, frame) for o in operands], frame)

    def _operation(
        self, expr: ast.AST, operator: ast.AST, values: list[Node], frame: Frame | None
    ) -> Node:
        if all(is_python(value) for value in values):
            return Node(Kind.CONSTANT, expr)
        symbol = _OPERATORS.get(type(operator))
        if symbol is None:
            return choice(expr, values)
        structures = [value for value in values if value.kind is Kind.STRUCTURE]
        if structures and symbol in ("add", "multiply"):
            return Node(Kind.STRUCTURE, expr, inputs=[("", value) for value in values])
        inputs = list(zip(("x", "y") if symbol != "matmul" else ("a", "b"), values, strict=False))
        return self._op(expr, symbol, inputs, frame)

    # Small helpers

    def _structure(self, expr: ast.expr, parts: list[ast.expr], frame: Frame | None) -> Node:
        inputs = [("", self.trace(part, frame)) for part in parts]
        return Node(Kind.STRUCTURE, expr, inputs=inputs, many=self.placement.repeated(expr, frame))


def _method_of(maker: str, name: str) -> str:
    """The symbol of a method of what a call made: the class called, or a method of it."""
    owners = [maker, maker.rpartition(".")[0], "data.Iterator"]
    symbols = [f"{owner}.{name}" for owner in owners if owner]
    return next((s for s in symbols if effect_of(s, GRAPH_MODE) is not None), symbols[0])


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)
