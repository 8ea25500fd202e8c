"""What a run is fed with."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.nodes import Node
from tfrewrite.analysis.scopes import How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts


class Feeds:
    """Questions about the dicts that say what to feed."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._tracer = facts.graph
        self._containers = facts.containers

    def only_placeholders(self, feed: ast.expr) -> bool:
        """Whether all keys of a feed are placeholders, so that it cuts no edge of the graph."""
        if isinstance(feed, ast.Dict):
            return all(key is not None and self._is_placeholder(key) for key in feed.keys)
        if not isinstance(feed, ast.Name):
            return False
        bindings = self._scopes.bindings(feed)
        made = bool(bindings) and all(
            binding.how is How.ASSIGN
            and isinstance(binding.value, ast.Dict)
            and self.only_placeholders(binding.value)
            for binding in bindings
        )
        return made and all(self._adds_placeholder(use) for use in self._scopes.uses(feed))

    def fed(self, feed: ast.expr) -> frozenset[Node] | None:
        """What a feed surely gives a value to; None where that cannot be told."""
        if isinstance(feed, ast.Dict):
            return frozenset(self._tracer.trace(key) for key in feed.keys if key is not None)
        if isinstance(feed, ast.Name):
            bindings = self._scopes.bindings(feed)
            if len(bindings) == 1 and bindings[0].how is How.ASSIGN:
                value = bindings[0].value
                removing = any(not self._adds_placeholder(use) for use in self._scopes.uses(feed))
                if isinstance(value, ast.Dict) and not removing:
                    return self.fed(value)
        return None

    def _is_placeholder(self, expr: ast.expr) -> bool:
        return self._tracer.trace(expr).symbol.startswith("placeholder")

    def _adds_placeholder(self, use: ast.Name) -> bool:
        """Whether a use of a feed dict leaves it one: it reads it, or sets another placeholder."""
        parent = self._source.parent(use)
        if isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load):
            return parent.value is use and self._is_placeholder(parent.slice)
        return self._containers.added_through(use) == ([], True)
