"""Who may see in which order an exception and something else came."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.source import Block

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_ENDING = frozenset({"builtins.KeyboardInterrupt", "tensorflow.errors.OutOfRangeError"})
_GOING_ON = (ast.Return, ast.Break, ast.Continue, ast.Yield)


class Catching:
    """Finds what may catch an exception of a statement and let the program go on."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._flow = facts.flow
        self._classes = facts.classes
        self._managers = facts.managers

    def caught(self, block: Block, statement: ast.stmt) -> str:
        """The words for what may catch an exception of a statement of a block, if anything.

        Callers count where the block does something that outlives the exception.
        """
        found = self._around(statement)
        if found or all(_only_binds_names(other) for other in block):
            return found
        return self._around_callers(statement, set())

    def seen(self, statement: ast.stmt) -> str:
        """The words for what may catch an exception of a statement, here or around a caller."""
        return self._around(statement) or self._around_callers(statement, set())

    def _around_callers(self, node: ast.AST, seen: set[ast.AST]) -> str:
        function = self._source.function(node)
        if function is None or function in seen or isinstance(function, ast.Lambda):
            return ""
        seen.add(function)
        for call in self._classes.calls(function.name):
            found = self._around(call) or self._around_callers(call, seen)
            if found:
                return found
        return ""

    def _around(self, node: ast.AST) -> str:
        child = node
        for outer in self._flow.enclosing(node):
            if _is_try(outer) and child in getattr(outer, "body", ()):
                handlers = getattr(outer, "handlers", [])
                if getattr(outer, "finalbody", []) or not all(map(self._ends, handlers)):
                    return f"the `try` of line {getattr(outer, 'lineno', 0)} sees exceptions of it"
            if isinstance(outer, (ast.With, ast.AsyncWith)) and child in outer.body:
                if isinstance(outer, ast.AsyncWith) or not self._managers.known(outer):
                    return f"the `with` of line {outer.lineno} may catch exceptions of it"
            child = outer
        return ""

    def _ends(self, handler: ast.ExceptHandler) -> bool:
        """Whether a handler ends the work, or is for what merging does not touch."""
        names = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        paths = {self._names.dotted(name) for name in names if name is not None}
        if paths and paths <= _ENDING:
            return True
        goes_on = any(isinstance(node, _GOING_ON) for node in ast.walk(handler))
        return isinstance(handler.body[-1], ast.Raise) and not goes_on


def _is_try(node: ast.AST) -> bool:
    return isinstance(node, ast.Try) or type(node).__name__ == "TryStar"


def _only_binds_names(statement: ast.stmt) -> bool:
    """Whether what a statement does is forgotten when its function is left."""
    if isinstance(statement, ast.Assign):
        return all(
            isinstance(node, (ast.Name, ast.Tuple, ast.List))
            for target in statement.targets
            for node in (target, *getattr(target, "elts", ()))
        )
    return isinstance(statement, (ast.Return, ast.Pass))
