"""Who may tell how a step ended that failed: by what it left, by its error, or by going on.

Op by op a step stops where it fails. Compiled, ops that do not wait for the one that fails may be
done all the same, such as the count of an optimizer; a shape that does not fit is a `ValueError` of
the trace and no `InvalidArgumentError`; and a function whose first trace is broken off can never
make its variables any more.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import Number
from tfrewrite.analysis.program.catching import called_by, caught_types, raises_again
from tfrewrite.analysis.program.handlers import OF_OTHERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfrewrite.analysis.facts import Facts

_ALL = frozenset({"builtins.Exception", "builtins.BaseException"})
_INTERRUPT = "builtins.KeyboardInterrupt"
_NO_ERROR_OF_A_STEP = OF_OTHERS | {"tensorflow.errors.OutOfRangeError"}
# What calls of Keras raise, one in place of another.
_OF_CALLS = frozenset(
    f"builtins.{name}"
    for name in "ValueError TypeError RuntimeError AttributeError NotImplementedError".split()
)


class Endings:
    """Follows an error outwards, and looks for who could tell one ending from another."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._names = facts.names
        self._flow = facts.flow
        self._classes = facts.classes

    def told(self, calls: Sequence[ast.Call]) -> str:
        """The words for who may tell whether the calls of a step are compiled when one fails."""
        for call in calls:
            found = self._facts.catching.seen(self._source.statement(call))
            found = found or self._looking(call) or self._going_on(call, calls)
            if found:
                return found
        return self._facts.catching.at_the_exit

    def types_told(self, call: ast.Call) -> str:
        """The words for a `try` that knows errors of a call of Keras by their types."""
        for outer in self._tries(call):
            for handler in outer.handlers:
                paths = caught_types(handler, self._names)
                if not paths or paths & _ALL:
                    break
                if any(path in _OF_CALLS or path.startswith("tensorflow.") for path in paths):
                    return f"the `try` of line {outer.lineno} tells errors of it by their types"
        return ""

    def going_on_within(self, call: ast.Call, loop: ast.AST) -> str:
        """The words for what lets a loop go on after an error of a call."""
        for outer in self._facts.handlers.outwards(call, until=loop):
            if outer in self._source.ancestors(loop):
                continue
            if isinstance(outer, (ast.With, ast.AsyncWith)):
                if not self._facts.managers.known(outer):
                    return f"the `with` of line {outer.lineno} may catch an error of it"
            elif not all(map(raises_again, getattr(outer, "handlers", []))):
                line = getattr(outer, "lineno", 0)
                return f"the `try` of line {line} lets the loop go on after an error of it"
        return ""

    def _tries(self, node: ast.AST) -> Iterator[ast.Try]:
        for outer in self._facts.handlers.outwards(node):
            if isinstance(outer, ast.Try) and not self._facts.catching.only_sets_up(outer):
                yield outer

    # What it left

    def _looking(self, call: ast.Call) -> str:
        """The words for a handler that ends the program, but not for each error or not at once."""
        for outer in self._tries(call):
            for handler in outer.handlers:
                paths = caught_types(handler, self._names)
                if paths and paths <= _NO_ERROR_OF_A_STEP:
                    continue
                if paths and not paths & _ALL:
                    return f"the `try` of line {outer.lineno} tells errors of it by their types"
                if not self._only_says(handler):
                    return f"the `try` of line {outer.lineno} may look at how far it came"
        return ""

    def _only_says(self, handler: ast.ExceptHandler) -> bool:
        """Whether a handler looks at nothing but numbers, and at the error."""
        names = [n for one in handler.body for n in ast.walk(one) if isinstance(n, ast.Name)]
        return all(
            name.id == handler.name
            or self._names.dotted(name) is not None
            or isinstance(self._facts.eager_values.value(name), Number)
            for name in names
        )

    # What goes on

    def _going_on(self, call: ast.Call, calls: Sequence[ast.Call]) -> str:
        """The words for a `try` after which steps are made though Ctrl-C broke one off."""
        for outer in self._tries(call):
            for handler in outer.handlers:
                if _INTERRUPT not in caught_types(handler, self._names) or raises_again(handler):
                    continue
                beside = any(outer not in self._tries(other) for other in calls)
                if beside or self._comes_again(outer, set()):
                    return f"the `try` of line {outer.lineno} goes on after Ctrl-C"
        return ""

    def _comes_again(self, node: ast.AST, seen: set[ast.AST]) -> bool:
        """Whether the file comes to a place again: by a loop, or by several calls."""
        if self._flow.loop(node) is not None:
            return True
        function = self._source.function(node)
        if function is None or function in seen:
            return function is not None
        seen.add(function)
        calls = self._classes.calls(called_by(function, self._source))
        return len(calls) > 1 or any(self._comes_again(one, seen) for one in calls)
