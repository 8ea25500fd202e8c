"""Whether something is executed in each turn of a loop (or call of a step) or in some only."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.scopes import How
from tfrewrite.analysis.program.source import blocks_of

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_REMAINDERS = frozenset(
    f"tensorflow.{name}" for name in ("math.floormod", "math.mod", "mod", "floormod")
)

Turn = ast.For | ast.AsyncFor | ast.While | ast.FunctionDef | ast.AsyncFunctionDef


class Periods:
    """Questions about statements that belong to the same turn of a loop or call of a function."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._flow = facts.flow
        self._own = facts.own_calls

    def turn(self, statement: ast.stmt) -> Turn | None:
        """What is gone through again and again with a statement in it: a loop or a function."""
        loop = self._flow.loop(statement)
        if loop is not None:
            return loop
        function = self._source.function(statement)
        return function if isinstance(function, _FUNCTIONS) else None

    def precedes(self, first: ast.stmt, second: ast.stmt) -> bool:
        """Whether one statement has surely been executed when another of the same turn is."""
        block, index = self._source.position(first)
        later = block[index + 1 :]
        return second in later or any(one in later for one in self._source.ancestors(second))

    def is_after(self, node: ast.stmt, other: ast.stmt) -> bool:
        """Whether it stands behind another in the text, and not inside of it."""
        return self._source.span(node) > self._source.span(other) and other not in (
            self._source.ancestors(node)
        )

    def inside(self, node: ast.AST, outer: ast.AST) -> bool:
        return outer in self._source.ancestors(node)

    def period(self, node: ast.stmt, beside: ast.stmt, turn: Turn) -> ast.expr | None:
        """The condition under which a statement is executed in some turns only.

        `beside` is a statement that is executed in other turns too.
        """
        child: ast.AST = node
        found: ast.expr | None = None
        for outer in self._source.ancestors(node):
            block = next((b for b in blocks_of(outer) if child in b), None)
            if isinstance(outer, ast.If) and not self.inside(beside, outer):
                if self._comes_round(outer.test, outer.body, turn):
                    found = outer.test
            if block is not None and isinstance(child, ast.stmt):
                found = found or self._guard(block, child, beside, turn)
            if outer is turn:
                break
            child = outer
        return found

    def comes_again(self, period: ast.expr, turn: Turn, made: ast.stmt) -> bool:
        """Whether a condition is surely met more than once with what was made before a loop."""
        for outer in self._source.ancestors(turn):
            if isinstance(outer, _LOOPS) and not self.inside(made, outer):
                return True
        remainders = [
            self.number(node.right)
            for node in ast.walk(period)
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)
        ]
        number = remainders[0] if len(remainders) == 1 else None
        if number is None or number < 2:
            return False
        match turn:
            case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=[count])):
                turns = self.number(count)
                return turns is not None and turns >= 2 * number
        return True

    def turns_between(self, statement: ast.stmt) -> int:
        """In how many turns a statement is executed once, as far as the conditions say it."""
        found = 1
        child: ast.AST = statement
        for outer in self._flow.enclosing(statement):
            if isinstance(outer, ast.If) and child in outer.body:
                found *= self._every(outer.test)
            child = outer
        return found

    def _every(self, test: ast.expr) -> int:
        """How many turns are between those that meet a condition: 4 for `step % 4 == 3`."""
        match test:
            case ast.Compare(left=ast.BinOp(op=ast.Mod(), right=number), ops=[ast.Eq()]):
                return max(self.number(number) or 1, 1)
            case ast.UnaryOp(op=ast.Not(), operand=ast.BinOp(op=ast.Mod(), right=number)):
                return max(self.number(number) or 1, 1)
        return 1

    def _guard(
        self, block: list[ast.stmt], child: ast.stmt, beside: ast.stmt, turn: Turn
    ) -> ast.expr | None:
        """The condition of an `if` that goes on to the next turn before a statement."""
        leaving = (ast.Continue,) if isinstance(turn, _LOOPS) else (ast.Return,)
        for earlier in block[: block.index(child)]:
            if not isinstance(earlier, ast.If) or not isinstance(earlier.body[-1], leaving):
                continue
            if self.is_after(earlier, beside) and self._comes_round(earlier.test, [], turn):
                return earlier.test
        return None

    def are_alternatives(self, one: ast.AST, other: ast.AST) -> bool:
        """Whether one is executed where the other is not, since they are branches of one `if`."""
        return any(
            isinstance(outer, ast.If)
            and any(part is one or self.inside(one, part) for part in outer.body)
            and any(part is other or self.inside(other, part) for part in outer.orelse)
            for outer in self._source.ancestors(one)
        )

    def is_conditional(self, node: ast.stmt, beside: ast.stmt, turn: Turn) -> bool:
        """Whether there may be turns that execute `beside` and not the node."""
        child: ast.AST = node
        for outer in self._source.ancestors(node):
            if isinstance(outer, (ast.If, ast.Try, ast.Match)) and not self.inside(beside, outer):
                return True
            block = next((b for b in blocks_of(outer) if child in b), [])
            for earlier in block[: block.index(child)] if child in block else ():
                if self.is_after(earlier, beside) and self._flow.jumps(earlier):
                    return True
            if outer is turn:
                return False
            child = outer
        return True

    def _comes_round(self, test: ast.expr, body: list[ast.stmt], turn: Turn) -> bool:
        """Whether a condition is one of every so many turns."""
        for node in ast.walk(test):
            match node:
                case ast.BinOp(left=left, op=ast.Mod(), right=right):
                    pass
                case ast.Call(func=func, args=[left, right]):
                    if self._names.dotted(func) not in _REMAINDERS:
                        continue
                case ast.Compare(left=ast.Name() as name, ops=[op], comparators=[right]):
                    counts = isinstance(op, (ast.Eq, ast.GtE)) and self._is_count(name, turn)
                    if counts and self.number(right) != 1 and _sets(body, name.id):
                        return True
                    continue
                case _:
                    continue
            if isinstance(left, ast.Constant) or self.number(right) == 1:
                continue
            if self._counts_turns(left, turn):
                return True
        return False

    def _counts_turns(self, left: ast.expr, turn: Turn) -> bool:
        """Whether the left of a remainder changes from turn to turn."""
        if isinstance(left, (ast.Name, ast.Attribute)):
            return self.changes(left, turn)
        return any(
            self._counts_turns(part, turn)
            for part in self._source.children(left)
            if isinstance(part, ast.expr)
        )

    def changes(self, node: ast.Name | ast.Attribute, turn: Turn) -> bool:
        text = ast.unparse(node)
        counted = any(
            (isinstance(one, ast.AugAssign) and ast.unparse(one.target) == text)
            or (
                isinstance(one, ast.Call)
                and isinstance(one.func, ast.Attribute)
                and one.func.attr == "assign_add"
                and ast.unparse(one.func.value) == text
            )
            for one in ast.walk(turn)
        )
        if counted or isinstance(node, ast.Attribute):
            return counted
        bindings = self._scopes.bindings(node)
        if not bindings:  # a part of a script, whose counter is elsewhere
            return self._names.dotted(node) is None
        if isinstance(turn, _LOOPS):
            return any(one.node is turn or self.inside(one.node, turn) for one in bindings)
        if len(bindings) != 1 or bindings[0].how is not How.PARAMETER:
            return False
        function = self._own.calls(turn) or []
        for call, given in zip(function, self._own.given(bindings[0]) or [], strict=False):
            loop = self._flow.loop(call)
            if loop is not None and any(
                isinstance(one, ast.Name) and self.changes(one, loop) for one in ast.walk(given)
            ):
                return True
        return False

    def is_steady(self, test: ast.expr, turn: Turn) -> bool:
        """Whether a condition comes out alike in all turns, as far as the names in it tell."""
        return not any(
            isinstance(part, ast.Call)
            or (isinstance(part, (ast.Name, ast.Attribute)) and self.changes(part, turn))
            for part in ast.walk(test)
        )

    def _is_count(self, name: ast.Name, turn: Turn) -> bool:
        return any(
            isinstance(one, ast.AugAssign)
            and isinstance(one.op, ast.Add)
            and isinstance(one.target, ast.Name)
            and one.target.id == name.id
            and isinstance(one.value, ast.Constant)
            for one in ast.walk(turn)
        )

    def number(self, expr: ast.expr) -> int | None:
        """A whole number that is written in the file."""
        if isinstance(expr, ast.Name):
            bindings = self._scopes.bindings(expr)
            if len(bindings) != 1 or bindings[0].how is not How.ASSIGN or not bindings[0].value:
                return None
            expr = bindings[0].value
        value = expr.value if isinstance(expr, ast.Constant) else None
        return value if type(value) is int else None


def _sets(body: list[ast.stmt], name: str) -> bool:
    """Whether a block gives a counter another value, as one that begins anew does."""
    return any(
        isinstance(node, ast.Assign)
        and any(isinstance(one, ast.Name) and one.id == name for one in node.targets)
        and isinstance(node.value, ast.Constant)
        for statement in body
        for node in ast.walk(statement)
    )
