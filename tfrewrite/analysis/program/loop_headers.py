"""What a loop goes over, beneath the bar that shows how far it has come."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_MODULES = ("tqdm", "tqdm.auto", "tqdm.autonotebook", "tqdm.notebook", "tqdm.std")
_BARS = frozenset([*(f"{one}.tqdm" for one in _MODULES), "tqdm.tqdm_notebook", "tqdm.tqdm_gui"])
_RANGES = frozenset([*(f"{one}.trange" for one in _MODULES), "tqdm.tnrange"])


class LoopHeaders:
    """Looks through `tqdm`, which hands on what it is given, one after the other."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names

    def beneath(self, looped: ast.expr) -> list[ast.expr]:
        """What decides on the elements: the header itself where there is no bar in it."""
        bar = self._bar(looped)
        return [looped] if bar is None else bar.args if self._counts_up(bar) else bar.args[:1]

    def beside(self, looped: ast.expr) -> list[ast.expr]:
        """What else is evaluated where there is a bar: its text, the number of its elements."""
        bar = self._bar(looped)
        if bar is None or not isinstance(looped, ast.Call):
            return []
        given = [one.value for one in looped.keywords]
        if bar is looped:
            return given if self._counts_up(bar) else [*bar.args[1:], *given]
        return [*self.beside(looped.args[0]), *looped.args[1:], *given]

    def is_range(self, looped: ast.expr | None) -> bool:
        """Whether a header gives the numbers of a `range`, with a bar or without."""
        if not isinstance(looped, ast.Call):
            return False
        if self._bar(looped) is looped:
            return self._counts_up(looped) or self.is_range(looped.args[0])
        return self._names.dotted(looped.func) == "builtins.range"

    def text(self, looped: ast.expr) -> str:
        """The header without the bar, which is drawn by the turns of the loop alone."""
        bar = self._bar(looped)
        if bar is None:
            return self._written(looped)
        if bar is looped:
            inner = ", ".join(map(self._written, self.beneath(looped)))
            return f"range({inner})" if self._counts_up(bar) else inner
        assert isinstance(looped, ast.Call)
        first, *others = looped.args
        given = [self.text(first), *map(self._written, others)]
        given += [f"{one.arg}={self._written(one.value)}" for one in looped.keywords]
        return f"{self._written(looped.func)}({', '.join(given)})"

    def _bar(self, looped: ast.expr) -> ast.Call | None:
        """The bar that a loop goes over, by itself or in `enumerate`."""
        if not isinstance(looped, ast.Call) or not looped.args:
            return None
        if any(isinstance(one, ast.Starred) for one in looped.args):
            return None
        path = self._names.dotted(looped.func)
        if path == "builtins.enumerate":
            return self._bar(looped.args[0])
        if path in _RANGES and self._scopes.of(looped).owner("range") is not None:
            return None
        return looped if path in _BARS | _RANGES else None

    def _counts_up(self, bar: ast.Call) -> bool:
        return self._names.dotted(bar.func) in _RANGES

    def _written(self, node: ast.expr) -> str:
        span = self._source.span(node)
        return self._source.segment(node) if span.line == span.end_line else ast.unparse(node)
