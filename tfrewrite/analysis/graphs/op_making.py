"""Expressions that make ops, and whether they may be evaluated once instead of in each turn.

They may where every turn would make the same ops of the same operands, and making them does nothing
else: no variable, no entry in a collection, no random op whose seed is that of the moment.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.graphs.nodes import Kind
from tfrewrite.analysis.obstacle import Obstacle

if TYPE_CHECKING:
    from tfrewrite.analysis.effects import Effect
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.nodes import Node

_CONTAINERS = (ast.List, ast.Tuple, ast.Dict, ast.Starred, ast.keyword)
_MAX_DEPTH = 6
# State of these is a variable's, a queue's or an iterator's, whichever op gets at it.
_WRITING_TO_OTHERS = (
    "assign", "scatter", "initialize", "count_up_to", "enqueue", "dequeue", "get_next", "group",
)  # fmt: skip
# What they do depends on settings of the moment, or on state of their own.
_OF_THEIR_OWN = ("keras.", "layers.", "raw_ops.", "estimator.", "distribute.", "contrib.layers.")
_ATTRIBUTES_OF_TENSORS = frozenset({"shape", "dtype", "value", "ndims"})
_METHODS_OF_TENSORS = frozenset({"get_shape", "as_list"})


class OpMaking:
    """Questions about expressions that make ops."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._classes = facts.classes
        self._own = facts.own_calls
        self._tracer = facts.graph
        self._sessions = facts.sessions
        self._afterwards = facts.afterwards
        self._building = facts.building
        self._operands = facts.operands
        self._registering: dict[ast.AST, ast.AST | None] = {}
        self._followed: set[ast.AST] = set()

    def makes(self, expr: ast.AST) -> bool:
        """Whether an expression makes a tensor or an operation where it stands."""
        if isinstance(expr, ast.Call):
            return self._call_makes(expr)
        match expr:
            case ast.BinOp(left=left, right=right):
                return self.is_tensor(left) or self.is_tensor(right)
            case ast.UnaryOp(op=ast.USub() | ast.Invert(), operand=operand):
                return self.is_tensor(operand)
            case ast.Subscript(value=value, slice=position, ctx=ast.Load()):
                # What is not sliced in several ways at once may be a list of tensors.
                one = isinstance(position, ast.Tuple) or self._is_one_tensor(value)
                return one and self.is_tensor(value)
        return False

    def _is_one_tensor(self, expr: ast.expr) -> bool:
        """Whether a value that is made of tensors is a variable or what an operator gives."""
        value = self._tracer.trace(expr)
        computed = isinstance(value.expr, ast.BinOp | ast.UnaryOp)
        return value.kind is Kind.VARIABLE or (value.kind is Kind.OP and computed)

    def is_tensor(self, expr: ast.expr) -> bool:
        """Whether a value is a tensor, as far as what it is made of is seen."""
        return self._is_tensor(self._tracer.trace(expr))

    def _is_tensor(self, value: Node) -> bool:
        if value.kind is Kind.CHOICE:
            return any(self._is_tensor(one) for one in value.values if one.kind is not Kind.CHOICE)
        if isinstance(value.expr, ast.BinOp | ast.UnaryOp | ast.Subscript | ast.AugAssign):
            if value.expr in self._followed:
                return False  # a name that a loop only ever sets to something made of itself
            self._followed.add(value.expr)
            if isinstance(value.expr, ast.AugAssign):
                made = any(map(self._is_tensor, value.values))
            else:
                made = self.makes(value.expr)
            self._followed.discard(value.expr)
            return made
        return value.kind in (Kind.OP, Kind.VARIABLE) or bool(value.hidden)

    def _call_makes(self, call: ast.Call) -> bool:
        if call in self._sessions.runs:
            return False
        value = self._tracer.trace(call)
        if self._own.function(call) is not None:
            gives_tensor = self._building.holds_tensor(value) or bool(value.hidden)
            return gives_tensor and not self._runs_inside(call)
        symbol = value.symbol or value.hidden
        last = symbol.rpartition(".")[2]
        if last.endswith("_variables") or (last.startswith("get_") and not last.endswith("_loss")):
            return symbol.endswith(".get_next")  # the others give what there is
        return (value.kind is Kind.OP or bool(value.hidden)) and value.expr is call

    def _runs_inside(self, call: ast.Call) -> bool:
        """Whether a function runs the graph itself."""
        return any(node in self._sessions.runs for node in self._afterwards.within(call))

    def larger(self, part: ast.expr) -> ast.expr | None:
        """The largest expression that makes ops and has this one for a part or an operand."""
        found: ast.expr | None = None
        node: ast.AST = part
        parent = self._source.parent(node)
        while parent is not None:
            if isinstance(parent, ast.Attribute):
                method = self._source.parent(parent)
                if not isinstance(method, ast.Call) or method.func is not parent:
                    break
                parent = method
            if isinstance(parent, ast.expr) and self.makes(parent):
                found = parent
            elif not isinstance(parent, _CONTAINERS):
                break
            node, parent = parent, self._source.parent(parent)
        return found

    def symbol(self, expr: ast.expr) -> str:
        """The TensorFlow symbol that makes the value of an expression, where it is one."""
        if isinstance(expr, ast.Call) and self._own.function(expr) is not None:
            return ""
        value = self._tracer.trace(expr)
        return value.symbol or value.hidden

    # Whether they can be made once

    def obstacle(self, expr: ast.expr, loop: ast.AST) -> Obstacle | None:
        """What speaks against making the ops of an expression once before a loop."""
        return self._expr(expr, loop, 0)

    def _expr(self, expr: ast.expr, loop: ast.AST, depth: int) -> Obstacle | None:
        match expr:
            case ast.Name() | ast.Attribute() if not self._of_tensor(expr):
                if self._operands.local(expr, loop):
                    return None
                return self._operands.obstacle(expr, loop)
            case ast.Attribute(value=owner):
                return self._expr(owner, loop, depth)
            case ast.Constant() | ast.JoinedStr(values=[]):
                return None
            case ast.Call():
                return self._call(expr, loop, depth)
            case (
                ast.BinOp()
                | ast.UnaryOp()
                | ast.Compare()
                | ast.BoolOp()
                | ast.IfExp()
                | ast.Subscript()
                | ast.Slice()
                | ast.Tuple()
                | ast.List()
                | ast.Dict()
            ):
                return self._first(_parts(expr), loop, depth)
        message = f"`{ast.unparse(expr)}` is found out anew in each turn"
        return Obstacle("operand-not-sure", message)

    def _first(self, parts: list[ast.expr], loop: ast.AST, depth: int) -> Obstacle | None:
        return next(filter(None, (self._expr(part, loop, depth) for part in parts)), None)

    def _of_tensor(self, expr: ast.expr) -> bool:
        """Whether an attribute is one of those in which a tensor tells its type or shape."""
        if not isinstance(expr, ast.Attribute) or expr.attr not in _ATTRIBUTES_OF_TENSORS:
            return False
        return self._names.dotted(expr) is None

    def _call(self, call: ast.Call, loop: ast.AST, depth: int) -> Obstacle | None:
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if any(isinstance(one, ast.Starred) for one in call.args) or any(
            keyword.arg is None for keyword in call.keywords
        ):
            message = f"`{ast.unparse(call)}` has arguments that are found out anew"
            return Obstacle("operand-not-sure", message)
        function = self._own.function(call)
        imported = self._operands.imported(call.func, loop)
        if imported is not None:
            return imported
        if function is not None:
            found = self._own_call(call, function, loop, depth)
        elif call in self._sessions.runs:
            message = f"`{ast.unparse(call)}` runs the graph in each turn"
            found = Obstacle("operand-varies", message)
        elif self._names.tf(call.func) is not None:
            found = self._symbol(str(self._names.tf(call.func)), loop)
        elif self._operands.python_call(call):
            found = None
        else:
            found = self._method(call, loop, depth)
        return found or self._first(given, loop, depth)

    def _method(self, call: ast.Call, loop: ast.AST, depth: int) -> Obstacle | None:
        func = call.func
        value = self._tracer.trace(call)
        if isinstance(func, ast.Attribute):
            if func.attr in _METHODS_OF_TENSORS and not call.keywords:
                return self._expr(func.value, loop, depth)
            if value.kind is Kind.OP and value.expr is call:
                return self._symbol(value.symbol, loop) or self._expr(func.value, loop, depth)
        message = f"it is not known what `{ast.unparse(func)}(...)` does"
        return Obstacle("effect-unknown", message)

    def _symbol(self, symbol: str, loop: ast.AST) -> Obstacle | None:
        """What a function of TensorFlow does when it is called, beside making its own ops."""
        effect = effect_of(symbol)
        text = f"`tf.{symbol}`"
        if effect is None or symbol.startswith(_OF_THEIR_OWN):
            return Obstacle("effect-unknown", f"it is not known what {text} does")
        for flag, (reason, words) in _TROUBLES.items():
            if flag in effect.flags:
                return Obstacle(reason, f"{text} {words}")
        found = self.changing_collections(symbol, loop) if effect.collections else None
        return found or _state(symbol, effect)

    def changing_collections(self, symbol: str, loop: ast.AST) -> Obstacle | None:
        """What may add to the collections that a symbol reads, in a loop."""
        found = self._registered(loop)
        if found is None:
            return None
        line = getattr(found, "lineno", 0)
        message = f"`tf.{symbol}` reads a collection, and line {line} may add to it in each turn"
        return Obstacle("collection-changes", message)

    def _registered(self, loop: ast.AST) -> ast.AST | None:
        """What may add variables or entries of a collection in a loop, or just before it."""
        if loop not in self._registering:
            runs = frozenset(call.func for call in self._sessions.runs)
            nodes = self._afterwards.within(self._source.statement(loop), runs)
            self._registering[loop] = self._building.first_registration(nodes)
        return self._registering[loop]

    # Functions of the file

    def _own_call(
        self, call: ast.Call, function: ast.AST, loop: ast.AST, depth: int
    ) -> Obstacle | None:
        name = getattr(function, "name", "")
        if not isinstance(function, ast.FunctionDef) or function.decorator_list:
            return Obstacle("own-function", f"`{name}` is no plain function")
        if depth >= _MAX_DEPTH:
            return Obstacle("own-function", f"`{name}` calls too many others")
        owner = call.func
        if isinstance(owner, ast.Attribute):
            cls = self._source.parent(function)
            if isinstance(cls, ast.ClassDef) and self._classes.replaced(cls, name):
                return Obstacle("own-function", f"a subclass has another `{name}`")
            owner = owner.value
        found = self._operands.receiver(owner, loop)
        if found is not None:
            return found
        defaults = [*function.args.defaults, *filter(None, function.args.kw_defaults)]
        return self._first(defaults, loop, depth + 1) or self._block(
            function.body, function, loop, depth + 1
        )

    def _block(
        self, block: list[ast.stmt], function: ast.FunctionDef, loop: ast.AST, depth: int
    ) -> Obstacle | None:
        found = (self._statement(one, function, loop, depth) for one in block)
        return next(filter(None, found), None)

    def _statement(
        self, statement: ast.stmt, function: ast.FunctionDef, loop: ast.AST, depth: int
    ) -> Obstacle | None:
        """What a statement of a function does beside making ops and binding its own names."""
        match statement:
            case ast.Pass() | ast.Expr(value=ast.Constant()) | ast.Return(value=None):
                return None
            case ast.Return(value=ast.expr() as value):
                return self._expr(value, loop, depth)
            case ast.Assign(targets=targets, value=value) if all(
                self._operands.binds_locals(target, function) for target in targets
            ):
                return self._expr(value, loop, depth)
            case ast.AugAssign(target=ast.Name() as target, value=value) if (
                self._operands.binds_locals(target, function)
                and self._operands.augments_own(target)
            ):
                return self._expr(value, loop, depth)
            case ast.If(test=test, body=body, orelse=orelse):
                return self._expr(test, loop, depth) or self._block(
                    [*body, *orelse], function, loop, depth
                )
            case ast.With(items=items, body=body) if all(map(self._names_ops, items)):
                return self._block(body, function, loop, depth)
        message = f"line {statement.lineno} of `{function.name}` may do more than to make ops"
        return Obstacle("own-function", message)

    def _names_ops(self, item: ast.withitem) -> bool:
        """Whether a manager only gives names to ops."""
        manager = item.context_expr
        return (
            isinstance(manager, ast.Call)
            and self._names.tf(manager.func) == "name_scope"
            and item.optional_vars is None
            and all(isinstance(one, ast.Constant) for one in manager.args)
            and not manager.keywords
        )


_TROUBLES = {
    "random": ("random-op", "has the seed of the moment that it is made at"),
    "creates": ("creates-variables", "makes variables in each turn"),
    "registers": ("registers", "adds to a collection of the graph in each turn"),
    "calls": ("effect-unknown", "calls a function that is given to it"),
}


def _state(symbol: str, effect: Effect) -> Obstacle | None:
    """Whether an op may have state of its own, which is new with each op."""
    last = symbol.rpartition(".")[2]
    if not effect.returns_tensor:
        return Obstacle("effect-unknown", f"`tf.{symbol}` makes an object, anew in each turn")
    writes = effect.writes and not any(word in last for word in _WRITING_TO_OTHERS)
    if writes or (effect.host and last != "read_file"):
        return Obstacle("effect-unknown", f"`tf.{symbol}` may have state of its own")
    return None


def _parts(expr: ast.expr) -> list[ast.expr]:
    return [part for part in ast.iter_child_nodes(expr) if isinstance(part, ast.expr)]
