"""What the expressions in a traced function give."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import (
    Bottom,
    Group,
    Library,
    Number,
    Place,
    Tensor,
    Thing,
    Unknown,
    Value,
    group,
    join,
    joined,
    parts,
    turned,
    with_parts,
)
from tfrewrite.analysis.traces.gradient_flow import NO_FLOW
from tfrewrite.analysis.traces.trace import TraceError
from tfrewrite.analysis.traces.traced_attributes import TracedAttributes
from tfrewrite.analysis.traces.traced_calls import TracedCalls

if TYPE_CHECKING:
    from tfrewrite.analysis.traces.tracing import Tracer

_NEW_AXIS = ("tensorflow.newaxis", "numpy.newaxis")


class TracedExpressions:
    """Goes through expressions for a tracer."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._calls = TracedCalls(tracer)
        self._attributes = TracedAttributes(tracer)

    def value(self, expr: ast.expr) -> Value:
        """What an expression gives in the trace; stops where that is not known."""
        line = expr.lineno
        match expr:
            case ast.Constant():
                return Number(expr)
            case ast.Name():
                return self._tracer.names.value(expr)
            case ast.Attribute():
                return self._attributes.value(expr)
            case ast.Call():
                return self._calls.call(expr)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                if any(isinstance(element, ast.Starred) for element in elements):
                    items = [
                        self._each(element.value)
                        if isinstance(element, ast.Starred)
                        else self.value(element)
                        for element in elements
                    ]
                    return Group(None, joined(*items), own=self._tracer.place(expr))
                return group(*self._tracer.values_of(elements), own=self._tracer.place(expr))
            case ast.Dict(keys=keys, values=values) if all(keys):
                for key in keys:
                    if key is not None:
                        self.value(key)
                found = joined(*self._tracer.values_of(values))
                return Group(None, found, own=self._tracer.place(expr))
            case ast.ListComp() | ast.GeneratorExp():
                return self._comprehension(expr)
            case ast.BinOp(left=left, right=right):
                return self._binary(expr, self.value(left), self.value(right))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                test = self.plain_test(operand)
                if test.literal is None:
                    return Number()
                return Number(ast.Constant(not test.literal.value))
            case ast.UnaryOp(op=op, operand=operand):
                found = self.value(operand)
                if isinstance(found, Number):
                    return turned(op, found)
                return self.computed([found], operand)
            case ast.BoolOp():
                return self._either(expr)
            case ast.Compare():
                return self._comparison(expr)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self.plain_test(test)
                return joined(self.value(body), self.value(orelse))
            case ast.Subscript():
                return self._subscript(expr)
            case ast.Slice():
                return self._slice(expr)
            case ast.JoinedStr(values=values):
                for value in values:
                    inner = value.value if isinstance(value, ast.FormattedValue) else value
                    if not isinstance(self.value(inner), Number):
                        raise TraceError("reads-on-host", f"line {line} makes text of a tensor")
                return Number()
        message = f"`{ast.unparse(expr)}` in line {line} is not followed"
        raise TraceError("not-followed", message)

    def _comprehension(self, expr: ast.ListComp | ast.GeneratorExp) -> Value:
        first = self.value(expr.generators[0].iter)
        found: Value = Bottom()
        for number in range(2):  # what is called in it is called again
            with self._tracer.counted(0 if number else 1):
                self._generators(expr, first, number)
                found = join(found, self.value(expr.elt))
        own = self._tracer.place(expr)
        if isinstance(expr, ast.ListComp):
            return Group(None, found, own)
        return Group(None, found, own | self._read_late(expr, first), lazy=True)

    def _read_late(self, expr: ast.GeneratorExp, first: Value) -> frozenset[Place]:
        """Where the lists were made that a generator reads when it is gone through, if it is."""
        places = first.own if isinstance(first, Group) else frozenset()
        called = isinstance(self._tracer.facts.source.parent(expr), ast.Call)
        scopes = self._tracer.facts.scopes
        outermost = set(ast.walk(expr.generators[0].iter))
        for name in ast.walk(expr):
            if not isinstance(name, ast.Name) or name in outermost:
                continue
            if len(scopes.bindings(name)) > 1 and not called:
                message = f"what `{name.id}` is when line {expr.lineno} reads it is not followed"
                raise TraceError("not-followed", message)
            if isinstance(name.ctx, ast.Load):
                found = self._tracer.names.own(name)
                places |= found.own if isinstance(found, Group) else frozenset()
        return places

    def _each(self, expr: ast.expr) -> Value:
        found = self.value(expr)
        if not isinstance(found, Group):
            raise TraceError(
                "fails-when-traced", f"line {expr.lineno} unpacks what may be a tensor"
            )
        return found.each

    def _generators(self, expr: ast.ListComp | ast.GeneratorExp, first: Value, number: int) -> None:
        for generator in expr.generators:
            outermost = generator is expr.generators[0]
            iterable = first if outermost else self.value(generator.iter)
            if not isinstance(iterable, Group) or generator.is_async:
                message = f"line {expr.lineno} loops over what may be a tensor"
                raise TraceError("fails-when-traced", message)
            self._tracer.names.bind(generator.target, self._tracer.turn(iterable, number))
            for test in generator.ifs:
                self.plain_test(test)

    def _binary(self, expr: ast.BinOp, left: Value, right: Value) -> Value:
        if isinstance(left, Group) or isinstance(right, Group):
            if (
                isinstance(left, Group)
                and isinstance(right, Group)
                and isinstance(expr.op, ast.Add)
            ):
                items = None
                if left.items is not None and right.items is not None:
                    items = (*left.items, *right.items)
                return Group(items, join(left.each, right.each), own=self._tracer.place(expr))
            if isinstance(left, Number) or isinstance(right, Number):
                whole = left if isinstance(left, Group) else right
                assert isinstance(whole, Group)
                return Group(None, whole.each, own=self._tracer.place(expr))
        if isinstance(expr.op, ast.Mod) and isinstance(left, Number):
            literal = left.literal.value if left.literal is not None else ""
            if not isinstance(right, Number) and isinstance(literal, str):
                raise TraceError("reads-on-host", f"line {expr.lineno} may make text of a tensor")
        return self.computed([left, right], expr, bends(expr.op, expr.left, expr.right))

    def computed(self, values: list[Value], node: ast.expr, bends: tuple[bool, ...] = ()) -> Value:
        """What an operator makes of values; `bends` says of which the gradient needs the value."""
        line = node.lineno
        flow = NO_FLOW
        for index, value in enumerate(values):
            one = self._tracer.flow(value, node)
            flow |= one.through_bend() if index < len(bends) and bends[index] else one
        static = True
        tensors = False
        maybe: Tensor | None = None
        for value in values:
            if isinstance(value, Number) and value.tensor is not None:
                apart = self.computed([value.tensor], node)
                assert isinstance(apart, Tensor)
                static, maybe = static and apart.static, apart
            match value:
                case Tensor(array=True):
                    raise TraceError("numpy-argument", f"line {line} computes with a numpy array")
                case Tensor():
                    static = static and value.static
                    tensors = True
                case Thing(kind="variable"):
                    tensors = True
                case Number():
                    pass
                case Bottom():
                    pass
                case Unknown(why=why):
                    raise TraceError("captured-not-fixed", why)
                case _:
                    message = f"what line {line} computes is not followed"
                    raise TraceError("not-followed", message)
        if tensors:
            self._tracer.count(1)
            size = all(isinstance(v, Number) or (isinstance(v, Tensor) and v.size) for v in values)
            return Tensor(static=static, size=size, flow=flow)
        return Number(tensor=maybe and Tensor(static=static), flow=flow)

    def _comparison(self, expr: ast.Compare) -> Value:
        values = [self.value(expr.left), *(self.value(one) for one in expr.comparators)]
        if all(isinstance(op, (ast.Is, ast.IsNot)) for op in expr.ops):
            left, right = values[0], values[-1]
            none = isinstance(right, Number) and right.literal is not None
            if none and isinstance(left, Number) and left.literal is not None and len(values) == 2:
                assert isinstance(right, Number) and right.literal is not None
                same = left.literal.value is right.literal.value
                return Number(ast.Constant(same is isinstance(expr.ops[0], ast.Is)))
            return Number()
        if all(isinstance(value, Number) and not value.tensors for value in values):
            return Number()
        if len(values) > 2 or isinstance(expr.ops[0], (ast.In, ast.NotIn)):
            message = f"`{ast.unparse(expr)}` in line {expr.lineno} asks tensors one by one"
            raise TraceError("tensor-decides", message)
        found = self.computed(values, expr)
        assert isinstance(found, (Tensor, Number))
        return replace(found, flow=NO_FLOW)  # there is no gradient

    def _subscript(self, expr: ast.Subscript) -> Value:
        owner = with_parts(self.value(expr.value))
        index = self.value(expr.slice)
        line = expr.lineno
        match owner:
            case Group(items=items, each=each):
                if isinstance(expr.slice, ast.Slice):
                    return Group(None, each, own=self._tracer.place(expr))
                if not isinstance(index, Number):
                    raise TraceError("reads-on-host", f"line {line} takes an item by a tensor")
                if items is not None and index.literal is not None:
                    position = index.literal.value
                    if isinstance(position, int) and 0 <= position < len(items):
                        return items[position]
                return each
            case Tensor(array=True):
                if not _is_written_out(expr.slice):
                    message = f"line {line} takes a part of a numpy array"
                    raise TraceError("numpy-argument", message)
                self._tracer.count(1)
                return owner  # the same part of a tensor
            case Tensor():
                self._tracer.count(1)
                static = owner.static and self._keeps_shape(index)
                if not static:
                    self._tracer.lacks_shape(f"the part that line {line} takes")
                return replace(owner, static=static)
            case Thing(kind="variable"):
                if not self._keeps_shape(index):
                    self._tracer.lacks_shape(f"the part that line {line} takes")
                return Tensor(static=self._keeps_shape(index), flow=self._tracer.flow(owner, expr))
            case Number():
                return Number()
            case Unknown(why=why):
                raise TraceError("captured-not-fixed", why)
        raise TraceError("not-followed", f"`{ast.unparse(expr)}` in line {line} is not followed")

    def _keeps_shape(self, index: Value) -> bool:
        """Whether a part of a tensor that is taken has a shape that a trace knows."""
        return all(
            isinstance(part, Number)
            or (isinstance(part, Tensor) and part.size)
            or (isinstance(part, Library) and part.path in _NEW_AXIS)
            for part in parts(index)
        )

    def _slice(self, expr: ast.Slice) -> Value:
        bounds = [self.value(b) for b in (expr.lower, expr.upper, expr.step) if b is not None]
        tensors = [bound for bound in bounds if isinstance(bound, Tensor)]
        return joined(*tensors) if tensors else joined(Number(), *bounds)

    def _either(self, expr: ast.BoolOp) -> Number:
        """`a and b`, `a or b`: true or false, or one of the values."""
        found = [self.value(value) for value in expr.values]
        for one, value in zip(found, expr.values, strict=True):
            self._decided(one, value)
        parent = self._tracer.facts.source.parent(expr)
        asked = isinstance(parent, (ast.If, ast.Assert, ast.UnaryOp)) or (
            isinstance(parent, ast.IfExp) and parent.test is expr
        )
        if not asked and any(isinstance(one, Group) for one in found):
            message = f"`{ast.unparse(expr)}` in line {expr.lineno} may give a list"
            raise TraceError("not-followed", message)
        return Number()

    def plain_test(self, test: ast.expr) -> Number:
        """A condition that is decided when the function is traced, the same each time."""
        return self._decided(self.value(test), test)

    def _decided(self, found: Value, test: ast.expr) -> Number:
        if isinstance(found, Number) and not found.tensors:
            return found
        if isinstance(found, Group) and found.items is None and not found.lazy:
            return Number()
        message = f"`{ast.unparse(test)}` in line {test.lineno} is decided by a tensor"
        raise TraceError("tensor-decides", message)


def bends(op: ast.operator, left: ast.expr | None, right: ast.expr | None) -> tuple[bool, bool]:
    """Whether the gradient with respect to each operand is computed from that operand's value."""
    match op:
        case ast.Div():
            return False, True
        case ast.Pow():
            power = right.value if isinstance(right, ast.Constant) else None
            return isinstance(power, (int, float)) and power not in (0, 1), True
        case ast.Mult() if left is not None and right is not None:
            names = isinstance(left, (ast.Name, ast.BinOp)) and not _calls_in(left)
            squared = names and ast.dump(left) == ast.dump(right)
            return squared, squared
    return False, False


def _is_written_out(index: ast.expr) -> bool:
    """Whether an index says by itself which part it takes: `[None]`, `[0]`, `[:, 1:]`."""
    match index:
        case ast.Tuple(elts=elements):
            return all(map(_is_written_out, elements))
        case ast.Slice(lower=lower, upper=upper, step=None):
            return all(one is None or _is_written_out(one) for one in (lower, upper))
        case ast.Constant(value=value):
            return value is None or value is ... or type(value) is int
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int())):
            return True
    return False


def _calls_in(expr: ast.expr) -> bool:
    return any(isinstance(node, ast.Call) for node in ast.walk(expr))
