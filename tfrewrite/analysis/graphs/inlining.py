"""What a call of one of the file's own functions gives: its body, followed in place of the call."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.nodes import Frame, Kind, Node, choice, may_grow, text, unknown
from tfrewrite.analysis.program.classes import Method
from tfrewrite.analysis.program.flow import evaluated

if TYPE_CHECKING:
    from tfrewrite.analysis.graphs.graph import Tracer

_MAX_CALLS = 16


class Inlining:
    """Follows calls into functions for the tracer, which follows what they return."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._frames: dict[tuple[ast.Call, ast.AST, Frame | None], Frame] = {}

    def value(
        self, call: ast.Call, function: Method, frame: Frame | None, receiver: Node | None
    ) -> Node:
        """The value of a call to a function of this file: what it returns, with these arguments."""
        depth = frame.depth if frame else 0
        plain_function = isinstance(function, ast.FunctionDef) and not function.decorator_list
        caller = frame
        while caller is not None and caller.function is not function:
            caller = caller.caller
        if depth >= _MAX_CALLS or caller is not None or not plain_function:
            return unknown(call, f"the call `{text(call.func)}(...)`")
        return self.returned(function, self.frame(call, function, frame, receiver), call)

    def frame(
        self, call: ast.Call, function: Method, outer: Frame | None, receiver: Node | None
    ) -> Frame:
        """What holds in a function of this file when it is called there; one for each call."""
        key = (call, function, outer)
        if key in self._frames:
            return self._frames[key]
        inner = Frame(
            function,
            {},
            around=self._tracer.placement.surroundings(call, outer),
            many=self._tracer.placement.repeated(call, outer),
            depth=(outer.depth if outer else 0) + 1,
            caller=outer,
        )
        if receiver is not None:
            inner.arguments[function.args.args[0].arg] = receiver
        self.bind(inner, call, outer, skip_first=receiver is not None)
        self._frames[key] = inner
        return inner

    def returned(self, function: Method, frame: Frame, expr: ast.expr) -> Node:
        returned = []
        for statement in function.body:
            for node in evaluated(statement):
                if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)):
                    return unknown(expr, f"generator `{function.name}`")
                if isinstance(node, ast.Return) and node.value is not None:
                    returned.append(self._tracer.trace(node.value, frame))
        return choice(expr, returned) if returned else Node(Kind.CONSTANT, expr)

    def bind(self, inner: Frame, call: ast.Call, outer: Frame | None, *, skip_first: bool) -> None:
        """Gives the arguments of a call to the parameters of the function called."""
        arguments = inner.function.args if isinstance(inner.function, ast.FunctionDef) else None
        if arguments is None or any(isinstance(a, ast.Starred) for a in call.args):
            return
        positional = [*arguments.posonlyargs, *arguments.args][1 if skip_first else 0 :]
        defaults = [*arguments.posonlyargs, *arguments.args][::-1]
        for parameter, default in zip(defaults, arguments.defaults[::-1], strict=False):
            inner.arguments.setdefault(parameter.arg, self._default(default))
        for parameter, keyword_default in zip(
            arguments.kwonlyargs, arguments.kw_defaults, strict=True
        ):
            if keyword_default is not None:
                inner.arguments[parameter.arg] = self._default(keyword_default)
        for parameter, argument in zip(positional, call.args, strict=False):
            inner.arguments[parameter.arg] = self._tracer.trace(argument, outer)
        for keyword in call.keywords:
            if keyword.arg is None:
                inner.arguments.clear()
                return
            inner.arguments[keyword.arg] = self._tracer.trace(keyword.value, outer)

    def _default(self, default: ast.expr) -> Node:
        """The value of a default, unless it is a list that goes from one call to the next."""
        value = self._tracer.trace(default)
        _, kept = self._tracer.containers.added_through(default)
        if may_grow(value) and not kept:
            return unknown(default, f"the default `{text(default)}`, which calls may change")
        return value
