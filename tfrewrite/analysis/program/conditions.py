"""Whether what stands in a loop is evaluated at all, and what would catch its exception.

What is put before a loop is evaluated in any case. Where a loop leaves it out by a setting, such as
`if labels is not None`, it may not even be possible.
"""

from __future__ import annotations

import ast
from itertools import takewhile
from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.catching import caught_types, raises_again
from tfrewrite.analysis.program.flow import evaluated
from tfrewrite.analysis.program.handlers import OF_OTHERS

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_JUMPS = (ast.Continue, ast.Break, ast.Return, ast.Raise)
# Exceptions that building a graph does not raise. Its operands may divide by zero.
_NOT_OF_BUILDING = OF_OTHERS - {"builtins.ZeroDivisionError"}
_OF_RUNS = ("tensorflow.errors.", "tensorflow.python.framework.errors.")


class Conditions:
    """Questions about what stands between a loop and a part of its body."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._flow = facts.flow
        self._handlers = facts.handlers

    def obstacle(self, node: ast.AST, loop: ast.AST) -> Obstacle | None:
        """What may keep a loop from evaluating a node in all its turns, or catch its exception."""
        caught = self._catching(node)
        if caught is not None:
            return caught
        child = node
        for outer in self._flow.enclosing(node):
            found = self._around(child, outer, loop) or self._before(child, loop)
            if found is not None or outer is loop:
                return found
            child = outer
        return None

    def _catching(self, node: ast.AST) -> Obstacle | None:
        """What would catch an exception of making an op, here or around a caller."""
        for outer in self._handlers.outwards(node):
            handlers: list[ast.ExceptHandler] = getattr(outer, "handlers", [])
            if not all(self._is_of_others(one) or raises_again(one) for one in handlers):
                line = getattr(outer, "lineno", 0)
                message = f"the `try` of line {line} may catch what making an op raises"
                return Obstacle("may-be-caught", message)
        return None

    def _around(self, child: ast.AST, outer: ast.AST, loop: ast.AST) -> Obstacle | None:
        line = getattr(outer, "lineno", 0)
        match outer:
            case ast.If(test=test) | ast.IfExp(test=test) if child is not test:
                return None if self._comes_round(test, loop) else _conditional(line)
            case ast.BoolOp(values=values):
                tests = list(takewhile(lambda one: one is not child, values))
                rare = not all(self._comes_round(test, loop) for test in tests)
                return _conditional(line) if rare else None
            case (
                ast.ListComp(generators=generators)
                | ast.SetComp(generators=generators)
                | ast.DictComp(generators=generators)
            ) if child not in generators:
                tests = [test for one in generators for test in one.ifs]
                rare = not all(self._comes_round(test, loop) for test in tests)
                return _conditional(line) if rare else None
            case ast.match_case() | ast.ExceptHandler():
                return _conditional(line or getattr(child, "lineno", 0))
        return None

    def _before(self, child: ast.AST, loop: ast.AST) -> Obstacle | None:
        """Whether something earlier in a block may leave it in all turns."""
        if not isinstance(child, ast.stmt) or child is loop:
            return None
        block, index = self._source.position(child)
        for earlier in block[:index]:
            for node in evaluated(earlier):
                if isinstance(node, ast.If) and self._may_always_leave(node, loop):
                    return _conditional(node.lineno)
        return None

    def _may_always_leave(self, node: ast.If, loop: ast.AST) -> bool:
        """Whether a condition may leave every turn of a loop, but for its end."""
        jumps = {type(inner) for inner in evaluated(node)} & set(_JUMPS)
        if ast.Continue in jumps:
            return not self._comes_round(node.test, loop)
        return bool(jumps) and not self._varies(node.test, loop)

    def _comes_round(self, test: ast.expr, loop: ast.AST) -> bool:
        """Whether a condition holds every so many turns: `step % 10 == 0`."""
        if isinstance(test, ast.BoolOp):
            number = any if isinstance(test.op, ast.Or) else all
            return number(self._comes_round(one, loop) for one in test.values)
        counted = [
            node
            for node in ast.walk(test)
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)
        ]
        return any(self._varies(node.left, loop) for node in counted)

    def _varies(self, test: ast.expr, loop: ast.AST) -> bool:
        """Whether a condition is about something that the turns of a loop change."""
        inside = set(ast.walk(loop))
        for node in ast.walk(test):
            if isinstance(node, ast.Name):
                if any(binding.node in inside for binding in self._scopes.bindings(node)):
                    return True
            if isinstance(node, ast.Attribute):
                stores = (one for one in inside if isinstance(one, ast.Attribute))
                if any(one.attr == node.attr and _is_store(one) for one in stores):
                    return True
        return False

    def _is_of_others(self, handler: ast.ExceptHandler) -> bool:
        """Whether a handler is for what only a run or other code raises."""
        paths = caught_types(handler, self._names)
        return bool(paths) and all(
            path.startswith(_OF_RUNS) or path in _NOT_OF_BUILDING for path in paths
        )


def _is_store(attribute: ast.Attribute) -> bool:
    return not isinstance(attribute.ctx, ast.Load)


def _conditional(line: int) -> Obstacle:
    message = f"line {line} may keep all turns from making it, and making it may then raise"
    return Obstacle("conditional", message)
