"""Code that looks into an exception: at its message, or at what else it carries."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.catching import called_by, caught_types, left_to_others

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts

# They get at the exception without a name for it.
_LOOKING = frozenset(
    "exc_info print_exc format_exc print_exception format_exception format_exception_only"
    " print_last print_tb format_tb TracebackException exception last_value excepthook".split()
)
# What neither building a graph nor running it raises.
OF_OTHERS = frozenset(
    f"builtins.{name}"
    for name in "KeyboardInterrupt SystemExit StopIteration EOFError OSError IOError"
    " FileNotFoundError ZeroDivisionError".split()
)
_LEAVING = frozenset({"sys.exit", "os._exit", "builtins.exit", "builtins.quit"})
_RUNTIME_ONLY = frozenset({"builtins.KeyboardInterrupt", "builtins.StopIteration"})


class Handlers:
    """Follows an exception outwards: through the function, and through its callers."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._flow = facts.flow
        self._classes = facts.classes
        self._managers = facts.managers

    def looking(self, node: ast.AST) -> str:
        """The words for what may look into an exception that is raised at a place, if anything."""
        for outer in self.outwards(node):
            if isinstance(outer, (ast.With, ast.AsyncWith)):
                if not self._managers.known(outer):
                    return f"the manager of line {outer.lineno} is given exceptions of it"
            elif any(map(self._looks, _handlers(outer))):
                line = getattr(outer, "lineno", 0)
                return f"the `try` of line {line} may look into an exception of it"
        return ""

    def reading(self, node: ast.AST) -> str:
        """The words for a `try` that may look into an error of the graph raised at a place."""
        for outer in self.outwards(node):
            handlers = [one for one in _handlers(outer) if not self._of_others(one)]
            if any(map(self._looks, handlers)):
                line = getattr(outer, "lineno", 0)
                return f"the `try` of line {line} may look into an exception of it"
        return ""

    def catching_more_than_the_graph(self, node: ast.AST, loop: ast.AST) -> str:
        """The words for a handler within a loop that catches more than errors of a run."""
        child = node
        for outer in self._flow.enclosing(node):
            if child in getattr(outer, "body", ()) and not all(map(self._of_run, _handlers(outer))):
                line = getattr(outer, "lineno", 0)
                return f"the `try` of line {line} catches more than the errors of a run"
            if outer is loop:
                break
            child = outer
        return ""

    def catching(self, node: ast.AST) -> bool:
        """Whether anything may tell the error of a closed session from that of its callables.

        The one is a RuntimeError, the other a CancelledError.
        """
        return any(
            not self._of_run(handler) or self._of_closed(handler)
            for outer in self.outwards(node)
            for handler in _handlers(outer)
        )

    def going_on(self, node: ast.AST) -> str:
        """The words for a handler that goes on with the program, be it after Ctrl-C alone."""
        for outer in self.outwards(node):
            for handler in _handlers(outer):
                if not self._leaves(handler):
                    return f"the handler of line {handler.lineno} goes on"
        return ""

    def _leaves(self, handler: ast.ExceptHandler) -> bool:
        match handler.body[-1]:
            case ast.Raise():
                return True
            case ast.Expr(value=ast.Call(func=func)):
                return self._names.dotted(func) in _LEAVING
        return False

    def outwards(
        self, node: ast.AST, seen: set[ast.AST] | None = None, until: ast.AST | None = None
    ) -> Iterator[ast.AST]:
        """The `try` and `with` statements that an exception leaves on its way out.

        Where it is asked how it comes as far as a loop, those within that loop.
        """
        seen = set() if seen is None else seen
        child = node
        for outer in self._flow.enclosing(node):
            if outer is until:
                return
            body = getattr(outer, "body", ())
            if isinstance(body, list) and child in body:
                if isinstance(outer, (ast.With, ast.AsyncWith)) or _handlers(outer):
                    yield outer
            child = outer
        function = self._source.function(node)
        if function is None or function in seen:
            return
        seen.add(function)
        if left_to_others(function, self._source, self._names, self._classes):
            yield from (one for one in self._source.all(ast.Try))
            return
        for call in self._classes.calls(called_by(function, self._source)):
            yield from self.outwards(call, seen, until)

    def _looks(self, handler: ast.ExceptHandler) -> bool:
        if self._file_looks:
            return True
        return any(
            isinstance(node, ast.Name) and node.id == handler.name and not self._is_passed_on(node)
            for statement in handler.body
            for node in ast.walk(statement)
        )

    def _is_passed_on(self, error: ast.Name) -> bool:
        """Whether a coordinator is given an exception, which it raises when it is joined."""
        call = self._source.parent(error)
        return isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "request_stop"

    def _of_others(self, handler: ast.ExceptHandler) -> bool:
        """Whether a handler is for what neither building a graph nor running it raises."""
        paths = caught_types(handler, self._names)
        return bool(paths) and paths <= OF_OTHERS

    @cached_property
    def _file_looks(self) -> bool:
        words = {node.attr for node in self._source.all(ast.Attribute)}
        words |= {node.id for node in self._source.all(ast.Name)}
        words |= {node.arg or "" for node in self._source.all(ast.keyword)}
        return bool(words & _LOOKING)

    def _of_run(self, handler: ast.ExceptHandler) -> bool:
        """Whether a handler is for errors of TensorFlow's runtime alone."""
        paths = caught_types(handler, self._names)
        return bool(paths) and all(
            path.startswith("tensorflow.errors.") or path in _RUNTIME_ONLY for path in paths
        )

    def _of_closed(self, handler: ast.ExceptHandler) -> bool:
        """Whether a handler is for what a callable of a closed session raises."""
        paths = caught_types(handler, self._names)
        return any(path.endswith(("CancelledError", "OpError")) for path in paths)


def _handlers(statement: ast.AST) -> list[ast.ExceptHandler]:
    return getattr(statement, "handlers", [])
