"""The statements of a traced function, gone through one after the other as a trace would."""

from __future__ import annotations

import ast
from math import inf
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import Code, Group, Number, Thing, Value, parts
from tfrewrite.analysis.program.turns import turns
from tfrewrite.analysis.traces.trace import TraceError

if TYPE_CHECKING:
    from tfrewrite.analysis.traces.tracing import Tracer

_ROUNDS = 4
_FEW_ITEMS = 8
_VARIABLES_OF_A_MODEL = 4


class TracedStatements:
    """Goes through statements for a tracer."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._names = tracer.names
        self._expressions = tracer.expressions

    def block(self, body: list[ast.stmt]) -> None:
        """Goes through a block."""
        for statement in body:
            self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:
        line = statement.lineno
        match statement:
            case ast.Assign(targets=targets, value=value):
                given = self._tracer.value(value)
                for target in targets:
                    self._names.bind(target, given)
            case ast.AnnAssign(target=target, value=value):
                if value is not None:
                    self._names.bind(target, self._tracer.value(value))
            case ast.AugAssign(target=ast.Name() as target, op=op, value=value):
                self._names.augment(target, op, self._tracer.value(value))
            case ast.AugAssign(target=target):
                message = f"line {line} changes `{ast.unparse(target)}`, which others see"
                raise TraceError("python-effect", message)
            case ast.Expr(value=value):
                self._tracer.value(value)
            case ast.Return(value=value):
                empty: Value = Number(ast.Constant(None))
                given = empty if value is None else self._tracer.value(value)
                self._tracer.returned[-1].append(given)
            case ast.If():
                self._if(statement)
            case ast.For():
                self._for(statement)
            case ast.With(items=items, body=body):
                for item in items:
                    self._enter(item, line)
                self.block(body)
            case ast.FunctionDef():
                if statement.decorator_list:
                    raise TraceError(
                        "not-followed", f"`{statement.name}` is decorated in the function"
                    )
                self._names.hold(statement, statement.name, Code(statement))
            case ast.Delete(targets=targets) if all(isinstance(t, ast.Name) for t in targets):
                pass
            case ast.Assert(test=test):
                self._expressions.plain_test(test)
            case ast.Pass():
                pass
            case ast.Raise():
                if not self._tracer.conditional:
                    raise TraceError("not-followed", f"line {line} raises")
            case ast.While():
                raise TraceError(
                    "tensor-decides", f"the `while` of line {line} may run on a tensor"
                )
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                raise TraceError(
                    "python-effect", f"line {line} binds `{names[0]}` for others to see"
                )
            case _:
                kind = type(statement).__name__.lower()
                raise TraceError("not-followed", f"the `{kind}` of line {line} is not followed")

    def _if(self, statement: ast.If) -> None:
        test = self._expressions.plain_test(statement.test)
        if test.literal is not None:
            taken = bool(test.literal.value)
            self.block(statement.body if taken else statement.orelse)
            return
        before = self._names.held()
        self._tracer.conditional += 1
        self.block(statement.body)
        after = self._names.held()
        self._names.take_back(before)
        self.block(statement.orelse)
        self._tracer.conditional -= 1
        self._names.merge(after)

    def _for(self, statement: ast.For) -> None:
        for inner in ast.walk(statement):
            if isinstance(inner, (ast.Break, ast.Continue)) or (
                isinstance(inner, ast.Return) or statement.orelse
            ):
                message = f"the loop of line {statement.lineno} may be left early"
                raise TraceError("not-followed", message)
        iterable = self._tracer.value(statement.iter)
        if not isinstance(iterable, Group):
            message = f"the loop of line {statement.lineno} runs over what may be a tensor"
            raise TraceError("tensor-decides", message)
        if iterable.items is not None and not iterable.lazy and len(iterable.items) <= _FEW_ITEMS:
            for item in iterable.items:
                self._names.bind(statement.target, item)
                self.block(statement.body)
            return
        for number in range(_ROUNDS):
            before = self._names.held()
            with self._tracer.counted(0 if number else _turns_at_least(statement, iterable)):
                self._names.bind(statement.target, self._tracer.turn(iterable, number))
                self.block(statement.body)
            self._names.merge(before)
            if self._names.held() == before:
                return

    def _enter(self, item: ast.withitem, line: int) -> None:
        manager = item.context_expr
        names = self._tracer.facts.names
        symbol = names.tf(manager.func) if isinstance(manager, ast.Call) else None
        if symbol not in ("GradientTape", "name_scope"):
            message = f"what `{ast.unparse(manager)}` in line {line} does is not followed"
            raise TraceError("not-followed", message)
        if item.optional_vars is not None:
            self._names.bind(item.optional_vars, Thing("tape", "GradientTape"))


def _turns_at_least(loop: ast.For, iterable: Group) -> int:
    """How many turns a loop makes; a model has several variables, if not many."""
    told = turns([loop])
    of_model = all(isinstance(p, Thing) and p.kind == "variable" for p in parts(iterable))
    return int(told) if told < inf else _VARIABLES_OF_A_MODEL if of_model else 1


def ends(body: list[ast.stmt]) -> bool:
    """Whether a block always ends in a return."""
    last = body[-1]
    if isinstance(last, ast.If) and last.orelse:
        return ends(last.body) and ends(last.orelse)
    if isinstance(last, ast.With):
        return ends(last.body)
    return isinstance(last, (ast.Return, ast.Raise))
